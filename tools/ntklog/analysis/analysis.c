// SPDX-License-Identifier: GPL-2.0-only
/* Events are added in the order of time. */

#define _GNU_SOURCE

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/group_mask.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "analysis.h"
#include "analysis_records.h"
#include "charge_thread.h"
#include "etl_reader.h"
#include "event_type.h"
#include "grow.h"
#include "whole_ticks.h"
#include "window.h"

#define HOOK_IDS	0x10000

/* Return the time of the earliest event in the first buffers of all CPUs; session clock. */
static uint64_t find_earliest_buffer_time(struct etl_reader reader)
{
	struct etl_index_entry *first = calloc(ETL_PROCESSORS_MAX, sizeof(*first));
	struct etl_cursor cursor = { 0 };
	uint64_t time = UINT64_MAX;
	struct etl_event event;
	size_t i;

	for (i = 1; first && i < reader.file.buffers; i++) {
		const struct etl_index_entry *entry = &reader.index_entries[i];

		if (!first[entry->processor].number ||
		    entry->sequence_number < first[entry->processor].sequence_number)
			first[entry->processor] = *entry;
	}
	for (i = 0; first && i < ETL_PROCESSORS_MAX; i++) {
		if (!first[i].number || !etl_read_buffer(&reader, &cursor, first[i].number))
			continue;
		while (cursor.next_offset < cursor.end_offset &&
		       etl_parse_event(&reader, &cursor, &event) == 1)
			if (event.has_time && !event.has_impossible_time) {
				if (event.time_stamp < time)
					time = event.time_stamp;
				break;
			}
	}
	free(cursor.buffer);
	free(first);
	return time == UINT64_MAX ? reader.file.start_clock : time;
}

/*
 * Find the begin of the time lines: the begin of the trace, or of the selected time if that is
 * later.
 */
static void find_origin(struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;

	analysis->origin_time = file->overwritten ?
					find_earliest_buffer_time(*etl_const_reader_of(file)) :
					file->start_clock;
	if (selection && selection->has_begin && selection->begin_seconds > 0 &&
	    etl_seconds(file, analysis->origin_time) < selection->begin_seconds)
		analysis->origin_time = file->start_clock + floor_ticks(selection->begin_seconds *
									(double)file->perf_freq);
}

/**
 * analysis_find_rates() - find the first parameters of the sampling
 * @analysis: analysis to change
 * @file: open file, whose position stays; its error too, unless it is a stream
 */
void analysis_find_rates(struct analysis *analysis, struct etl_file *file)
{
	struct rates rates = { 0 };

	rates_find(&rates, file);
	analysis->spinlocks.rates = rates.spinlock;
	analysis->resources.rates = rates.resource;
}

static void add_newer_event(struct newer_events *newer, const struct etl_event *event)
{
	const struct event_type *type, *known = NULL;

	for (type = event_types; type < event_types + EVENT_TYPES; type++) {
		if (type->hook_id != event->hook_id)
			continue;
		if (event->version <= type->version || event->version <= type->last_version)
			return;
		known = type;
	}
	if (!known)
		return;
	newer->name = known->name;
	newer->version = event->version;
	newer->count++;
}

static void add_unknown_event(struct analysis *analysis, const struct etl_event *event)
{
	if (event->header_type == TRACE_HEADER_TYPE_PERFINFO32 ||
	    event->header_type == TRACE_HEADER_TYPE_PERFINFO64)
		add_newer_event(&analysis->newer_events, event);
	if (!event->has_hook_id) {
		analysis->unknown_header_counts[event->header_type]++;
		return;
	}
	if (!analysis->unknown_counts)
		analysis->unknown_counts = calloc(HOOK_IDS, sizeof(*analysis->unknown_counts));
	if (analysis->unknown_counts)
		analysis->unknown_counts[event->hook_id]++;
}

/* The events of the first buffer describe the file. They are not events of the machine. */
static bool event_describes_file(const struct etl_file *file, const struct etl_event *event)
{
	return event->offset < file->buffer_size &&
	       (event->header_type == TRACE_HEADER_TYPE_SYSTEM32 ||
		event->header_type == TRACE_HEADER_TYPE_SYSTEM64);
}

