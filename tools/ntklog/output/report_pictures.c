// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pictures of a page: which locks and threads they show. Drawings are SVG, and stretch to the
 * width that there is. All text is the page's, so that it is legible on a telephone, too. Each
 * picture describes itself in words for readers who do not see it.
 */

#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "report_histograms.h"
#include "report_pictures.h"
#include "report_timelines.h"
#include "text.h"

/* Greatest number of locks or threads in a picture of time lines, and of distributions. */
#define ROWS		10
#define HISTOGRAMS	6

static int compare_locks(const void *a, const void *b)
{
	const struct spinlock_sum *left = &(*(const struct spinlock_lock *const *)a)->sum;
	const struct spinlock_sum *right = &(*(const struct spinlock_lock *const *)b)->sum;

	if (left->wait.sum != right->wait.sum)
		return left->wait.sum < right->wait.sum ? 1 : -1;
	return (left->acquisitions < right->acquisitions) -
	       (left->acquisitions > right->acquisitions);
}

/*
 * Return the locks, the one that was waited for longest first. A lock of which there are records of
 * blockers alone is left out. The caller frees the array.
 */
static const struct spinlock_lock **worst_locks(const struct report *report, size_t *count)
{
	const struct spinlock_stats *stats = &report->analysis->spinlocks;
	const struct spinlock_lock **locks = calloc(HASH_COUNT(stats->locks) + 1,
						     sizeof(*locks));
	const struct spinlock_lock *lock;

	*count = 0;
	if (!locks)
		return NULL;
	for (lock = stats->locks; lock; lock = lock->hh.next)
		if (lock->sum.sampled)
			locks[(*count)++] = lock;
	qsort(locks, *count, sizeof(*locks), compare_locks);
	if (*count > ROWS)
		*count = ROWS;
	return locks;
}

static const char times_key[] =
	"<p><span class=\"key\" style=\"background:var(--wait)\"></span>waited\n"
	"<span class=\"key\" style=\"background:var(--hold)\"></span>held;\n"
	"each to its own height, the axis is logarithmic</p>\n";

static void print_histograms(const struct report *report, FILE *stream,
			     const struct spinlock_lock **locks, size_t count)
{
	struct histogram_axis axis = { 0 };
	size_t i;

	if (count > HISTOGRAMS)
		count = HISTOGRAMS;
	for (i = 0; i < count; i++) {
		report_widen_axis(report, &locks[i]->sum.wait, &axis);
		report_widen_axis(report, &locks[i]->sum.hold, &axis);
	}
	if (!axis.decades)
		return;
	fputs("<h2>How long spin locks are waited for and held</h2>\n", stream);
	fprintf(stream, "%s<div class=\"charts\">\n", times_key);
	for (i = 0; i < count; i++)
		report_print_histogram(report, stream, locks[i]->address, "",
				       &locks[i]->sum.wait, &locks[i]->sum.hold, &axis);
	fputs("</div>\n", stream);
}

static int compare_resources(const void *a, const void *b)
{
	const struct resource_entry *left = *(const struct resource_entry *const *)a;
	const struct resource_entry *right = *(const struct resource_entry *const *)b;
	double left_wait = left->classes[0].wait.sum + left->classes[1].wait.sum;
	double right_wait = right->classes[0].wait.sum + right->classes[1].wait.sum;

	return (left_wait < right_wait) - (left_wait > right_wait);
}

/* Return the resources, the one that was waited for longest first. The caller frees the array. */
static const struct resource_entry **worst_resources(const struct report *report, size_t *count)
{
	const struct resource_stats *stats = &report->analysis->resources;
	const struct resource_entry **resources = calloc(HASH_COUNT(stats->resources) + 1,
							 sizeof(*resources));
	const struct resource_entry *entry;

	*count = 0;
	for (entry = stats->resources; resources && entry; entry = entry->hh.next)
		resources[(*count)++] = entry;
	if (*count)
		qsort(resources, *count, sizeof(*resources), compare_resources);
	return resources;
}

