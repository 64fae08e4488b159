/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_PROVIDER_H
#define _NTKLOG_ETW_PROVIDER_H

/*
 * A provider is a source of events. The sessions tell it which event groups are enabled; they do
 * not know its events.
 */

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

struct etw_session;

/* The largest data of a rundown event, in bytes. */
#define ETW_RUNDOWN_DATA_MAX	0x18

/**
 * struct etw_rundown_event - an event that holds the parameters of a provider
 * @hook_id: PERFINFO_LOG_TYPE_* or NTKLOG_LOG_TYPE_*
 * @version: version of the event
 * @length: bytes of @data; 0: no event
 * @groups: in: the event groups of the session that gets the event
 * @data: the parameters
 */
struct etw_rundown_event {
	u16 hook_id;
	u8 version;
	u16 length;
	const struct perfinfo_groupmask *groups;
	u8 data[ETW_RUNDOWN_DATA_MAX];
};

/**
 * struct etw_provider - a source of events
 * @group: the event groups for which a session gets the rundown; with @set_mask only one
 * @set_mask: attach @group if it is in the mask, which is the union of the masks of all started
 *	sessions, detach it otherwise. Called from a thread with etw_mutex held; may sleep. NULL:
 *	the provider has a rundown only
 * @get_err: return 0, or the negative errno with which the last attempt to attach @group failed;
 *	-EINTR while it goes on, because the task that waited was killed. NULL: attaching cannot
 *	fail
 * @rundown: fill in the rundown event that ends or begins the validity of the present
 *	parameters. Called in any context but NMI. NULL: the provider has no parameters
 * @list_holds: log the locks of @group that are held now, with etw_log_session_event(). Called
 *	from a thread with etw_mutex held, before a session stops and before a snapshot. NULL: the
 *	provider has no such list
 * @list: in etw_providers
 */
struct etw_provider {
	u32 group;
	void (*set_mask)(struct etw_provider *provider,
			 const struct perfinfo_groupmask *mask);
	int (*get_err)(const struct etw_provider *provider);
	void (*rundown)(struct etw_rundown_event *event, bool end);
	void (*list_holds)(struct etw_session *session);
	struct list_head list;
};

extern struct list_head etw_providers;

void etw_register_provider(struct etw_provider *provider);
void etw_update_providers(const struct perfinfo_groupmask *mask);

#endif /* _NTKLOG_ETW_PROVIDER_H */
