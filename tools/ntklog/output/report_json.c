// SPDX-License-Identifier: GPL-2.0-only

#include <ntklog/event.h>

#include "answer.h"
#include "event_group.h"
#include "linux_mode.h"
#include "report.h"
#include "report_rows.h"

static json_t *rates_json(const struct rates *known_rates)
{
	const struct spinlock_rates *spinlock = &known_rates->spinlock;
	const struct resource_rates *resource = &known_rates->resource;
	json_t *rates = json_object(), *of_linux;

	if (spinlock->is_known)
		json_object_set_new(rates, "spinlock",
				    json_pack("{s:I, s:I, s:I, s:I}", "spin_threshold",
					      (json_int_t)spinlock->spin_threshold,
					      "acquire_sample_rate",
					      (json_int_t)spinlock->acquire_rate,
					      "contention_sample_rate",
					      (json_int_t)spinlock->contention_rate,
					      "hold_threshold",
					      (json_int_t)spinlock->hold_threshold));
	if (spinlock->has_rules) {
		of_linux = json_pack("{s:s}", "mode", linux_mode_name(spinlock->linux_mode));
		if (spinlock->blocker_rate && spinlock->linux_mode == NTKLOG_LINUX_MODE_WAITS)
			json_object_set_new(of_linux, "blockers", json_integer(0));
		json_object_set_new(rates, "linux", of_linux);
	}
	if (spinlock->blocker_rate)
		json_object_set_new(rates, "blockers", json_integer(spinlock->blocker_rate));
	if (resource->is_known)
		json_object_set_new(rates, "resource",
				    json_pack("{s:I, s:I, s:I}", "release_sample_rate",
					      (json_int_t)resource->release_rate,
					      "contention_sample_rate",
					      (json_int_t)resource->contention_rate,
					      "excessive_timeouts",
					      (json_int_t)resource->timeout_rate));
	return rates;
}

/**
 * report_rates_json() - make the sampling parameters as a JSON object
 * @analysis: analysis of a trace
 *
 * Return: the object, or NULL without memory.
 */
json_t *report_rates_json(const struct analysis *analysis)
{
	return rates_json(&(struct rates) { analysis->spinlocks.rates, analysis->resources.rates });
}

static json_t *history_json(const struct report *report)
{
	const struct rates_history *history = &report->analysis->rates_history;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < history->interval_count; i++)
		json_array_append_new(array, json_pack("{s:f, s:o}", "from",
						       report_interval_begin(report, i), "rates",
						       rates_json(&history->intervals[i].rates)));
	return array;
}

static json_t *covered_json(const struct report *report)
{
	const struct coverage *coverage = &report->analysis->coverage;
	json_t *array = json_array();
	double from, to = etl_seconds(report->file, coverage->end_time);
	size_t i;

	for (i = 0; i < coverage->cpu_count; i++) {
		if (!coverage->cpus[i].event_count)
			continue;
		from = etl_seconds(report->file, coverage_begin_time(coverage, i));
		json_array_append_new(array, json_pack("{s:I, s:f, s:f}",
						       "processor", (json_int_t)i,
						       "from", from, "to", to));
	}
	return array;
}

/* Make an object of the seconds for which each group was observed, where the file says it. */
static json_t *observed_json(const struct report *report)
{
	const struct coverage *coverage = &report->analysis->coverage;
	json_t *seconds_by_group = json_object();
	double seconds;
	size_t i;

	for (i = 0; i < EVENT_GROUPS; i++) {
		if (!coverage_knows_group(coverage, event_groups[i].value))
			continue;
		seconds =
			report_covered_seconds(report, event_groups[i].value, COVERAGE_LONGEST_CPU);
		json_object_set_new(seconds_by_group, event_groups[i].name, json_real(seconds));
	}
	return seconds_by_group;
}

/**
 * report_file_is_damaged() - test whether sums lack events, because the file is not whole
 * @file: the file, read to its end
 *
 * Return: true if parts are left out, or buffers are missing.
 */
bool report_file_is_damaged(const struct etl_file *file)
{
	return file->error[0] || file->missing_buffers || file->wrong_times;
}

/**
 * report_file_is_lossy() - test whether sums lack events, because the recording lost them
 * @file: the file, read to its end
 *
 * Return: true if the header, or the flags of a buffer, tell of lost events.
 */
bool report_file_is_lossy(const struct etl_file *file)
{
	return file->events_lost || file->buffers_lost || file->lossy_buffers;
}

/**
 * report_damage_json() - make the description of a file's damage as JSON
 * @error: error of the file; empty: none
 *
 * Return: a text, or null.
 */
json_t *report_damage_json(const char *error)
{
	return error[0] ? json_string(error) : json_null();
}

/**
 * report_json() - make the report as a JSON object
 * @report: report from report_make_tables(), with sorted tables
 * @rows_max: most rows of each table; 0 for all
 * @tables: tables to include, as bits
 *
 * Return: the object, or NULL without memory.
 */
json_t *report_json(const struct report *report, size_t rows_max, unsigned int tables)
{
	const struct analysis *analysis = report->analysis;
	const struct etl_file *file = report->file;
	json_t *object;
	size_t i;

	object = json_pack("{s:I, s:f, s:I, s:b, s:I, s:I, s:I, s:I, s:I,"
			   " s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o}",
			   "events", (json_int_t)analysis->event_count,
			   "seconds", report->seconds,
			   "processor_count", (json_int_t)file->processors,
			   "ended", file->end_time != 0,
			   "events_lost", (json_int_t)file->events_lost,
			   "buffers_lost", (json_int_t)file->buffers_lost,
			   "buffers_overwritten", (json_int_t)file->overwritten,
			   "lossy_buffers", (json_int_t)file->lossy_buffers,
			   "damaged_buffers", (json_int_t)file->damaged_buffers,
			   "damaged_events", (json_int_t)file->damaged_events,
			   "wrong_times", (json_int_t)file->wrong_times,
			   "buffers_twice", (json_int_t)file->repeated_buffers,
			   "buffers_missing", (json_int_t)file->missing_buffers,
			   "blockers_dropped",
			   (json_int_t)rates_get_dropped_blockers(&analysis->rates_history),
			   "steal_time_ns",
			   (json_int_t)rates_get_steal_ns(&analysis->rates_history),
			   "rates_changed", analysis->rates_changed,
			   "rates", report_rates_json(analysis));
	if (object)
		json_object_set_new(object, "damage", report_damage_json(file->error));
	if (object && analysis->charges_waits)
		json_object_set_new(object, "answer", answer_json(report));
	if (object && report->has_coverage && analysis->rates_history.interval_count > 1)
		json_object_set_new(object, "rates_by_time", history_json(report));
	if (object && report->has_coverage && analysis->coverage.cpu_begins_differ)
		json_object_set_new(object, "covered", covered_json(report));
	if (object && report->has_coverage && analysis->coverage.change_count)
		json_object_set_new(object, "observed", observed_json(report));
	if (object && analysis->stacks.has_any)
		json_object_set_new(object, "stack_counts",
				    json_pack("{s:I, s:I, s:I, s:I}",
					      "found",
					      (json_int_t)analysis->stacks.counts.found_count,
					      "missing",
					      (json_int_t)analysis->stacks.counts.missing_count,
					      "unknown",
					      (json_int_t)analysis->stacks.counts.unknown_count,
					      "alone",
					      (json_int_t)analysis->stacks.counts.alone_count));
	for (i = 0; object && i < REPORT_TABLES; i++)
		if (tables & 1 << i)
			json_object_set_new(object, report->tables[i].name,
					    table_json(&report->tables[i], rows_max));
	return object;
}
