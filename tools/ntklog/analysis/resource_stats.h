/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RESOURCE_STATS_H
#define _NTKLOG_RESOURCE_STATS_H

/* Sums of WMI_RESOURCE records, by resource and by lock of Linux that tasks sleep for. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_sums.h"
#include "hash.h"
#include "histogram.h"
#include "resource_kind.h"
#include "timeline.h"
#include "wmi_record.h"

/* Greatest number of resources that have sums of their own. Further ones share a sum. */
#define RESOURCES_MAX	16384

/* Number of values of the upper half of an action, known or not. */
#define RESOURCE_WMI_CLASSES	0x10000

/**
 * struct resource_rates - sampling parameters of resources
 * @known: the file has the parameters
 * @release_rate: ReleaseSamplingRate
 * @contention_rate: ContentionSamplingRate
 * @timeouts: NumberOfExcessiveTimeouts
 */
struct resource_rates {
	uint32_t known;
	uint32_t release_rate;
	uint32_t contention_rate;
	uint32_t timeouts;
};

enum resource_class {
	RESOURCE_EXCLUSIVE,
	RESOURCE_SHARED,
	RESOURCE_CLASSES,
};

/**
 * struct resource_sum - sums of the exclusive owners of a resource, or of the shared ones
 * @sampled: number of records of last releases
 * @releases: estimated number of last releases
 * @variance: variance of @releases
 * @waited: estimated number of releases whose acquisition waited
 * @contention: number of waits that began during the sampled holds
 * @excessive: number of records of excessive waits
 * @max_depth: most acquisitions of one owner at once
 * @wait: distribution of the waits, cycles
 * @hold: distribution of the known holds, cycles
 * @hold_unknown: estimated number of releases whose hold is not known
 * @cpus: releases and waits by CPU, if they are kept apart
 */
struct resource_sum {
	uint64_t sampled;
	uint64_t releases;
	double variance;
	uint64_t waited;
	uint64_t contention;
	uint64_t excessive;
	uint32_t max_depth;
	struct histogram wait;
	struct histogram hold;
	uint64_t hold_unknown;
	struct cpu_sums cpus;
};

/* The kind is part of the key, because locks of two kinds may use the same memory in turn. */
struct resource_key {
	uint64_t address;
	uint64_t kind;
	uint64_t caller;
};

/**
 * struct resource_entry - a resource, or a class of locks
 * @key: address or key of the class, enum resource_kind, and the caller that acquired the lock; 0:
 *	the caller is not recorded, or callers are not kept apart
 * @classes: sums of exclusive and of shared owners
 * @initialized: number of initializations and reinitializations
 * @timeline: cycles waited in each slot of time, or NULL
 * @hh: entry of the hash table
 */
struct resource_entry {
	struct resource_key key;
	struct resource_sum classes[RESOURCE_CLASSES];
	uint64_t initialized;
	struct timeline *timeline;
	UT_hash_handle hh;
};

/**
 * struct resource_stats - sums of the records of a trace; all zero: none
 * @rates: sampling parameters at the start
 * @highest: highest rates during the recording
 * @has_cpus: sums are kept by CPU
 * @by_caller: set by the caller of analysis_read(): sums are kept by caller
 * @remainder: remainder of the last record's weight, which goes to the next record: weights are
 *	whole numbers
 * @resources: hash table of resources
 * @others: sums of all resources beyond RESOURCES_MAX, by kind
 * @hold_unknown: estimated number of releases of all resources whose hold is not known
 * @records: number of records
 * @kinds: bits of the kinds seen
 * @unknown: number of records of unknown classes or actions, by the upper half of their actions;
 *	allocated for the first one
 * @timelines: time lines of the resources
 * @no_memory: something is missing for want of memory
 */
struct resource_stats {
	struct resource_rates rates;
	struct resource_rates highest;
	bool has_cpus;
	bool by_caller;
	uint64_t remainder;
	struct resource_entry *resources;
	struct resource_entry others[RESOURCE_KINDS];
	uint64_t hold_unknown;
	uint64_t records;
	uint32_t kinds;
	uint64_t *unknown;
	struct timelines timelines;
	bool no_memory;
};

uint64_t resource_stats_add(struct resource_stats *stats,
			    const struct resource_record *record,
			    const struct resource_rates *rates, unsigned int cpu,
			    uint64_t ticks);
bool resource_stats_has_linux(const struct resource_stats *stats);
void resource_stats_free(struct resource_stats *stats);

#endif /* _NTKLOG_RESOURCE_STATS_H */
