/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_STACK_H
#define _NTKLOG_PERF_STACK_H

/* Stack events: the stack of an event, written after the event. */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <uapi/ntklog/stack_walk.h>

#include "../etw/event.h"
#include "../etw/stacks.h"

/* Upper bound of the number of frames of this module, lock functions or tracers. */
#define NTKLOG_OWN_FRAMES_MAX	32

/**
 * struct ntklog_stack_cpu - per-CPU state of stack events
 * @walked_stacks: number of events whose stack was walked
 * @left_out_stacks: number of events whose stack a session needs but does not get
 * @is_walking: a stack walk is in progress on this CPU
 *
 * Only the CPU itself writes these members, with interrupts off; an NMI increments @left_out_stacks
 * with one instruction. Any CPU may read the counts.
 */
struct ntklog_stack_cpu {
	u64 walked_stacks;
	u64 left_out_stacks;
	bool is_walking;
};

DECLARE_PER_CPU(struct ntklog_stack_cpu, ntklog_stack_cpu);

int ntklog_stack_init(void);
void ntklog_stack_exit(void);

unsigned int ntklog_save_stack(unsigned long *frames, unsigned int max_frames);
void ntklog_write_stack_slow(u64 sessions, u64 event_time, unsigned long caller, bool is_hooked);

/**
 * ntklog_write_stack() - write the stack of an event for the sessions that need it
 * @event: type of the event
 * @logged_event: sessions that have the event, and its time stamp
 * @caller: return address at which the stack of the event begins; may be 0
 * @is_hooked: an entry hook wrote the event. If @caller is not found, the stack then also omits the
 *	frame of the kernel's lock function
 *
 * Context: interrupts off since the event was written; no other event has been written since.
 */
static __always_inline void ntklog_write_stack(enum etw_stacked_event_type event,
					       struct etw_logged_event logged_event,
					       unsigned long caller, bool is_hooked)
{
	u64 sessions = etw_find_stack_sessions_for_event(event, logged_event.sessions);

	if (unlikely(sessions))
		ntklog_write_stack_slow(sessions, logged_event.time, caller, is_hooked);
}

/**
 * ntklog_event_is_complete() - test whether an event needs neither a copy nor a stack
 * @session_set: sessions that need the event, a byte of 1 for each
 *
 * Context: interrupts off since etw_find_sessions_for_event().
 * Return: true if at most one session needs the event and no started session logs stacks.
 */
static __always_inline bool ntklog_event_is_complete(u64 session_set)
{
	return likely(!(session_set & (session_set - 1))) &&
	       !static_branch_unlikely(&etw_stacks_key);
}

/**
 * ntklog_count_left_out_stack() - count an event without a stack, if a session needs its stack
 * @event: type of the event
 * @logged_event: sessions that have the event
 *
 * Context: as for ntklog_write_stack().
 */
static inline void ntklog_count_left_out_stack(enum etw_stacked_event_type event,
					       struct etw_logged_event logged_event)
{
	if (unlikely(etw_find_stack_sessions_for_event(event, logged_event.sessions)))
		this_cpu_inc(ntklog_stack_cpu.left_out_stacks);
}

#endif /* _NTKLOG_PERF_STACK_H */
