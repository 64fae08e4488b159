// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "report_rows.h"

static const struct charge_row *row_of(const void *row)
{
	return row;
}

static char *lock_cell(const struct report *report, const void *row)
{
	return charge_row_is_of_others(&report->analysis->charge_sums, row) ?
		strdup("(others)") : report_symbol_text(report, row_of(row)->key.class->key.class);
}

static char *kind_cell(const struct report *report, const void *row)
{
	return strdup(charge_row_is_of_others(&report->analysis->charge_sums, row) ? "(others)" :
		      charged_class_kind_name(&row_of(row)->key.class->key));
}

/* The lock of a row of the table waiters. */
static char *waited_lock_cell(const struct report *report, const void *row)
{
	return report->joins_locks_of_waiter ? strdup("(all)") : lock_cell(report, row);
}

static char *waited_kind_cell(const struct report *report, const void *row)
{
	return report->joins_locks_of_waiter ? strdup("(all)") : kind_cell(report, row);
}

static char *waiter_cell(const struct report *report, const void *row)
{
	return strdup(row_of(row)->key.first_label->text);
}

static char *holder_cell(const struct report *report, const void *row)
{
	return strdup(row_of(row)->key.second_label->text);
}

static double pieces_cell(const struct report *report, const void *row)
{
	return (double)row_of(row)->piece_count;
}

static double charged_total_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, (double)row_of(row)->ticks);
}

static double charged_error_cell(const struct report *report, const void *row)
{
	return estimate_sum_error(row_of(row)->variance, row_of(row)->greatest_variance_part,
				  (double)row_of(row)->ticks);
}

static double charged_share_cell(const struct report *report, const void *row)
{
	return (double)row_of(row)->ticks / (double)report->analysis->charge_sums.total.wait_ticks;
}

static double charged_max_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, (double)row_of(row)->longest_piece);
}

#define KIND_HELP	"spinlock (or rwlock), mutex, rwsem, ...; or resource, which is NT's"

static const struct column columns[] = {
	TEXT_COLUMN("lock", "lock", lock_cell,
		    "class of the lock, or its address; ~ marks a guess"),
	TEXT_COLUMN("kind", "kind", kind_cell, KIND_HELP, .is_hidden = true),
	TEXT_COLUMN("waiter", "waiter", waiter_cell, "what --by tells of the task that waited"),
	TEXT_COLUMN("holder", "holder", holder_cell,
		    "what --by tells of the holder meanwhile; or free, or unknown"),
	NUMBER_COLUMN("pieces", "pieces", CELL_COUNT, pieces_cell,
		      "pieces of waits that are charged to the holder", .drop_order = 1),
	NUMBER_COLUMN("charged_total", "charged", CELL_TIME, charged_total_cell,
		      "waiting that is charged to the holder",
		      .error_column = "charged_total_error"),
	NUMBER_COLUMN("charged_total_error", "charged error", CELL_ERROR, charged_error_cell,
		      "standard error of charged_total", .is_hidden = true),
	NUMBER_COLUMN("charged_share", "share", CELL_SHARE, charged_share_cell,
		      "share of all waiting for locks", .drop_order = 1),
	NUMBER_COLUMN("charged_max", "charged max", CELL_TIME, charged_max_cell,
		      "longest piece of a wait", .drop_order = 2),
};

static void format_ticks(const struct report *report, uint64_t ticks, char *text, size_t size)
{
	const union cell cell = { .number = report_ticks_ns(report, (double)ticks) };

	cell_format_text(CELL_TIME, &cell, text, size);
}

/* Make a title with the parts of all waits, which add up to the waits. */
static void make_title(struct report *report)
{
	const struct charge_sum *total = &report->analysis->charge_sums.total;
	uint64_t held = total->part_ticks[CHARGE_HOLDER_RAN] +
			total->part_ticks[CHARGE_HOLDER_PREEMPTED] +
			total->part_ticks[CHARGE_HOLDER_BLOCKED];
	uint64_t unknown = total->part_ticks[CHARGE_UNKNOWN];
	char texts[4][32];

	format_ticks(report, total->wait_ticks, texts[0], sizeof(texts[0]));
	format_ticks(report, held, texts[1], sizeof(texts[1]));
	format_ticks(report, total->wait_ticks - held - unknown, texts[2], sizeof(texts[2]));
	format_ticks(report, unknown, texts[3], sizeof(texts[3]));
	snprintf(report->blockers_title, sizeof(report->blockers_title),
		 "Who held the lock: %s of waiting = %s held + %s free + %s unknown", texts[0],
		 texts[1], texts[2], texts[3]);
	report->tables[REPORT_BLOCKERS].title = report->blockers_title;
}

