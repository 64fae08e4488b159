// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "timeline.h"
#include "whole_ticks.h"

/* First length of a slot, ticks. It must be a power of two. */
#define FIRST_SLOT_TICKS	4096

/* The length of a slot is a power of two. */
static uint64_t find_slot(const struct timelines *timelines, uint64_t ticks)
{
	return ticks >> __builtin_ctzll(timelines->slot_ticks);
}

static void double_slot_length(struct timelines *timelines)
{
	struct timeline *timeline;
	unsigned int i;

	timelines->slot_ticks *= 2;
	for (timeline = timelines->first_timeline; timeline; timeline = timeline->next) {
		double *slots = timeline->slot_sums;

		for (i = 0; i < TIMELINE_SLOTS / 2; i++)
			slots[i] = slots[2 * i] + slots[2 * i + 1];
		memset(slots + TIMELINE_SLOTS / 2, 0, TIMELINE_SLOTS / 2 * sizeof(*slots));
	}
}

static bool make_slots_longer(struct timelines *timelines, uint64_t ticks)
{
	/* A time before the begin of the time lines has wrapped to a large number. */
	if (ticks > UINT64_MAX / 4)
		return false;
	if (!timelines->slot_ticks)
		timelines->slot_ticks = FIRST_SLOT_TICKS;
	while (find_slot(timelines, ticks) >= TIMELINE_SLOTS)
		double_slot_length(timelines);
	return true;
}

static inline bool cover_time(struct timelines *timelines, uint64_t ticks)
{
	return (timelines->slot_ticks && find_slot(timelines, ticks) < TIMELINE_SLOTS) ||
	       make_slots_longer(timelines, ticks);
}

/* Allocate a time line. Returns false if that fails. */
static bool add_timeline(struct timelines *timelines, struct timeline **timeline)
{
	if (timelines->first_spare) {
		*timeline = timelines->first_spare;
		timelines->first_spare = timelines->first_spare->next_spare;
		return true;
	}
	if (timelines->timeline_count == TIMELINES_MAX)
		return false;
	*timeline = calloc(1, sizeof(**timeline));
	if (!*timeline) {
		timelines->no_memory = true;
		return false;
	}
	(*timeline)->next = timelines->first_timeline;
	timelines->first_timeline = *timeline;
	timelines->timeline_count++;
	return true;
}

/**
 * timeline_add_span() - spread an amount over the slots of a span of time
 * @timelines: set of @timeline
 * @timeline: time line; NULL: set to an unused or new one. A set has at most TIMELINES_MAX
 * @ticks: end of the span, ticks of the session's clock since the begin of the time lines
 * @length: length of the span, ticks; the part before the begin of the time lines is left out
 * @amount: amount of the whole span
 */
void timeline_add_span(struct timelines *timelines, struct timeline **timeline, uint64_t ticks,
		       uint64_t length, double amount)
{
	uint64_t from = length < ticks ? ticks - length : 0, slot, end;

	if (!cover_time(timelines, ticks) ||
	    (!*timeline && !add_timeline(timelines, timeline)))
		return;
	slot = find_slot(timelines, from);
	if (!length)
		(*timeline)->slot_sums[slot] += amount;
	for (; from < ticks; from = end, slot++) {
		end = (slot + 1) * timelines->slot_ticks;
		if (end > ticks)
			end = ticks;
		(*timeline)->slot_sums[slot] += amount * (double)(int64_t)(end - from) /
						(double)length;
	}
}

/**
 * timeline_add_wait() - add the wait of an acquisition whose event was written at the release
 * @timelines: set of @timeline
 * @timeline: time line; NULL: set to an unused or new one. A set has at most TIMELINES_MAX
 * @ticks: time of the event, ticks of the session's clock since the begin of the time lines
 * @wait: length of the wait, which ended where the hold began, cycles
 * @hold: length of the hold, cycles
 * @weight: number of such waits
 */
void timeline_add_wait(struct timelines *timelines, struct timeline **timeline, uint64_t ticks,
		       uint64_t wait, uint64_t hold, double weight)
{
	double ticks_per_cycle = timelines->ticks_per_cycle > 0 ? timelines->ticks_per_cycle : 1;
	uint64_t held = floor_ticks((double)hold * ticks_per_cycle);

	if (held > ticks)
		return;
	timeline_add_span(timelines, timeline, ticks - held,
			  floor_ticks((double)wait * ticks_per_cycle), (double)wait * weight);
}

/**
 * timeline_release() - give a time line back to its set, for another use
 * @timelines: the set
 * @timeline: time line that is not used any more, or NULL
 */
void timeline_release(struct timelines *timelines, struct timeline *timeline)
{
	if (!timeline)
		return;
	memset(timeline->slot_sums, 0, sizeof(timeline->slot_sums));
	timeline->next_spare = timelines->first_spare;
	timelines->first_spare = timeline;
}

/**
 * timelines_cover_time() - make the slots cover the whole trace
 * @timelines: set to which nothing is added any more
 * @ticks: end of the trace, session clock since the begin of the time lines
 */
void timelines_cover_time(struct timelines *timelines, uint64_t ticks)
{
	cover_time(timelines, ticks);
}

/**
 * timelines_free() - free the time lines, and make the set empty
 * @timelines: set, or all zero
 */
void timelines_free(struct timelines *timelines)
{
	struct timeline *timeline, *next;

	for (timeline = timelines->first_timeline; timeline; timeline = next) {
		next = timeline->next;
		free(timeline);
	}
	*timelines = (struct timelines) { 0 };
}
