/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_OFF_CPU_H
#define _NTKLOG_PERF_OFF_CPU_H

/* Measures how long tasks with a slot of a sleeping lock have no CPU, in ntklog_task::off_cpu. */

#include "../ground/task_record.h"

static inline u64 ntklog_subtract_down_to_0(u64 end, u64 start)
{
	return end > start ? end - start : 0;
}

/**
 * ntklog_subtract_off_cpu_times() - subtract times without a CPU
 * @end: counters at the end of a period, or a sum
 * @start: counters at the start of the period, or a part of the sum
 *
 * A reader on another CPU may see values of two moments, so @end may be less than @start.
 *
 * Context: any.
 * Return: the differences, 0 instead of a negative one.
 */
static inline struct ntklog_off_cpu_times
ntklog_subtract_off_cpu_times(const struct ntklog_off_cpu_times *end,
			      const struct ntklog_off_cpu_times *start)
{
	return (struct ntklog_off_cpu_times){
		.ready_cycles = ntklog_subtract_down_to_0(end->ready_cycles, start->ready_cycles),
		.blocked_cycles = ntklog_subtract_down_to_0(end->blocked_cycles,
							    start->blocked_cycles),
	};
}

struct ntklog_off_cpu_times ntklog_get_off_cpu_times(const struct ntklog_task *record);
int ntklog_start_off_cpu_counting(void);
void ntklog_stop_off_cpu_counting(void);

#endif /* _NTKLOG_PERF_OFF_CPU_H */
