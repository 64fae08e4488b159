// SPDX-License-Identifier: GPL-2.0-only
/* Tables as text, fitted to the width of a terminal. */

#define _GNU_SOURCE

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "table.h"
#include "text.h"

#define CELL_TEXT_SIZE	300

/* Characters between two columns. */
#define COLUMN_GAP	2

/* Least width of a shortened text, with its CUT_MARK, characters. */
#define TEXT_WIDTH_MIN	12

/* Mark of the place where a text was shortened. */
#define CUT_MARK	".."

static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += !text_is_continuation(*text);
	return width;
}

static const char *skip_characters(const char *text, size_t count)
{
	while (*text && (count || text_is_continuation(*text)))
		count -= !text_is_continuation(*text++);
	return text;
}

/* Cut characters out of the middle of a text: many names differ at their ends. */
static void shorten_text(char *text, size_t width)
{
	size_t uncut_width = text_width(text), head, tail;
	char *cut_at;
	const char *tail_text;

	if (uncut_width <= width)
		return;
	tail = (width - strlen(CUT_MARK)) / 2;
	head = width - strlen(CUT_MARK) - tail;
	cut_at = (char *)skip_characters(text, head);
	tail_text = skip_characters(text, uncut_width - tail);
	memmove(cut_at, CUT_MARK, strlen(CUT_MARK));
	memmove(cut_at + strlen(CUT_MARK), tail_text, strlen(tail_text) + 1);
}

/* Format a cell as the table shows it. Texts may contain control characters of a terminal. */
static void format_cell(const struct table *table, size_t row, size_t column, char *text,
			size_t size)
{
	char *at;

	table_format_cell(table, row, column, text, size);
	for (at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7F)
			*at = '?';
	if (table->columns[column].kind != CELL_TEXT)
		return;
	while (table->cuts_modules && text_cut_module(text))
		;
	if (table->text_width_max)
		shorten_text(text, table->text_width_max);
}

static void print_padded(FILE *stream, const char *text, size_t width, bool is_left_aligned,
			 bool is_last)
{
	size_t length = text_width(text);
	int padding = length < width ? width - length : 0;

	if (!is_left_aligned)
		fprintf(stream, "%*s", padding, "");
	fputs(text, stream);
	if (is_left_aligned && !is_last)
		fprintf(stream, "%*s", padding, "");
	fputs(is_last ? "\n" : "  ", stream);
}

static size_t compute_column_width(const struct table *table, size_t column, size_t rows)
{
	size_t width = strlen(table->columns[column].title), row;
	char text[CELL_TEXT_SIZE];

	for (row = 0; row < rows; row++) {
		size_t length;

		format_cell(table, row, column, text, sizeof(text));
		length = text_width(text);
		if (length > width)
			width = length;
	}
	return width;
}

/* Compute the width that a column has with the present @text_width_max, from its width without. */
static size_t compute_shortened_width(const struct table *table, size_t column, size_t width)
{
	size_t title_width = strlen(table->columns[column].title);

	if (table->columns[column].kind != CELL_TEXT || !table->text_width_max ||
	    width <= table->text_width_max)
		return width;
	return table->text_width_max > title_width ? table->text_width_max : title_width;
}

/* @widths: widths of the columns without @text_width_max, by column */
static size_t compute_table_width(const struct table *table, const size_t *widths)
{
	size_t width = 0, k;

	for (k = 0; k < table->shown_count; k++)
		width += compute_shortened_width(table, table->shown_columns[k],
						 widths[table->shown_columns[k]]) +
			 (k ? COLUMN_GAP : 0);
	return width;
}

static void measure_columns(const struct table *table, size_t rows, size_t *widths)
{
	size_t k;

	for (k = 0; k < table->shown_count; k++)
		widths[table->shown_columns[k]] =
			compute_column_width(table, table->shown_columns[k], rows);
}

/*
 * Find the shown column that is left out first. Returns the number of columns if all have to stay.
 */
static size_t find_droppable_column(const struct table *table)
{
	size_t droppable_column = table->column_count, k;
	unsigned int greatest_drop_order = 0;

	for (k = 0; k < table->shown_count; k++) {
		size_t column = table->shown_columns[k];

		if (column == table->sort_column ||
		    table->columns[column].drop_order <= greatest_drop_order)
			continue;
		greatest_drop_order = table->columns[column].drop_order;
		droppable_column = column;
	}
	return droppable_column;
}

/* Find the last shown column that is neither text nor the one that sorts the rows. */
static size_t find_last_number_column(const struct table *table)
{
	size_t k;

	for (k = table->shown_count; k--;)
		if (table->shown_columns[k] != table->sort_column &&
		    table->columns[table->shown_columns[k]].kind != CELL_TEXT)
			return table->shown_columns[k];
	return table->column_count;
}

