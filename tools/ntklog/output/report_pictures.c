// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pictures of a page. What is drawn is SVG that is as wide as there is room; all text is
 * the page's own, so that it is legible on a telephone too. Each picture says in words, to who
 * does not see it, what is to be seen.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_html.h"
#include "text.h"

/* Locks or resources in a picture. */
#define ROWS		10
#define HISTOGRAMS	6

/* Of drawings, whose width is that of the page in the end. */
#define ROW_HEIGHT	26
#define CHART_WIDTH	480
#define CHART_HEIGHT	110

/* Bars for each power of ten. */
#define BINS_PER_DECADE	12
#define BINS_MAX	(BINS_PER_DECADE * 16)

/* Powers of ten that are named at an axis. */
#define AXIS_LABELS	8

/* Of a label, for the kind of what it names. */
#define KIND_SIZE	16

/* A time, as the tables have it. */
static const char *format_ns(double ns, char *text, size_t size)
{
	const union cell cell = { .number = ns };

	cell_format(CELL_TIME, &cell, text, size);
	return text;
}

static void print_name(const struct report *report, FILE *stream, uint64_t address)
{
	char text[NAME_SIZE];

	names_address(report->names, address, text, sizeof(text));
	html_print_escaped(stream, text);
}

/*
 * A thing with a time line.
 *
 * @label: of it
 * @timeline: of it, or NULL
 */
struct row {
	char label[NAME_SIZE + KIND_SIZE];
	const struct timeline *timeline;
};

/*
 * Of pictures that show when something was.
 *
 * @title: of it
 * @what: what a bar is the number of
 * @class: of the bars
 * @set: of the kind
 * @ns: of a unit of its sums
 */
struct timeline_picture {
	const char *title;
	const char *what;
	const char *class;
	const struct timelines *set;
	double ns;
};

/* All that the trace covers, and what there is behind that. */
static size_t used_slots(const struct report *report, const struct timeline_picture *picture,
			 const struct row *rows, size_t count)
{
	const struct analysis *analysis = report->analysis;
	double ticks = report->seconds * (double)report->file->perf_freq, slots;
	size_t used = 0, i, slot;

	/* Of a flight recording the seconds are those of a processor, on average. */
	if (report->file->overwritten)
		ticks = (double)(analysis->last_time - analysis->origin);
	for (i = 0; i < count; i++)
		for (slot = used; rows[i].timeline && slot < TIMELINE_SLOTS; slot++)
			if (rows[i].timeline->slots[slot] > 0)
				used = slot + 1;
	slots = ceil(ticks / (double)picture->set->slot_ticks);
	if (used && slots > (double)used)
		used = slots < TIMELINE_SLOTS ? (size_t)slots : TIMELINE_SLOTS;
	return used;
}

/*
 * @used: slots that there are
 * @most: in one of them
 * @slot_ns: length of each
 * @origin: of the first, seconds since the session's start
 */
struct scale {
	size_t used;
	double most;
	double slot_ns;
	double origin;
};

