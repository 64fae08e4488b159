/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_OPTIONS_H
#define _NTKLOG_REPORT_OPTIONS_H

/* The options of ntklog report, and the columns and the order of rows that they choose. */

#include <stdbool.h>
#include <stdio.h>

#include "flame.h"
#include "report.h"
#include "table_argp.h"
#include "trace_argp.h"

/* These tables are printed on request only: the answer names the greatest waiters and waits. */
enum {
	REPORT_TABLES_ON_REQUEST = 1 << REPORT_WAITERS | 1 << REPORT_LONGEST,
	REPORT_USUAL_TABLES = REPORT_ALL_TABLES & ~REPORT_TABLES_ON_REQUEST,
};

/**
 * struct report_options - options of ntklog report
 * @result: stream that gets the tables of one of many files; NULL: the tables are printed
 * @sums_by_address: each lock has a row of its own, not each class
 * @attribute: attribute that tells waiters and holders apart, and, if @has_attribute, splits the
 *	other tables
 * @joins_locks: the table of waiters has one row for each waiter, not for each lock of it
 * @columns: columns to print, separated by commas; NULL: the default columns, all in JSON and CSV
 * @folded_kind: the value that the stacks are weighted with
 */
struct report_options {
	struct trace_options trace;
	struct file_list files;
	FILE *result;
	struct table_options table;
	const char *html_path;
	bool sums_by_address;
	enum charge_attribute attribute;
	bool has_attribute;
	bool joins_locks;
	unsigned int tables;
	const char *columns;
	const char *sort_column_name;
	bool prints_folded;
	enum flame_kind folded_kind;
	bool prints_ndjson;
};

bool report_choose_order(struct table *table, const struct report_options *options);
bool report_has_hosts(const struct report_options *options);
unsigned int report_tables_with_columns(unsigned int tables);
int report_choose_columns(struct report *report, const struct report_options *options);
int report_sort_tables(struct report *report, const struct report_options *options);

#endif /* _NTKLOG_REPORT_OPTIONS_H */
