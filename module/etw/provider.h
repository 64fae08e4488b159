/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_PROVIDER_H
#define _NTKLOG_ETW_PROVIDER_H

/* A provider is a source of events, which sessions attach and detach by event group. */

#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

struct etw_session;

#define ETW_RUNDOWN_DATA_MAX	0x18

/* An event that holds the parameters of a provider. @length 0: no event. @groups: input. */
struct etw_rundown_event {
	u16 hook_id;
	u8 version;
	u16 length;
	const struct perfinfo_groupmask *groups;
	u8 data[ETW_RUNDOWN_DATA_MAX];
};

/**
 * struct etw_provider - a source of events
 * @group: event groups for which a session gets the rundown; a single one if @set_mask is set
 * @set_mask: attach @group if it is in @mask, the union of the masks of all started sessions;
 *	otherwise detach @group. Called from a task with etw_mutex held; may sleep. NULL: the
 *	provider has a rundown only
 * @get_err: return 0, or the negative errno with which the last attempt to attach @group failed;
 *	-EINTR while a work item goes on with the attempt. NULL: attaching cannot fail
 * @rundown: fill in the rundown event that says until when (@is_end) or from when on the present
 *	parameters are valid. Called in any context but NMI. NULL: the provider has no parameters
 * @rundown_has_counts: @rundown fills in counts, and no parameters
 * @list_holds: log the locks of @group that are held now. Called from a task with etw_mutex held,
 *	before a session stops and before a snapshot. NULL: the provider has no such list
 * @list: in etw_providers
 */
struct etw_provider {
	u32 group;
	void (*set_mask)(struct etw_provider *provider,
			 const struct perfinfo_groupmask *mask);
	int (*get_err)(const struct etw_provider *provider);
	void (*rundown)(struct etw_rundown_event *event, bool is_end);
	bool rundown_has_counts;
	void (*list_holds)(struct etw_session *session);
	struct list_head list;
};

/* Fill in a rundown event. @length: size of @record in bytes; a compile-time constant. */
static __always_inline void etw_fill_rundown_event(struct etw_rundown_event *event, u16 hook_id,
						   u8 version, const void *record, u16 length)
{
	BUILD_BUG_ON(length > sizeof(event->data));
	event->hook_id = hook_id;
	event->version = version;
	event->length = length;
	memcpy(event->data, record, length);
}

extern struct list_head etw_providers;

void etw_register_provider(struct etw_provider *provider);
void etw_update_providers(const struct perfinfo_groupmask *mask);

#endif /* _NTKLOG_ETW_PROVIDER_H */
