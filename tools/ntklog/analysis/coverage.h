/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COVERAGE_H
#define _NTKLOG_COVERAGE_H

/*
 * The time that a trace covers, by CPU and by event group. In a flight recorder the oldest buffer
 * of each CPU's ring is of another age. A group is observed while its hooks are attached.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/group_mask.h>

#include "cpu_sums.h"

/* Arguments of coverage_ticks(): the CPU that is covered longest; no group in particular. */
#define COVERAGE_LONGEST_CPU	SIZE_MAX
#define COVERAGE_ANY_GROUP	0

/* @has_all_buffers: the file has so few buffers of this CPU that none can have been overwritten */
struct coverage_cpu {
	uint64_t event_count;
	uint64_t first_time;
	bool has_all_buffers;
};

struct coverage_change {
	uint64_t time;
	uint32_t group;
	bool is_observed;
};

/*
 * The groups of which events have told so far, as bits of the group mask.
 * @changed: groups with an event
 * @observed: of these, the groups that are observed now
 * @last_change: time of the last of these events
 */
struct coverage_now {
	uint32_t changed[PERF_NUM_MASKS];
	uint32_t observed[PERF_NUM_MASKS];
	uint64_t last_change;
};

/*
 * Time that a trace covers; all zero: none.
 * @now: while the events are read, in each pass from all zero on
 * @changes: changes of the groups that are observed; in the order of time after coverage_finish()
 * @is_uneven: older buffers were overwritten: CPUs without all buffers are covered from their first
 *	events on
 */
struct coverage {
	struct coverage_cpu *cpus;
	size_t cpu_count;
	struct coverage_change *changes;
	size_t change_count;
	struct coverage_now now;
	uint64_t begin_time;
	uint64_t end_time;
	bool is_uneven;
	bool no_memory;
};

/**
 * coverage_observation() - tell whether groups are observed, as far as the events so far tell
 * @coverage: coverage that coverage_follow() has changed
 * @groups: event groups of one word of the group mask: one of them suffices
 * @time: time of a record; a record that is not in the order of time counts as observed
 *
 * Return: enum observation.
 */
static inline enum observation coverage_observation(const struct coverage *coverage,
						    uint32_t groups, uint64_t time)
{
	const struct coverage_now *now = &coverage->now;
	uint32_t bits = PERF_MASK_BITS(groups);
	size_t word = PERF_MASK_INDEX(groups);

	if (now->observed[word] & bits || time < now->last_change)
		return OBSERVATION_ON;
	return now->changed[word] & bits ? OBSERVATION_OFF : OBSERVATION_UNKNOWN;
}

void coverage_add_event(struct coverage *coverage, const struct etl_event *event);
void coverage_add_observed(struct coverage *coverage, const struct etl_event *event);
void coverage_follow(struct coverage *coverage, const struct etl_event *event);
bool coverage_begins_observed(const struct coverage *coverage, uint32_t groups);
void coverage_find_cpus_with_all_buffers(struct coverage *coverage, const struct etl_file *file);
void coverage_finish(struct coverage *coverage, uint64_t begin, uint64_t end);
uint64_t coverage_begin_time(const struct coverage *coverage, size_t cpu);
bool coverage_knows_group(const struct coverage *coverage, uint32_t groups);
uint64_t coverage_ticks(const struct coverage *coverage, uint32_t groups, size_t cpu);
void coverage_free(struct coverage *coverage);

#endif /* _NTKLOG_COVERAGE_H */