/* Return the kind of a lock, or nothing if the trace has NT's resources alone. */
static const char *kind_text(const struct report *report, const struct resource_entry *entry)
{
	return resource_stats_has_linux(&report->analysis->resources) ?
		resource_kinds[entry->key.kind].name : "";
}

static void print_resource_histograms(const struct report *report, FILE *stream,
				      const struct resource_entry **resources, size_t count)
{
	static const char *const classes[] = { "exclusive", "shared" };
	struct histogram_axis axis = { 0 };
	char what[48];
	size_t i, j;

	if (count > HISTOGRAMS / 2)
		count = HISTOGRAMS / 2;
	for (i = 0; i < count; i++)
		for (j = 0; j < RESOURCE_CLASSES; j++) {
			report_widen_axis(report, &resources[i]->classes[j].wait, &axis);
			report_widen_axis(report, &resources[i]->classes[j].hold, &axis);
		}
	if (!axis.decades)
		return;
	fprintf(stream, "<h2>How long %s are waited for and held</h2>\n",
		report_resources(report));
	fprintf(stream, "%s<div class=\"charts\">\n", times_key);
	for (i = 0; i < count; i++)
		for (j = 0; j < RESOURCE_CLASSES; j++) {
			const char *kind = kind_text(report, resources[i]);

			if (!resources[i]->classes[j].sampled)
				continue;
			snprintf(what, sizeof(what), "%s%s %s", *kind ? " " : "", kind,
				 classes[j]);
			report_print_histogram(report, stream, resources[i]->key.address, what,
					       &resources[i]->classes[j].wait,
					       &resources[i]->classes[j].hold, &axis);
		}
	fputs("</div>\n", stream);
}

static void print_lock_timelines(const struct report *report, FILE *stream,
				 const struct spinlock_lock **locks, size_t count)
{
	const struct timeline_picture picture = {
		"When there was contention", "processors that waited for the lock", "wait",
		&report->analysis->spinlocks.timelines, etl_cycles_ns(report->file, 1)
	};
	struct timeline_row rows[ROWS];
	size_t i;

	for (i = 0; i < count; i++) {
		names_address(report->names, locks[i]->address, rows[i].label,
			      sizeof(rows[i].label));
		rows[i].timeline = locks[i]->timeline;
	}
	report_print_timelines(report, stream, &picture, rows, count);
}

static void print_depths(const struct report *report, FILE *stream,
			 const struct spinlock_lock *lock)
{
	const struct spinlock_sum *sum = &lock->sum;
	unsigned int depth;

	fputs("<div class=\"row\"><span class=\"name\">", stream);
	html_print_lock(stream, report->names, lock->address);
	fputs("</span><div class=\"depths\" role=\"img\" aria-label=\"", stream);
	html_print_lock(stream, report->names, lock->address);
	for (depth = 0; depth < SPINLOCK_DEPTHS; depth++)
		if (sum->depths[depth])
			fprintf(stream, "; %u deep: %.1f%%", depth + 1,
				100 * (double)sum->depths[depth] / (double)sum->acquisitions);
	fputs("\">", stream);
	for (depth = 0; depth < SPINLOCK_DEPTHS; depth++) {
		double part = (double)sum->depths[depth] / (double)sum->acquisitions;

		if (sum->depths[depth])
			fprintf(stream, "<span style=\"--part:%.2f\">%.*f%%</span>",
				.08 + .55 * part, part < .0995, 100 * part);
		else
			fputs("<span></span>", stream);
	}
	fputs("</div></div>\n", stream);
}

static void print_nesting_heading(FILE *stream)
{
	fputs("<h2>How deep locks are nested</h2>\n<p>Share of a lock's acquisitions that were ",
	      stream);
	fputs("released with so many locks owned, itself included.</p>\n", stream);
}

