// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "message.h"
#include "report_rows.h"
#include "text.h"

static const struct table_class *const table_classes[REPORT_TABLES] = {
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

static const struct column host_column =
	TEXT_COLUMN("host", "host", NULL,
		    "machine, by the name of its file; only with several files, or --ndjson");

/* The column that --by adds behind the first one, without its heading and its function. */
static const struct column attribute_column =
	TEXT_COLUMN("by", NULL, NULL, "attribute that --by names; only with --by");

/**
 * report_find_table() - find a table by its name
 * @name: name of the table
 *
 * Return: enum report_table_kind, or REPORT_TABLES if no table has that name.
 */
enum report_table_kind report_find_table(const char *name)
{
	unsigned int i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (!strcmp(table_classes[i]->name, name))
			break;
	return i;
}

/**
 * report_table_name() - get the name of a table, for --table
 * @table_kind: the table
 *
 * Return: the name.
 */
const char *report_table_name(enum report_table_kind table_kind)
{
	return table_classes[table_kind]->name;
}

/**
 * report_print_columns() - print the names of a report's columns
 * @report: report whose tables have been made
 * @tables: wanted tables, as bits
 * @stream: output stream
 */
void report_print_columns(const struct report *report, unsigned int tables, FILE *stream)
{
	size_t i, j;

	for (i = 0; i < REPORT_TABLES; i++) {
		const struct table *table = &report->tables[i];

		if (!(tables & 1 << i))
			continue;
		fprintf(stream, "  %s:", table->name);
		for (j = 0; j < table->column_count; j++)
			fprintf(stream, " %s", table->columns[j].name);
		fputc('\n', stream);
	}
}

static void print_column_help(const struct column *column, FILE *stream)
{
	static const char *const units[] = {
		[CELL_TEXT] = "text",
		[CELL_COUNT] = "number",
		[CELL_ESTIMATE] = "estimate",
		[CELL_SHARE] = "share",
		[CELL_TIME] = "time",
		[CELL_ERROR] = "error",
	};

	fprintf(stream, "  %-20s%-10s%s%s\n", column->name, units[column->kind], column->help,
		column->is_hidden ? " (hidden)" : "");
}

/**
 * report_print_column_help() - describe all columns
 * @tables: wanted tables, as bits
 * @stream: output stream
 */
void report_print_column_help(unsigned int tables, FILE *stream)
{
	const char *separator = "";
	size_t i, j;

	for (i = 0; i < REPORT_TABLES; i++) {
		if (!(tables & 1 << i))
			continue;
		fprintf(stream, "%s%s: %s\n", separator, table_classes[i]->name,
			table_classes[i]->title);
		print_column_help(&host_column, stream);
		for (j = 0; j < table_classes[i]->column_count; j++) {
			print_column_help(&table_classes[i]->columns[j], stream);
			if (!j && table_classes[i]->make_attribute_text)
				print_column_help(&attribute_column, stream);
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
	return report->has_coverage && report->analysis->coverage.cpu_begins_differ;
}

/**
 * report_has_lock_counts() - test whether the tables show how many locks a class has
 * @report: its analysis and names are set
 *
 * Return: true if locks are summed up by their classes.
 */
bool report_has_lock_counts(const struct report *report)
{
	return names_have_classes(report->names) && !report->analysis->sums_by_address;
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
		table_show_column_in_order(&report->tables[i], column);
		if (sorts)
			report->tables[i].sort_column = column;
	}
}

/**
 * report_attribute_refusal() - tell why --by cannot split the rows of a table
 * @table_kind: the table
 * @attribute: the attribute
 *
 * Return: the reason, or NULL if it can.
 */
const char *report_attribute_refusal(enum report_table_kind table_kind,
				     enum charge_attribute attribute)
{
	/* A switch has a thread and a CPU. */
	if (table_kind == REPORT_THREADS && attribute != CHARGE_BY_TASK &&
	    attribute != CHARGE_BY_THREAD && attribute != CHARGE_BY_PROCESS &&
	    attribute != CHARGE_BY_CGROUP && attribute != CHARGE_BY_CPU)
		return "context switches tell only task, thread, process, cgroup and cpu";
	return table_classes[table_kind]->attribute_refusal;
}

/* Make a table without rows, with the columns host and by if the report has hosts, or is split. */
static bool make_table(struct report *report, enum report_table_kind table_kind, bool has_host)
{
	const struct table_class *class = table_classes[table_kind];
	struct column *columns = calloc(class->column_count + 2, sizeof(*columns)), *at = columns;

	report->columns[table_kind] = columns;
	if (!columns) {
		report->tables[table_kind].no_memory = true;
		return false;
	}
	if (has_host)
		*at++ = host_column;
	*at++ = class->columns[0];
	if (report->attribute_name && class->make_attribute_text &&
	    !report_attribute_refusal(table_kind, charge_find_attribute(report->attribute_name))) {
		*at = attribute_column;
		at->title = report->attribute_name;
		at++->make_text = class->make_attribute_text;
	}
	memcpy(at, class->columns + 1, (class->column_count - 1) * sizeof(*columns));
	at += class->column_count - 1;
	return table_init(&report->tables[table_kind], class->name, class->title, columns,
			  at - columns, class->sort_column_name);
}

/**
 * report_make_tables() - make the tables
 * @report: its file, analysis, names, seconds and attribute_name are set
 */
void report_make_tables(struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (make_table(report, i, false))
			table_classes[i]->make_table(report);
	if (report_shows_per_second(report)) {
		report_show_column(report, "per_second", !report->is_one_of_many);
		report_show_column(report, "waiting", !report->is_one_of_many);
	}
	if (report_has_lock_counts(report))
		report_show_column(report, "locks", false);
}

/**
 * report_make_host_tables() - make tables without rows, which have the host in their first column
 * @report: report of many files, all zero but for attribute_name
 */
void report_make_host_tables(struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		make_table(report, i, true);
}

/**
 * report_print_empty() - print why a table has no rows
 * @table_kind: the table
 * @is_selection: the user selected events
 * @stream: output stream
 */
void report_print_empty(enum report_table_kind table_kind, bool is_selection, FILE *stream)
{
	const char *events = table_classes[table_kind]->missing_events_text;
	/* Events that are not selected may have been recorded. */
	const char *end = is_selection ? strstr(events, " (record") : NULL;
	char text[128];

	snprintf(text, sizeof(text), "The table %s has no rows: no %sevents of %.*s.",
		 table_classes[table_kind]->name, is_selection ? "selected " : "",
		 (int)(end ? end - events : (ptrdiff_t)strlen(events)), events);
	fputc('\n', stream);
	text_print_wrapped(text, terminal_width(stream), stream);
}

/**
 * report_check_memory() - tell whether memory sufficed for the whole report
 * @report: made
 *
 * Return: nonzero if it did.
 */
int report_check_memory(const struct report *report)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++)
		if (report->tables[i].no_memory)
			return false;
	return !report->analysis->spinlocks.no_memory &&
	       !report->analysis->resources.no_memory &&
	       !report->analysis->switches.no_memory &&
	       !report->analysis->stacks.no_memory &&
	       split_sums_are_complete(report->analysis->split_sums) &&
	       !report->analysis->charge_sums.no_memory &&
	       !report->analysis->charge_sums.timelines.no_memory &&
	       !report->analysis->open_holds.no_memory &&
	       !report->analysis->coverage.no_memory &&
	       !report->analysis->rates_history.no_memory &&
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
		free(report->columns[i]);
	}
}
