// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "timeline.h"
#include "whole_ticks.h"

/* First length of a slot, ticks. It must be a power of two. */
#define FIRST_SLOT_TICKS	4096

/* The length of a slot is a power of two. */
static uint64_t slot_of(const struct timelines *set, uint64_t ticks)
{
	return ticks >> __builtin_ctzll(set->slot_ticks);
}

static void double_slots(struct timelines *set)
{
	struct timeline *timeline;
	unsigned int i;

	set->slot_ticks *= 2;
	for (timeline = set->first; timeline; timeline = timeline->next) {
		double *slots = timeline->slots;

		for (i = 0; i < TIMELINE_SLOTS / 2; i++)
			slots[i] = slots[2 * i] + slots[2 * i + 1];
		memset(slots + TIMELINE_SLOTS / 2, 0, TIMELINE_SLOTS / 2 * sizeof(*slots));
	}
}

static bool cover_time(struct timelines *set, uint64_t ticks)
{
	/* A time before the begin of the time lines is a large number. */
	if (ticks > UINT64_MAX / 4)
		return false;
	if (!set->slot_ticks)
		set->slot_ticks = FIRST_SLOT_TICKS;
	while (slot_of(set, ticks) >= TIMELINE_SLOTS)
		double_slots(set);
	return true;
}

/*
 * Make the slots cover a time, and allocate the time line if it is NULL. Returns false if that
 * fails.
 */
static bool prepare_timeline(struct timelines *set, struct timeline **timeline, uint64_t ticks)
{
	if (!cover_time(set, ticks))
		return false;
	if (*timeline)
		return true;
	if (set->spare) {
		*timeline = set->spare;
		set->spare = set->spare->next_spare;
		return true;
	}
	if (set->timeline_count == TIMELINES_MAX)
		return false;
	*timeline = calloc(1, sizeof(**timeline));
	if (!*timeline) {
		set->no_memory = true;
		return false;
	}
	(*timeline)->next = set->first;
	set->first = *timeline;
	set->timeline_count++;
	return true;
}

/**
 * timeline_add_span() - spread an amount over the slots of a span of time
 * @set: set of @timeline
 * @timeline: time line; NULL: set to an unused or new one. A set has at most TIMELINES_MAX
 * @ticks: end of the span, ticks of the session's clock since the begin of the time lines
 * @length: length of the span, ticks; the part before the begin of the time lines is left out
 * @amount: amount of the whole span
 */
void timeline_add_span(struct timelines *set, struct timeline **timeline, uint64_t ticks,
		       uint64_t length, double amount)
{
	uint64_t from = length < ticks ? ticks - length : 0;

	if (!prepare_timeline(set, timeline, ticks))
		return;
	if (!length)
		(*timeline)->slots[slot_of(set, ticks)] += amount;
	while (from < ticks) {
		uint64_t slot = slot_of(set, from), end = (slot + 1) * set->slot_ticks;

		if (end > ticks)
			end = ticks;
		(*timeline)->slots[slot] += amount * (double)(end - from) / (double)length;
		from = end;
	}
}

/**
 * timeline_add_wait() - add the wait of an acquisition whose event was written at the release
 * @set: set of @timeline
 * @timeline: time line; NULL: set to an unused or new one. A set has at most TIMELINES_MAX
 * @ticks: time of the event, ticks of the session's clock since the begin of the time lines
 * @wait: length of the wait, which ended where the hold began, cycles
 * @hold: length of the hold, cycles
 * @weight: number of such waits
 */
void timeline_add_wait(struct timelines *set, struct timeline **timeline, uint64_t ticks,
		       uint64_t wait, uint64_t hold, double weight)
{
	double ticks_per_cycle = set->ticks_per_cycle > 0 ? set->ticks_per_cycle : 1;
	uint64_t held = whole_ticks((double)hold * ticks_per_cycle);

	if (held > ticks)
		return;
	timeline_add_span(set, timeline, ticks - held,
			  whole_ticks((double)wait * ticks_per_cycle), (double)wait * weight);
}

/**
 * timeline_release() - give a time line back to its set, for another use
 * @set: the set
 * @timeline: time line that is not used any more, or NULL
 */
void timeline_release(struct timelines *set, struct timeline *timeline)
{
	if (!timeline)
		return;
	memset(timeline->slots, 0, sizeof(timeline->slots));
	timeline->next_spare = set->spare;
	set->spare = timeline;
}

/**
 * timelines_cover() - make the slots cover the whole trace
 * @set: set to which nothing is added any more
 * @ticks: end of the trace, session clock since the begin of the time lines
 */
void timelines_cover(struct timelines *set, uint64_t ticks)
{
	cover_time(set, ticks);
}

/**
 * timelines_free() - free the time lines, and make the set empty
 * @set: set, or all zero
 */
void timelines_free(struct timelines *set)
{
	struct timeline *timeline, *next;

	for (timeline = set->first; timeline; timeline = next) {
		next = timeline->next;
		free(timeline);
	}
	*set = (struct timelines) { 0 };
}
