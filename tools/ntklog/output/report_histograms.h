/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_HISTOGRAMS_H
#define _NTKLOG_REPORT_HISTOGRAMS_H

#include <jansson.h>

#include "histogram.h"
#include "report.h"

/**
 * struct histogram_axis - an axis of powers of ten
 * @first_power: power of ten of nanoseconds at the left end
 * @decade_count: powers of ten up to the right end; 0 if the axis covers nothing yet
 */
struct histogram_axis {
	int first_power;
	int decade_count;
};

void report_widen_axis(const struct report *report, const struct histogram *times,
		       struct histogram_axis *axis);
json_t *report_histogram_json(const struct report *report, const struct histogram *times,
			      const struct histogram_axis *axis);

#endif /* _NTKLOG_REPORT_HISTOGRAMS_H */
