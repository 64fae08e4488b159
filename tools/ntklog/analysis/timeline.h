/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TIMELINE_H
#define _NTKLOG_TIMELINE_H

/*
 * When something was: sums in slots of equal length, as many as a picture shows. How long
 * the trace is turns out in the end, so that slots double as it gets longer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parts that the time is divided into, and things of a kind that have them. */
#define TIMELINE_SLOTS		240
#define TIMELINES_MAX		4096

/**
 * struct timeline - of one thing
 * @next: of the same set
 * @next_spare: next time line of the set that is not used any more
 * @slots: sums
 */
struct timeline {
	struct timeline *next;
	struct timeline *next_spare;
	double slots[TIMELINE_SLOTS];
};

/**
 * struct timelines - of all things of a kind; all zero: none
 * @slot_ticks: length of a slot, ticks of the session's clock; 0: not yet known
 * @ticks_per_cycle: of the cycles in which locks are timed; 0: the clock counts them
 * @first: of them
 * @count: of them
 * @spare: time lines that are not used any more
 * @no_memory: for one of them
 */
struct timelines {
	uint64_t slot_ticks;
	double ticks_per_cycle;
	struct timeline *first;
	size_t count;
	struct timeline *spare;
	bool no_memory;
};

void timeline_add_span(struct timelines *set, struct timeline **timeline, uint64_t ticks,
		       uint64_t length, double amount);
void timeline_add_wait(struct timelines *set, struct timeline **timeline, uint64_t ticks,
		       uint64_t wait, uint64_t hold, double weight);
void timeline_release(struct timelines *set, struct timeline *timeline);
void timelines_cover(struct timelines *set, uint64_t ticks);
void timelines_free(struct timelines *set);

#endif /* _NTKLOG_TIMELINE_H */