static void extend_time_range(struct analysis *analysis, uint64_t time)
{
	if (!analysis->first_time || time < analysis->first_time)
		analysis->first_time = time;
	if (time > analysis->last_time)
		analysis->last_time = time;
}

/* @type: type of the event; NULL: it is not known, or the event has not its size */
static void collect_recording_facts(struct analysis *analysis, const struct etl_file *file,
				    const struct etl_event *event, const struct event_type *type)
{
	analysis->is_of_ntklog |= type && event->hook_id >> 8 == NTKLOG_LOG_TYPE_DC_START >> 8;
	if (type && event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_OBSERVED)
		coverage_update_state(&analysis->coverage, event);
	if (analysis->rates_history.is_finished)
		return;
	coverage_add_event(&analysis->coverage, event);
	if (!type || window_can_skip_event(event->hook_id))
		return;
	if (event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_OBSERVED)
		coverage_add_change(&analysis->coverage, event);
	else if (!steal_time_is_impossible(file, event))
		rates_history_add(&analysis->rates_history, event);
}

static void leave_out_time(struct analysis *analysis, uint64_t time)
{
	if (time > analysis->latest_left_out_time)
		analysis->latest_left_out_time = time;
}

/* Test whether the file has events after the selected time. */
static bool has_later_events(const struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;

	return selection && selection->has_end && analysis->latest_left_out_time &&
	       etl_seconds(file, analysis->latest_left_out_time) > selection->end_seconds;
}

static bool filter_selects(const struct analysis *analysis, const struct etl_file *file,
			   const struct etl_event *event, const struct event_type *type)
{
	const struct selection *selection = analysis->selection;

	return !selection || !selection->filter ||
	       filter_matches(selection->filter, file, event, type, analysis->names,
			      analysis->kept_callers);
}

/* Add an event that is not in the selected time. */
static void add_outside_window(struct analysis *analysis, const struct etl_file *file,
			       const struct etl_event *event, const struct event_type *type)
{
	struct contextswap_record record;

	leave_out_time(analysis, event->time_stamp);
	/* A thread that ran at the begin or the end of the window has one of its switches here. */
	if (type && event->hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP &&
	    event_has_size(event, type) && filter_selects(analysis, file, event, type)) {
		contextswap_record_read(&record, event);
		analysis_add_switch(analysis, event, &record, false);
	}
}

/**
 * analysis_add() - add an event, if it is selected
 * @analysis: analysis to change
 * @file: file of the event
 * @event: event to add
 * @stack: stack of the event, or NULL
 *
 * Return: 0, or -1 with a message in @file->error if the event is damaged and left out.
 */
int analysis_add(struct analysis *analysis, struct etl_file *file,
		 const struct etl_event *event, const struct stack *stack)
{
	struct record_source source = { .file = file, .event = event, .stack = stack };
	const struct event_type *type = event_type_find(event);
	const struct selection *selection = analysis->selection;
	bool describes_file = event_describes_file(file, event);
	union wmi_record record;

	if (event->has_impossible_time)
		return 0;
	/* Rates and covered times come from events that are not selected, too. */
	if (event->has_time && !describes_file)
		collect_recording_facts(analysis, file, event,
					type && event_has_size(event, type) ? type : NULL);
	if (selection && !selection_includes_time(selection, file, event)) {
		if (!describes_file)
			add_outside_window(analysis, file, event, type);
		return 0;
	}
	if (type && wmi_record_read(&record, file, event, type))
		return -1;
	/* These events complete the next record. The filter is applied to that record. */
	if (type && event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_CALLER) {
		analysis->resources.no_memory |= !kept_callers_keep(&analysis->kept_callers, event);
		return 0;
	}
	if (type && event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK) {
		kept_callers_add_block_stack(analysis->kept_callers, event);
		return 0;
	}
	/* A new list of open holds replaces the older one, even if the filter drops all of it. */
	if (type && event->hook_id == NTKLOG_LOG_TYPE_OPEN_HOLD)
		open_holds_begin_list(&analysis->open_holds, event->data);
	if (describes_file)
		return 0;
	/* The first and the last time include events that the filter leaves out. */
	if (event->has_time)
		extend_time_range(analysis, event->time_stamp);
	source.is_selected = filter_selects(analysis, file, event, type);
	/* The holder that a selected wait is charged to need not be selected. */
	if (!source.is_selected && !(type && analysis->charge_sums.charger))
		return 0;
	if (source.is_selected) {
		analysis->event_count++;
		stack_counts_add(&analysis->stacks.counts, stack);
	}
	if (type)
		analysis_add_record(analysis, &source, &record);
	else if (!(stack && stack->state == STACK_ALONE))
		add_unknown_event(analysis, event);
	return 0;
}

