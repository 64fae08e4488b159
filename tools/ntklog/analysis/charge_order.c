// SPDX-License-Identifier: GPL-2.0-only
/* Holds in the order of their releases: see charge_order.h. */

#include "charge_order.h"

/**
 * release_sorter_init() - begin to order holds
 * @sorter: all zero
 * @ticks_per_second: of the session clock
 */
void release_sorter_init(struct release_sorter *sorter, uint64_t ticks_per_second)
{
	sorter->late_ticks_max = ticks_per_second / CHARGE_LATE_PER_SECOND;
}

/**
 * release_sorter_add() - add a hold
 * @sorter: release_sorter_next() has returned false since the last hold was added
 * @release_time: when the hold ended
 * @log_time: time stamp of the record, not before that of the last one
 * @number: of the hold, one more than that of the last one
 */
void release_sorter_add(struct release_sorter *sorter, uint64_t release_time, uint64_t log_time,
			uint64_t number)
{
	uint64_t at = sorter->taken_count + sorter->count;

	/* Nearly all holds come in order, so the place is near the end. */
	for (; at > sorter->taken_count; at--) {
		uint64_t before = (at - 1) % RELEASE_SORTER_MAX;

		if (sorter->queue[before].release_time <= release_time ||
		    number - sorter->queue[before].number > RELEASE_SORTER_MAX)
			break;
		sorter->queue[at % RELEASE_SORTER_MAX] = sorter->queue[before];
	}
	sorter->queue[at % RELEASE_SORTER_MAX].release_time = release_time;
	sorter->queue[at % RELEASE_SORTER_MAX].number = number;
	sorter->count++;
	sorter->newest_time = log_time;
}

/**
 * release_sorter_next() - take the first hold, if none that was released before it may come
 * @sorter: the order
 * @takes_all: no hold comes any more
 * @number: set to the number of the hold
 *
 * When a hold is taken, fewer than 3 * RELEASE_SORTER_MAX newer holds have been added. The taken
 * hold is still one of the CHARGE_KEPT_MAX holds that the charger keeps.
 *
 * Return: false if there is none.
 */
bool release_sorter_next(struct release_sorter *sorter, bool takes_all, uint64_t *number)
{
	uint64_t at = sorter->taken_count % RELEASE_SORTER_MAX;

	if (!sorter->count)
		return false;
	if (!takes_all && sorter->count < RELEASE_SORTER_MAX &&
	    sorter->newest_time < sorter->late_ticks_max + sorter->queue[at].release_time)
		return false;
	*number = sorter->queue[at].number;
	sorter->taken_count++;
	sorter->count--;
	return true;
}
