// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "message.h"
#include "report_rows.h"
#include "text.h"

static const struct table_class *const classes[REPORT_TABLES] = {
	[REPORT_LOCKS] = &report_locks_class,
	[REPORT_CALLERS] = &report_callers_class,
	[REPORT_RESOURCES] = &report_resources_class,
	[REPORT_BLOCKERS] = &report_blockers_class,
	[REPORT_STACKS] = &report_stacks_class,
	[REPORT_THREADS] = &report_threads_class,
	[REPORT_PROCESSORS] = &report_processors_class,
	[REPORT_UNKNOWN] = &report_unknown_class,
	[REPORT_WAITERS] = &report_waiters_class,
	[REPORT_LONGEST] = &report_longest_class,
};

/**
 * report_find_table() - find a table by its name
 * @name: name of the table
 *
 * Return: enum report_table, or REPORT_TABLES if no table has that name.
 */
enum report_table report_find_table(const char *name)
{
	unsigned int i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (!strcmp(classes[i]->name, name))
			break;
	return i;
}

/**
 * report_print_columns() - print the names of all columns
 * @tables: wanted tables, as bits
 * @stream: output stream
 */
void report_print_columns(unsigned int tables, FILE *stream)
{
	size_t i, j;

	for (i = 0; i < REPORT_TABLES; i++) {
		if (!(tables & 1 << i))
			continue;
		fprintf(stream, "  %s:", classes[i]->name);
		for (j = 0; j < classes[i]->column_count; j++)
			fprintf(stream, " %s", classes[i]->columns[j].name);
		fputc('\n', stream);
	}
}

/**
 * report_print_column_help() - describe all columns
 * @tables: wanted tables, as bits
 * @stream: output stream
 */
void report_print_column_help(unsigned int tables, FILE *stream)
{
	static const char *const units[] = {
		[CELL_TEXT] = "text",
		[CELL_COUNT] = "number",
		[CELL_ESTIMATE] = "estimate",
		[CELL_SHARE] = "share",
		[CELL_TIME] = "time",
		[CELL_ERROR] = "error",
	};
	const struct column *column;
	const char *separator = "";
	size_t i, j;

	for (i = 0; i < REPORT_TABLES; i++) {
		if (!(tables & 1 << i))
			continue;
		fprintf(stream, "%s%s: %s\n", separator, classes[i]->name, classes[i]->title);
		for (j = 0; j < classes[i]->column_count; j++) {
			column = &classes[i]->columns[j];
			fprintf(stream, "  %-20s%-10s%s%s\n", column->name, units[column->kind],
				column->help, column->is_hidden ? " (hidden)" : "");
		}
		separator = "\n";
	}
}

/**
 * report_shows_per_second() - test whether the tables show rates
 * @report: its file, analysis, names and seconds are set
 *
 * Return: true if totals are not comparable, because the CPUs are covered for different times.
 */
bool report_shows_per_second(const struct report *report)
{
	return report->has_coverage && report->analysis->coverage.is_uneven;
}

/**
 * report_has_lock_counts() - test whether the tables show how many locks a row adds up
 * @report: its analysis and names are set
 *
 * Return: true if locks are summed up by their classes.
 */
bool report_has_lock_counts(const struct report *report)
{
	return names_have_classes(report->names) && !report->analysis->by_address;
}

/**
 * report_show_column() - show a column in all tables of locks and threads that have one
 * @report: its tables are initialized
 * @name: name of the column
 * @sorts: sort these tables by it
 */
void report_show_column(struct report *report, const char *name, bool sorts)
{
	size_t i;

	for (i = 0; i < REPORT_PROCESSORS; i++) {
		int column = table_find_column(&report->tables[i], name);

		if (column < 0)
			continue;
		table_show_in_order(&report->tables[i], column);
		if (sorts)
			report->tables[i].sort_column = column;
	}
}

/**
 * report_make_tables() - make the tables
 * @report: its file, analysis, names and seconds are set
 */
void report_make_tables(struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (table_init(&report->tables[i], classes[i]->name, classes[i]->title,
			       classes[i]->columns, classes[i]->column_count,
			       classes[i]->sort_column_name))
			classes[i]->make_table(report);
	if (report_shows_per_second(report)) {
		report_show_column(report, "per_second", true);
		report_show_column(report, "waiting", true);
	}
	if (report_has_lock_counts(report))
		report_show_column(report, "locks", false);
}

/**
 * report_make_host_tables() - make tables without rows, which have the host in their first column
 * @report: report of many files, all zero
 */
void report_make_host_tables(struct report *report)
{
	static const struct column host = TEXT_COLUMN("host", "host", NULL,
						      "machine, by the name of its file");
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++) {
		const struct table_class *class = classes[i];
		struct column *columns = calloc(class->column_count + 1, sizeof(*columns));

		report->host_columns[i] = columns;
		if (!columns) {
			report->tables[i].no_memory = true;
			continue;
		}
		columns[0] = host;
		memcpy(columns + 1, class->columns, class->column_count * sizeof(*columns));
		table_init(&report->tables[i], class->name, class->title, columns,
			   class->column_count + 1, class->sort_column_name);
	}
}

/**
 * report_print_empty() - print why a table has no rows
 * @which: the table
 * @is_selection: the user selected events
 * @stream: output stream
 */
void report_print_empty(enum report_table which, bool is_selection, FILE *stream)
{
	char text[128];

	snprintf(text, sizeof(text), "The table %s has no rows: no %sevents of %s.",
		 classes[which]->name, is_selection ? "selected " : "",
		 classes[which]->events_text);
	fputc('\n', stream);
	text_print_wrapped(text, terminal_width(stream), stream);
}

/**
 * report_has_memory() - tell whether memory sufficed for the whole report
 * @report: made
 *
 * Return: nonzero if it did.
 */
int report_has_memory(const struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (report->tables[i].no_memory)
			return false;
	return !report->analysis->spinlocks.no_memory &&
	       !report->analysis->resources.no_memory &&
	       !report->analysis->switches.no_memory &&
	       !report->analysis->stacks.no_memory &&
	       !report->analysis->charges.no_memory &&
	       !report->analysis->charges.periods.no_memory &&
	       !report->analysis->open_holds.no_memory &&
	       !report->analysis->coverage.no_memory &&
	       !report->analysis->history.no_memory &&
	       !report->analysis->spinlocks.timelines.no_memory &&
	       !report->analysis->resources.timelines.no_memory &&
	       !report->analysis->switches.timelines.no_memory;
}

/**
 * report_free() - free the tables
 * @report: made
 */
void report_free(struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++) {
		table_free(&report->tables[i]);
		free(report->host_columns[i]);
	}
}
