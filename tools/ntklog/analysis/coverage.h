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
 * @known_groups: groups with an event
 * @observed_groups: of these, the groups that are observed now
 * @last_change_time: time of the last of these events
 */
struct coverage_state {
	uint32_t known_groups[PERF_NUM_MASKS];
	uint32_t observed_groups[PERF_NUM_MASKS];
	uint64_t last_change_time;
};

/*
 * Time that a trace covers; all zero: none.
 * @state: while the events are read, in each pass from all zero on
 * @changes: changes of the groups that are observed; in the order of time after coverage_finish()
 * @cpu_begins_differ: older buffers were overwritten: CPUs without all buffers are covered from
 *	their first events on
 */
struct coverage {
	struct coverage_cpu *cpus;
	size_t cpu_count;
	struct coverage_change *changes;
	size_t change_count;
	struct coverage_state state;
	uint64_t begin_time;
	uint64_t end_time;
	bool cpu_begins_differ;
	bool no_memory;
};

/**
 * coverage_observation_state() - tell whether groups are observed, as far as the events so far tell
 * @coverage: coverage that coverage_update_state() has changed
 * @groups: event groups of one word of the group mask: one of them suffices
 * @time: time of a record; a record that is not in the order of time counts as observed
 *
 * Return: enum observation_state.
 */
static inline enum observation_state coverage_observation_state(const struct coverage *coverage,
								uint32_t groups, uint64_t time)
{
	const struct coverage_state *state = &coverage->state;
	uint32_t bits = PERF_MASK_BITS(groups);
	size_t word = PERF_MASK_INDEX(groups);

	if (state->observed_groups[word] & bits || time < state->last_change_time)
		return OBSERVATION_ON;
	return state->known_groups[word] & bits ? OBSERVATION_OFF : OBSERVATION_UNKNOWN;
}

bool coverage_add_cpu(struct coverage *coverage, unsigned int number);

/**
 * coverage_add_event() - note the time of an event
 * @coverage: coverage to change
 * @event: event with a time of its own
 */
static inline void coverage_add_event(struct coverage *coverage, const struct etl_event *event)
{
	struct coverage_cpu *cpu;

	if (event->processor >= coverage->cpu_count &&
	    !coverage_add_cpu(coverage, event->processor))
		return;
	cpu = &coverage->cpus[event->processor];
	if (!cpu->event_count++ || event->time_stamp < cpu->first_time)
		cpu->first_time = event->time_stamp;
}

void coverage_add_change(struct coverage *coverage, const struct etl_event *event);
void coverage_update_state(struct coverage *coverage, const struct etl_event *event);
bool coverage_is_observed_at_begin(const struct coverage *coverage, uint32_t groups);
void coverage_find_cpus_with_all_buffers(struct coverage *coverage, const struct etl_file *file);
void coverage_finish(struct coverage *coverage, uint64_t begin, uint64_t end);
uint64_t coverage_begin_time(const struct coverage *coverage, size_t cpu);
bool coverage_knows_group(const struct coverage *coverage, uint32_t groups);
uint64_t coverage_ticks(const struct coverage *coverage, uint32_t groups, size_t cpu);
void coverage_free(struct coverage *coverage);

#endif /* _NTKLOG_COVERAGE_H */
