// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ntklog/group_mask.h>

#include "held_waits.h"
#include "macros.h"
#include "session.h"
#include "top.h"

/* Most lines about waits that go on. */
#define WAIT_LINES		3

/* Sort by a column that is shown: by the next one each time that the key was pressed. */
static void choose_sort_column(struct table *table, size_t key_presses)
{
	size_t count = 0, i;

	for (i = 0; i < table->shown_count; i++)
		count += table->columns[table->shown_columns[i]].kind != CELL_TEXT;
	/* After all columns it is the table's own. */
	key_presses %= count + 1;
	for (i = 0; key_presses && i < table->shown_count; i++)
		if (table->columns[table->shown_columns[i]].kind != CELL_TEXT && !--key_presses)
			table->sort_column = table->shown_columns[i];
}

/*
 * Print a table as the keys and the screen want it. The table itself stays complete. Its first
 * @name_column_count columns are those that the user filters by.
 */
static void print_table(const struct table *complete, FILE *stream, const struct top_keys *keys,
			size_t name_column_count, size_t rows, size_t width)
{
	struct table table = *complete;
	size_t size = table.column_count * sizeof(*table.shown_columns);

	table.shown_columns = malloc(size);
	if (!table.shown_columns)
		return;
	memcpy(table.shown_columns, complete->shown_columns, size);
	choose_sort_column(&table, keys->sort_presses);
	if (name_column_count && keys->filter_length)
		table_keep_rows_with_text(&table, keys->filter, name_column_count);
	table_sort(&table);
	table_fit_width(&table, rows, width, true);
	table_print_text(&table, stream, rows, width);
	free(table.shown_columns);
}

/* The tables that show the events of a group. */
static const struct {
	uint32_t group;
	enum report_table_kind table;
} top_tables[] = {
	{ PERF_SPINLOCK, REPORT_LOCKS },
	{ PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK, REPORT_LOCKS },
	{ PERF_SYNC_OBJECTS, REPORT_RESOURCES },
	{ PERF_LINUX_MUTEX | PERF_LINUX_RWSEM | PERF_LINUX_SEMAPHORE | PERF_LINUX_RT_MUTEX |
	  PERF_LINUX_PERCPU_RWSEM | PERF_LINUX_WW_MUTEX, REPORT_RESOURCES },
	{ PERF_CONTEXT_SWITCH, REPORT_THREADS },
	{ PERF_CONTEXT_SWITCH, REPORT_PROCESSORS },
};

/* The tables of a screen in their order, with the number of columns that the user filters by. */
static const struct {
	enum report_table_kind table;
	size_t name_column_count;
} screen_tables[] = {
	{ REPORT_WAITERS, 1 },
	{ REPORT_BLOCKERS, 3 },
	{ REPORT_LOCKS, 1 },
	{ REPORT_RESOURCES, 1 },
	{ REPORT_THREADS, 0 },
	{ REPORT_PROCESSORS, 0 },
};

/* The tables of waiters, in place of all others. */
static const unsigned int waiter_tables = 1u << REPORT_WAITERS | 1u << REPORT_BLOCKERS;

static void print_lines(struct top *top, FILE *stream)
{
	const struct top_keys *keys = &top->keys;
	const struct report *report = &top->shown_report;
	const struct winsize size = top_screen_size();
	bool has_waiters = top->shown_view.has_waiters, has_waits;
	unsigned int wanted = 0;
	size_t rows = top->rows_max, other_lines = 2 + top_keys_lines(keys), tables, count = 0, i;
	char clock[16], damage[40] = "";
	time_t time_now = time(NULL);
	struct tm tm;

	for (i = 0; i < ARRAY_SIZE(top_tables); i++)
		if (session_groups_include(top->groups, top_tables[i].group))
			wanted |= 1 << top_tables[i].table;
	has_waits = wanted & 1 << REPORT_RESOURCES;
	if (has_waiters)
		wanted = waiter_tables;
	tables = __builtin_popcount(wanted);
	/*
	 * Other lines are the first one and the last one, with the cursor. The waits that go on
	 * have an empty line and a heading above them.
	 */
	if (has_waits)
		other_lines += WAIT_LINES + 2;
	/* A table has an empty line above it and two lines of headings. */
	if (!rows)
		rows = size.ws_row > other_lines + 5 * tables ?
		       (size.ws_row - other_lines) / tables - 3 : 2;
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&time_now, &tm));
	if (top->left_out_count)
		snprintf(damage, sizeof(damage), ", DAMAGED: %" PRIu64, top->left_out_count);
	fprintf(stream, "ntklog top %s  %.1f s: %.0f events/s, %.0f lost/s%s (session %d)\n\n",
		clock, report->seconds, (double)top->event_count / report->seconds,
		(double)top->lost_count / report->seconds, damage,
		top->live_sums.recording.session_number);
	top_keys_print(keys, stream);
	for (i = 0; i < ARRAY_SIZE(screen_tables); i++) {
		enum report_table_kind table = screen_tables[i].table;

		if (!(wanted & 1 << table))
			continue;
		if (count++)
			fputc('\n', stream);
		print_table(&report->tables[table], stream, keys,
			    screen_tables[i].name_column_count, rows, size.ws_col);
	}
	if (has_waits && !top->reading_waits_failed)
		top->reading_waits_failed = held_print_waits(stream, top->live_sums.symbols.names,
							     keys->filter, has_waiters, WAIT_LINES,
							     size.ws_col);
}

/**
 * top_print_screen() - show the tables of the last interval
 * @top: its tables are made
 */
void top_print_screen(struct top *top)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return;
	print_lines(top, stream);
	if (!fclose(stream))
		top_screen_draw(&top->screen, text);
	free(text);
}

/**
 * top_print_object() - print the tables of the last interval as JSON, on a line
 * @top: its tables are made
 */
void top_print_object(const struct top *top)
{
	unsigned int tables = 1 << REPORT_LOCKS | 1 << REPORT_CALLERS | 1 << REPORT_RESOURCES |
			      1 << REPORT_BLOCKERS | 1 << REPORT_THREADS | 1 << REPORT_PROCESSORS;
	json_t *object = report_json(&top->shown_report, top->rows_max, tables |
				     (top->shown_view.has_waiters ? waiter_tables : 0));

	json_object_set_new(object, "events", json_integer(top->event_count));
	json_object_set_new(object, "events_lost", json_integer(top->lost_count));
	json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(object);
}

/**
 * top_show_rates() - show the columns of rates, and hide those of totals
 * @report: made
 */
void top_show_rates(struct report *report)
{
	static const char *const rates[] = { "per_second", "waiting" };
	static const char *const totals[] = { "acquisitions", "releases", "wait_total",
					      "hold_total" };
	size_t i, j;

	for (i = REPORT_LOCKS; i <= REPORT_RESOURCES; i++) {
		struct table *table = &report->tables[i];

		for (j = 0; j < ARRAY_SIZE(rates); j++)
			table_show_column_in_order(table, table_find_column(table, rates[j]));
		for (j = 0; j < ARRAY_SIZE(totals); j++)
			if (table_find_column(table, totals[j]) >= 0)
				table_hide_column(table, table_find_column(table, totals[j]));
	}
}
