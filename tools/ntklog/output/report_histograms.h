/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_HISTOGRAMS_H
#define _NTKLOG_REPORT_HISTOGRAMS_H

/* Pictures of a page that show how long locks are waited for and held. */

#include <stdint.h>
#include <stdio.h>

#include "histogram.h"
#include "report.h"

/**
 * struct histogram_axis - an axis of powers of ten
 * @first: power of ten of nanoseconds at the left end
 * @decades: powers of ten up to the right end; 0 if the axis covers nothing yet
 */
struct histogram_axis {
	int first;
	int decades;
};

void report_widen_axis(const struct report *report, const struct histogram *times,
		       struct histogram_axis *axis);
void report_print_histogram(const struct report *report, FILE *stream, uint64_t lock,
			    const char *what, const struct histogram *wait,
			    const struct histogram *hold, const struct histogram_axis *axis);

#endif /* _NTKLOG_REPORT_HISTOGRAMS_H */
