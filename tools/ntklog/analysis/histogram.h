/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HISTOGRAM_H
#define _NTKLOG_HISTOGRAM_H

/*
 * Distributions of times: 16 buckets for each power of two, so a percentile is within 1/32 of the
 * exact one. Values have weights: a sampled value also stands for values that were not written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A distribution; all zero: an empty one.
 * @counts: weights of the buckets from @first_bucket on, or NULL
 * @wide_counts: weights in 64 bits, once one of them needs more than 32 bits; else NULL
 * @total_variance: variance of the estimate @total_weight, if the probability that a value was
 *	sampled is 1 divided by its weight
 * @sum_variance: variance of the estimate @sum, under the same condition
 * @greatest_variance_part: greatest part of a single value in @sum_variance
 * @sampled_sum: sum of the values, each times the value's part of @total_variance
 * @sampled_log_sum: sum of the logarithms of the values, each times the value's part of
 *	@total_variance
 * @sampled_log_square_sum: sum of the squares of these logarithms, each times the value's part of
 *	@total_variance
 */
struct histogram {
	uint32_t *counts;
	uint64_t *wide_counts;
	unsigned int first_bucket;
	unsigned int capacity;
	uint64_t total_weight;
	double sum;
	double total_variance;
	double sum_variance;
	double greatest_variance_part;
	double sampled_sum;
	double sampled_log_sum;
	double sampled_log_square_sum;
	uint64_t max_value;
};

/**
 * weight_variance() - compute what a record adds to the variance of a sum of weights
 * @weight: weight of the record, which was sampled with a probability of 1 / @weight
 *
 * Return: the record's part of the variance of the sum of weights. Multiplied by the square of the
 * record's value it is the part of the variance of the sum of weighted values.
 */
static inline double weight_variance(uint64_t weight)
{
	return weight ? (double)weight * (double)(weight - 1) : 0;
}

bool histogram_add(struct histogram *histogram, uint64_t value, uint64_t weight);
bool histogram_merge(struct histogram *histogram, const struct histogram *more);
double estimate_sum_error(double variance, double greatest_variance_part, double sum);
double histogram_sum_error(const struct histogram *histogram);
double histogram_mean(const struct histogram *histogram);
double histogram_percentile(const struct histogram *histogram, unsigned int percent);
double histogram_bucket_middle(const struct histogram *histogram, unsigned int i,
			       uint64_t *weight);
void histogram_free(struct histogram *histogram);

#endif /* _NTKLOG_HISTOGRAM_H */
