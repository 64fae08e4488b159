// SPDX-License-Identifier: GPL-2.0-only
/*
 * Distributions, as in HdrHistogram. Buckets below the power of two of the least value, and above
 * that of the greatest, have no memory.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

/* Buckets for each power of two. Each value below 2 * SUB_BUCKETS has a bucket of its own. */
#define SUB_BITS	4
#define SUB_BUCKETS	16u

static unsigned int find_bucket(uint64_t value)
{
	unsigned int msb;

	if (value < 2 * SUB_BUCKETS)
		return value;
	msb = 63 - __builtin_clzll(value);
	return (msb - SUB_BITS + 1) * SUB_BUCKETS +
	       ((value >> (msb - SUB_BITS)) & (SUB_BUCKETS - 1));
}

static double compute_bucket_start(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	shift = bucket / SUB_BUCKETS - 1;
	/* The end of the last bucket, which is the start of the next one, exceeds a uint64_t. */
	return (double)(SUB_BUCKETS + bucket % SUB_BUCKETS) * (double)(UINT64_C(1) << shift);
}

static double compute_bucket_middle(unsigned int bucket)
{
	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	return (compute_bucket_start(bucket) + compute_bucket_start(bucket + 1)) / 2;
}

static uint64_t get_bucket_count(const struct histogram *histogram, unsigned int i)
{
	return histogram->wide_counts ? histogram->wide_counts[i] : histogram->counts[i];
}

static bool move_counts(struct histogram *histogram, unsigned int first, unsigned int end)
{
	size_t size = histogram->wide_counts ? sizeof(uint64_t) : sizeof(uint32_t);
	void *from = histogram->wide_counts ? (void *)histogram->wide_counts :
					      (void *)histogram->counts;
	char *to = calloc(end - first, size);

	if (!to)
		return false;
	if (histogram->capacity)
		memcpy(to + (histogram->first_bucket - first) * size, from,
		       histogram->capacity * size);
	free(from);
	if (histogram->wide_counts)
		histogram->wide_counts = (uint64_t *)to;
	else
		histogram->counts = (uint32_t *)to;
	histogram->first_bucket = first;
	histogram->capacity = end - first;
	return true;
}

static bool cover_bucket(struct histogram *histogram, unsigned int bucket)
{
	unsigned int first = bucket - bucket % SUB_BUCKETS;
	unsigned int end = first + SUB_BUCKETS;

	if (histogram->capacity) {
		if (histogram->first_bucket < first)
			first = histogram->first_bucket;
		if (histogram->first_bucket + histogram->capacity > end)
			end = histogram->first_bucket + histogram->capacity;
	}
	return move_counts(histogram, first, end);
}

static bool make_counts_64_bit(struct histogram *histogram)
{
	uint64_t *wide_counts = calloc(histogram->capacity, sizeof(*wide_counts));
	unsigned int i;

	if (!wide_counts)
		return false;
	for (i = 0; i < histogram->capacity; i++)
		wide_counts[i] = histogram->counts[i];
	free(histogram->counts);
	histogram->counts = NULL;
	histogram->wide_counts = wide_counts;
	return true;
}

/* Add to a bucket that has no memory yet, or whose count needs 64 bits. */
static bool add_to_bucket_slow(struct histogram *histogram, unsigned int bucket, uint64_t weight)
{
	unsigned int i;

	if (bucket - histogram->first_bucket >= histogram->capacity &&
	    !cover_bucket(histogram, bucket))
		return false;
	i = bucket - histogram->first_bucket;
	if (!histogram->wide_counts && weight > UINT32_MAX - histogram->counts[i] &&
	    !make_counts_64_bit(histogram))
		return false;
	if (histogram->wide_counts)
		histogram->wide_counts[i] += weight;
	else
		histogram->counts[i] += weight;
	return true;
}

static inline bool add_to_bucket(struct histogram *histogram, unsigned int bucket, uint64_t weight)
{
	/* The difference of a bucket before @first_bucket is a large number. */
	unsigned int i = bucket - histogram->first_bucket;

	if (i >= histogram->capacity || histogram->wide_counts ||
	    weight > UINT32_MAX - histogram->counts[i])
		return add_to_bucket_slow(histogram, bucket, weight);
	histogram->counts[i] += weight;
	return true;
}

static double compute_log_variance(const struct histogram *histogram)
{
	double mean = histogram->sampled_log_sum / histogram->total_variance;

	return fmax(histogram->sampled_log_square_sum / histogram->total_variance - mean * mean, 0);
}

static void add_variance(struct histogram *histogram, uint64_t value, uint64_t weight)
{
	double variance = weight_variance(weight);
	double value_variance = (double)value * (double)value * variance;
	double value_log = log(value ? (double)value : 1);

	histogram->total_variance += variance;
	histogram->sum_variance += value_variance;
	if (value_variance > histogram->greatest_variance_part)
		histogram->greatest_variance_part = value_variance;
	histogram->sampled_sum += (double)value * variance;
	histogram->sampled_log_sum += value_log * variance;
	histogram->sampled_log_square_sum += value_log * value_log * variance;
}

