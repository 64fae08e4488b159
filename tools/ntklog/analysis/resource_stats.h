/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RESOURCE_STATS_H
#define _NTKLOG_RESOURCE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_sums.h"
#include "hash.h"
#include "histogram.h"
#include "resource_kind.h"
#include "timeline.h"
#include "wmi_record.h"

#define RESOURCES_MAX	16384

/* Number of values of the upper half of an action, known or not. */
#define RESOURCE_WMI_CLASSES	0x10000

struct resource_rates {
	uint32_t is_known;
	uint32_t release_rate;
	uint32_t contention_rate;
	uint32_t timeout_rate;
};

enum resource_access {
	RESOURCE_EXCLUSIVE,
	RESOURCE_SHARED,
	RESOURCE_ACCESSES,
};

/*
 * Sums of the exclusive owners of a resource, or of the shared ones.
 * @record_count: number of records of last releases
 * @wait_during_hold_count: number of waits that began during the sampled holds
 * @init_count: number of initialisations, which are counted as exclusive
 * @max_depth: most acquisitions of one owner at once
 * @wait: distribution of the waits, cycles
 * @hold: distribution of the known holds, cycles
 */
struct resource_sum {
	uint64_t record_count;
	uint64_t release_count;
	double variance;
	uint64_t waited_count;
	uint64_t wait_during_hold_count;
	uint64_t excessive_wait_count;
	uint64_t init_count;
	uint32_t max_depth;
	struct histogram wait;
	struct histogram hold;
	uint64_t unknown_hold_count;
	struct cpu_sums cpu_sums;
};

/* The kind is part of the key, because locks of two kinds may use the same memory in turn. */
struct resource_key {
	uint64_t address;
	uint64_t kind;
	uint64_t caller;
};

/*
 * @key: address or key of the class, enum resource_kind, and the caller that acquired the lock; 0:
 *	the caller is not recorded, or callers are not kept apart
 * @timeline: cycles waited in each slot of time, or NULL
 */
struct resource_entry {
	struct resource_key key;
	struct resource_sum sums[RESOURCE_ACCESSES];
	struct timeline *timeline;
	UT_hash_handle hh;
};

/*
 * Sums of the records of a trace; all zero: none.
 * @rates: sampling parameters at the start
 * @sums_by_caller: set by the caller of analysis_read(): sums are kept by caller
 * @weight_remainder: remainder of the last record's weight, which goes to the next record: weights
 *	are whole numbers
 * @others: sums of all resources beyond RESOURCES_MAX, by kind
 * @unknown_hold_count: estimated number of releases of all resources whose hold is not known
 * @unknown_counts: number of records of unknown classes or actions, by the upper half of their
 *	actions; allocated for the first one
 */
struct resource_stats {
	struct resource_rates rates;
	struct resource_rates highest_rates;
	bool sums_by_cpu;
	bool sums_by_caller;
	uint64_t weight_remainder;
	struct resource_entry *resources;
	struct resource_entry others[RESOURCE_KINDS];
	uint64_t unknown_hold_count;
	uint64_t record_count;
	uint32_t kind_mask;
	uint64_t *unknown_counts;
	struct timelines timelines;
	bool no_memory;
};

uint64_t resource_stats_add(struct resource_stats *stats,
			    const struct resource_record *record,
			    const struct resource_rates *rates,
			    const struct record_origin *origin);
bool resource_stats_has_linux(const struct resource_stats *stats);
void resource_stats_free(struct resource_stats *stats);

#endif /* _NTKLOG_RESOURCE_STATS_H */
