/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HISTOGRAM_H
#define _NTKLOG_HISTOGRAM_H

/*
 * Distributions of times, of whatever size, in little memory: 16 buckets for each
 * power of two, so a percentile is within 1/32 of the true one. Values have weights:
 * a sampled value stands for all those that were not written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct histogram - a distribution; all zero: an empty one
 * @counts: weights of the buckets from @first on; they are most of the memory, and
 *	finding them in it most of the time, so they have 32 bits while that is enough
 * @wide_counts: the same in 64 bits, instead
 * @first: bucket of @counts[0]
 * @room: buckets in @counts
 * @total: sum of their weights
 * @sum: of values times weights
 * @total_variance: variance of the estimate @total, if the probability that a value was sampled
 *	is 1 divided by its weight
 * @sum_variance: variance of the estimate @sum, under the same condition
 * @greatest_variance: greatest part of a single value in @sum_variance
 * @sampled_sum: sum of the values, each times its part of @total_variance
 * @sampled_logs: the same of their natural logarithms
 * @sampled_log_squares: the same of the squares of those
 * @max: greatest value
 */
struct histogram {
	uint32_t *counts;
	uint64_t *wide_counts;
	unsigned int first;
	unsigned int room;
	uint64_t total;
	double sum;
	double total_variance;
	double sum_variance;
	double greatest_variance;
	double sampled_sum;
	double sampled_logs;
	double sampled_log_squares;
	uint64_t max;
};

/**
 * weight_variance() - what a record adds to the variance of a sum of weights
 * @weight: of the record, which was chosen with a probability of 1 by that
 *
 * Return: that; of a sum of values times weights it is the square of the value times this.
 */
static inline double weight_variance(uint64_t weight)
{
	return weight ? (double)weight * (double)(weight - 1) : 0;
}

bool histogram_add(struct histogram *histogram, uint64_t value, uint64_t weight);
void histogram_prefetch(const struct histogram *histogram, uint64_t value);
bool histogram_merge(struct histogram *histogram, const struct histogram *more);
double sum_error(double variance, double greatest_variance, double sum);
double histogram_sum_error(const struct histogram *histogram);
double histogram_mean(const struct histogram *histogram);
double histogram_percentile(const struct histogram *histogram, unsigned int percent);
double histogram_bucket(const struct histogram *histogram, unsigned int i,
			uint64_t *weight);
void histogram_free(struct histogram *histogram);

#endif /* _NTKLOG_HISTOGRAM_H */
