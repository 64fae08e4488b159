// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "message.h"
#include "report_rows.h"

/* Separator of the functions of a stack, whose order is from the innermost function on. */
#define STACK_SEPARATOR	" < "

/* @entry: stack; NULL: the stacks without a row of their own */
struct stack_row {
	struct lock_row times;
	const struct stack_entry *entry;
	const struct stack_sum *sum;
};

static const struct stack_sum *sum_of(const void *row)
{
	return ((const struct stack_row *)row)->sum;
}

static char *format_functions(const struct report *report, const struct stack_entry *entry)
{
	char *text, *at, *shorter;
	size_t i;

	if (!entry || !entry->address_count)
		return strdup(entry ? "(no stack)" : "(other stacks)");
	text = malloc(entry->address_count * (NAME_SIZE + sizeof(STACK_SEPARATOR)));
	for (i = 0, at = text; text && i < entry->address_count; i++) {
		if (i)
			at = stpcpy(at, STACK_SEPARATOR);
		names_format_code_address(report->names, entry->key.addresses[i], at, NAME_SIZE);
		at += strlen(at);
	}
	/* Free the unused memory, because a table has up to STACK_STATS_MAX such texts. */
	shorter = text ? realloc(text, at - text + 1) : NULL;
	return shorter ? shorter : text;
}

static char *stack_cell(const struct report *report, const void *row)
{
	return format_functions(report, ((const struct stack_row *)row)->entry);
}

static double sampled_cell(const struct report *report, const void *row)
{
	return sum_of(row)->record_count;
}

static double acquisitions_cell(const struct report *report, const void *row)
{
	return sum_of(row)->wait_only_count ? NAN : (double)sum_of(row)->acquisition_count;
}

static enum sampling_kind find_stack_sampling(const struct report *report, bool is_sampled)
{
	bool rates_are_known = report->analysis->spinlocks.rates.is_known ||
		     report->analysis->resources.rates.is_known;

	return find_sampling_kind(rates_are_known, is_sampled ? 2 : 1);
}

static double acquisitions_error_cell(const struct report *report, const void *row)
{
	const struct stack_sum *sum = sum_of(row);

	return sum->wait_only_count ? NAN :
		compute_relative_error(sum->variance, sum->acquisition_count, sum->variance,
				       find_stack_sampling(report, sum->is_sampled));
}

static double contended_cell(const struct report *report, const void *row)
{
	const struct stack_sum *sum = sum_of(row);

	return sum->wait_only_count ? NAN : share_of(sum->waited_count, sum->acquisition_count);
}

static const struct column columns[] = {
	TEXT_COLUMN("stack", "stack", stack_cell,
		    "functions of the release, the innermost one first"),
	NUMBER_COLUMN("sampled", "records", CELL_COUNT, sampled_cell, "records of the row",
		      .drop_order = 2),
	NUMBER_COLUMN("acquisitions", "acquired", CELL_ESTIMATE, acquisitions_cell,
		      "all acquisitions", .error_column = "acquisitions_error"),
	NUMBER_COLUMN("acquisitions_error", "acquired error", CELL_ERROR, acquisitions_error_cell,
		      "standard error of acquisitions", .is_hidden = true),
	NUMBER_COLUMN("contended", "contended", CELL_SHARE, contended_cell,
		      "share of the acquisitions that waited"),
	NUMBER_COLUMN("wait_total", "wait", CELL_TIME, lock_row_wait_total,
		      "sum of all waits", .error_column = "wait_total_error"),
	NUMBER_COLUMN("wait_total_error", "wait error", CELL_ERROR, lock_row_wait_error,
		      "standard error of wait_total", .is_hidden = true),
	NUMBER_COLUMN("wait_mean", "wait mean", CELL_TIME, lock_row_wait_mean,
		      "mean wait of acquisitions that waited", .is_hidden = true),
	NUMBER_COLUMN("wait_max", "wait max", CELL_TIME, lock_row_wait_max,
		      "longest wait that was written"),
	NUMBER_COLUMN("hold_total", "hold", CELL_TIME, lock_row_hold_total,
		      "sum of all holds", .error_column = "hold_total_error"),
	NUMBER_COLUMN("hold_total_error", "hold error", CELL_ERROR, lock_row_hold_error,
		      "standard error of hold_total", .is_hidden = true),
	NUMBER_COLUMN("hold_mean", "hold mean", CELL_TIME, lock_row_hold_mean,
		      "mean of the known holds", .is_hidden = true),
	NUMBER_COLUMN("hold_max", "hold max", CELL_TIME, lock_row_hold_max,
		      "longest hold that was written"),
};