static void print_nesting(const struct report *report, FILE *stream,
			  const struct spinlock_lock **locks, size_t count)
{
	bool is_begun = false;
	size_t i;

	for (i = 0; i < count; i++) {
		/* Records of some modes have no depth. */
		if (!locks[i]->sum.max_depth)
			continue;
		if (!is_begun)
			print_nesting_heading(stream);
		is_begun = true;
		print_depths(report, stream, locks[i]);
	}
	if (!is_begun)
		return;
	fputs("<div class=\"row\"><span></span><div class=\"depths axis\">", stream);
	for (i = 1; i <= SPINLOCK_DEPTHS; i++)
		fprintf(stream, "<span>%zu</span>", i);
	fputs("</div></div>\n", stream);
}

/**
 * report_print_lock_pictures() - print when and how long spin locks were waited for, and depths
 * @report: report with its analysis
 * @stream: stream of the page
 */
void report_print_lock_pictures(const struct report *report, FILE *stream)
{
	size_t count;
	const struct spinlock_lock **locks = worst_locks(report, &count);

	if (count) {
		print_lock_timelines(report, stream, locks, count);
		print_histograms(report, stream, locks, count);
		print_nesting(report, stream, locks, count);
	}
	free(locks);
}

/**
 * report_print_resource_pictures() - print when and how long resources were waited for
 * @report: report with its analysis
 * @stream: stream of the page
 */
void report_print_resource_pictures(const struct report *report, FILE *stream)
{
	bool has_linux = resource_stats_has_linux(&report->analysis->resources);
	char title[80];
	const struct timeline_picture picture = {
		title, has_linux ? "threads that waited for it" :
		"threads that waited for the resource", "wait",
		&report->analysis->resources.timelines, etl_cycles_ns(report->file, 1)
	};
	size_t count, i;
	const struct resource_entry **resources = worst_resources(report, &count);
	struct timeline_row rows[ROWS];

	snprintf(title, sizeof(title), "When %s were waited for", report_resources(report));
	for (i = 0; i < count && i < ROWS; i++) {
		char *label = rows[i].label;

		names_address(report->names, resources[i]->key.address, label,
			      sizeof(rows[i].label) - TIMELINE_KIND_SIZE);
		snprintf(label + strlen(label), TIMELINE_KIND_SIZE, "%s%s", has_linux ? " " : "",
			 kind_text(report, resources[i]));
		rows[i].timeline = resources[i]->timeline;
	}
	report_print_timelines(report, stream, &picture, rows, i);
	print_resource_histograms(report, stream, resources, count);
	free(resources);
}

static int compare_threads(const void *a, const void *b)
{
	const struct switch_thread *left = *(const struct switch_thread *const *)a;
	const struct switch_thread *right = *(const struct switch_thread *const *)b;

	if (left->run.sum != right->run.sum)
		return left->run.sum < right->run.sum ? 1 : -1;
	return (left->thread_id > right->thread_id) - (left->thread_id < right->thread_id);
}

/**
 * report_print_thread_pictures() - print when threads ran
 * @report: report with its analysis
 * @stream: stream of the page
 */
void report_print_thread_pictures(const struct report *report, FILE *stream)
{
	const struct switch_stats *stats = &report->analysis->switches;
	const struct timeline_picture picture = {
		"When threads ran", "processors that the thread had", "hold", &stats->timelines,
		1e9 / (double)report->file->perf_freq
	};
	const struct switch_thread **threads = calloc(HASH_COUNT(stats->threads) + 1,
						       sizeof(*threads));
	const struct switch_thread *thread;
	struct timeline_row rows[ROWS];
	size_t count = 0, i;

	for (thread = stats->threads; threads && thread; thread = thread->hh.next)
		threads[count++] = thread;
	if (count)
		qsort(threads, count, sizeof(*threads), compare_threads);
	for (i = 0; i < count && i < ROWS; i++) {
		const char *name = names_thread(report->names, threads[i]->thread_id);

		snprintf(rows[i].label, sizeof(rows[i].label), "%.200s%s%u", name ? name : "",
			 name ? " " : "thread ", threads[i]->thread_id);
		/* snprintf() may have cut the name within a character. */
		text_clean(rows[i].label);
		rows[i].timeline = threads[i]->timeline;
	}
	report_print_timelines(report, stream, &picture, rows, i);
	free(threads);
}
