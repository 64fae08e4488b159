/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TIME_BUCKETS_H
#define _NTKLOG_TIME_BUCKETS_H

/*
 * Distributions of times as Prometheus has them: counts in fixed buckets, which only grow. The
 * bounds are 250 ns, 1 us, 4 us and so on, each four times the one before, up to 4.2 s.
 */

#include <stdint.h>

#include "exposition.h"
#include "histogram.h"

#define TIME_BUCKETS	13

/*
 * A distribution; all zero: an empty one.
 * @counts: numbers of times in each bucket; the last one has no upper bound
 */
struct time_buckets {
	uint64_t counts[TIME_BUCKETS + 1];
	double sum_seconds;
};

void time_buckets_add(struct time_buckets *buckets, const struct histogram *times,
		      double cycle_seconds);
void time_buckets_write(const struct time_buckets *buckets, const struct exposition *exposition,
			const struct metric_label *labels);

#endif /* _NTKLOG_TIME_BUCKETS_H */
