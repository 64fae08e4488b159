/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_OFF_CPU_H
#define _NTKLOG_PERF_OFF_CPU_H

/* Measures how long tasks with a slot of a sleeping lock have no CPU, in ntklog_task::off_cpu. */

#include "../ground/task_record.h"

/**
 * ntklog_subtract_off_cpu() - subtract times without a CPU
 * @end: counters at the end of a period, or a sum
 * @start: counters at the start of the period, or a part of the sum
 *
 * Context: any.
 * Return: the difference.
 */
static inline struct ntklog_off_cpu ntklog_subtract_off_cpu(const struct ntklog_off_cpu *end,
							    const struct ntklog_off_cpu *start)
{
	return (struct ntklog_off_cpu){
		.ready = end->ready - start->ready,
		.blocked = end->blocked - start->blocked,
	};
}

struct ntklog_off_cpu ntklog_off_cpu_until_now(const struct ntklog_task *record);
int ntklog_start_off_cpu_counting(void);
void ntklog_stop_off_cpu_counting(void);

#endif /* _NTKLOG_PERF_OFF_CPU_H */
