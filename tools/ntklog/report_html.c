// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of an analysis: tables, and pictures as SVG. It needs no script, no network
 * and no other file, and takes its colours, light or dark, from the reader's system.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "report.h"

/* Locks or resources in a picture. */
#define ROWS		10
#define HISTOGRAMS	6

/* Of the page's pictures, in pixels. */
#define LABEL_WIDTH	270
#define PLOT_WIDTH	720
#define ROW_HEIGHT	26
#define CHART_WIDTH	480
#define CHART_HEIGHT	110
#define AXIS_HEIGHT	20

/* Bars for each power of ten. */
#define BINS_PER_DECADE	12
#define BINS_MAX	(BINS_PER_DECADE * 16)

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<style>\n"
	":root { --page: #fcfcfb; --text: #1d1d1b; --quiet: #62625e; --line: #dededa;\n"
	"  --wait: #c2410c; --hold: #1d64b4; --band: #f1f1ee; }\n"
	"@media (prefers-color-scheme: dark) {\n"
	"  :root { --page: #191a1c; --text: #ececea; --quiet: #a3a3a0; --line: #3a3b3e;\n"
	"    --wait: #f58a4b; --hold: #6cabf0; --band: #232427; }\n"
	"}\n"
	"body { background: var(--page); color: var(--text); margin: 2rem auto;\n"
	"  max-width: 1040px; padding: 0 1rem; font: 15px/1.45 system-ui, sans-serif; }\n"
	"h1 { font-size: 1.5rem; margin-bottom: .3rem; }\n"
	"h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem; }\n"
	"p, li { color: var(--quiet); margin: .2rem 0; }\n"
	"ul { padding-left: 1.1rem; }\n"
	"svg { display: block; max-width: 100%; height: auto; }\n"
	"svg text { fill: var(--text); font: 12px system-ui, sans-serif; }\n"
	"svg .quiet { fill: var(--quiet); font-size: 11px; }\n"
	"svg .line { stroke: var(--line); }\n"
	"svg .band { fill: var(--band); }\n"
	"svg .wait { fill: var(--wait); }\n"
	"svg .hold { fill: var(--hold); }\n"
	".charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(380px, 1fr));\n"
	"  gap: 1rem 1.5rem; }\n"
	".key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; }\n"
	".table { overflow-x: auto; }\n"
	"table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }\n"
	"th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap; }\n"
	"th { border-bottom: 1px solid var(--line); color: var(--quiet); font-weight: 600; }\n"
	"tr:nth-child(even) td { background: var(--band); }\n"
	".name { text-align: left; font-family: ui-monospace, monospace; }\n"
	"</style>\n";

/* Names are a stranger's too. */
static void print_escaped(FILE *stream, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		case '&':
			fputs("&amp;", stream);
			break;
		case '"':
			fputs("&quot;", stream);
			break;
		default:
			if ((unsigned char)*text >= 0x20)
				fputc(*text, stream);
		}
	}
}

static void print_table(const struct table *table, FILE *stream, size_t top)
{
	size_t rows = table_top(table, top), row, i, k;
	char text[NAME_SIZE];

	fputs("<h2>", stream);
	print_escaped(stream, table->title);
	fprintf(stream, ", by %s", table->columns[table->sort].name);
	if (rows < table->rows)
		fprintf(stream, " (%zu of %zu)", rows, table->rows);
	fputs("</h2>\n<div class=\"table\"><table>\n<tr>", stream);
	for (k = 0; k < table->shown_count; k++) {
		i = table->shown[k];
		fprintf(stream, "<th%s>%s</th>",
			table->columns[i].kind == CELL_TEXT ? " class=\"name\"" : "",
			table->columns[i].title);
	}
	fputs("</tr>\n", stream);
	for (row = 0; row < rows; row++) {
		fputs("<tr>", stream);
		for (k = 0; k < table->shown_count; k++) {
			enum cell_kind kind;

			i = table->shown[k];
			kind = table->columns[i].kind;
			cell_format(kind, &table->cells[row * table->column_count + i], text,
				    sizeof(text));
			fprintf(stream, "<td%s>", kind == CELL_TEXT ? " class=\"name\"" : "");
			print_escaped(stream, text);
			fputs("</td>", stream);
		}
		fputs("</tr>\n", stream);
	}
	fputs("</table></div>\n", stream);
}

