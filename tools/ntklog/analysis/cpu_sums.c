// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include "cpu_sums.h"
#include "grow.h"

/**
 * cpu_sums_add() - add an amount to a sum of a CPU
 * @sums: sums to change
 * @cpu: number of the CPU
 * @kind: sum of that CPU
 * @amount: amount to add
 *
 * Return: false if there is no memory.
 */
bool cpu_sums_add(struct cpu_sums *sums, size_t cpu, enum cpu_sum_kind kind, double amount)
{
	if (cpu >= sums->cpu_count) {
		double (*more)[CPU_SUMS] = grow_to(sums->sums, sums->cpu_count, cpu + 1,
						   sizeof(*more));

		if (!more)
			return false;
		sums->sums = more;
		sums->cpu_count = cpu + 1;
	}
	sums->sums[cpu][kind] += amount;
	return true;
}

/**
 * cpu_sums_merge() - add all sums of another lock
 * @sums: sums to change
 * @more: sums to add
 *
 * Return: false if there is no memory.
 */
bool cpu_sums_merge(struct cpu_sums *sums, const struct cpu_sums *more)
{
	size_t cpu;
	int i;

	for (cpu = 0; cpu < more->cpu_count; cpu++)
		for (i = 0; i < CPU_SUMS; i++)
			if (!cpu_sums_add(sums, cpu, i, more->sums[cpu][i]))
				return false;
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
