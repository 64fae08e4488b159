/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_H
#define _NTKLOG_CHARGE_H

/*
 * Charging the waits for locks to the tasks that held these locks, and finding what the holders
 * did meanwhile.
 *
 * Each record of a release tells of one hold and of the wait before it. The time of a wait is
 * divided among the recorded holds of the same lock, in the order of their acquisition:
 *
 *	the wait		 |===========================================|
 *	recorded holds	   ---A---|      |---B---|         |---C---|         |---the waiter's---
 *	charged to		A   free     B      free       C       free
 *
 * Time inside a hold is charged to its holder; where readers overlap, to the reader that acquired
 * the lock first. Between two holds the lock is free. As long as its next owner does not wait, the
 * free time counts as overtaken: the waiter could have had the lock. From the begin of the next
 * owner's wait on, it counts as handed over. Before the first recorded hold of another task the
 * time counts as unknown until that task waits, because an earlier hold may not be recorded;
 * without any such hold all of the wait is unknown. A hold without a time stamp of its start, or
 * with a late one, is taken to begin at the release before it, or at the begin of the wait. The
 * parts of a wait add up to it exactly.
 *
 * The context switches tell when the holder or the next owner had no CPU. Where they are not
 * recorded, the sums of the hold's own record divide the time. A part of a hold is divided in
 * proportion, because the record does not say when the holder had no CPU.
 *
 * A wait is charged when the hold that follows it is taken from the queue, which has the holds in
 * the order of their releases.
 */

#include <stddef.h>
#include <stdint.h>

#include "charge_hold.h"

struct charger;

struct charger *charger_open(charge_callback callback, void *argument,
			     uint64_t ticks_per_second);
void charger_add_hold(struct charger *charger, const struct charge_hold *hold);
const struct charge_hold *charger_next_hold(struct charger *charger, bool takes_all);
void charger_charge_wait(struct charger *charger, const struct charge_hold *hold);
void charger_repeat_steps(struct charger *charger, const struct charge_hold *waiter,
			  charge_callback callback, void *argument);
void charger_switch_out(struct charger *charger, const struct charge_absence *absence);
void charger_switch_in(struct charger *charger, uint32_t thread_id, uint64_t time,
		       uint64_t ready_for);
const struct charge_hold *charger_find_wait(const struct charger *charger, uint32_t thread_id,
					    uint64_t time);
const struct charge_hold *charger_find_holder(const struct charger *charger,
					      const struct charge_hold *wait, uint64_t time);
size_t charger_find_chain(const struct charger *charger, const struct wait_piece *piece,
			  struct chain_link *links, size_t links_max);
const struct charge_absence *charger_find_absence(const struct charger *charger,
						  uint32_t thread_id, uint64_t time);
void charger_close(struct charger *charger);

#endif /* _NTKLOG_CHARGE_H */
