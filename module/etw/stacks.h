/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_STACKS_H
#define _NTKLOG_ETW_STACKS_H

/* The events of each session that carry a stack: NT's EventTraceStackTracingInformation. */

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>
#include <uapi/ntklog/event.h>

struct etw_rundown_event;
struct etw_session;
struct seq_file;

enum etw_stacked_event_type {
	ETW_STACKED_CONTEXTSWAP,
	ETW_STACKED_SPINLOCK,
	ETW_STACKED_RESOURCE,
	ETW_STACKED_EVENTS,
};

/* Enabled while a started session logs stacks. Written with etw_mutex held. */
extern struct static_key_false etw_stacks_key;

/*
 * The sessions that log the event's stack, whether started or not, a byte of 1 for each as in
 * etw_sessions_by_group. Written with etw_mutex held. It needs no barrier, because a logger uses it
 * only for sessions that have logged the event.
 */
extern u64 etw_stack_sessions_by_event[ETW_STACKED_EVENTS];

/**
 * etw_find_stack_sessions_for_event() - get the sessions that log the stack of an event
 * @event: the event
 * @sessions: the sessions that have logged the event, a byte of 1 for each
 *
 * Context: interrupts off since etw_find_sessions_for_event().
 * Return: the sessions of @sessions that log its stack.
 */
static __always_inline u64 etw_find_stack_sessions_for_event(enum etw_stacked_event_type event,
							     u64 sessions)
{
	if (!static_branch_unlikely(&etw_stacks_key))
		return 0;
	return sessions & READ_ONCE(etw_stack_sessions_by_event[event]);
}

int etw_stacks_parse(char *text, u32 *stacks);
int etw_stacks_from_hook_ids(const u32 *hook_ids, size_t count, u32 *stacks);
size_t etw_stacks_to_hook_ids(u32 stacks, u32 hook_ids[ETW_STACKED_EVENTS]);
void etw_stacks_show(struct seq_file *file, u32 stacks);
bool etw_make_stacks_rundown(struct etw_rundown_event *event, u32 stacks, bool is_end);
void etw_publish_stack_sessions(void);

#endif /* _NTKLOG_ETW_STACKS_H */
