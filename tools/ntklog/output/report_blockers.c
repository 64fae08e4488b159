// SPDX-License-Identifier: GPL-2.0-only
/* The table of blockers: waiting time by lock, waiter and holder. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "macros.h"
#include "report_blockers.h"

const struct column blocker_columns[BLOCKER_COLUMNS] = {
	{ "lock", "lock", CELL_TEXT, false, NULL, NULL },
	{ "waiter", "waiter", CELL_TEXT, false, NULL, NULL },
	{ "holder", "holder", CELL_TEXT, false, NULL, NULL },
	{ "pieces", "pieces", CELL_COUNT, true, NULL, NULL },
	{ "charged_total", "charged", CELL_TIME, false, NULL, NULL },
	{ "charged_share", "share", CELL_SHARE, false, NULL, NULL },
	{ "charged_max", "charged max", CELL_TIME, false, NULL, NULL },
};

static double ticks_ns(const struct report *report, uint64_t ticks)
{
	return (double)ticks * 1e9 / (double)report->file->perf_freq;
}

static void add_blocker(struct report *report, const struct charge_row *row)
{
	const struct charge_sums *sums = &report->analysis->charges;
	union cell *cell = table_add_row(&report->tables[REPORT_BLOCKERS]);
	char name[NAME_SIZE];

	if (!cell)
		return;
	names_address(report->names, row->key.class.class, name, sizeof(name));
	cell++->text = strdup(charge_row_is_of_others(sums, row) ? "(others)" : name);
	cell++->text = strdup(row->key.first->text);
	cell++->text = strdup(row->key.second->text);
	cell++->number = (double)row->pieces;
	cell++->number = ticks_ns(report, row->ticks);
	cell++->number = (double)row->ticks / (double)sums->total.wait;
	cell++->number = ticks_ns(report, row->longest);
}

static void append_time(const struct report *report, uint64_t ticks, char *text, size_t size)
{
	const union cell cell = { .number = ticks_ns(report, ticks) };

	cell_format(CELL_TIME, &cell, text, size);
}

/* The parts of all waits, which add up to the waits. */
static void make_title(struct report *report)
{
	const struct charge_sum *total = &report->analysis->charges.total;
	uint64_t held = total->parts[CHARGE_HOLDER_RAN] + total->parts[CHARGE_HOLDER_PREEMPTED] +
			total->parts[CHARGE_HOLDER_BLOCKED];
	uint64_t unknown = total->parts[CHARGE_UNKNOWN];
	char texts[4][32];

	append_time(report, total->wait, texts[0], sizeof(texts[0]));
	append_time(report, held, texts[1], sizeof(texts[1]));
	append_time(report, total->wait - held - unknown, texts[2], sizeof(texts[2]));
	append_time(report, unknown, texts[3], sizeof(texts[3]));
	snprintf(report->blockers_title, sizeof(report->blockers_title),
		 "Who held the lock: %s of waiting = %s held + %s free + %s unknown", texts[0],
		 texts[1], texts[2], texts[3]);
	report->tables[REPORT_BLOCKERS].title = report->blockers_title;
}

/**
 * report_make_blockers() - fill the table of blockers
 * @report: its tables are there; waits were charged
 */
void report_make_blockers(struct report *report)
{
	const struct charge_row *row;

	for (row = report->analysis->charges.rows; row; row = row->hh.next)
		if (row->key.kind == CHARGE_ROW_BLOCKER)
			add_blocker(report, row);
	make_title(report);
}