/* Return the end of the selected time, which has one; session clock. */
static uint64_t end_of_window(const struct selection *selection, const struct etl_file *file)
{
	return file->start_clock + floor_ticks(selection->end_seconds * (double)file->perf_freq);
}

/* Return the end of the selected time, or the time of the last event if that is earlier. */
static uint64_t find_last_wanted_time(const struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;

	if (has_later_events(analysis, file))
		return end_of_window(selection, file);
	return analysis->last_time;
}

static void prepare_sums(struct spinlock_stats *spinlocks, struct resource_stats *resources,
			 const struct etl_file *file)
{
	double ticks_per_cycle = (double)file->perf_freq / (double)file->cycle_freq;

	spinlocks->timelines.ticks_per_cycle = ticks_per_cycle;
	resources->timelines.ticks_per_cycle = ticks_per_cycle;
	spinlocks->sums_by_cpu = etl_overwrites_buffers(file);
	resources->sums_by_cpu = etl_overwrites_buffers(file);
}

static void prepare_switches(const struct analysis *analysis, struct switch_stats *switches,
			     const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;

	if (selection && selection->has_begin)
		switches->window_begin = analysis->origin_time;
	if (selection && selection->has_end)
		switches->window_end = end_of_window(selection, file);
}

static void read_events(struct analysis *analysis, struct etl_file *file)
{
	const struct etl_event *event;
	const struct stack *stack;
	struct etl_merge *merge;
	struct stack_matcher *matcher;

	analysis->has_groups = etl_group_mask(file, &analysis->groups);
	analysis->coverage.state = (struct coverage_state) { 0 };
	prepare_sums(&analysis->spinlocks, &analysis->resources, file);
	prepare_switches(analysis, &analysis->switches, file);
	if (analysis->is_split) {
		analysis->split_sums = split_sums_open(analysis->names, analysis->charge_attribute);
		analysis->stacks.has_attribute = analysis->split_sums;
	}
	if (analysis->split_sums) {
		prepare_sums(&analysis->split_sums->spinlocks, &analysis->split_sums->resources,
			     file);
		prepare_switches(analysis, &analysis->split_sums->switches, file);
	}
	/* The charges need the events in the order of time. */
	merge = etl_merge_open(file);
	matcher = merge ? stack_matcher_open(file, merge) : NULL;
	if (!matcher) {
		analysis->stacks.no_memory = true;
		goto close;
	}
	/* A stack may lie in another buffer than its event. */
	if (!stack_matcher_has_stacks(matcher))
		window_skip_buffers(analysis->selection, file, merge);
	if (analysis->charges_waits)
		charge_sums_open(&analysis->charge_sums, analysis->names,
				 analysis->charge_attribute, file->perf_freq);
	analysis->charge_sums.origin_time = analysis->origin_time;
	analysis->lock_stacks.sums_by_lock = true;
	if (analysis->has_lock_stacks)
		analysis->charge_sums.stacks = &analysis->lock_stacks;
	else if (analysis->stacks.sums_by_lock)
		analysis->charge_sums.stacks = &analysis->stacks;
	/* The thread would add to these stacks while this one does. Both would look up labels. */
	if (analysis->charge_sums.charger && !analysis->charge_sums.stacks && !analysis->split_sums)
		charging_thread_start(&analysis->charge_sums);
	while ((event = stack_matcher_next(matcher, &stack)))
		analysis_add(analysis, file, event, stack);
	leave_out_time(analysis, etl_merge_latest_skipped(merge));
	charging_thread_join(&analysis->charge_sums);
	analysis->stacks.has_any = stack_matcher_has_stacks(matcher);
	stack_matcher_close(matcher);
	open_holds_finish(&analysis->open_holds, file, &analysis->charge_sums);
	charge_sums_flush(&analysis->charge_sums);
	charge_sums_finish(&analysis->charge_sums);
close:
	if (merge)
		etl_merge_close(merge);
}

