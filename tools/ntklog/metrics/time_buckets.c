// SPDX-License-Identifier: GPL-2.0-only

#include "time_buckets.h"

#define FIRST_BOUND_S	(1 / 4e6)
#define BOUND_FACTOR	4

static unsigned int find_bucket(double seconds)
{
	double bound = FIRST_BOUND_S;
	unsigned int i = 0;

	for (; i < TIME_BUCKETS && seconds > bound; i++)
		bound *= BOUND_FACTOR;
	return i;
}

/**
 * time_buckets_add() - add the times of an interval
 * @buckets: distribution to change
 * @times: the times in cycles, with their weights
 * @cycle_seconds: seconds of a cycle
 */
void time_buckets_add(struct time_buckets *buckets, const struct histogram *times,
		      double cycle_seconds)
{
	uint64_t weight;
	unsigned int i;

	for (i = 0; i < times->capacity; i++) {
		double cycles = histogram_bucket_middle(times, i, &weight);

		if (weight)
			buckets->counts[find_bucket(cycles * cycle_seconds)] += weight;
	}
	buckets->sum_seconds += times->sum * cycle_seconds;
}

/**
 * time_buckets_write() - write the distribution as samples of a histogram
 * @buckets: the distribution
 * @exposition: the metric has begun
 * @labels: labels of the distribution, with a NULL name after the last one
 */
void time_buckets_write(const struct time_buckets *buckets, const struct exposition *exposition,
			const struct metric_label *labels)
{
	double bound = FIRST_BOUND_S;
	uint64_t count = 0;
	unsigned int i;
	char text[32];
	const struct metric_label limit[] = { { "le", text }, { 0 } };

	for (i = 0; i < TIME_BUCKETS; i++) {
		snprintf(text, sizeof(text), "%.7g", bound);
		count += buckets->counts[i];
		exposition_put(exposition, "_bucket", labels, limit, (double)count);
		bound *= BOUND_FACTOR;
	}
	count += buckets->counts[i];
	snprintf(text, sizeof(text), "+Inf");
	exposition_put(exposition, "_bucket", labels, limit, (double)count);
	exposition_put(exposition, "_count", labels, NULL, (double)count);
	exposition_put(exposition, "_sum", labels, NULL, buckets->sum_seconds);
}
