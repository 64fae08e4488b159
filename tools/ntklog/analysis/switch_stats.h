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

/* Threads that are told apart; all others are one. */
#define THREADS_MAX	65536

/**
 * struct switch_thread - a thread
 * @thread_id: of it
 * @switches: times that it was switched to
 * @switched_out: times that it was switched from
 * @preempted: of those, times that it would have gone on
 * @wait_ticks: that it waited for a processor, ticks of the system's clock
 * @run: times from one switch to the next, session clock
 * @timeline: that it ran in each slot, session clock, or NULL
 * @hh: in the table
 */
struct switch_thread {
	uint32_t thread_id;
	uint64_t switches;
	uint64_t switched_out;
	uint64_t preempted;
	uint64_t wait_ticks;
	struct histogram run;
	struct timeline *timeline;
	UT_hash_handle hh;
};

/**
 * struct switch_processor - a processor
 * @switches: of threads
 * @first_time: of the first one, session clock
 * @last_time: of the last one
 * @thread_id: that was switched to then
 * @busy: time with a thread that is not the idle one, session clock
 * @idle: with the idle one
 * @unknown: gaps: the old thread of a switch is not the new thread of the one before
 */
struct switch_processor {
	uint64_t switches;
	uint64_t first_time;
	uint64_t last_time;
	uint32_t thread_id;
	double busy;
	double idle;
	uint64_t unknown;
};

/**
 * struct switch_stats - of a file, or of a time; all zero: empty
 * @threads: table; the idle threads, whose id is 0, are not in it
 * @others: those beyond THREADS_MAX
 * @processors: by number
 * @processor_count: of them
 * @timelines: of the threads
 * @no_memory: something is missing for want of it
 */
struct switch_stats {
	struct switch_thread *threads;
	struct switch_thread others;
	struct switch_processor *processors;
	size_t processor_count;
	struct timelines timelines;
	bool no_memory;
};

void switch_stats_add(struct switch_stats *stats,
		      const struct contextswap_record *record, unsigned int processor,
		      uint64_t time, uint64_t origin);
void switch_stats_free(struct switch_stats *stats);

#endif /* _NTKLOG_SWITCH_STATS_H */
