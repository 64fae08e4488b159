/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_TIMELINES_H
#define _NTKLOG_REPORT_TIMELINES_H

/* Pictures of a page that show when something happened, a row of bars for each lock or thread. */

#include <stdio.h>

#include "report.h"
#include "timeline.h"

/* Room in a label behind the name, for the kind of a lock. */
#define TIMELINE_KIND_SIZE	16

/**
 * struct timeline_row - a row of the picture
 * @label: name of the lock or the thread
 * @timeline: sums of its row, or NULL if nothing happened to it
 */
struct timeline_row {
	char label[NAME_SIZE + TIMELINE_KIND_SIZE];
	const struct timeline *timeline;
};

/**
 * struct timeline_picture - what a picture shows
 * @title: title
 * @what: plural of the things that the height of a bar counts
 * @class: CSS class of the bars
 * @set: set of time lines that has the rows; it gives the length of a slot
 * @ns: nanoseconds per unit of a sum
 */
struct timeline_picture {
	const char *title;
	const char *what;
	const char *class;
	const struct timelines *set;
	double ns;
};

void report_print_timelines(const struct report *report, FILE *stream,
			    const struct timeline_picture *picture,
			    const struct timeline_row *rows, size_t count);

#endif /* _NTKLOG_REPORT_TIMELINES_H */
