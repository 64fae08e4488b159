// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include "cpu_sums.h"
#include "grow.h"

/**
 * cpu_sums_reserve() - make room for the sums of CPUs
 * @sums: sums to change
 * @cpu_count: number of CPUs
 *
 * Return: false if there is no memory.
 */
bool cpu_sums_reserve(struct cpu_sums *sums, size_t cpu_count)
{
	double (*more)[OBSERVATION_STATES][CPU_SUMS];

	if (cpu_count <= sums->cpu_count)
		return true;
	more = grow_to(sums->sums, sums->cpu_count, cpu_count, sizeof(*more));
	if (!more)
		return false;
	sums->sums = more;
	sums->cpu_count = cpu_count;
	return true;
}

/**
 * cpu_sums_merge() - add other sums, CPU by CPU
 * @sums: sums to change
 * @more: sums to add
 *
 * Return: false if there is no memory.
 */
bool cpu_sums_merge(struct cpu_sums *sums, const struct cpu_sums *more)
{
	double *to, *from;
	size_t i;

	if (!more->cpu_count)
		return true;
	if (!cpu_sums_reserve(sums, more->cpu_count))
		return false;
	to = &sums->sums[0][0][0];
	from = &more->sums[0][0][0];
	for (i = 0; i < more->cpu_count * OBSERVATION_STATES * CPU_SUMS; i++)
		to[i] += from[i];
	return true;
}

/**
 * cpu_sums_free() - free the sums
 * @sums: sums; empty afterwards
 */
void cpu_sums_free(struct cpu_sums *sums)
{
	free(sums->sums);
	*sums = (struct cpu_sums) { 0 };
}