/* Show the kinds of locks if a class has two, whose rows may differ in nothing else. */
static void show_kinds(const struct report *report, struct table *table)
{
	const struct charge_sums *sums = &report->analysis->charge_sums;
	const struct charged_class *class = sums->classes;

	while (class && !charged_class_has_namesake(sums, &class->key))
		class = class->hh.next;
	if (class)
		table_show_column_in_order(table, table_find_column(table, "kind"));
}

static void make_blockers(struct report *report)
{
	const struct charge_sums *sums = &report->analysis->charge_sums;
	const struct charge_row *row;

	for_each_charge_row(row, sums)
		if (row->key.kind == CHARGE_ROW_BLOCKER)
			table_add_row(&report->tables[REPORT_BLOCKERS], report, row);
	show_kinds(report, &report->tables[REPORT_BLOCKERS]);
	make_title(report);
}

const struct table_class report_blockers_class = {
	.name = "blockers",
	.title = "Who held the lock",
	.missing_events_text = "waits for locks",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
	.sort_column_name = "charged_total",
	.make_table = make_blockers,
};

static double waits_cell(const struct report *report, const void *row)
{
	return (double)row_of(row)->piece_count;
}

static const struct column waiter_columns[] = {
	TEXT_COLUMN("lock", "lock", waited_lock_cell,
		    "class of the lock, or its address; ~ marks a guess"),
	TEXT_COLUMN("kind", "kind", waited_kind_cell, KIND_HELP, .is_hidden = true),
	TEXT_COLUMN("waiter", "waiter", waiter_cell, "what --by tells of the task that waited"),
	NUMBER_COLUMN("waits", "waits", CELL_COUNT, waits_cell, "number of waits"),
	NUMBER_COLUMN("wait_total", "wait", CELL_TIME, charged_total_cell, "sum of all waits",
		      .error_column = "wait_total_error"),
	NUMBER_COLUMN("wait_total_error", "wait error", CELL_ERROR, charged_error_cell,
		      "standard error of wait_total", .is_hidden = true),
	NUMBER_COLUMN("charged_share", "share", CELL_SHARE, charged_share_cell,
		      "share of all waiting for locks", .drop_order = 1),
	NUMBER_COLUMN("wait_max", "wait max", CELL_TIME, charged_max_cell, "longest wait"),
};

/* Sum of a waiter's rows for all locks, in a hash table by the text of its label. */
struct waiter_sum {
	struct charge_row row;
	struct charge_label label;
	UT_hash_handle hh;
};

/* @label: label of the waiter, which may have the context or the way in which it got the lock */
static struct waiter_sum *find_waiter(struct waiter_sum **sums, const struct charge_label *label)
{
	size_t length = strlen(label->text) - label->context_length;
	struct waiter_sum *sum;

	HASH_FIND(hh, *sums, label->text, length, sum);
	if (sum)
		return sum;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	sum->label.text = strndup(label->text, length);
	sum->row.key.first_label = &sum->label;
	if (sum->label.text)
		HASH_ADD_KEYPTR(hh, *sums, sum->label.text, length, sum);
	if (sum->hh.tbl)
		return sum;
	free(sum->label.text);
	free(sum);
	return NULL;
}

/* Make a row for each waiter: the sum of its rows for all locks. */
static void make_waiter_rows(struct report *report)
{
	struct table *table = &report->tables[REPORT_WAITERS];
	const struct charge_sums *charge_sums = &report->analysis->charge_sums;
	struct waiter_sum *sums = NULL, *sum;
	const struct charge_row *row;

	for_each_charge_row(row, charge_sums) {
		if (row->key.kind != CHARGE_ROW_WAITER)
			continue;
		sum = find_waiter(&sums, row->key.first_label);
		if (sum)
			charge_row_add(&sum->row, row);
		else
			table->no_memory = true;
	}
	while ((sum = hash_take_first(sums))) {
		table_add_row(table, report, &sum->row);
		free(sum->label.text);
		free(sum);
	}
	table_hide_column(table, table_find_column(table, "lock"));
}

static void make_waiters(struct report *report)
{
	const struct charge_sums *sums = &report->analysis->charge_sums;
	const struct charge_row *row;

	if (report->joins_locks_of_waiter) {
		make_waiter_rows(report);
		return;
	}
	for_each_charge_row(row, sums)
		if (row->key.kind == CHARGE_ROW_WAITER)
			table_add_row(&report->tables[REPORT_WAITERS], report, row);
	show_kinds(report, &report->tables[REPORT_WAITERS]);
}

const struct table_class report_waiters_class = {
	.name = "waiters",
	.title = "Who waited",
	.missing_events_text = "waits for locks",
	.columns = waiter_columns,
	.column_count = ARRAY_SIZE(waiter_columns),
	.sort_column_name = "wait_total",
	.make_table = make_waiters,
};
