// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include <ntklog/wmi_resource.h>

#include "resource_stats.h"

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t remainder = a % b;

		a = b;
		b = remainder;
	}
	return a;
}

/*
 * Return the number of last releases that a record stands for. With C, the contention rate, S, the
 * release rate, and R, the CPU's count of releases, NT writes a last release if
 *
 *	the owner has waited and R % C == 0, or
 *	the number of waits that began during the hold is a multiple of C and not 0, or
 *	R % S == 0.
 *
 * All releases of the second rule are therefore written. C + S - gcd in C * S of the releases after
 * a wait are written, by the first or the third rule, and one in S of the others. The remainder of
 * a fraction goes to the next record.
 */
static uint64_t compute_weight(struct resource_stats *stats, const struct resource_record *record,
			       const struct resource_rates *rates)
{
	uint64_t contention_rate = rates->contention_rate, release_rate = rates->release_rate;
	uint64_t parts, weight;

	if (!rates->is_known ||
	    (record->contention_delta && record->contention_delta % contention_rate == 0))
		return 1;
	if (record->wait_time <= WMI_RESOURCE_WAIT_TIME_UNKNOWN)
		return release_rate;
	parts = contention_rate + release_rate -
		greatest_common_divisor(contention_rate, release_rate);
	weight = contention_rate * release_rate + stats->weight_remainder;
	stats->weight_remainder = weight % parts;
	return weight / parts;
}

static struct resource_entry *find_resource(struct resource_stats *stats,
					    const struct resource_record *record)
{
	const struct resource_key key = {
		record->resource, record->kind, stats->sums_by_caller ? record->caller : 0,
	};
	struct resource_entry *entry;

	hash_find_or_add(stats->resources, key, &key, RESOURCES_MAX, entry);
	if (entry)
		return entry;
	stats->no_memory |= HASH_COUNT(stats->resources) < RESOURCES_MAX;
	return &stats->others[record->kind];
}

static void add_unknown_action(struct resource_stats *stats, const struct resource_record *record)
{
	if (!stats->unknown_counts)
		stats->unknown_counts =
			calloc(RESOURCE_WMI_CLASSES, sizeof(*stats->unknown_counts));
	if (stats->unknown_counts)
		stats->unknown_counts[record->action >> 16]++;
	else
		stats->no_memory = true;
}

static uint64_t add_release(struct resource_stats *stats, struct resource_entry *entry,
			    enum resource_access access, const struct resource_record *record,
			    const struct resource_rates *rates, const struct record_origin *origin)
{
	struct resource_sum *sum = &entry->sums[access];
	uint64_t weight = compute_weight(stats, record, rates);
	bool waited = record->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN;

	sum->record_count++;
	sum->release_count += weight;
	sum->variance += weight_variance(weight);
	sum->wait_during_hold_count += record->contention_delta;
	if (record->depth > sum->max_depth)
		sum->max_depth = record->depth;
	if (waited) {
		sum->waited_count += weight;
		timeline_add_wait(&stats->timelines, &entry->timeline, origin->ticks,
				  record->wait_time, record->hold_time, (double)weight);
	}
	/* The hold is not known, for example because it began before the recording. */
	if (!record->hold_time) {
		sum->unknown_hold_count += weight;
		stats->unknown_hold_count += weight;
	}
	if ((stats->sums_by_cpu || origin->observation != OBSERVATION_ON) &&
	    !cpu_sums_add(&sum->cpu_sums, origin, (double)weight,
			  waited ? (double)record->wait_time * (double)weight : 0))
		stats->no_memory = true;
	if ((waited && !histogram_add(&sum->wait, record->wait_time, weight)) ||
	    (record->hold_time && !histogram_add(&sum->hold, record->hold_time, weight)))
		stats->no_memory = true;
	return weight;
}

/**
 * resource_stats_add() - add a record
 * @stats: sums to change
 * @record: record to add
 * @rates: parameters by which the record was sampled
 * @origin: where and when the record was written
 *
 * Return: number of last releases that the record stands for; 0 if it is not of a last release, or
 * was written only because the release left a waiter behind.
 */
uint64_t resource_stats_add(struct resource_stats *stats,
			    const struct resource_record *record,
			    const struct resource_rates *rates,
			    const struct record_origin *origin)
{
	struct resource_entry *entry;

	stats->record_count++;
	if ((record->action & WMI_RESOURCE_ACTION_CLASS) != WMI_RESOURCE_CLASS_RESOURCE) {
		add_unknown_action(stats, record);
		return 0;
	}
	stats->kind_mask |= 1 << record->kind;
	if (record->is_blocker)
		return 0;
	entry = find_resource(stats, record);
	switch (record->action) {
	case WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE:
		return add_release(stats, entry, RESOURCE_EXCLUSIVE, record, rates, origin);
	case WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED:
		return add_release(stats, entry, RESOURCE_SHARED, record, rates, origin);
	case WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE:
		entry->sums[RESOURCE_EXCLUSIVE].excessive_wait_count++;
		break;
	case WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED:
		entry->sums[RESOURCE_SHARED].excessive_wait_count++;
		break;
	case WMI_RESOURCE_ACTION_INITIALIZE:
	case WMI_RESOURCE_ACTION_REINITIALIZE:
		entry->sums[RESOURCE_EXCLUSIVE].init_count++;
		break;
	}
	return 0;
}

static void free_entry(struct resource_entry *entry)
{
	unsigned int i;

	for (i = 0; i < RESOURCE_ACCESSES; i++) {
		histogram_free(&entry->sums[i].wait);
		histogram_free(&entry->sums[i].hold);
		cpu_sums_free(&entry->sums[i].cpu_sums);
	}
}

/**
 * resource_stats_has_linux() - test whether records are of Linux' locks
 * @stats: sums
 *
 * Return: true if at least one record is of a lock of Linux.
 */
bool resource_stats_has_linux(const struct resource_stats *stats)
{
	return stats->kind_mask & ~(1 << RESOURCE_KIND_NT);
}

/**
 * resource_stats_free() - free the sums, and make the statistics empty
 * @stats: statistics, or all zero
 */
void resource_stats_free(struct resource_stats *stats)
{
	struct resource_entry *entry;
	unsigned int i;

	while ((entry = hash_take_first(stats->resources))) {
		free_entry(entry);
		free(entry);
	}
	for (i = 0; i < RESOURCE_KINDS; i++)
		free_entry(&stats->others[i]);
	free(stats->unknown_counts);
	timelines_free(&stats->timelines);
	*stats = (struct resource_stats) { 0 };
}