static void read_file_again(struct analysis *analysis, struct etl_file *file,
			    const struct etl_file *before)
{
	struct rates_history history = analysis->rates_history;
	const struct selection *selection = analysis->selection;
	const struct names *names = analysis->names;
	struct coverage coverage = analysis->coverage;
	bool sums_by_address = analysis->sums_by_address, charges_waits = analysis->charges_waits;
	bool sums_by_lock = analysis->stacks.sums_by_lock;
	bool has_attribute = analysis->stacks.has_attribute;
	bool has_lock_stacks = analysis->has_lock_stacks, is_split = analysis->is_split;
	bool sums_by_caller = analysis->resources.sums_by_caller;
	enum charge_attribute charge_attribute = analysis->charge_attribute;
	const char *lock = analysis->wanted_lock.name;

	/* Reset the counts of damage, because the second pass counts the same damage again. */
	*file = *before;
	analysis->rates_history = (struct rates_history) { 0 };
	analysis->coverage = (struct coverage) { 0 };
	analysis_free(analysis);
	analysis->rates_history = history;
	analysis->coverage = coverage;
	analysis->selection = selection;
	analysis->names = names;
	analysis->sums_by_address = sums_by_address;
	analysis->charges_waits = charges_waits;
	analysis->charge_attribute = charge_attribute;
	analysis->is_split = is_split;
	analysis->wanted_lock.name = lock;
	analysis->has_lock_stacks = has_lock_stacks;
	analysis->stacks.sums_by_lock = sums_by_lock;
	analysis->stacks.has_attribute = has_attribute;
	analysis->resources.sums_by_caller = sums_by_caller;
	analysis->spinlocks.rates = history.intervals[0].rates.spinlock;
	analysis->resources.rates = history.intervals[0].rates.resource;
	find_origin(analysis, file);
	read_events(analysis, file);
}

/*
 * Return the begin of the covered time. Without --from that is the start of the session if a flight
 * recorder has all buffers of a CPU, even if the CPU's first event is later.
 */
static uint64_t find_first_wanted_time(const struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;
	size_t i;

	for (i = 0; i < analysis->coverage.cpu_count; i++)
		if (analysis->coverage.cpu_begins_differ &&
		    analysis->coverage.cpus[i].has_all_buffers &&
		    !(selection && selection->has_begin))
			return file->start_clock;
	return analysis->origin_time;
}

/**
 * analysis_read() - sum up a file
 * @analysis: analysis without events
 * @file: open file of which no event was read
 *
 * A file whose rates changed is read twice; of a stream the first rates hold for all events.
 */
void analysis_read(struct analysis *analysis, struct etl_file *file)
{
	const struct etl_file before = *file;
	struct rates start;

	analysis_find_rates(analysis, file);
	start = (struct rates) { analysis->spinlocks.rates, analysis->resources.rates };
	find_origin(analysis, file);
	read_events(analysis, file);
	rates_history_finish(&analysis->rates_history);
	if (analysis->rates_history.interval_count && !etl_reader_of(file)->input &&
	    (analysis->rates_history.interval_count > 1 ||
	     memcmp(&analysis->rates_history.intervals[0].rates, &start, sizeof(start))))
		read_file_again(analysis, file, &before);
	coverage_find_cpus_with_all_buffers(&analysis->coverage, file);
	coverage_finish(&analysis->coverage, find_first_wanted_time(analysis, file),
			find_last_wanted_time(analysis, file));
	analysis_finish(analysis);
}

