/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_ORDER_H
#define _NTKLOG_CHARGE_ORDER_H

/*
 * Holds in the order of their releases. A record is written after the release, without the lock. If
 * an interrupt comes in between, or a hypervisor stops the virtual CPU, the record arrives after
 * those of tasks that have got the lock since.
 */

#include <stdbool.h>
#include <stdint.h>

/* A second has this many of the times for which late records are waited for. */
#define CHARGE_LATE_PER_SECOND	10

/* Size of the queue of holds that wait for late ones. If it is full, the first waits no longer. */
#define RELEASE_SORTER_MAX	0x4000

/**
 * struct release_sorter - holds that wait for late ones
 * @queue: circular; sorted by @queue.release_time, apart from holds that waited too long for others
 * @queue.released: when the hold ended, session clock
 * @queue.number: number of the hold, in the order of the records
 * @taken_count: number of holds that were taken; its remainder is the index of the next one
 * @count: number of holds in @queue
 * @late_ticks_max: how late a record may be, session clock
 * @newest_time: time stamp of the newest record
 */
struct release_sorter {
	struct {
		uint64_t release_time;
		uint64_t number;
	} queue[RELEASE_SORTER_MAX];
	uint64_t taken_count;
	uint64_t count;
	uint64_t late_ticks_max;
	uint64_t newest_time;
};

void release_sorter_init(struct release_sorter *sorter, uint64_t ticks_per_second);
void release_sorter_add(struct release_sorter *sorter, uint64_t release_time, uint64_t log_time,
			uint64_t number);
bool release_sorter_next(struct release_sorter *sorter, bool takes_all, uint64_t *number);

#endif /* _NTKLOG_CHARGE_ORDER_H */
