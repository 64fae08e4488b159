/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_STACK_H
#define _NTKLOG_PERF_STACK_H

/* The stack of an event that has been logged, as an event of its own right behind it. */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/ntklog/stack_walk.h>

#include "../etw/event.h"
#include "../etw/stacks.h"

/* Frames of ours, of the kernel's lock functions and of tracers that may be above the caller. */
#define NTKLOG_OWN_FRAMES	32

/**
 * struct ntklog_stack_cpu - what a processor has to walk a stack with
 * @walked: events whose stack has been given to the sessions that want it
 * @left_out: events that somebody wants the stack of, and that have none: an NMI's, where RCU
 *	does not watch, one of another thread than the current one, one of what the walk itself
 *	calls, one that the unwinder knows nothing of
 * @is_walking: from before the room is written until the event in it has been copied
 *
 * Written by its own processor only, with interrupts off, but for an NMI's @left_out, which is
 * added by one instruction. The counts are read by any.
 */
struct ntklog_stack_cpu {
	u64 walked;
	u64 left_out;
	bool is_walking;
};

DECLARE_PER_CPU(struct ntklog_stack_cpu, ntklog_stack_cpu);

int ntklog_stack_init(void);
void ntklog_stack_exit(void);

void ntklog_walk_stack(u64 sessions, u64 event_time, unsigned long caller, bool is_hooked);

/**
 * ntklog_write_stack() - write the stack of an event, for those who want it
 * @event: which
 * @logged: where it has gone
 * @caller: where the stack is to begin; 0, or one that is not found: behind what is ours
 * @is_hooked: behind what is ours is the kernel's lock function, and behind that the caller
 *
 * Context: interrupts off since the event was logged, and nothing else has been.
 */
static __always_inline void ntklog_write_stack(enum etw_stacked event, struct etw_logged logged,
					       unsigned long caller, bool is_hooked)
{
	u64 sessions = etw_stack_sessions_for_event(event, logged.sessions);

	if (unlikely(sessions))
		ntklog_walk_stack(sessions, logged.time, caller, is_hooked);
}

/**
 * ntklog_event_has_stack_room() - is an event all that there is to be written, and once?
 * @wanted: who wants it, a byte of 1 for each session
 *
 * Context: interrupts off since etw_sessions_for_event() was asked.
 * Return: whether it is for one session only, and there are no stacks.
 */
static __always_inline bool ntklog_event_has_stack_room(u64 wanted)
{
	return likely(!(wanted & (wanted - 1))) && !static_branch_unlikely(&etw_stacks_key);
}

/**
 * ntklog_count_omitted_stack() - count that an event has no stack, if somebody wants it
 * @event: which
 * @logged: where it has gone
 *
 * Context: as ntklog_write_stack().
 */
static inline void ntklog_count_omitted_stack(enum etw_stacked event, struct etw_logged logged)
{
	if (unlikely(etw_stack_sessions_for_event(event, logged.sessions)))
		this_cpu_inc(ntklog_stack_cpu.left_out);
}

#endif /* _NTKLOG_PERF_STACK_H */