static void print_row(const struct timeline_picture *picture, FILE *stream,
		      const struct row *row, const struct scale *scale)
{
	double total = 0, highest = 0;
	size_t slot, at = 0;
	char time[32];

	for (slot = 0; row->timeline && slot < scale->used; slot++) {
		total += row->timeline->slots[slot];
		if (row->timeline->slots[slot] > highest) {
			highest = row->timeline->slots[slot];
			at = slot;
		}
	}
	fputs("<div class=\"row\"><span class=\"name\">", stream);
	html_print_escaped(stream, row->label);
	fprintf(stream,
		"</span>\n<svg class=\"bars\" viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		scale->used, ROW_HEIGHT);
	html_print_escaped(stream, row->label);
	fprintf(stream, ": %s in all", format_ns(total * picture->ns, time, sizeof(time)));
	if (highest > 0)
		fprintf(stream, "; most from %.3f s on, %.3f %s",
			scale->origin + (double)at * scale->slot_ns / 1e9,
			highest * picture->ns / scale->slot_ns, picture->what);
	fputs("\">\n", stream);
	for (slot = 0; row->timeline && slot < scale->used; slot++) {
		double sum = row->timeline->slots[slot];
		double tall = sum / scale->most * (ROW_HEIGHT - 2);

		if (sum <= 0)
			continue;
		if (tall < 1)
			tall = 1;
		fprintf(stream,
			"<rect class=\"%s\" x=\"%zu\" y=\"%.2f\" width=\"%s\" height=\"%.2f\"><title>from %.3f s on: %.3f %s</title></rect>\n",
			picture->class, slot, ROW_HEIGHT - tall, scale->used < 120 ? ".9" : "1",
			tall, scale->origin + (double)slot * scale->slot_ns / 1e9,
			sum * picture->ns / scale->slot_ns, picture->what);
	}
	fputs("</svg></div>\n", stream);
}

static void print_timelines(const struct report *report, FILE *stream,
			    const struct timeline_picture *picture, const struct row *rows,
			    size_t count)
{
	double ticks = (double)picture->set->slot_ticks;
	struct scale scale = {
		.used = used_slots(report, picture, rows, count),
		.slot_ns = ticks * 1e9 / (double)report->file->perf_freq,
		.origin = etl_seconds(report->file, report->analysis->origin),
	};
	double length = (double)scale.used * scale.slot_ns / 1e9;
	size_t i, slot;
	char time[32];
	int decimals;

	if (!scale.used)
		return;
	for (i = 0; i < count; i++)
		for (slot = 0; rows[i].timeline && slot < scale.used; slot++)
			if (rows[i].timeline->slots[slot] > scale.most)
				scale.most = rows[i].timeline->slots[slot];
	fprintf(stream,
		"<h2>%s</h2>\n<p>%c%s, on average of %s each; the highest bar is %.2f.</p>\n",
		picture->title, picture->what[0] - 'a' + 'A', picture->what + 1,
		format_ns(scale.slot_ns, time, sizeof(time)),
		scale.most * picture->ns / scale.slot_ns);
	for (i = 0; i < count; i++)
		print_row(picture, stream, &rows[i], &scale);
	fputs("<div class=\"row\"><span></span><div class=\"ticks\">", stream);
	/* Three digits of what the axis has. */
	decimals = 2 - (int)floor(log10(length));
	for (i = 0; i <= 4; i++)
		fprintf(stream, "<span style=\"left:%zu%%\">%.*f s</span>", 25 * i,
			decimals > 0 ? decimals : 0, scale.origin + length * (double)i / 4);
	fputs("</div></div>\n", stream);
}

static int compare_locks(const void *a, const void *b)
{
	const struct spinlock_sum *left = &(*(const struct spinlock_lock *const *)a)->sum;
	const struct spinlock_sum *right = &(*(const struct spinlock_lock *const *)b)->sum;

	if (left->wait.sum != right->wait.sum)
		return left->wait.sum < right->wait.sum ? 1 : -1;
	return (left->acquisitions < right->acquisitions) -
	       (left->acquisitions > right->acquisitions);
}

/* The locks that were waited for longest, first; to be freed. Not those that only blocked. */
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

/*
 * Of powers of ten, on which distributions are drawn in bars of equal width.
 *
 * @first: power of ten, of nanoseconds, at the left
 * @decades: up to the right
 */
struct axis {
	int first;
	int decades;
};

static void widen_axis(const struct report *report, const struct histogram *times,
		       struct axis *axis)
{
	unsigned int i;

	for (i = 0; i < times->room; i++) {
		uint64_t weight;
		double ns = etl_cycles_ns(report->file, histogram_bucket(times, i, &weight));
		int decade = ns >= 1 ? (int)floor(log10(ns)) : 0;

		if (!weight)
			continue;
		if (!axis->decades) {
			axis->first = decade;
			axis->decades = 1;
		}
		if (decade < axis->first) {
			axis->decades += axis->first - decade;
			axis->first = decade;
		}
		if (decade >= axis->first + axis->decades)
			axis->decades = decade - axis->first + 1;
	}
	if (axis->decades * BINS_PER_DECADE > BINS_MAX)
		axis->decades = BINS_MAX / BINS_PER_DECADE;
}

static double fill_bins(const struct report *report, const struct histogram *times,
			const struct axis *axis, double *bins)
{
	double most = 0;
	unsigned int i;

	memset(bins, 0, BINS_MAX * sizeof(*bins));
	for (i = 0; i < times->room; i++) {
		uint64_t weight;
		double ns = etl_cycles_ns(report->file, histogram_bucket(times, i, &weight));
		double at = ns >= 1 ? (log10(ns) - axis->first) * BINS_PER_DECADE : 0;
		int bin = at < 0 ? 0 : (int)at;

		if (!weight)
			continue;
		if (bin >= axis->decades * BINS_PER_DECADE)
			bin = axis->decades * BINS_PER_DECADE - 1;
		bins[bin] += (double)weight / (double)times->total;
		if (bins[bin] > most)
			most = bins[bin];
	}
	return most;
}

static void print_bars(const struct report *report, FILE *stream,
		       const struct histogram *times, const struct axis *axis,
		       const char *class, int base, int height)
{
	double bins[BINS_MAX], most, width;
	int i, count = axis->decades * BINS_PER_DECADE;

	if (!times->total)
		return;
	most = fill_bins(report, times, axis, bins);
	width = (double)CHART_WIDTH / count;
	for (i = 0; i < count; i++) {
		union cell from = { .number = pow(10, axis->first +
						       (double)i / BINS_PER_DECADE) };
		double tall = bins[i] / most * height;
		char text[32];

		if (bins[i] <= 0)
			continue;
		if (tall < 1)
			tall = 1;
		cell_format(CELL_TIME, &from, text, sizeof(text));
		fprintf(stream,
			"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s, %s and more: %.2f%%</title></rect>\n",
			class, i * width + .5, base - tall, width - 1, tall, class, text,
			100 * bins[i]);
	}
	fprintf(stream, "<line class=\"line\" x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n",
		CHART_WIDTH, base, base);
}

/* In words: how many, how long on average, and what all but some are shorter than. */
static void print_times(const struct report *report, FILE *stream, const char *what,
			const struct histogram *times)
{
	char mean[32], p95[32];

	if (!times->total)
		return;
	format_ns(etl_cycles_ns(report->file, histogram_mean(times)), mean, sizeof(mean));
	format_ns(etl_cycles_ns(report->file, (double)histogram_percentile(times, 95)), p95,
		  sizeof(p95));
	fprintf(stream, "; %s %s on average, 95%% up to %s", what, mean, p95);
}

static void print_power(FILE *stream, int power)
{
	char text[32];

	format_ns(pow(10, power), text, sizeof(text));
	/* "1.00us" is exact as "1us" here. */
	if (strchr(text, '.'))
		memmove(strchr(text, '.'), text + strcspn(text, "numsk"),
			strlen(text + strcspn(text, "numsk")) + 1);
	fputs(text, stream);
}

/* Waits above, holds below, on one axis. */
static void print_histogram(const struct report *report, FILE *stream, uint64_t address,
			    const char *what, const struct histogram *wait,
			    const struct histogram *hold, const struct axis *axis)
{
	int half = (CHART_HEIGHT - 10) / 2, step, i;

	fputs("<figure><figcaption class=\"name\">", stream);
	print_name(report, stream, address);
	fprintf(stream,
		"%s</figcaption>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		what, CHART_WIDTH, CHART_HEIGHT);
	print_name(report, stream, address);
	fputs(what, stream);
	print_times(report, stream, "waited", wait);
	print_times(report, stream, "held", hold);
	fputs("\">\n", stream);
	for (i = 0; i <= axis->decades; i++)
		fprintf(stream,
			"<line class=\"line\" x1=\"%d\" x2=\"%d\" y1=\"0\" y2=\"%d\"/>\n",
			CHART_WIDTH * i / axis->decades, CHART_WIDTH * i / axis->decades,
			CHART_HEIGHT);
	print_bars(report, stream, wait, axis, "wait", half, half - 4);
	print_bars(report, stream, hold, axis, "hold", CHART_HEIGHT, half - 4);
	fputs("</svg>\n<div class=\"ticks\">", stream);
	step = (axis->decades + AXIS_LABELS - 1) / AXIS_LABELS;
	for (i = 0; i <= axis->decades; i += step) {
		fprintf(stream, "<span style=\"left:%.1f%%\">", 100. * i / axis->decades);
		print_power(stream, axis->first + i);
		fputs("</span>", stream);
	}
	fputs("</div></figure>\n", stream);
}

static const char times_key[] =
	"<p><span class=\"key\" style=\"background:var(--wait)\"></span>waited\n"
	"<span class=\"key\" style=\"background:var(--hold)\"></span>held;\n"
	"each to its own height, the axis is logarithmic</p>\n";

static void print_histograms(const struct report *report, FILE *stream,
			     const struct spinlock_lock **locks, size_t count)
{
	struct axis axis = { 0 };
	size_t i;

	if (count > HISTOGRAMS)
		count = HISTOGRAMS;
	for (i = 0; i < count; i++) {
		widen_axis(report, &locks[i]->sum.wait, &axis);
		widen_axis(report, &locks[i]->sum.hold, &axis);
	}
	if (!axis.decades)
		return;
	fputs("<h2>How long spin locks are waited for and held</h2>\n", stream);
	fprintf(stream, "%s<div class=\"charts\">\n", times_key);
	for (i = 0; i < count; i++)
		print_histogram(report, stream, locks[i]->address, "", &locks[i]->sum.wait,
				&locks[i]->sum.hold, &axis);
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

/* Those that were waited for longest, first; to be freed. */
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

/* The kind, where there are others than NT's. */
static const char *kind_text(const struct report *report, const struct resource_entry *entry)
{
	return resource_stats_has_linux(&report->analysis->resources) ?
		resource_kinds[entry->key.kind].name : "";
}

static void print_resource_histograms(const struct report *report, FILE *stream,
				      const struct resource_entry **resources, size_t count)
{
	static const char *const classes[] = { "exclusive", "shared" };
	struct axis axis = { 0 };
	char what[48];
	size_t i, j;

	if (count > HISTOGRAMS / 2)
		count = HISTOGRAMS / 2;
	for (i = 0; i < count; i++)
		for (j = 0; j < RESOURCE_CLASSES; j++) {
			widen_axis(report, &resources[i]->classes[j].wait, &axis);
			widen_axis(report, &resources[i]->classes[j].hold, &axis);
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
			print_histogram(report, stream, resources[i]->key.address, what,
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
	struct row rows[ROWS];
	size_t i;

	for (i = 0; i < count; i++) {
		names_address(report->names, locks[i]->address, rows[i].label,
			      sizeof(rows[i].label));
		rows[i].timeline = locks[i]->timeline;
	}
	print_timelines(report, stream, &picture, rows, count);
}

static void print_depths(const struct report *report, FILE *stream,
			 const struct spinlock_lock *lock)
{
	const struct spinlock_sum *sum = &lock->sum;
	unsigned int depth;

	fputs("<div class=\"row\"><span class=\"name\">", stream);
	print_name(report, stream, lock->address);
	fputs("</span><div class=\"depths\" role=\"img\" aria-label=\"", stream);
	print_name(report, stream, lock->address);
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

static void begin_nesting(FILE *stream)
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
		/* It is not known of locks that were recorded in some modes. */
		if (!locks[i]->sum.max_depth)
			continue;
		if (!is_begun)
			begin_nesting(stream);
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
 * html_print_lock_pictures() - when spin locks were waited for, how long, and how deep
 * @report: made
 * @stream: where to
 */
void html_print_lock_pictures(const struct report *report, FILE *stream)
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
 * html_print_resource_pictures() - when resources were waited for, and how long
 * @report: made
 * @stream: where to
 */
void html_print_resource_pictures(const struct report *report, FILE *stream)
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
	struct row rows[ROWS];

	snprintf(title, sizeof(title), "When %s were waited for", report_resources(report));
	for (i = 0; i < count && i < ROWS; i++) {
		char *label = rows[i].label;

		names_address(report->names, resources[i]->key.address, label,
			      sizeof(rows[i].label) - KIND_SIZE);
		snprintf(label + strlen(label), KIND_SIZE, "%s%s", has_linux ? " " : "",
			 kind_text(report, resources[i]));
		rows[i].timeline = resources[i]->timeline;
	}
	print_timelines(report, stream, &picture, rows, i);
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
 * html_print_thread_pictures() - when threads ran
 * @report: made
 * @stream: where to
 */
void html_print_thread_pictures(const struct report *report, FILE *stream)
{
	const struct switch_stats *stats = &report->analysis->switches;
	const struct timeline_picture picture = {
		"When threads ran", "processors that the thread had", "hold", &stats->timelines,
		1e9 / (double)report->file->perf_freq
	};
	const struct switch_thread **threads = calloc(HASH_COUNT(stats->threads) + 1,
						       sizeof(*threads));
	const struct switch_thread *thread;
	struct row rows[ROWS];
	size_t count = 0, i;

	for (thread = stats->threads; threads && thread; thread = thread->hh.next)
		threads[count++] = thread;
	if (count)
		qsort(threads, count, sizeof(*threads), compare_threads);
	for (i = 0; i < count && i < ROWS; i++) {
		const char *name = names_thread(report->names, threads[i]->thread_id);

		snprintf(rows[i].label, sizeof(rows[i].label), "%.200s%s%u", name ? name : "",
			 name ? " " : "thread ", threads[i]->thread_id);
		/* The name may be cut within a character. */
		text_clean(rows[i].label);
		rows[i].timeline = threads[i]->timeline;
	}
	print_timelines(report, stream, &picture, rows, i);
	free(threads);
}
