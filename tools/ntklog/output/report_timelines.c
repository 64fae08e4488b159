// SPDX-License-Identifier: GPL-2.0-only
/* Pictures of a page that show when something happened. */

#include <math.h>

#include "html.h"
#include "report_timelines.h"

/* Height of a row's drawing, and of its lowest bar. The page sets the width. */
#define ROW_HEIGHT	26
#define LEAST_HEIGHT	2

/* Return the number of slots that the trace covers, or more if a later slot is not empty. */
static size_t count_slots(const struct report *report, const struct timeline_picture *picture,
			  const struct timeline_row *rows, size_t count)
{
	const struct analysis *analysis = report->analysis;
	double ticks = report->seconds * (double)report->file->perf_freq, slots;
	size_t used = 0, i, slot;

	/* In a flight recording report->seconds is the time of one CPU, not of the whole trace. */
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
 * @used: number of slots
 * @most: greatest sum of a slot of any row
 * @slot_ns: length of a slot, ns
 * @origin: begin of the first slot, seconds since the session's start
 */
struct scale {
	size_t used;
	double most;
	double slot_ns;
	double origin;
};

static void print_row(const struct timeline_picture *picture, FILE *stream,
		      const struct timeline_row *row, const struct scale *scale)
{
	double total = 0, highest = 0;
	size_t slot, at = 0;

	for (slot = 0; row->timeline && slot < scale->used; slot++) {
		total += row->timeline->slots[slot];
		if (row->timeline->slots[slot] > highest) {
			highest = row->timeline->slots[slot];
			at = slot;
		}
	}
	fputs("<div class=\"row\"><span class=\"name\">", stream);
	html_print_name(stream, row->label);
	fprintf(stream,
		"</span>\n<svg class=\"bars\" viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
		scale->used, ROW_HEIGHT);
	html_print_escaped(stream, row->label);
	fputs(": ", stream);
	html_print_time(stream, total * picture->ns);
	fputs(" in all", stream);
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
		if (tall < LEAST_HEIGHT)
			tall = LEAST_HEIGHT;
		fprintf(stream,
			"<rect class=\"%s\" x=\"%zu\" y=\"%.2f\" width=\"%s\" height=\"%.2f\"><title>from %.3f s on: %.3f %s</title></rect>\n",
			picture->class, slot, ROW_HEIGHT - tall, scale->used < 120 ? ".9" : "1",
			tall, scale->origin + (double)slot * scale->slot_ns / 1e9,
			sum * picture->ns / scale->slot_ns, picture->what);
	}
	fputs("</svg></div>\n", stream);
}

static bool row_has_bars(const struct timeline_row *row, size_t used)
{
	size_t slot;

	for (slot = 0; row->timeline && slot < used; slot++)
		if (row->timeline->slots[slot] > 0)
			return true;
	return false;
}

/**
 * report_print_timelines() - print a picture of when each of some locks or threads was active
 * @report: report that the picture belongs to
 * @stream: stream of the page
 * @picture: texts and units of the picture
 * @rows: locks or threads, a row each; a row without a bar is left out
 * @count: number of rows
 */
void report_print_timelines(const struct report *report, FILE *stream,
			    const struct timeline_picture *picture,
			    const struct timeline_row *rows, size_t count)
{
	double ticks = (double)picture->set->slot_ticks;
	struct scale scale = {
		.used = count_slots(report, picture, rows, count),
		.slot_ns = ticks * 1e9 / (double)report->file->perf_freq,
		.origin = etl_seconds(report->file, report->analysis->origin),
	};
	double length = (double)scale.used * scale.slot_ns / 1e9;
	size_t i, slot;
	int decimals;

	if (!scale.used)
		return;
	for (i = 0; i < count; i++)
		for (slot = 0; rows[i].timeline && slot < scale.used; slot++)
			if (rows[i].timeline->slots[slot] > scale.most)
				scale.most = rows[i].timeline->slots[slot];
	fprintf(stream,
		"<h2>%s</h2>\n<p>%c%s, on average of ", picture->title,
		picture->what[0] - 'a' + 'A', picture->what + 1);
	html_print_time(stream, scale.slot_ns);
	fprintf(stream, " each; the highest bar is %.2f.</p>\n",
		scale.most * picture->ns / scale.slot_ns);
	for (i = 0; i < count; i++)
		if (row_has_bars(&rows[i], scale.used))
			print_row(picture, stream, &rows[i], &scale);
	fputs("<div class=\"row\"><span></span><div class=\"ticks\">", stream);
	/* Print three significant digits of the length of the axis. */
	decimals = 2 - (int)floor(log10(length));
	for (i = 0; i <= 4; i++)
		fprintf(stream, "<span%s style=\"left:%zu%%\">%.*f s</span>",
			i == 4 ? " class=\"end\"" : "", 25 * i, decimals > 0 ? decimals : 0,
			scale.origin + length * (double)i / 4);
	fputs("</div></div>\n", stream);
}