/**
 * histogram_add() - add a value
 * @histogram: distribution to change
 * @value: value to add
 * @weight: number of values that it stands for
 *
 * Return: false without memory.
 */
bool histogram_add(struct histogram *histogram, uint64_t value, uint64_t weight)
{
	if (!add_to_bucket(histogram, find_bucket(value), weight))
		return false;
	histogram->total_weight += weight;
	histogram->sum += (double)value * (double)weight;
	/* A value of weight 1 was written in any case, and adds no variance. */
	if (weight > 1)
		add_variance(histogram, value, weight);
	if (value > histogram->max_value)
		histogram->max_value = value;
	return true;
}

/**
 * histogram_merge() - add all values of another distribution
 * @histogram: distribution to change
 * @more: distribution to add
 *
 * Return: false without memory.
 */
bool histogram_merge(struct histogram *histogram, const struct histogram *more)
{
	unsigned int i;

	for (i = 0; i < more->capacity; i++) {
		uint64_t count = get_bucket_count(more, i);

		if (count && !add_to_bucket(histogram, more->first_bucket + i, count))
			return false;
	}
	histogram->total_weight += more->total_weight;
	histogram->sum += more->sum;
	histogram->total_variance += more->total_variance;
	histogram->sum_variance += more->sum_variance;
	if (more->greatest_variance_part > histogram->greatest_variance_part)
		histogram->greatest_variance_part = more->greatest_variance_part;
	histogram->sampled_sum += more->sampled_sum;
	histogram->sampled_log_sum += more->sampled_log_sum;
	histogram->sampled_log_square_sum += more->sampled_log_square_sum;
	if (more->max_value > histogram->max_value)
		histogram->max_value = more->max_value;
	return true;
}

/**
 * estimate_sum_error() - estimate the error of the sum of a sample
 * @variance: variance of the sum
 * @greatest_variance_part: greatest part of a single value in the variance of the sample
 * @sum: sum
 *
 * A sample with a long tail often lacks the rare long values, and its variance lacks them too. So
 * the greatest value counts seven times.
 *
 * Return: the standard error divided by @sum; INFINITY if there are too few values for an estimate,
 * that is if the square root of @variance is more than 1 / sqrt(10) of @sum.
 */
double estimate_sum_error(double variance, double greatest_variance_part, double sum)
{
	if (!(sum > 0) || !(variance > 0))
		return 0;
	if (variance > sum * sum / 10)
		return INFINITY;
	return sqrt(variance + 6 * greatest_variance_part) / sum;
}

/**
 * histogram_sum_error() - estimate the error of the sum of a sample's values
 * @histogram: distribution
 *
 * The variance is at least that of a log-normal distribution with the same mean, and the same
 * spread of logarithms.
 *
 * Return: as estimate_sum_error().
 */
double histogram_sum_error(const struct histogram *histogram)
{
	double mean, log_normal_variance;

	if (!(histogram->total_variance > 0))
		return 0;
	mean = histogram->sampled_sum / histogram->total_variance;
	log_normal_variance = histogram->total_variance * mean * mean *
			  exp(fmin(compute_log_variance(histogram), 20));
	return estimate_sum_error(fmax(histogram->sum_variance, log_normal_variance),
				  histogram->greatest_variance_part, histogram->sum);
}

/**
 * histogram_mean() - compute the weighted mean of the values
 * @histogram: distribution
 *
 * Return: the mean, or 0 if the distribution is empty.
 */
double histogram_mean(const struct histogram *histogram)
{
	return histogram->total_weight ? histogram->sum / (double)histogram->total_weight : 0;
}

/**
 * histogram_percentile() - find the value that a percentage of the values do not exceed
 * @histogram: distribution
 * @percent: percentage, 0 to 100
 *
 * Return: the middle of the value's bucket, but at most the greatest value; 0 if the distribution
 *	is empty.
 */
double histogram_percentile(const struct histogram *histogram, unsigned int percent)
{
	double wanted = (double)histogram->total_weight * percent / 100, seen = 0;
	unsigned int i;

	for (i = 0; i < histogram->capacity; i++) {
		uint64_t count = get_bucket_count(histogram, i);

		if (!count)
			continue;
		seen += (double)count;
		if (seen >= wanted) {
			double middle = compute_bucket_middle(histogram->first_bucket + i);

			return middle < (double)histogram->max_value ? middle :
								 (double)histogram->max_value;
		}
	}
	return (double)histogram->max_value;
}

/**
 * histogram_bucket_middle() - read a bucket
 * @histogram: distribution
 * @i: index of the bucket, less than @histogram->capacity
 * @weight: set to the weight of the bucket
 *
 * Return: the value in the middle of the bucket.
 */
double histogram_bucket_middle(const struct histogram *histogram, unsigned int i,
			       uint64_t *weight)
{
	*weight = get_bucket_count(histogram, i);
	return compute_bucket_middle(histogram->first_bucket + i);
}

/**
 * histogram_free() - free the buckets
 * @histogram: distribution; empty afterwards
 */
void histogram_free(struct histogram *histogram)
{
	free(histogram->counts);
	free(histogram->wide_counts);
	*histogram = (struct histogram) { 0 };
}
