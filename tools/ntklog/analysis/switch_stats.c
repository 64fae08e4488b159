// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_contextswap.h>

#include "grow.h"
#include "switch_stats.h"

static struct thread_stats *find_thread(struct switch_stats *stats, uint32_t thread_id)
{
	struct thread_stats *thread;

	hash_find_or_add(stats->threads, thread_id, &thread_id, THREADS_MAX, thread);
	if (thread)
		return thread;
	stats->no_memory |= HASH_COUNT(stats->threads) < THREADS_MAX;
	return &stats->others;
}

static struct processor_stats *find_processor(struct switch_stats *stats,
					      unsigned int number)
{
	struct processor_stats *more;

	if (number < stats->processor_count)
		return &stats->processors[number];
	more = grow_to(stats->processors, stats->processor_count, number + 1, sizeof(*more));
	if (!more) {
		stats->no_memory = true;
		return NULL;
	}
	stats->processors = more;
	stats->processor_count = number + 1;
	return &more[number];
}

static void add_run(struct switch_stats *stats, struct processor_stats *processor,
		    uint32_t thread_id, uint64_t time, uint64_t origin)
{
	struct thread_stats *thread = processor->thread;
	uint64_t run_ticks = time - processor->last_time;

	if (!processor->switch_count)
		return;
	if (processor->thread_id != thread_id || (int64_t)run_ticks < 0) {
		processor->gap_count++;
		return;
	}
	if (!thread_id) {
		processor->idle_ticks += (double)run_ticks;
		return;
	}
	processor->busy_ticks += (double)run_ticks;
	if (!histogram_add(&thread->run_times, run_ticks, 1))
		stats->no_memory = true;
	timeline_add_span(&stats->timelines, &thread->timeline, time - origin, run_ticks,
			  (double)run_ticks);
}

/**
 * switch_stats_add() - add a record
 * @stats: sums to change
 * @record: record to add
 * @processor: number of the CPU that switched
 * @time: time of the switch, session clock
 * @origin: begin of the time lines, session clock
 */
void switch_stats_add(struct switch_stats *stats,
		      const struct contextswap_record *record, unsigned int processor,
		      uint64_t time, uint64_t origin)
{
	struct processor_stats *switch_cpu = find_processor(stats, processor);
	struct thread_stats *thread;

	if (!switch_cpu)
		return;
	add_run(stats, switch_cpu, record->old_thread_id, time, origin);
	if (!switch_cpu->switch_count++)
		switch_cpu->first_time = time;
	switch_cpu->last_time = time;
	if (record->old_thread_id) {
		thread = switch_cpu->thread_id == record->old_thread_id ? switch_cpu->thread :
			 find_thread(stats, record->old_thread_id);
		thread->switch_out_count++;
		if (record->old_thread_state == KTHREAD_STATE_READY ||
		    record->old_thread_state == KTHREAD_STATE_RUNNING ||
		    record->old_thread_state == KTHREAD_STATE_STANDBY ||
		    record->old_thread_state == KTHREAD_STATE_DEFERRED_READY)
			thread->preemption_count++;
	}
	switch_cpu->thread_id = record->new_thread_id;
	switch_cpu->thread = NULL;
	if (record->new_thread_id) {
		thread = find_thread(stats, record->new_thread_id);
		thread->switch_count++;
		thread->wait_ticks += record->new_thread_wait_time;
		switch_cpu->thread = thread;
	}
}

/**
 * switch_stats_free() - free the sums
 * @stats: sums; all zero afterwards
 */
void switch_stats_free(struct switch_stats *stats)
{
	struct thread_stats *thread;

	while ((thread = hash_take_first(stats->threads))) {
		histogram_free(&thread->run_times);
		free(thread);
	}
	histogram_free(&stats->others.run_times);
	timelines_free(&stats->timelines);
	free(stats->processors);
	*stats = (struct switch_stats) { 0 };
}
