/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TIMELINE_H
#define _NTKLOG_TIMELINE_H

/*
 * Time lines: sums in slots of time of equal length. The length of the trace is known only at its
 * end, so the slots double their length when the trace exceeds them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_SLOTS		240
#define TIMELINES_MAX		4096

/* @next_spare: next time line that timeline_release() has given back */
struct timeline {
	struct timeline *next;
	struct timeline *next_spare;
	double slot_sums[TIMELINE_SLOTS];
};

/*
 * Set of time lines with equal slots; all zero: none.
 * @slot_ticks: length of a slot, session clock; 0 before the first sum
 * @ticks_per_cycle: ticks of the session clock in a cycle; 0 stands for 1
 */
struct timelines {
	uint64_t slot_ticks;
	double ticks_per_cycle;
	struct timeline *first_timeline;
	size_t timeline_count;
	struct timeline *first_spare;
	bool no_memory;
};

void timeline_add_span(struct timelines *timelines, struct timeline **timeline, uint64_t ticks,
		       uint64_t length, double amount);
void timeline_add_wait(struct timelines *timelines, struct timeline **timeline, uint64_t ticks,
		       uint64_t wait, uint64_t hold, double weight);
void timeline_release(struct timelines *timelines, struct timeline *timeline);
void timelines_cover_time(struct timelines *timelines, uint64_t ticks);
void timelines_free(struct timelines *timelines);

#endif /* _NTKLOG_TIMELINE_H */
