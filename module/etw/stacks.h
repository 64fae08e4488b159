/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_STACKS_H
#define _NTKLOG_ETW_STACKS_H

/* Which events carry a stack, in which session: NT's EventTraceStackTracingInformation. */

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/types.h>
#include <uapi/ntklog/event.h>

struct etw_rundown_event;
struct etw_session;
struct seq_file;

/**
 * enum etw_stacked - events that can carry a stack
 * @ETW_STACKED_CONTEXTSWAP: PERFINFO_LOG_TYPE_CONTEXTSWAP
 * @ETW_STACKED_SPINLOCK: PERFINFO_LOG_TYPE_SPINLOCK
 * @ETW_STACKED_RESOURCE: PERFINFO_LOG_TYPE_RESOURCE
 * @ETW_STACKED_EVENTS: how many there are
 */
enum etw_stacked {
	ETW_STACKED_CONTEXTSWAP,
	ETW_STACKED_SPINLOCK,
	ETW_STACKED_RESOURCE,
	ETW_STACKED_EVENTS,
};

/* On while a session that logs wants any. Written with etw_mutex held. */
extern struct static_key_false etw_stacks_key;

/*
 * A byte of 1 for each session that wants the event's stack, as in etw_sessions_by_group, whether
 * it logs or not. Written with etw_mutex held; nothing is ordered by it: who logs looks at it only
 * for sessions that the event is in already.
 */
extern u64 etw_stack_sessions_by_event[ETW_STACKED_EVENTS];

/**
 * etw_stack_sessions_for_event() - who wants the stack of an event that has been logged
 * @event: which
 * @sessions: that it is in, a byte of 1 for each
 *
 * Context: interrupts off since etw_sessions_for_event() was asked.
 * Return: those of them that do.
 */
static __always_inline u64 etw_stack_sessions_for_event(enum etw_stacked event, u64 sessions)
{
	if (!static_branch_unlikely(&etw_stacks_key))
		return 0;
	return sessions & READ_ONCE(etw_stack_sessions_by_event[event]);
}

int etw_stacks_parse(char *text, u32 *stacks);
int etw_stacks_from_hook_ids(const u32 *hook_ids, size_t count, u32 *stacks);
size_t etw_stacks_to_hook_ids(u32 stacks, u32 hook_ids[ETW_STACKED_EVENTS]);
void etw_stacks_show(struct seq_file *file, u32 stacks);
bool etw_stacks_rundown(struct etw_rundown_event *event, u32 stacks, bool end);
void etw_publish_stack_sessions(void);

#endif /* _NTKLOG_ETW_STACKS_H */
