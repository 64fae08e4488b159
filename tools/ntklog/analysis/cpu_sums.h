/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CPU_SUMS_H
#define _NTKLOG_CPU_SUMS_H

/*
 * Sums of a lock by CPU. A flight recording keeps a different time of each CPU, so that a rate is
 * the sum of the CPUs' rates and not one sum divided by one time.
 */

#include <stdbool.h>
#include <stddef.h>

enum cpu_sum_kind {
	CPU_SUM_COUNT,
	CPU_SUM_WAIT,		/* cycles waited */
	CPU_SUMS,
};

struct cpu_sums {
	double (*sums)[CPU_SUMS];
	size_t cpu_count;
};

bool cpu_sums_add(struct cpu_sums *sums, size_t cpu, enum cpu_sum_kind kind, double amount);
bool cpu_sums_merge(struct cpu_sums *sums, const struct cpu_sums *more);
void cpu_sums_free(struct cpu_sums *sums);

#endif /* _NTKLOG_CPU_SUMS_H */
