/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_ROWS_H
#define _NTKLOG_REPORT_ROWS_H

/* Shared parts of the report's tables: their columns, units, rates and errors. */

#include "cpu_sums.h"
#include "histogram.h"
#include "report.h"

/**
 * TEXT_COLUMN() - initializer of a struct column with texts
 * @name_: name for options, JSON and CSV
 * @title_: heading
 * @text_: function that makes the cell's text from a row
 * @help_: meaning of the column, without a full stop
 * @...: further members, such as .is_hidden = true
 */
#define TEXT_COLUMN(name_, title_, text_, help_, ...) \
	{ .name = name_, .title = title_, .kind = CELL_TEXT, .make_text = text_, .help = help_, \
	  ##__VA_ARGS__ }

/**
 * NUMBER_COLUMN() - initializer of a struct column with numbers
 * @name_: name for options, JSON and CSV
 * @title_: heading
 * @kind_: enum cell_kind
 * @number_: function that computes the cell from a row
 * @help_: meaning of the column, without a full stop
 * @...: further members, such as .error_column = "wait_total_error"
 */
#define NUMBER_COLUMN(name_, title_, kind_, number_, help_, ...) \
	{ .name = name_, .title = title_, .kind = kind_, .compute_number = number_, .help = help_, \
	  ##__VA_ARGS__ }

/*
 * @missing_events_text: subject of the events that give the table rows, behind "no events of"
 * @columns: columns, the first one names the row
 * @sort_column_name: name of the column that sorts the rows by default
 * @make_attribute_text: function that makes the text of the column that --by adds; NULL: it adds
 *	none
 * @attribute_refusal: why --by cannot split the rows, or NULL
 */
struct table_class {
	const char *name;
	const char *title;
	const char *missing_events_text;
	const struct column *columns;
	size_t column_count;
	const char *sort_column_name;
	char *(*make_attribute_text)(const struct report *report, const void *row);
	const char *attribute_refusal;
	void (*make_table)(struct report *report);
};

extern const struct table_class report_locks_class;
extern const struct table_class report_callers_class;
extern const struct table_class report_resources_class;
extern const struct table_class report_blockers_class;
extern const struct table_class report_waiters_class;
extern const struct table_class report_longest_class;
extern const struct table_class report_stacks_class;
extern const struct table_class report_threads_class;
extern const struct table_class report_processors_class;
extern const struct table_class report_unknown_class;

enum sampling_kind {
	SAMPLING_UNKNOWN,
	SAMPLING_ALL,
	SAMPLING_SOME,
};

/*
 * Figures about waits or holds, nanoseconds; NAN: not known.
 * @error: standard error of @total, divided by @total; INFINITY: no record tells it
 */
struct time_figures {
	double total;
	double error;
	double mean;
	double p50;
	double p95;
	double p99;
	double max;
};

/*
 * First member of each row that has waits and holds.
 * @attribute_label: label of the attribute of --by; "(others)" without --by
 */
struct lock_row {
	const char *attribute_label;
	struct time_figures wait;
	struct time_figures hold;
};

/* Columns of rows that begin with a struct lock_row. */
char *make_lock_row_attribute(const struct report *report, const void *row);
double lock_row_wait_total(const struct report *report, const void *row);
double lock_row_wait_error(const struct report *report, const void *row);
double lock_row_wait_mean(const struct report *report, const void *row);
double lock_row_wait_p50(const struct report *report, const void *row);
double lock_row_wait_p95(const struct report *report, const void *row);
double lock_row_wait_p99(const struct report *report, const void *row);
double lock_row_wait_max(const struct report *report, const void *row);
double lock_row_hold_total(const struct report *report, const void *row);
double lock_row_hold_error(const struct report *report, const void *row);
double lock_row_hold_mean(const struct report *report, const void *row);
double lock_row_hold_p50(const struct report *report, const void *row);
double lock_row_hold_p95(const struct report *report, const void *row);
double lock_row_hold_p99(const struct report *report, const void *row);
double lock_row_hold_max(const struct report *report, const void *row);

double share_of(double part, double all);
double report_cycles_ns(const struct report *report, double cycles);
double report_ticks_ns(const struct report *report, double ticks);
char *report_symbol_text(const struct report *report, uint64_t address);
char *report_code_text(const struct report *report, uint64_t address);
struct split_pair report_split_pair(const struct report *report, uint64_t key);
const char *report_label_text(const struct charge_label *label);
double report_lock_count(const struct report *report, uint64_t key);
enum sampling_kind find_sampling_kind(uint32_t is_known, uint32_t rate);
double compute_relative_error(double variance, double sum, double number_variance,
			      enum sampling_kind sampling);
void set_time_figures(struct time_figures *figures, const struct report *report,
		      const struct histogram *times, enum sampling_kind sampling);
void set_unknown_time_figures(struct time_figures *figures);
double report_covered_seconds(const struct report *report, uint32_t groups, size_t cpu);
double report_per_second(const struct report *report, uint32_t groups,
			 const struct cpu_sums *sums, enum cpu_sum_kind sum_kind, double all);
double report_mean_waiting(const struct report *report, uint32_t groups,
			   const struct cpu_sums *sums, const struct histogram *wait);
double report_interval_begin(const struct report *report, size_t i);

#endif /* _NTKLOG_REPORT_ROWS_H */
