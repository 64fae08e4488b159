// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include <ntklog/event.h>
#include <ntklog/group_mask.h>

#include "coverage.h"
#include "etl_reader.h"
#include "grow.h"

/**
 * coverage_add_cpu() - begin to cover CPUs
 * @coverage: coverage to change
 * @number: greatest number of these CPUs
 *
 * Return: false without memory.
 */
bool coverage_add_cpu(struct coverage *coverage, unsigned int number)
{
	struct coverage_cpu *more = grow_to(coverage->cpus, coverage->cpu_count, number + 1,
					    sizeof(*more));

	if (!more) {
		coverage->no_memory = true;
		return false;
	}
	coverage->cpus = more;
	coverage->cpu_count = number + 1;
	return true;
}

/**
 * coverage_add_change() - note that the observation of a group begins or ends
 * @coverage: coverage to change
 * @event: PERFINFO_LOG_TYPE_NTKLOG_OBSERVED, whose size has been checked
 */
void coverage_add_change(struct coverage *coverage, const struct etl_event *event)
{
	struct coverage_change *more = grow_by_one(coverage->changes, coverage->change_count,
						   sizeof(*more));
	struct ntklog_observed observed;

	if (!more) {
		coverage->no_memory = true;
		return;
	}
	memcpy(&observed, event->data, sizeof(observed));
	coverage->changes = more;
	coverage->changes[coverage->change_count++] = (struct coverage_change) {
		.time = event->time_stamp,
		.group = observed.group,
		.is_observed = observed.observed,
	};
}

/**
 * coverage_update_state() - follow which groups are observed while the events are read
 * @coverage: coverage to change
 * @event: as for coverage_add_change(), in the order of time
 */
void coverage_update_state(struct coverage *coverage, const struct etl_event *event)
{
	struct coverage_state *state = &coverage->state;
	struct ntklog_observed observed;
	uint32_t bits;
	size_t word;

	memcpy(&observed, event->data, sizeof(observed));
	word = PERF_MASK_INDEX(observed.group);
	bits = PERF_MASK_BITS(observed.group);
	state->known_groups[word] |= bits;
	if (observed.observed)
		state->observed_groups[word] |= bits;
	else
		state->observed_groups[word] &= ~bits;
	state->last_change_time = event->time_stamp;
}