/* Make the texts narrower, and leave out columns if that is not enough. */
static void shorten_texts(struct table *table, size_t rows, size_t width, size_t *widths)
{
	size_t droppable_column, text_width_max;

	table->cuts_modules = compute_table_width(table, widths) > width;
	if (table->cuts_modules)
		measure_columns(table, rows, widths);
	/* The shortest texts decide which of the columns without an order have to go. */
	table->text_width_max = TEXT_WIDTH_MIN;
	while (compute_table_width(table, widths) > width) {
		droppable_column = find_last_number_column(table);
		if (droppable_column == table->column_count)
			break;
		table_hide_column(table, droppable_column);
	}
	table->text_width_max = 0;
	for (text_width_max = width; text_width_max >= TEXT_WIDTH_MIN &&
	     compute_table_width(table, widths) > width; text_width_max--)
		table->text_width_max = text_width_max;
}

/**
 * table_fit_width() - leave out the least important columns, until the table fits
 * @table: the table
 * @rows_max: rows at most; 0: all
 * @width: characters of a line
 * @shortens_texts: if the most important columns are too wide, cut texts too, and leave out columns
 *	from the last one on
 */
void table_fit_width(struct table *table, size_t rows_max, size_t width, bool shortens_texts)
{
	size_t rows = table_shown_row_count(table, rows_max), droppable_column;
	size_t *widths = calloc(table->column_count, sizeof(*widths));

	if (!widths) {
		table->no_memory = true;
		return;
	}
	/* Formatting many rows takes long: they are measured again only if modules are cut. */
	measure_columns(table, rows, widths);
	while (compute_table_width(table, widths) > width) {
		droppable_column = find_droppable_column(table);
		if (droppable_column == table->column_count)
			break;
		table_hide_column(table, droppable_column);
	}
	if (shortens_texts)
		shorten_texts(table, rows, width, widths);
	free(widths);
}

static void print_heading(const struct table *table, FILE *stream, size_t rows, size_t width)
{
	const char *by = table->columns[table->sort_column].name;
	char count[64] = "", *text;

	if (rows < table_all_row_count(table))
		snprintf(count, sizeof(count), " (%zu of %zu)", rows, table_all_row_count(table));
	if (asprintf(&text, "%s, by %s%s", table->title, by, count) < 0)
		return;
	text_print_wrapped(text, width, stream);
	free(text);
}

/**
 * table_print_text() - print a table as text
 * @table: table
 * @stream: stream to print to
 * @rows_max: most rows to print; 0 for all
 * @width_max: characters that the heading may have on a line
 */
void table_print_text(const struct table *table, FILE *stream, size_t rows_max, size_t width_max)
{
	const char *colour_on = stream_has_colour(stream) ? "\033[1m" : "";
	const char *colour_off = *colour_on ? "\033[0m" : "";
	size_t rows = table_shown_row_count(table, rows_max), row, i, k;
	size_t *width = calloc(table->column_count, sizeof(*width));
	char text[CELL_TEXT_SIZE];

	if (!width)
		return;
	for (k = 0; k < table->shown_count; k++)
		width[k] = compute_column_width(table, table->shown_columns[k], rows);
	fputs(colour_on, stream);
	print_heading(table, stream, rows, width_max);
	for (k = 0; k < table->shown_count; k++) {
		i = table->shown_columns[k];
		print_padded(stream, table->columns[i].title, width[k],
			     table->columns[i].kind == CELL_TEXT, k + 1 == table->shown_count);
	}
	fputs(colour_off, stream);
	for (row = 0; row < rows; row++)
		for (k = 0; k < table->shown_count; k++) {
			i = table->shown_columns[k];
			format_cell(table, row, i, text, sizeof(text));
			print_padded(stream, text, width[k],
				     table->columns[i].kind == CELL_TEXT,
				     k + 1 == table->shown_count);
		}
	free(width);
}

/*
 * Print the headings of the columns that table_fit_width() has left out, on lines of at most @width
 * characters.
 * @shown has the @count columns that were shown before.
 */
static void print_left_out_columns(const struct table *table, FILE *stream, const size_t *shown,
				   size_t count, size_t width)
{
	const char *separator = "(--wide shows: ";
	size_t kept = 0, used = 0, k;

	for (k = 0; k < count; k++) {
		const char *title = table->columns[shown[k]].title;

		if (kept < table->shown_count && table->shown_columns[kept] == shown[k]) {
			kept++;
			continue;
		}
		if (used && used + strlen(separator) + strlen(title) + 1 > width) {
			separator = ",\n ";
			used = 0;
		}
		used += fprintf(stream, "%s%s", separator, title);
		separator = ", ";
	}
	if (kept < count)
		fputs(")\n", stream);
}

/**
 * table_print_fitted() - print a table as text, with the columns that fit the terminal
 * @table: table; the other columns are hidden afterwards
 * @stream: stream to print to
 * @rows_max: most rows to print; 0 for all
 * @prints_wide: print all columns, however wide the table is
 */
void table_print_fitted(struct table *table, FILE *stream, size_t rows_max, bool prints_wide)
{
	size_t count = table->shown_count, width = terminal_width(stream);
	size_t *shown = calloc(count, sizeof(*shown));

	if (!shown) {
		table->no_memory = true;
		return;
	}
	memcpy(shown, table->shown_columns, count * sizeof(*shown));
	if (!prints_wide)
		table_fit_width(table, rows_max, width, true);
	table_print_text(table, stream, rows_max, prints_wide ? SIZE_MAX : width);
	print_left_out_columns(table, stream, shown, count, width);
	free(shown);
}
