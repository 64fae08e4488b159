/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DIFFERENCE_H
#define _NTKLOG_DIFFERENCE_H

/*
 * The difference of two recordings: sums of times by lock and caller, with confidence intervals.
 *
 * The variance of a sum has two parts: the square of the error that histogram_sum_error() estimates
 * for the sampling; and w * x * x for each record of weight w and time x, because events arrive at
 * random even if all are written. The variance of the difference of two sums is the sum of both
 * variances.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis.h"
#include "table.h"

/* Standard errors on each side of an interval that has the truth in 95 of 100 cases. */
#define DIFFERENCE_INTERVAL_ERRORS	1.96

/* The measures; times are in nanoseconds. */
enum difference_measure {
	DIFFERENCE_OF_WAITS,
	DIFFERENCE_OF_HOLDS,
	DIFFERENCE_OF_COUNTS,
	DIFFERENCE_MEASURES,
};

/* @variance: variance of @estimate; INFINITY if the records are too few to tell it */
struct difference_sum {
	double estimate;
	double variance;
};

/*
 * @caller: caller that released a spin lock, or acquired a lock that sleeps; empty if no caller is
 *	recorded
 * @groups: event groups of the lock, PERF_MASK_BITS()
 * @sums: sums before (0) and after (1), by measure
 */
struct difference_row {
	char *lock;
	char *caller;
	uint32_t groups;
	struct difference_sum sums[2][DIFFERENCE_MEASURES];
};

/*
 * @locks_without_callers: number of locks whose callers difference_drop_callers() has dropped
 * @lacks_names: a recording has addresses of the kernel, and no names
 * @mixes_names: a lock may have a name in one recording and an address, or another address, in
 *	another one, so that a row with the sum of one side alone may lack its counterpart
 * @mixes_modes: recordings have different waits of spin locks because of their modes
 * @enabled_groups: event groups of locks that a recording of the side had enabled
 * @disabled_groups: event groups of locks that a recording of the side had not enabled
 * @damaged_counts: numbers of files before (0) and after (1), of which report_file_is_damaged()
 * @lossy_counts: numbers of files before (0) and after (1), of which report_file_is_lossy()
 * @different_groups: event groups that the recordings of only one side had enabled
 */
struct difference {
	struct difference_row *rows;
	size_t row_count;
	struct difference_row total;
	size_t locks_without_callers;
	bool lacks_names;
	bool mixes_names;
	bool mixes_modes;
	uint32_t enabled_groups[2];
	uint32_t disabled_groups[2];
	size_t damaged_counts[2];
	size_t lossy_counts[2];
	uint32_t different_groups;
	bool no_memory;
};

const char *difference_measure_name(enum difference_measure measure);
enum difference_measure difference_find_measure(const char *name);
void difference_add(struct difference *difference, size_t side, const struct analysis *analysis,
		    const struct etl_file *file, const struct names *names);
void difference_write(const struct difference *difference, FILE *stream);
bool difference_read(struct difference *difference, FILE *stream);
void difference_merge(struct difference *difference, enum difference_measure measure);
void difference_drop_callers(struct difference *difference, enum difference_measure measure);
void difference_forget_waits(struct difference *difference);
bool difference_forget_groups(struct difference *difference, char *text, size_t size);
double difference_half_width(const struct difference_row *row, enum difference_measure measure);
void difference_print_total(const struct difference *difference, enum difference_measure measure,
			    FILE *stream);
bool difference_table(struct table *table, const struct difference *difference,
		      enum difference_measure measure);
void difference_free(struct difference *difference);

#endif /* _NTKLOG_DIFFERENCE_H */