static double compute_total_error(double variance, double greatest, double sum,
				  double number_variance, enum sampling_kind sampling)
{
	return sampling == SAMPLING_SOME && number_variance > 0 ?
		estimate_sum_error(variance, greatest, sum) :
		compute_relative_error(variance, sum, number_variance, sampling);
}

static void add_row(struct report *report, const struct stack_entry *entry,
		    const struct stack_sum *sum)
{
	struct stack_row row = { .entry = entry, .sum = sum };
	struct time_figures *wait = &row.times.wait, *hold = &row.times.hold;
	struct split_pair split = { 0 };

	if (!sum->record_count)
		return;
	if (entry)
		split = report_split_pair(report, entry->key.attribute_number);
	row.times.attribute_label = report_label_text(split.label);
	wait->total = report_cycles_ns(report, sum->wait_sum);
	wait->error = compute_total_error(sum->wait_variance, sum->greatest_wait_variance_part,
					  sum->wait_sum, sum->waited_variance,
					  find_stack_sampling(report, sum->waits_are_sampled));
	wait->mean = report_cycles_ns(report, share_of(sum->wait_sum, sum->waited_count));
	wait->max = report_cycles_ns(report, (double)sum->wait_max);
	if (sum->wait_only_count == sum->record_count) {
		set_unknown_time_figures(hold);
		table_add_row(&report->tables[REPORT_STACKS], report, &row);
		return;
	}
	hold->total = report_cycles_ns(report, sum->hold_sum);
	hold->error = compute_total_error(sum->hold_variance, sum->greatest_hold_variance_part,
					  sum->hold_sum, sum->variance,
					  find_stack_sampling(report, sum->is_sampled));
	hold->mean = report_cycles_ns(report, share_of(sum->hold_sum, sum->known_hold_count));
	hold->max = report_cycles_ns(report, (double)sum->hold_max);
	table_add_row(&report->tables[REPORT_STACKS], report, &row);
}

static void make_stacks(struct report *report)
{
	const struct stack_stats *stats = &report->analysis->stacks;
	const struct stack_entry *entry;

	for (entry = stats->stacks; entry; entry = entry->hh.next)
		add_row(report, entry, &entry->sum);
	add_row(report, NULL, &stats->others);
}

const struct table_class report_stacks_class = {
	.name = "stacks",
	.title = "Stacks of locks",
	.missing_events_text = "locks with stacks (record --stacks)",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
	.sort_column_name = "wait_total",
	.make_attribute_text = make_lock_row_attribute,
	.make_table = make_stacks,
};

/**
 * report_print_stacks() - print the table of stacks, with the functions below the numbers of a row
 * @report: report of one file or of many
 * @stream: stream to print to
 * @rows_max: most stacks to print; 0 for all
 */
void report_print_stacks(const struct report *report, FILE *stream, size_t rows_max)
{
	const struct table *table = &report->tables[REPORT_STACKS];
	size_t rows = table_shown_row_count(table, rows_max), width = terminal_width(stream);
	size_t row, k, length;
	size_t functions = table_find_column(table, "stack");
	char text[NAME_SIZE], number[2 * NAME_SIZE];
	const char *at;

	fprintf(stream, "%s, by %s", table->title, table->columns[table->sort_column].name);
	if (rows < table_all_row_count(table))
		fprintf(stream, " (%zu of %zu)", rows, table_all_row_count(table));
	for (row = 0; row < rows; row++) {
		const union cell *cells = &table->cells[row * table->column_count];
		const char *separator = "  ";
		size_t used = 0;

		fputc('\n', stream);
		for (k = 0; k < table->shown_count; k++) {
			const struct column *column = &table->columns[table->shown_columns[k]];

			if (table->shown_columns[k] == functions)
				continue;
			table_format_cell(table, row, table->shown_columns[k], text, sizeof(text));
			snprintf(number, sizeof(number), "%s %s", column->title, text);
			if (used && used + strlen(number) + 3 > width) {
				fputs(",\n  ", stream);
				separator = "  ";
				used = 2;
			}
			used += fprintf(stream, "%s%s", separator, number);
			separator = ", ";
		}
		fputc('\n', stream);
		for (at = cells[functions].text; *at; at += length) {
			const char *end = strstr(at, STACK_SEPARATOR);

			length = end ? (size_t)(end - at) : strlen(at);
			fprintf(stream, "      %.*s\n", (int)length, at);
			length += end ? strlen(STACK_SEPARATOR) : 0;
		}
	}
}