static int compare_changes(const void *a, const void *b)
{
	const struct coverage_change *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

/**
 * coverage_finish() - set the limits of the time that is wanted
 * @coverage: coverage to which nothing is added any more
 * @begin: begin of the time, session clock
 * @end: end of the time
 */
void coverage_finish(struct coverage *coverage, uint64_t begin, uint64_t end)
{
	coverage->begin_time = begin;
	coverage->end_time = end > begin ? end : begin;
	if (coverage->change_count)
		qsort(coverage->changes, coverage->change_count, sizeof(*coverage->changes),
		      compare_changes);
}

/**
 * coverage_begin_time() - find the time from which on a CPU is covered
 * @coverage: finished coverage
 * @cpu: number of the CPU
 *
 * Return: the time, session clock.
 */
uint64_t coverage_begin_time(const struct coverage *coverage, size_t cpu)
{
	uint64_t begin = coverage->begin_time;

	if (coverage->cpu_begins_differ && cpu < coverage->cpu_count &&
	    !coverage->cpus[cpu].has_all_buffers && coverage->cpus[cpu].first_time > begin)
		begin = coverage->cpus[cpu].first_time;
	return begin < coverage->end_time ? begin : coverage->end_time;
}

static bool change_is_of_groups(const struct coverage_change *change, uint32_t groups)
{
	return PERF_MASK_INDEX(change->group) == PERF_MASK_INDEX(groups) &&
	       PERF_MASK_BITS(change->group) & PERF_MASK_BITS(groups);
}

/**
 * coverage_knows_group() - test whether the trace says when groups were observed
 * @coverage: finished coverage
 * @groups: event groups of one word of the group mask
 *
 * Return: true if the trace says it of one of the groups.
 */
bool coverage_knows_group(const struct coverage *coverage, uint32_t groups)
{
	size_t i;

	for (i = 0; i < coverage->change_count; i++)
		if (change_is_of_groups(&coverage->changes[i], groups))
			return true;
	return false;
}

/*
 * Return the bits of the groups that were observed before their first event: that event says that
 * the observation ends.
 */
static uint32_t find_groups_at_begin(const struct coverage *coverage, uint32_t groups)
{
	uint32_t observed = 0, changed_before = 0;
	size_t i;

	for (i = 0; i < coverage->change_count; i++) {
		const struct coverage_change *change = &coverage->changes[i];

		if (!change_is_of_groups(change, groups) ||
		    changed_before & PERF_MASK_BITS(change->group))
			continue;
		changed_before |= PERF_MASK_BITS(change->group);
		if (!change->is_observed)
			observed |= PERF_MASK_BITS(change->group);
	}
	return observed;
}

/**
 * coverage_is_observed_at_begin() - test whether groups were observed before their first event
 * @coverage: finished coverage
 * @groups: event groups of one word of the group mask
 *
 * Return: true if one of them was, or if the trace does not say when they were observed.
 */
bool coverage_is_observed_at_begin(const struct coverage *coverage, uint32_t groups)
{
	return !coverage_knows_group(coverage, groups) || find_groups_at_begin(coverage, groups);
}

static uint64_t compute_observed_ticks(const struct coverage *coverage, uint32_t groups,
				       uint64_t begin, uint64_t end)
{
	uint32_t observed = find_groups_at_begin(coverage, groups);
	uint64_t ticks = 0, since = begin;
	size_t i;

	for (i = 0; i < coverage->change_count; i++) {
		const struct coverage_change *change = &coverage->changes[i];
		uint64_t time = change->time < begin ? begin :
				change->time > end ? end : change->time;

		if (!change_is_of_groups(change, groups))
			continue;
		if (observed)
			ticks += time - since;
		since = time;
		if (change->is_observed)
			observed |= PERF_MASK_BITS(change->group);
		else
			observed &= ~PERF_MASK_BITS(change->group);
	}
	return observed ? ticks + (end - since) : ticks;
}

/**
 * coverage_ticks() - get the length of the time in which a CPU is covered and a group observed
 * @coverage: finished coverage
 * @groups: event groups of one word of the group mask, or COVERAGE_ANY_GROUP. If the trace does not
 *	say when they were observed, they count as observed all the time
 * @cpu: number of the CPU, or COVERAGE_LONGEST_CPU
 *
 * Return: ticks of the session's clock.
 */
uint64_t coverage_ticks(const struct coverage *coverage, uint32_t groups, size_t cpu)
{
	uint64_t begin, cpu_begin;
	size_t i;

	if (cpu == COVERAGE_LONGEST_CPU) {
		begin = coverage->cpu_begins_differ && coverage->cpu_count ? coverage->end_time :
								     coverage->begin_time;
		for (i = 0; coverage->cpu_begins_differ && i < coverage->cpu_count; i++) {
			cpu_begin = coverage_begin_time(coverage, i);
			if (coverage->cpus[i].event_count && cpu_begin < begin)
				begin = cpu_begin;
		}
	} else {
		begin = coverage_begin_time(coverage, cpu);
	}
	if (groups == COVERAGE_ANY_GROUP || !coverage_knows_group(coverage, groups))
		return coverage->end_time - begin;
	return compute_observed_ticks(coverage, groups, begin, coverage->end_time);
}

/**
 * coverage_find_cpus_with_all_buffers() - find the CPUs whose buffers were not overwritten
 * @coverage: coverage of all events of the file
 * @file: the file
 *
 * The rings of all CPUs of a flight recorder have the same size. A full ring may lack the buffer
 * that a reader was just taking; so a ring with at least two buffers fewer than another one was not
 * full. All CPUs of a circular file share one ring.
 */
void coverage_find_cpus_with_all_buffers(struct coverage *coverage, const struct etl_file *file)
{
	const struct etl_reader *reader = etl_const_reader_of(file);
	size_t *buffers = calloc(coverage->cpu_count + 1, sizeof(*buffers));
	size_t most = 0, i;

	coverage->cpu_begins_differ = reader->file.overwritten;
	for (i = 1; buffers && i < reader->file.buffers; i++) {
		size_t cpu = reader->index_entries[i].processor;

		if (cpu < coverage->cpu_count && ++buffers[cpu] > most)
			most = buffers[cpu];
	}
	for (i = 0; buffers && i < coverage->cpu_count; i++)
		coverage->cpus[i].has_all_buffers = !etl_is_circular(file) &&
						    buffers[i] + 1 < most;
	coverage->no_memory |= !buffers;
	free(buffers);
}

/**
 * coverage_free() - free the coverage
 * @coverage: coverage; empty afterwards
 */
void coverage_free(struct coverage *coverage)
{
	free(coverage->cpus);
	free(coverage->changes);
	*coverage = (struct coverage) { 0 };
}
