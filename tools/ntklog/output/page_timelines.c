// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"
#include "page_timelines.h"
#include "report_rows.h"
#include "timeline.h"

/* Greatest number of rows of a picture. */
#define ROWS_MAX		10

struct timeline_row {
	const char *label;
	const struct timeline *timeline;
};

/*
 * @unit_text: plural of the things that the height of a bar counts
 * @ns_per_unit: nanoseconds per unit of a sum
 */
struct timeline_picture {
	const char *title;
	const char *unit_text;
	bool is_wait;
	const struct timelines *timelines;
	double ns_per_unit;
	struct timeline_row rows[ROWS_MAX];
	size_t row_count;
};

/*
 * Return the number of slots that the trace covers, or more if a later slot is not empty; 0 if all
 * slots of the rows are empty.
 */
static size_t count_slots(const struct report *report, const struct timeline_picture *picture)
{
	const struct analysis *analysis = report->analysis;
	double ticks = report->seconds * (double)report->file->perf_freq, slots;
	size_t slot_count = 0, i, slot;

	/* In a flight recording report->seconds is the time of one CPU, not of the whole trace. */
	if (report->file->overwritten)
		ticks = (double)(analysis->last_time - analysis->origin_time);
	for (i = 0; i < picture->row_count; i++)
		for (slot = slot_count; slot < TIMELINE_SLOTS; slot++)
			if (picture->rows[i].timeline->slot_sums[slot] > 0)
				slot_count = slot + 1;
	slots = ceil(ticks / (double)picture->timelines->slot_ticks);
	if (slot_count && slots > (double)slot_count)
		slot_count = slots < TIMELINE_SLOTS ? (size_t)slots : TIMELINE_SLOTS;
	return slot_count;
}

/* Make the sums of a row, each in units of the length of a slot. */
static json_t *sums_json(const struct timeline *timeline, size_t slot_count, double scale)
{
	json_t *sums = json_array();
	size_t slot;

	for (slot = 0; slot < slot_count; slot++)
		json_array_append_new(sums, json_real(timeline->slot_sums[slot] * scale));
	return sums;
}

static bool has_sums(const struct timeline *timeline)
{
	size_t slot;

	for (slot = 0; timeline && slot < TIMELINE_SLOTS; slot++)
		if (timeline->slot_sums[slot] > 0)
			return true;
	return false;
}

static void add_row(struct timeline_picture *picture, const char *label,
		    const struct timeline *timeline)
{
	if (picture->row_count < ROWS_MAX && has_sums(timeline))
		picture->rows[picture->row_count++] = (struct timeline_row) { label, timeline };
}

static void append_picture(json_t *pictures, const struct report *report,
			   const struct timeline_picture *picture)
{
	double slot_ns =
		(double)picture->timelines->slot_ticks * 1e9 / (double)report->file->perf_freq;
	size_t slot_count = picture->row_count ? count_slots(report, picture) : 0, i;
	json_t *rows;

	if (!slot_count)
		return;
	rows = json_array();
	for (i = 0; i < picture->row_count; i++)
		json_array_append_new(rows,
				      json_pack("{s:o, s:o}", "label",
						page_json_string(picture->rows[i].label), "sums",
						sums_json(picture->rows[i].timeline, slot_count,
							  picture->ns_per_unit / slot_ns)));
	json_array_append_new(pictures,
			      json_pack("{s:s, s:s, s:b, s:f, s:f, s:o}", "title", picture->title,
					"what", picture->unit_text, "is_wait", picture->is_wait,
					"origin", etl_seconds(report->file,
							      report->analysis->origin_time),
					"slot", slot_ns / 1e9, "rows", rows));
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_stats *left = *(const struct thread_stats *const *)a;
	const struct thread_stats *right = *(const struct thread_stats *const *)b;

	if (left->run_times.sum != right->run_times.sum)
		return left->run_times.sum < right->run_times.sum ? 1 : -1;
	return (left->thread_id > right->thread_id) - (left->thread_id < right->thread_id);
}

static void append_threads(json_t *pictures, const struct report *report)
{
	const struct switch_stats *stats = &report->analysis->switches;
	struct timeline_picture picture = {
		.title = "When threads ran", .unit_text = "CPUs that the thread had",
		.timelines = &stats->timelines, .ns_per_unit = report_ticks_ns(report, 1),
	};
	const struct thread_stats **threads = calloc(HASH_COUNT(stats->threads) + 1,
						       sizeof(*threads));
	char labels[ROWS_MAX][NAME_SIZE + 16];
	const struct thread_stats *thread;
	size_t count = 0, i;

	for (thread = stats->threads; threads && thread; thread = thread->hh.next)
		threads[count++] = thread;
	if (count)
		qsort(threads, count, sizeof(*threads), compare_threads);
	for (i = 0; i < count && i < ROWS_MAX; i++) {
		const char *name = names_find_thread_name(report->names, threads[i]->thread_id);

		snprintf(labels[i], sizeof(labels[i]), "%.200s%s%u", name ? name : "",
			 name ? " " : "thread ", threads[i]->thread_id);
		add_row(&picture, labels[i], threads[i]->timeline);
	}
	append_picture(pictures, report, &picture);
	free(threads);
}

static void append_locks(json_t *pictures, const struct report *report,
			 const struct page_lock *locks, size_t count, bool are_sleeping_locks)
{
	struct timeline_picture picture = {
		.title = are_sleeping_locks ? "When locks that sleep were waited for" :
					"When spin locks were waited for",
		.unit_text = are_sleeping_locks ? "threads that waited for it" :
					    "CPUs that waited for it",
		.is_wait = true,
		.timelines = are_sleeping_locks ? &report->analysis->resources.timelines :
					    &report->analysis->spinlocks.timelines,
		.ns_per_unit = etl_cycles_ns(report->file, 1),
	};
	size_t i;

	for (i = 0; i < count; i++)
		if (locks[i].key.is_sleeping_lock == are_sleeping_locks)
			add_row(&picture, locks[i].name, locks[i].timeline);
	append_picture(pictures, report, &picture);
}

/**
 * page_timelines_json() - make the time lines of a page
 * @report: report with its analysis
 * @locks: locks of the page, those with the longest waits first
 * @count: number of @locks
 * @tables: tables of the page, as bits
 *
 * Return: a JSON array, or NULL without memory.
 */
json_t *page_timelines_json(const struct report *report, const struct page_lock *locks,
			    size_t count, unsigned int tables)
{
	json_t *pictures = json_array();

	append_locks(pictures, report, locks, count, false);
	append_locks(pictures, report, locks, count, true);
	if (tables & 1 << REPORT_THREADS)
		append_threads(pictures, report);
	return pictures;
}
