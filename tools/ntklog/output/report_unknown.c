// SPDX-License-Identifier: GPL-2.0-only

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ntklog/event.h>

#include "hook_id.h"
#include "macros.h"
#include "message.h"
#include "report_rows.h"

struct unknown_row {
	char event[64];
	uint64_t count;
};

static char *event_cell(const struct report *report, const void *row)
{
	return strdup(((const struct unknown_row *)row)->event);
}

static double count_cell(const struct report *report, const void *row)
{
	return (double)((const struct unknown_row *)row)->count;
}

static const struct column columns[] = {
	TEXT_COLUMN("event", "event", event_cell, "kind of event, as far as its header tells"),
	NUMBER_COLUMN("count", "events", CELL_COUNT, count_cell, "number of events"),
};

__printf(3, 4)
static void add_row(struct report *report, uint64_t events, const char *format, ...)
{
	struct unknown_row row = { .count = events };
	va_list arguments;

	if (!events)
		return;
	va_start(arguments, format);
	vsnprintf(row.event, sizeof(row.event), format, arguments);
	va_end(arguments);
	table_add_row(&report->tables[REPORT_UNKNOWN], report, &row);
}

static void make_unknown(struct report *report)
{
	const struct analysis *analysis = report->analysis;
	const struct resource_stats *resources = &analysis->resources;
	unsigned int i;

	for (i = 0; resources->unknown_counts && i < RESOURCE_WMI_CLASSES; i++)
		add_row(report, resources->unknown_counts[i], "Resource, class 0x%08x", i << 16);
	for (i = 0; analysis->unknown_counts && i <= UINT16_MAX; i++)
		add_row(report, analysis->unknown_counts[i], "HookId 0x%04x%s%s", i,
			hook_id_name(i) ? " " : "", hook_id_name(i) ? hook_id_name(i) : "");
	for (i = 0; i < ARRAY_SIZE(analysis->unknown_header_counts); i++)
		if (i == TRACE_HEADER_TYPE_MESSAGE)
			add_row(report, analysis->unknown_header_counts[i], "WPP message");
		else
			add_row(report, analysis->unknown_header_counts[i], "HeaderType 0x%04x", i);
}

const struct table_class report_unknown_class = {
	.name = "unknown",
	.title = "Events that are not known, and were skipped",
	.missing_events_text = "kinds that ntklog does not know",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
	.sort_column_name = "count",
	.attribute_refusal = "its events tell no task",
	.make_table = make_unknown,
};
