/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_PROVIDER_H
#define _NTKLOG_ETW_PROVIDER_H

/*
 * How those who make events learn which are wanted, without the sessions
 * knowing what they make.
 */

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

/* As long as the longest of them. */
#define ETW_RUNDOWN_DATA_MAX	0x10

/**
 * struct etw_rundown_event - an event that tells the state of what makes others
 * @hook_id: which event
 * @version: its version
 * @length: bytes of @data
 * @groups: what the session wants that it is for; set before it is made
 * @data: its data
 */
struct etw_rundown_event {
	u16 hook_id;
	u8 version;
	u16 length;
	const struct perfinfo_groupmask *groups;
	u8 data[ETW_RUNDOWN_DATA_MAX];
};

/**
 * struct etw_provider - one maker of events
 * @group: the group mask that asks for its rundown
 * @set_mask: the union of all running sessions' masks is now this; called with
 *	etw_mutex held, from a thread; may sleep
 * @rundown: NULL if there is none. Make the event that tells the state, for a session
 *	in which the group goes on, or off, or of which a snapshot is taken; any context. Of
 *	length 0: there is none this time
 * @list: of all providers
 */
struct etw_provider {
	u32 group;
	void (*set_mask)(struct etw_provider *provider,
			 const struct perfinfo_groupmask *mask);
	void (*rundown)(struct etw_rundown_event *event, bool end);
	struct list_head list;
};

void etw_register_provider(struct etw_provider *provider);

/**
 * etw_group_mask_test() - is any of a group's bits on?
 * @mask: all groups
 * @group: PERF_*
 *
 * Return: whether it is.
 */
static inline bool etw_group_mask_test(const struct perfinfo_groupmask *mask,
				       u32 group)
{
	return mask->masks[PERF_MASK_INDEX(group)] & PERF_MASK_BITS(group);
}

#endif /* _NTKLOG_ETW_PROVIDER_H */
