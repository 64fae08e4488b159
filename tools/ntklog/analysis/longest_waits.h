/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LONGEST_WAITS_H
#define _NTKLOG_LONGEST_WAITS_H

/* The longest waits of a trace, step by step, and its longest chain of waits. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "charge.h"

#define LONGEST_WAITS_MAX	10
#define LONGEST_STEPS_MAX	32
#define LONGEST_LINKS_MAX	8

/*
 * @piece: the piece, without pointers
 * @holder: its hold, if @has_holder
 * @absence_frames: stack of the holder or next owner, if it had no CPU; 0: not recorded
 * @preempter_id: task that got the CPU of the holder or next owner, if that was ready; 0: not
 *	recorded
 * @links: locks that the holder waited for meanwhile, each held by a task that waited for the next
 */
struct longest_step {
	struct wait_piece piece;
	struct charge_hold holder;
	uint64_t holder_frames[CHARGE_FRAMES_MAX];
	bool has_holder;
	uint64_t absence_frames[CHARGE_FRAMES_MAX];
	uint32_t preempter_id;
	struct chain_link links[LONGEST_LINKS_MAX];
	size_t link_count;
};

/*
 * @ticks: how long it was, session clock; 0: the structure is unused
 * @waiter: the hold that followed the wait
 * @steps: the longest steps, in the order of time
 * @other_step_count: number of shorter steps, which are not kept
 * @other_ticks: their time
 */
struct longest_wait {
	uint64_t ticks;
	struct charge_hold waiter;
	uint64_t waiter_frames[CHARGE_FRAMES_MAX];
	struct longest_step steps[LONGEST_STEPS_MAX];
	size_t step_count;
	uint64_t other_step_count;
	uint64_t other_ticks;
};

/*
 * A waiter, and holders that waited themselves.
 * @from: when the waiter waited for the first holder, session clock
 * @thread_id: the waiter
 * @links: the locks; the first one is the lock that @thread_id waited for
 * @link_count: number of @links; 0: no holder has waited
 */
struct longest_chain {
	uint64_t from;
	uint64_t ticks;
	uint32_t thread_id;
	struct chain_link links[1 + LONGEST_LINKS_MAX];
	size_t link_count;
};

/*
 * The longest waits of a trace, from longest_waits_open().
 * @waits_by_length: pointers to all of @waits, the longest wait first, unused structures last
 * @chain: the chain with the most locks, and of these the one that lasted longest
 */
struct longest_waits {
	struct longest_wait waits[LONGEST_WAITS_MAX];
	struct longest_wait *waits_by_length[LONGEST_WAITS_MAX];
	struct longest_chain chain;
};

struct longest_waits *longest_waits_open(void);
void longest_waits_add(struct longest_waits *longest, struct charger *charger,
		       const struct charge_hold *waiter);
void longest_waits_add_chain(struct longest_waits *longest, const struct charge_hold *waiter,
			     const struct wait_piece *piece, const struct chain_link *links,
			     size_t count);

#endif /* _NTKLOG_LONGEST_WAITS_H */
