// SPDX-License-Identifier: GPL-2.0-only
#include <linux/list.h>

#include "provider.h"
#include "session.h"

LIST_HEAD(etw_providers);

/**
 * etw_register_provider() - register a source of events
 * @provider: the provider; it stays registered until the unload
 *
 * Context: module load, before a session can be started.
 */
void etw_register_provider(struct etw_provider *provider)
{
	mutex_lock(&etw_mutex);
	list_add_tail(&provider->list, &etw_providers);
	mutex_unlock(&etw_mutex);
}

/**
 * etw_update_providers() - attach and detach what the providers need for a mask
 * @mask: the union of the masks of all started sessions
 *
 * Context: task; may sleep for seconds; etw_mutex held.
 */
void etw_update_providers(const struct perfinfo_groupmask *mask)
{
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list)
		if (provider->set_mask)
			provider->set_mask(provider, mask);
}
