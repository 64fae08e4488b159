/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COUNTERS_H
#define _NTKLOG_COUNTERS_H

/* The module's counters of all CPUs, of which some wrap at 32 bits, as sums that only grow. */

#include <stddef.h>
#include <stdint.h>

/* Columns of the module's file "counters" that the tool reads. */
enum counter_kind {
	COUNTER_SPINLOCK_ACQUISITIONS,
	COUNTER_SPINLOCK_CONTENTIONS,
	COUNTER_SPINLOCK_UNTRACKED,
	COUNTER_SPINLOCK_SUPPRESSED,
	COUNTER_SPINLOCK_EVENTS,
	COUNTER_RESOURCE_EXCLUSIVE_RELEASES,
	COUNTER_RESOURCE_SHARED_RELEASES,
	COUNTER_RESOURCE_UNTRACKED,
	COUNTER_RESOURCE_SUPPRESSED,
	COUNTER_RESOURCE_EVENTS,
	COUNTER_SLEEPING_ACQUISITIONS,
	COUNTER_SLEEPING_UNTRACKED,
	COUNTER_SLEEPING_WAITS,
	COUNTER_BLOCKERS_DROPPED,
	COUNTER_SLEEPING_BLOCKERS_DROPPED,
	COUNTERS,
};

/*
 * Sums since the first reading; all zero: not read yet.
 * @last_values: values of each CPU at the last reading, COUNTERS of a CPU
 */
struct counters {
	uint64_t totals[COUNTERS];
	uint32_t *last_values;
	size_t cpu_count;
};

int counters_read(struct counters *counters);
void counters_free(struct counters *counters);

#endif /* _NTKLOG_COUNTERS_H */
