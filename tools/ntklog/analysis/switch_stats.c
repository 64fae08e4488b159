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

static uint64_t cut_at_window(const struct switch_stats *stats, uint64_t time)
{
	if (time < stats->window_begin)
		return stats->window_begin;
	return stats->window_end && time > stats->window_end ? stats->window_end : time;
}

/* Add the time from the last switch to one at @time, as far as it lies in the window. */
static void add_run(struct switch_stats *stats, struct processor_stats *processor,
		    uint32_t thread_id, uint64_t time, uint64_t origin)
{
	uint64_t begin = cut_at_window(stats, processor->last_time);
	uint64_t end = cut_at_window(stats, time);

	/* Two switches may have the same time. */
	if (!processor->has_switch || (begin == end && processor->last_time != time))
		return;
	if (processor->thread_id != thread_id || (int64_t)(time - processor->last_time) < 0) {
		processor->gap_count++;
		return;
	}
	if (!thread_id) {
		processor->idle_ticks += (double)(end - begin);
		return;
	}
	processor->busy_ticks += (double)(end - begin);
	if (!processor->thread)
		processor->thread = find_thread(stats, thread_id);
	if (!histogram_add(&processor->thread->run_times, end - begin, 1))
		stats->no_memory = true;
	timeline_add_span(&stats->timelines, &processor->thread->timeline, end - origin,
			  end - begin, (double)(end - begin));
}

static void count_switch(struct switch_stats *stats, struct processor_stats *processor,
			 const struct contextswap_record *record)
{
	struct thread_stats *thread;

	processor->switch_count++;
	if (record->old_thread_id) {
		thread = processor->thread && processor->thread_id == record->old_thread_id ?
			 processor->thread : find_thread(stats, record->old_thread_id);
		thread->switch_out_count++;
		if (record->old_thread_state == KTHREAD_STATE_READY ||
		    record->old_thread_state == KTHREAD_STATE_RUNNING ||
		    record->old_thread_state == KTHREAD_STATE_STANDBY ||
		    record->old_thread_state == KTHREAD_STATE_DEFERRED_READY)
			thread->preemption_count++;
	}
	processor->thread = NULL;
	if (record->new_thread_id) {
		thread = find_thread(stats, record->new_thread_id);
		thread->switch_count++;
		thread->wait_ticks += record->new_thread_wait_time;
		processor->thread = thread;
	}
}

/**
 * switch_stats_add() - add a record
 * @stats: sums to change
 * @record: record to add
 * @processor: number of the CPU that switched
 * @time: time of the switch, session clock
 * @origin: begin of the time lines, session clock
 * @is_in_window: count the switch; the time before it may lie in the window if the switch does not
 */
void switch_stats_add(struct switch_stats *stats,
		      const struct contextswap_record *record, unsigned int processor,
		      uint64_t time, uint64_t origin, bool is_in_window)
{
	struct processor_stats *switch_cpu = find_processor(stats, processor);

	if (!switch_cpu)
		return;
	add_run(stats, switch_cpu, record->old_thread_id, time, origin);
	if (!switch_cpu->has_switch)
		switch_cpu->first_time = time;
	switch_cpu->has_switch = true;
	switch_cpu->last_time = time;
	if (is_in_window)
		count_switch(stats, switch_cpu, record);
	else
		switch_cpu->thread = NULL;
	switch_cpu->thread_id = record->new_thread_id;
}

/**
 * switch_stats_known_ticks() - get the time between the first and the last switch of a CPU
 * @stats: sums
 * @processor: sums of the CPU
 *
 * Return: ticks of the session clock, as far as they lie in the window.
 */
double switch_stats_known_ticks(const struct switch_stats *stats,
				const struct processor_stats *processor)
{
	return (double)(cut_at_window(stats, processor->last_time) -
			cut_at_window(stats, processor->first_time));
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
