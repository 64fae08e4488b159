/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SWITCH_STATS_H
#define _NTKLOG_SWITCH_STATS_H

/* Sums of WMI_CONTEXTSWAP records, by thread and by CPU. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "histogram.h"
#include "timeline.h"
#include "wmi_record.h"

/* Greatest number of threads that have sums of their own. Further ones share a sum. */
#define THREADS_MAX	65536

/*
 * @preemption_count: number of @switch_out_count at which the thread could have gone on
 * @wait_ticks: sum of NewThreadWaitTime of its switches, ticks of the system clock
 * @run_times: distribution of the times that it ran, session clock
 * @timeline: time that it ran in each slot of time, session clock; or NULL
 */
struct thread_stats {
	uint32_t thread_id;
	uint64_t switch_count;
	uint64_t switch_out_count;
	uint64_t preemption_count;
	uint64_t wait_ticks;
	struct histogram run_times;
	struct timeline *timeline;
	UT_hash_handle hh;
};

/*
 * @first_time, @last_time: times of the first and the last switch, in the window or not
 * @has_switch: there was a switch, in the window or not
 * @thread_id: the thread that runs; 0: the idle thread
 * @thread: sums of @thread_id, or NULL if they have not been looked up
 * @busy_ticks: time in which other threads than the idle thread ran, session clock
 * @gap_count: number of gaps: the old thread of a switch is not the new thread of the switch
 *	before, or the switch is earlier than the one before
 */
struct processor_stats {
	uint64_t switch_count;
	uint64_t first_time;
	uint64_t last_time;
	bool has_switch;
	uint32_t thread_id;
	struct thread_stats *thread;
	double busy_ticks;
	double idle_ticks;
	uint64_t gap_count;
};

/*
 * Sums of the context switches of a trace; all zero: none.
 * @window_begin: begin of the window, session clock; 0: the window has no begin
 * @window_end: end of the window; 0: it has no end
 * @threads: hash table of threads, without the idle threads, whose id is 0
 * @others: sums of the threads beyond THREADS_MAX
 */
struct switch_stats {
	uint64_t window_begin;
	uint64_t window_end;
	struct thread_stats *threads;
	struct thread_stats others;
	struct processor_stats *processors;
	size_t processor_count;
	struct timelines timelines;
	bool no_memory;
};

void switch_stats_add(struct switch_stats *stats,
		      const struct contextswap_record *record, unsigned int processor,
		      uint64_t time, uint64_t origin, bool is_in_window);
double switch_stats_known_ticks(const struct switch_stats *stats,
				const struct processor_stats *processor);
void switch_stats_free(struct switch_stats *stats);

#endif /* _NTKLOG_SWITCH_STATS_H */
