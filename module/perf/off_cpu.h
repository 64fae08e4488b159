/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_OFF_CPU_H
#define _NTKLOG_PERF_OFF_CPU_H

/* Measures how long tasks with a slot of a sleeping lock have no CPU, in ntklog_task::off_cpu. */

#include "../ground/task_record.h"

static inline u64 ntklog_difference_or_0(u64 end, u64 start)
{
	return end > start ? end - start : 0;
}

/**
 * ntklog_subtract_off_cpu() - subtract times without a CPU
 * @end: counters at the end of a period, or a sum
 * @start: counters at the start of the period, or a part of the sum
 *
 * A reader on another CPU may see values of two moments, so @end may be less than @start.
 *
 * Context: any.
 * Return: the differences, 0 instead of a negative one.
 */
static inline struct ntklog_off_cpu ntklog_subtract_off_cpu(const struct ntklog_off_cpu *end,
							    const struct ntklog_off_cpu *start)
{
	return (struct ntklog_off_cpu){
		.ready = ntklog_difference_or_0(end->ready, start->ready),
		.blocked = ntklog_difference_or_0(end->blocked, start->blocked),
	};
}

struct ntklog_off_cpu ntklog_off_cpu_until_now(const struct ntklog_task *record);
int ntklog_start_off_cpu_counting(void);
void ntklog_stop_off_cpu_counting(void);

#endif /* _NTKLOG_PERF_OFF_CPU_H */
