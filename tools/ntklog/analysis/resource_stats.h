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

/* Resources that are told apart; all others are one. */
#define RESOURCES_MAX	16384

/* Classes that a record can have, known or not. */
#define RESOURCE_WMI_CLASSES	0x10000

/**
 * struct resource_rates - the parameters of the sampling
 * @known: the file has them
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
 * struct resource_sum - of one class of a resource's owners
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

/* Memory that was of one kind may be of another later. */
struct resource_key {
	uint64_t address;
	uint64_t kind;
};

/**
 * struct resource_entry - a resource
 * @key: its address, and its enum resource_kind
 * @classes: of its owners
 * @initialized: times that it was, again too
 * @timeline: cycles waited for it in each slot, or NULL
 * @hh: in the table
 */
struct resource_entry {
	struct resource_key key;
	struct resource_sum classes[RESOURCE_CLASSES];
	uint64_t initialized;
	struct timeline *timeline;
	UT_hash_handle hh;
};

/**
 * struct resource_stats - of a file, or of a time; all zero: empty
 * @rates: of the sampling, at its start
 * @highest: highest rates during the recording
 * @has_cpus: sums are kept by CPU
 * @remainder: remainder of the last record's weight, which goes to the next record: weights are
 *	whole numbers
 * @resources: table
 * @others: sums of all resources beyond RESOURCES_MAX, by kind
 * @hold_unknown: releases whose hold is not known, of all, estimate
 * @records: of all
 * @kinds: bits of the kinds seen
 * @unknown: records of which nothing is known, by the upper half of their actions; made when
 *	there is one
 * @timelines: of the resources
 * @no_memory: something is missing for want of it
 */
struct resource_stats {
	struct resource_rates rates;
	struct resource_rates highest;
	bool has_cpus;
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