/**
 * analysis_length_s() - get the length of the time that was summed up
 * @analysis: finished analysis of a file
 * @file: the file
 *
 * Return: seconds from the begin of the time lines to the last event, or to the end of the selected
 * time. If buffers were overwritten, seconds of the CPU that is covered longest.
 */
double analysis_length_s(const struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;
	double begin = etl_seconds(file, analysis->origin_time), end;

	if (analysis->coverage.cpu_begins_differ)
		return (double)coverage_ticks(&analysis->coverage, COVERAGE_ANY_GROUP,
					      COVERAGE_LONGEST_CPU) / (double)file->perf_freq;
	if (has_later_events(analysis, file))
		end = selection->end_seconds;
	else if (analysis->last_time)
		end = etl_seconds(file, analysis->last_time);
	else
		return 0;
	return end > begin ? end - begin : 0;
}

/**
 * analysis_find_end_s() - find the end of a file that ends before the selected time
 * @analysis: finished analysis of the file
 * @file: the file
 *
 * Return: time of its last event, seconds; INFINITY if that is not before the begin of the selected
 * time; -INFINITY if the file has no events.
 */
double analysis_find_end_s(const struct analysis *analysis, const struct etl_file *file)
{
	const struct selection *selection = analysis->selection;
	double end = etl_seconds(file, analysis->latest_left_out_time);

	if (!selection || !selection->has_begin || analysis->last_time)
		return INFINITY;
	if (!analysis->latest_left_out_time)
		return -INFINITY;
	return end < selection->begin_seconds ? end : INFINITY;
}

/**
 * analysis_has_group() - test whether an event group was enabled
 * @analysis: analysis of a file
 * @group: one event group, PERF_*
 *
 * Return: true if the group was enabled; false if it was not, or the file does not say.
 */
bool analysis_has_group(const struct analysis *analysis, uint32_t group)
{
	return analysis->has_groups &&
	       analysis->groups.masks[PERF_MASK_INDEX(group)] & PERF_MASK_BITS(group);
}

/**
 * analysis_finish() - compute what needs all events
 * @analysis: analysis to which no event is added any more
 */
void analysis_finish(struct analysis *analysis)
{
	uint64_t ticks = analysis->last_time - analysis->origin_time;
	struct rates highest = { analysis->spinlocks.rates, analysis->resources.rates };

	charge_sums_flush(&analysis->charge_sums);
	if (!analysis->rates_history.is_finished)
		rates_history_finish(&analysis->rates_history);
	analysis->rates_changed = analysis->rates_history.interval_count > 1 ||
				  analysis->rates_history.has_unknown_change;
	rates_find_highest(&analysis->rates_history, &highest);
	analysis->spinlocks.highest_rates = highest.spinlock;
	analysis->resources.highest_rates = highest.resource;
	spinlock_stats_finish(&analysis->spinlocks);
	if (analysis->split_sums)
		spinlock_stats_finish(&analysis->split_sums->spinlocks);
	timelines_cover_time(&analysis->spinlocks.timelines, ticks);
	timelines_cover_time(&analysis->resources.timelines, ticks);
	timelines_cover_time(&analysis->switches.timelines, ticks);
	timelines_cover_time(&analysis->charge_sums.timelines, ticks);
}

/**
 * analysis_free() - free the sums
 * @analysis: analysis; all zero afterwards
 */
void analysis_free(struct analysis *analysis)
{
	lock_classes_free(&analysis->classes);
	spinlock_stats_free(&analysis->spinlocks);
	resource_stats_free(&analysis->resources);
	switch_stats_free(&analysis->switches);
	stack_stats_free(&analysis->stacks);
	stack_stats_free(&analysis->lock_stacks);
	coverage_free(&analysis->coverage);
	rates_history_free(&analysis->rates_history);
	charge_sums_free(&analysis->charge_sums);
	split_sums_free(analysis->split_sums);
	open_holds_free(&analysis->open_holds);
	free(analysis->unknown_counts);
	free(analysis->kept_callers);
	*analysis = (struct analysis) { 0 };
}
