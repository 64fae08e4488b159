// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <string.h>

#include "report_histograms.h"

#define BINS_PER_DECADE	12
#define BINS_MAX	(BINS_PER_DECADE * 16)

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
		double ns = etl_cycles_ns(report->file, histogram_bucket_middle(times, i, &weight));
		int decade = ns >= 1 ? (int)floor(log10(ns)) : 0;

		if (!weight)
			continue;
		if (!axis->decade_count) {
			axis->first_power = decade;
			axis->decade_count = 1;
		}
		if (decade < axis->first_power) {
			axis->decade_count += axis->first_power - decade;
			axis->first_power = decade;
		}
		if (decade >= axis->first_power + axis->decade_count)
			axis->decade_count = decade - axis->first_power + 1;
	}
	if (axis->decade_count * BINS_PER_DECADE > BINS_MAX)
		axis->decade_count = BINS_MAX / BINS_PER_DECADE;
}

/**
 * report_histogram_json() - make a distribution as JSON
 * @report: report that the distribution belongs to
 * @times: distribution, in cycles
 * @axis: axis that covers it
 *
 * Return: an object with the shares of BINS_PER_DECADE bins for each power of ten, or NULL if the
 * distribution is empty, or without memory.
 */
json_t *report_histogram_json(const struct report *report, const struct histogram *times,
			      const struct histogram_axis *axis)
{
	int count = axis->decade_count * BINS_PER_DECADE, bin;
	double shares[BINS_MAX] = { 0 };
	json_t *array;
	unsigned int i;

	if (!times->total_weight)
		return NULL;
	for (i = 0; i < times->capacity; i++) {
		uint64_t weight;
		double ns = etl_cycles_ns(report->file, histogram_bucket_middle(times, i, &weight));
		double at = ns >= 1 ? (log10(ns) - axis->first_power) * BINS_PER_DECADE : 0;

		if (!weight)
			continue;
		bin = at < 0 ? 0 : (int)at;
		if (bin >= count)
			bin = count - 1;
		shares[bin] += (double)weight / (double)times->total_weight;
	}
	array = json_array();
	for (bin = 0; bin < count; bin++)
		json_array_append_new(array, json_real(shares[bin]));
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:o}", "count", (json_int_t)times->total_weight,
			 "mean", etl_cycles_ns(report->file, histogram_mean(times)),
			 "median", etl_cycles_ns(report->file,
						 (double)histogram_percentile(times, 50)),
			 "p95", etl_cycles_ns(report->file,
					      (double)histogram_percentile(times, 95)),
			 "longest", etl_cycles_ns(report->file, (double)times->max_value),
			 "shares", array);
}