static void print_name(const struct report *report, FILE *stream, uint64_t address)
{
	char text[NAME_SIZE];

	names_address(report->names, address, text, sizeof(text));
	/* What has room in LABEL_WIDTH. */
	if (strlen(text) > 38)
		memcpy(text + 37, "...", 4);
	print_escaped(stream, text);
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

/* The locks that were waited for longest, first; to be freed. */
static const struct spinlock_lock **worst_locks(const struct report *report, size_t *count)
{
	const struct spinlock_stats *stats = &report->analysis->spinlocks;
	const struct spinlock_lock **locks = calloc(stats->lock_count + 1,
						     sizeof(*locks));
	const struct spinlock_lock *lock;

	*count = 0;
	if (!locks)
		return NULL;
	for (lock = stats->locks; lock; lock = lock->hh.next)
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

/* Waits above, holds below, on one axis. */
static void print_histogram(const struct report *report, FILE *stream, uint64_t address,
			    const char *what, const struct histogram *wait,
			    const struct histogram *hold, const struct axis *axis)
{
	int half = (CHART_HEIGHT - 10) / 2, i;

	fprintf(stream, "<figure style=\"margin:0\"><figcaption class=\"name\">");
	print_name(report, stream, address);
	fprintf(stream, "%s</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", what,
		CHART_WIDTH, CHART_HEIGHT + AXIS_HEIGHT);
	for (i = 0; i <= axis->decades; i++) {
		union cell at = { .number = pow(10, axis->first + i) };
		int x = CHART_WIDTH * i / axis->decades;
		char text[32];

		cell_format(CELL_TIME, &at, text, sizeof(text));
		/* "1.00us" is exact as "1us" here. */
		if (strchr(text, '.'))
			memmove(strchr(text, '.'), text + strcspn(text, "numsk"),
				strlen(text + strcspn(text, "numsk")) + 1);
		fprintf(stream,
			"<line class=\"line\" x1=\"%d\" x2=\"%d\" y1=\"0\" y2=\"%d\"/>\n<text class=\"quiet\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
			x, x, CHART_HEIGHT, x, CHART_HEIGHT + 15,
			!i ? "start" : i == axis->decades ? "end" : "middle", text);
	}
	print_bars(report, stream, wait, axis, "wait", half, half - 4);
	print_bars(report, stream, hold, axis, "hold", CHART_HEIGHT, half - 4);
	fputs("</svg></figure>\n", stream);
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

static void print_resource_histograms(const struct report *report, FILE *stream)
{
	static const char *const classes[] = { " exclusive", " shared" };
	const struct resource_stats *stats = &report->analysis->resources;
	const struct resource_entry **resources = calloc(stats->resource_count + 1,
							  sizeof(*resources));
	const struct resource_entry *entry;
	struct axis axis = { 0 };
	size_t count = 0, i, j;

	for (entry = stats->resources; resources && entry; entry = entry->hh.next)
		resources[count++] = entry;
	if (!count)
		goto out;
	qsort(resources, count, sizeof(*resources), compare_resources);
	if (count > HISTOGRAMS / 2)
		count = HISTOGRAMS / 2;
	for (i = 0; i < count; i++)
		for (j = 0; j < RESOURCE_CLASSES; j++) {
			widen_axis(report, &resources[i]->classes[j].wait, &axis);
			widen_axis(report, &resources[i]->classes[j].hold, &axis);
		}
	if (!axis.decades)
		goto out;
	fputs("<h2>How long resources are waited for and held</h2>\n", stream);
	fprintf(stream, "%s<div class=\"charts\">\n", times_key);
	for (i = 0; i < count; i++)
		for (j = 0; j < RESOURCE_CLASSES; j++)
			if (resources[i]->classes[j].sampled)
				print_histogram(report, stream, resources[i]->address,
						classes[j],
						&resources[i]->classes[j].wait,
						&resources[i]->classes[j].hold, &axis);
	fputs("</div>\n", stream);
out:
	free(resources);
}

static void print_row_label(const struct report *report, FILE *stream,
			    const struct spinlock_lock *lock, size_t row)
{
	fprintf(stream,
		"<rect class=\"band\" x=\"%d\" y=\"%zu\" width=\"%d\" height=\"%d\"/>\n<text x=\"0\" y=\"%zu\">",
		LABEL_WIDTH, row * ROW_HEIGHT, PLOT_WIDTH, ROW_HEIGHT - 2,
		row * ROW_HEIGHT + 16);
	print_name(report, stream, lock->address);
	fputs("</text>\n", stream);
}

/* Slots up to the last that has something. */
static size_t used_slots(const struct spinlock_lock **locks, size_t count)
{
	size_t used = 0, i, slot;

	for (i = 0; i < count; i++)
		for (slot = used; locks[i]->timeline && slot < TIMELINE_SLOTS; slot++)
			if (locks[i]->timeline[slot] > 0)
				used = slot + 1;
	return used;
}

static void print_timeline(const struct report *report, FILE *stream,
			   const struct spinlock_lock **locks, size_t count)
{
	const struct spinlock_stats *stats = &report->analysis->spinlocks;
	double slot_seconds = (double)stats->slot_ticks / (double)report->file->perf_freq;
	double origin = etl_seconds(report->file, report->analysis->origin);
	size_t used = used_slots(locks, count), i, slot;
	double most = 0, width;

	if (!used)
		return;
	width = (double)PLOT_WIDTH / (double)used;
	for (i = 0; i < count; i++)
		for (slot = 0; locks[i]->timeline && slot < used; slot++)
			if (locks[i]->timeline[slot] > most)
				most = locks[i]->timeline[slot];
	fprintf(stream,
		"<h2>When there was contention</h2>\n<p>Processors that waited for the lock, on average of %.3g s; the highest bar is %.2f.</p>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\">\n",
		slot_seconds, etl_cycles_ns(report->file, most) / 1e9 / slot_seconds,
		LABEL_WIDTH + PLOT_WIDTH, count * ROW_HEIGHT + AXIS_HEIGHT);
	for (i = 0; i < count; i++) {
		size_t base = (i + 1) * ROW_HEIGHT - 2;

		print_row_label(report, stream, locks[i], i);
		for (slot = 0; locks[i]->timeline && slot < used; slot++) {
			double wait = locks[i]->timeline[slot];
			double tall = wait / most * (ROW_HEIGHT - 4);

			if (wait <= 0)
				continue;
			if (tall < 1)
				tall = 1;
			fprintf(stream,
				"<rect class=\"wait\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>from %.3f s on: %.3f processors</title></rect>\n",
				LABEL_WIDTH + (double)slot * width, (double)base - tall,
				width > 1.5 ? width - .5 : width, tall,
				origin + (double)slot * slot_seconds,
				etl_cycles_ns(report->file, wait) / 1e9 / slot_seconds);
		}
	}
	for (i = 0; i <= 4; i++)
		fprintf(stream,
			"<text class=\"quiet\" x=\"%zu\" y=\"%zu\" text-anchor=\"%s\">%.3g s</text>\n",
			LABEL_WIDTH + PLOT_WIDTH * i / 4, count * ROW_HEIGHT + 14,
			!i ? "start" : i == 4 ? "end" : "middle",
			origin + (double)(used * i) / 4 * slot_seconds);
	fputs("</svg>\n", stream);
}

static void print_nesting(const struct report *report, FILE *stream,
			  const struct spinlock_lock **locks, size_t count)
{
	int width = PLOT_WIDTH / SPINLOCK_DEPTHS;
	size_t i, depth;

	fprintf(stream,
		"<h2>How deep locks are nested</h2>\n<p>Share of a lock's acquisitions that were released with so many locks owned, itself included.</p>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\">\n",
		LABEL_WIDTH + PLOT_WIDTH, count * ROW_HEIGHT + AXIS_HEIGHT);
	for (i = 0; i < count; i++) {
		const struct spinlock_sum *sum = &locks[i]->sum;

		print_row_label(report, stream, locks[i], i);
		for (depth = 0; depth < SPINLOCK_DEPTHS; depth++) {
			double part = (double)sum->depths[depth] / (double)sum->acquisitions;
			size_t x = LABEL_WIDTH + depth * width;

			if (!sum->depths[depth])
				continue;
			fprintf(stream,
				"<rect class=\"hold\" opacity=\"%.2f\" x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\"/><text x=\"%zu\" y=\"%zu\" text-anchor=\"middle\">%.*f%%</text>\n",
				.08 + .55 * part, x, i * ROW_HEIGHT, width - 2,
				ROW_HEIGHT - 2, x + width / 2, i * ROW_HEIGHT + 16,
				part < .0995, 100 * part);
		}
	}
	for (depth = 0; depth < SPINLOCK_DEPTHS; depth++)
		fprintf(stream,
			"<text class=\"quiet\" x=\"%zu\" y=\"%zu\" text-anchor=\"middle\">%zu</text>\n",
			LABEL_WIDTH + depth * width + width / 2, count * ROW_HEIGHT + 14,
			depth + 1);
	fputs("</svg>\n", stream);
}

static void print_page(const struct report *report, FILE *stream, size_t top,
		       unsigned int tables)
{
	size_t count, i;
	const struct spinlock_lock **locks = worst_locks(report, &count);

	fputs(head, stream);
	fputs("<title>ntklog: ", stream);
	print_escaped(stream, report->file->path);
	fputs("</title>\n</head>\n<body>\n<h1>", stream);
	print_escaped(stream, report->file->path);
	fputs("</h1>\n<ul>\n", stream);
	report_facts(report, stream, "<li>", "</li>");
	fputs("</ul>\n", stream);
	/* Their pictures are the tables' of the same kind. */
	if (count && tables & (1 << REPORT_LOCKS | 1 << REPORT_CALLERS)) {
		print_timeline(report, stream, locks, count);
		print_histograms(report, stream, locks, count);
		print_nesting(report, stream, locks, count);
	}
	if (tables & 1 << REPORT_RESOURCES)
		print_resource_histograms(report, stream);
	for (i = 0; i < REPORT_TABLES; i++)
		if (tables & 1 << i && table_has_cells(&report->tables[i]))
			print_table(&report->tables[i], stream, top);
	fputs("</body>\n</html>\n", stream);
	free(locks);
}

/**
 * report_print_html() - write the page
 * @report: made and sorted
 * @path: of the page; "-" is the standard output
 * @top: rows of each table at most; 0: all
 * @tables: which, as bits; the pictures are of locks and resources
 *
 * Return: 0, or -1 after a message.
 */
int report_print_html(const struct report *report, const char *path, size_t top,
		      unsigned int tables)
{
	FILE *stream = strcmp(path, "-") ? fopen(path, "w") : stdout;
	int err;

	if (!stream) {
		message("%s: %s", path, strerror(errno));
		return -1;
	}
	print_page(report, stream, top, tables);
	err = finish_output(stream, stream == stdout ? NULL : path);
	if (stream != stdout)
		fclose(stream);
	return err;
}
