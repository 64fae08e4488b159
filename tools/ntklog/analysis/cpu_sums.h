/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CPU_SUMS_H
#define _NTKLOG_CPU_SUMS_H

/*
 * Sums of a lock by CPU. A flight recording keeps a different time of each CPU, so that a rate is
 * the sum of the CPUs' rates and not one sum divided by one time. Records from outside the time in
 * which their group was observed do not belong to a rate.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cpu_sum_kind {
	CPU_SUM_COUNT,
	CPU_SUM_WAIT,		/* cycles waited */
	CPU_SUMS,
};

/**
 * enum observation_state - whether all hooks of a group were attached when a record was written
 * @OBSERVATION_ON: they were
 * @OBSERVATION_UNKNOWN: no event has told it yet: the first one tells what was before it
 * @OBSERVATION_OFF: some were not, because they were just being attached or detached
 * @OBSERVATION_STATES: number of observations
 */
enum observation_state {
	OBSERVATION_ON,
	OBSERVATION_UNKNOWN,
	OBSERVATION_OFF,
	OBSERVATION_STATES,
};

/*
 * @sums: of each CPU; those of OBSERVATION_ON only if rates are to be computed by CPU
 * @cpu_count: number of CPUs
 */
struct cpu_sums {
	double (*sums)[OBSERVATION_STATES][CPU_SUMS];
	size_t cpu_count;
};

/*
 * Where and when a record was written.
 * @cpu: number of the CPU
 * @observation: of the group of the record
 * @ticks: session clock since the begin of the time lines
 */
struct record_origin {
	unsigned int cpu;
	enum observation_state observation;
	uint64_t ticks;
};

bool cpu_sums_reserve(struct cpu_sums *sums, size_t cpu_count);

/**
 * cpu_sums_add() - add a record to the sums of its CPU
 * @sums: sums to change
 * @origin: where and when the record was written
 * @count: number of acquisitions that the record stands for
 * @wait: their waits, cycles
 *
 * Return: false if there is no memory.
 */
static inline bool cpu_sums_add(struct cpu_sums *sums, const struct record_origin *origin,
				double count, double wait)
{
	double *sum;

	if (origin->cpu >= sums->cpu_count && !cpu_sums_reserve(sums, origin->cpu + 1))
		return false;
	sum = sums->sums[origin->cpu][origin->observation];
	sum[CPU_SUM_COUNT] += count;
	sum[CPU_SUM_WAIT] += wait;
	return true;
}

bool cpu_sums_merge(struct cpu_sums *sums, const struct cpu_sums *more);
void cpu_sums_free(struct cpu_sums *sums);

#endif /* _NTKLOG_CPU_SUMS_H */
