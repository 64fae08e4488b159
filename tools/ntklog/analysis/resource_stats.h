/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RESOURCE_STATS_H
#define _NTKLOG_RESOURCE_STATS_H

/* What WMI_RESOURCE records say together, by resource. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "histogram.h"
#include "timeline.h"
#include "wmi_record.h"

/* Resources that are told apart; all others are one. */
#define RESOURCES_MAX	16384

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
 * @sampled: records of last releases
 * @releases: estimate
 * @waited: estimate
 * @contention: waits that others began while it was owned, of the sampled ones
 * @excessive: records of excessive waits
 * @max_depth: most acquisitions of one owner at once
 * @wait: of those that waited, cycles
 * @hold: of those whose time is known, cycles
 */
struct resource_sum {
	uint64_t sampled;
	uint64_t releases;
	uint64_t waited;
	uint64_t contention;
	uint64_t excessive;
	uint32_t max_depth;
	struct histogram wait;
	struct histogram hold;
};

/**
 * struct resource_entry - a resource
 * @address: of it
 * @classes: of its owners
 * @initialized: times that it was, again too
 * @timeline: cycles waited for it in each slot, or NULL
 * @hh: in the table
 */
struct resource_entry {
	uint64_t address;
	struct resource_sum classes[RESOURCE_CLASSES];
	uint64_t initialized;
	struct timeline *timeline;
	UT_hash_handle hh;
};

/**
 * struct resource_stats - of a file, or of a time; all zero: empty
 * @rates: of the sampling
 * @remainder: of the last weight that was a fraction
 * @resources: table
 * @others: those beyond RESOURCES_MAX
 * @records: of all
 * @timelines: of the resources
 * @no_memory: something is missing for want of it
 */
struct resource_stats {
	struct resource_rates rates;
	uint64_t remainder;
	struct resource_entry *resources;
	struct resource_entry others;
	uint64_t records;
	struct timelines timelines;
	bool no_memory;
};

void resource_stats_add(struct resource_stats *stats,
			const struct resource_record *record, uint64_t ticks);
void resource_stats_free(struct resource_stats *stats);

#endif /* _NTKLOG_RESOURCE_STATS_H */
