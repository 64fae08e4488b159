// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pictures of a page that show how long locks are waited for and held: distributions over an axis
 * of powers of ten, on which bars have equal widths.
 */

#include <math.h>
#include <string.h>

#include "html.h"
#include "report_histograms.h"

/* Size of a drawing. The page stretches it to the width that there is. */
#define CHART_WIDTH	480
#define CHART_HEIGHT	110

/* Bars for each power of ten. */
#define BINS_PER_DECADE	12
#define BINS_MAX	(BINS_PER_DECADE * 16)

/*
 * Greatest number of distances between labels of an axis. With more, the labels touch each other in
 * a narrow picture.
 */
#define LABEL_GAPS	4

/**
 * report_widen_axis() - widen an axis until it covers a distribution
 * @report: report that the distribution belongs to
 * @times: distribution, in cycles
 * @axis: axis to widen; all zero if it covers nothing yet
 */
void report_widen_axis(const struct report *report, const struct histogram *times,
		       struct histogram_axis *axis)
{
	unsigned int i;

	for (i = 0; i < times->capacity; i++) {
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
			const struct histogram_axis *axis, double *bins)
{
	double most = 0;
	unsigned int i;

	memset(bins, 0, BINS_MAX * sizeof(*bins));
	for (i = 0; i < times->capacity; i++) {
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
		       const struct histogram *times, const struct histogram_axis *axis,
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

/* Print the mean and the 95th percentile, for readers who do not see the picture. */
static void print_times(const struct report *report, FILE *stream, const char *what,
			const struct histogram *times)
{
	if (!times->total)
		return;
	fprintf(stream, "; %s ", what);
	html_print_time(stream, etl_cycles_ns(report->file, histogram_mean(times)));
	fputs(" on average, 95% up to ", stream);
	html_print_time(stream, etl_cycles_ns(report->file,
					      (double)histogram_percentile(times, 95)));
}

static void print_power(FILE *stream, int power)
{
	const union cell cell = { .number = pow(10, power) };
	char text[32];

	cell_format(CELL_TIME, &cell, text, sizeof(text));
	/* A power of ten is exact without its decimals: "1us" instead of "1.00us". */
	if (strchr(text, '.'))
		memmove(strchr(text, '.'), text + strcspn(text, "numsk"),
			strlen(text + strcspn(text, "numsk")) + 1);
	fputs(text, stream);
}

/**
 * report_print_histogram() - print the distributions of waits and holds above each other
 * @report: report that the distributions belong to
 * @stream: stream of the page
 * @lock: address of the lock, or key of its class
 * @what: text behind the lock's name
 * @wait: distribution of waits, in cycles
 * @hold: distribution of holds, in cycles
 * @axis: axis that covers both
 */
void report_print_histogram(const struct report *report, FILE *stream, uint64_t lock,
			    const char *what, const struct histogram *wait,
			    const struct histogram *hold, const struct histogram_axis *axis)
{
	int half = (CHART_HEIGHT - 10) / 2, step, i;

	fputs("<figure><figcaption class=\"name\">", stream);
	html_print_lock(stream, report->names, lock);
	fprintf(stream,
		"%s</figcaption>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		what, CHART_WIDTH, CHART_HEIGHT);
	html_print_lock(stream, report->names, lock);
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
	step = (axis->decades + LABEL_GAPS - 1) / LABEL_GAPS;
	for (i = 0; i <= axis->decades; i += step) {
		fprintf(stream, "<span%s style=\"left:%.1f%%\">",
			i == axis->decades ? " class=\"end\"" : "", 100. * i / axis->decades);
		print_power(stream, axis->first + i);
		fputs("</span>", stream);
	}
	fputs("</div></figure>\n", stream);
}
