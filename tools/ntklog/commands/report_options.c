// SPDX-License-Identifier: GPL-2.0-only

#include <limits.h>
#include <string.h>

#include "message.h"
#include "report_options.h"

#define COLUMN_NAME_SIZE	64

/**
 * report_has_hosts() - test whether the rows tell hosts
 * @options: options
 *
 * Return: true if there are several files, or NDJSON is printed.
 */
bool report_has_hosts(const struct report_options *options)
{
	return options->files.path_count > 1 || options->prints_ndjson;
}

/**
 * report_tables_with_columns() - choose the tables whose columns are listed
 * @tables: the wanted tables; 0 or REPORT_USUAL_TABLES: the user has not chosen any
 *
 * Return: bits of the tables: the wanted ones, or all if the user has not chosen any.
 */
unsigned int report_tables_with_columns(unsigned int tables)
{
	return tables && tables != REPORT_USUAL_TABLES ? tables : UINT_MAX;
}

static bool column_is_named(const char *columns, const char *name)
{
	size_t length = strlen(name);

	for (; *columns; columns += strcspn(columns, ","), columns += *columns == ',')
		if (!strncmp(columns, name, length) && (columns[length] == ',' || !columns[length]))
			return true;
	return false;
}

/*
 * Show the column @name in the wanted tables that have one. Without --table, a table begins with
 * its first column: a row of --columns lock,wait_total would not tell its caller.
 */
static bool show_column(struct report *report, const struct report_options *options,
			const char *name)
{
	bool found = false;
	size_t first, i, j;

	for (i = 0; i < REPORT_TABLES; i++) {
		struct table *table = &report->tables[i];
		int column = table_find_column(table, name);

		if (!(options->tables & 1 << i) || column < 0)
			continue;
		/* The first column of a report with hosts is the host. NDJSON always has it. */
		first = options->tables == REPORT_USUAL_TABLES && !table->shown_count ?
			1 + report_has_hosts(options) + (table_find_column(table, "by") >= 0) :
			options->prints_ndjson;
		for (j = 0; j < first; j++)
			if (!column_is_named(options->columns, table->columns[j].name))
				table_show_column_last(table, j);
		table_show_column_last(table, column);
		found = true;
	}
	return found;
}

static int refuse_column(const struct report *report, const struct report_options *options,
			 const char *option, const char *name)
{
	message("%s: no printed table has a column \"%s\"; these are the columns:", option, name);
	report_print_columns(report, report_tables_with_columns(options->tables), stderr);
	return -1;
}

/**
 * report_choose_columns() - show the columns that the user has chosen
 * @report: report whose tables have been made
 * @options: options
 *
 * Return: 0, or -1 after a message if no wanted table has one of the columns.
 */
int report_choose_columns(struct report *report, const struct report_options *options)
{
	const char *columns = options->columns;
	char name[COLUMN_NAME_SIZE];
	size_t i, j, length;
	bool has_all_columns;

	/* JSON, NDJSON and CSV have all columns, unless the user names some. */
	has_all_columns = columns ? !strcmp(columns, "all") :
			options->table.prints_json || options->table.prints_csv ||
			options->prints_ndjson;
	if (!columns && !has_all_columns)
		return 0;
	for (i = 0; i < REPORT_TABLES; i++) {
		report->tables[i].shown_count = 0;
		for (j = 0; has_all_columns && j < report->tables[i].column_count; j++)
			table_show_column_last(&report->tables[i], j);
	}
	for (; !has_all_columns; columns += length + 1) {
		length = strcspn(columns, ",");
		snprintf(name, sizeof(name), "%.*s", (int)length, columns);
		if (!show_column(report, options, name))
			return refuse_column(report, options, "--columns", name);
		if (!columns[length])
			break;
	}
	return 0;
}

/**
 * report_choose_order() - choose the column to sort a table by
 * @table: table to change
 * @options: options
 *
 * Return: true if the table has the column of --sort.
 */
bool report_choose_order(struct table *table, const struct report_options *options)
{
	int column = options->sort_column_name ? table_find_column(table,
								   options->sort_column_name) : -1;

	if (column >= 0)
		table->sort_column = column;
	return column >= 0;
}

/**
 * report_sort_tables() - sort the tables by the column that the user has chosen
 * @report: report whose tables have all rows
 * @options: options
 *
 * Return: 0, or -1 after a message if no wanted table has the column.
 */
int report_sort_tables(struct report *report, const struct report_options *options)
{
	bool found = !options->sort_column_name;
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++) {
		if (report_choose_order(&report->tables[i], options))
			found |= !!(options->tables & 1 << i);
		table_sort(&report->tables[i]);
	}
	return found ? 0 : refuse_column(report, options, "--sort", options->sort_column_name);
}
