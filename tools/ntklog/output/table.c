// SPDX-License-Identifier: GPL-2.0-only
/* Tables: sorted rows, printed as CSV and JSON. table_text.c prints them as text. */

#define _GNU_SOURCE

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "grow.h"
#include "macros.h"
#include "message.h"
#include "table.h"
#include "text.h"

/* Least error that is printed behind an estimate. */
#define ERROR_MARKED_MIN	0.1

/**
 * table_init() - make a table without rows
 * @table: set to the table
 * @name: name for options, JSON and CSV
 * @title: heading
 * @columns: descriptions of the columns
 * @column_count: number of @columns
 * @sort_column_name: name of the column to sort by
 *
 * Return: true, or false without memory.
 */
bool table_init(struct table *table, const char *name, const char *title,
		const struct column *columns, size_t column_count, const char *sort_column_name)
{
	size_t i;

	*table = (struct table) {
		.name = name,
		.title = title,
		.columns = columns,
		.column_count = column_count,
		.shown_columns = calloc(column_count, sizeof(size_t)),
	};
	if (!table->shown_columns) {
		table->no_memory = true;
		return false;
	}
	for (i = 0; i < column_count; i++)
		if (!columns[i].is_hidden)
			table_show_column_last(table, i);
	table->sort_column = table_find_column(table, sort_column_name);
	return true;
}

static void free_texts(const struct column *columns, size_t column_count, union cell *cells)
{
	size_t i;

	for (i = 0; i < column_count; i++)
		if (columns[i].kind == CELL_TEXT)
			free(cells[i].text);
}

/**
 * table_add_row() - add a row
 * @table: the table
 * @report: report of the table
 * @row: object from which the columns make the cells
 *
 * Return: true, or false without memory, which @table notes.
 */
bool table_add_row(struct table *table, const struct report *report, const void *row)
{
	size_t rows = table->row_count, i;
	union cell *more = grow_by_one(table->cells, rows, table->column_count * sizeof(*more));
	union cell *cells;

	if (!more) {
		table->no_memory = true;
		return false;
	}
	table->cells = more;
	cells = &more[rows * table->column_count];
	for (i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind != CELL_TEXT) {
			cells[i].number = column->compute_number(report, row);
			continue;
		}
		cells[i].text = column->make_text(report, row);
		if (!cells[i].text) {
			free_texts(table->columns, i, cells);
			table->no_memory = true;
			return false;
		}
	}
	table->row_count++;
	return true;
}

/**
 * table_write() - write the rows for table_read() in another process of this program
 * @table: the table
 * @stream: stream to write to; after a failed write ferror() is true
 */
void table_write(const struct table *table, FILE *stream)
{
	size_t cells = table->row_count * table->column_count, i;

	fwrite(&table->row_count, sizeof(table->row_count), 1, stream);
	fwrite(&table->dropped_row_count, sizeof(table->dropped_row_count), 1, stream);
	for (i = 0; i < cells; i++)
		if (table->columns[i % table->column_count].kind == CELL_TEXT)
			text_send(table->cells[i].text, stream);
		else
			fwrite(&table->cells[i].number, sizeof(double), 1, stream);
}

/**
 * table_read() - add the rows that table_write() has written
 * @table: table of the same columns, with a column of texts before them
 * @first: text of the first column
 * @stream: stream to read the rows from
 *
 * Return: true, or false if the rows are not complete.
 */
bool table_read(struct table *table, const char *first, FILE *stream)
{
	size_t size = table->column_count * sizeof(union cell), rows, dropped_rows, i;
	union cell *more, *cells;
	bool is_whole;

	if (fread(&rows, sizeof(rows), 1, stream) != 1 ||
	    fread(&dropped_rows, sizeof(dropped_rows), 1, stream) != 1)
		return false;
	for (; rows; rows--) {
		more = grow_by_one(table->cells, table->row_count, size);
		if (!more)
			return false;
		table->cells = more;
		cells = &more[table->row_count * table->column_count];
		memset(cells, 0, size);
		cells[0].text = strdup(first);
		is_whole = !!cells[0].text;
		for (i = 1; is_whole && i < table->column_count; i++)
			if (table->columns[i].kind == CELL_TEXT)
				is_whole = !!(cells[i].text = text_receive(stream));
			else
				is_whole = fread(&cells[i].number, sizeof(double), 1, stream) == 1;
		if (!is_whole) {
			free_texts(table->columns, i, cells);
			return false;
		}
		table->row_count++;
	}
	table->dropped_row_count += dropped_rows;
	return true;
}

/**
 * table_cut_rows() - remove the last rows
 * @table: the table
 * @rows: number of rows to keep
 */
void table_cut_rows(struct table *table, size_t rows)
{
	while (table->row_count > rows) {
		table->row_count--;
		free_texts(table->columns, table->column_count,
			   &table->cells[table->row_count * table->column_count]);
	}
}

/**
 * table_keep_top_rows() - sort the rows and remove those behind the first ones, if there are more
 * @table: the table
 * @rows_max: number of rows to keep; 0: all
 */
void table_keep_top_rows(struct table *table, size_t rows_max)
{
	if (!rows_max || table->row_count <= rows_max)
		return;
	table_sort(table);
	table->dropped_row_count += table->row_count - rows_max;
	table_cut_rows(table, rows_max);
}

static bool row_has_text(const struct table *table, const union cell *cells, size_t count,
			 const char *part)
{
	size_t k;

	for (k = 0; k < count; k++)
		if (strstr(cells[table->shown_columns[k]].text, part))
			return true;
	return false;
}

/**
 * table_keep_rows_with_text() - leave out the rows without a text
 * @table: the table
 * @part: the text
 * @count: number of the first shown columns, all of CELL_TEXT, of which one must have the text
 *
 * @table->row_count becomes the number of rows with the text. The other rows are behind them.
 */
void table_keep_rows_with_text(struct table *table, const char *part, size_t count)
{
	size_t columns = table->column_count, rows = table->row_count, i, k;

	table->row_count = 0;
	for (i = 0; i < rows; i++) {
		union cell *cells = &table->cells[i * columns];
		union cell *kept = &table->cells[table->row_count * columns];

		if (!row_has_text(table, cells, count, part))
			continue;
		table->row_count++;
		for (k = 0; k < columns; k++) {
			const union cell cell = kept[k];

			kept[k] = cells[k];
			cells[k] = cell;
		}
	}
}

static bool column_is_shown(const struct table *table, size_t column)
{
	size_t k;

	for (k = 0; k < table->shown_count; k++)
		if (table->shown_columns[k] == column)
			return true;
	return false;
}

/**
 * table_show_column_last() - show a column, after all others
 * @table: the table
 * @column: its index
 */
void table_show_column_last(struct table *table, size_t column)
{
	if (!column_is_shown(table, column))
		table->shown_columns[table->shown_count++] = column;
}

/**
 * table_show_column_in_order() - show a column, before those with a higher index
 * @table: the table
 * @column: its index
 */
void table_show_column_in_order(struct table *table, size_t column)
{
	size_t k;

	if (column_is_shown(table, column))
		return;
	for (k = table->shown_count++; k > 0 && table->shown_columns[k - 1] > column; k--)
		table->shown_columns[k] = table->shown_columns[k - 1];
	table->shown_columns[k] = column;
}

static bool column_has_positive_cell(const struct table *table, size_t column)
{
	size_t row;

	for (row = 0; row < table->row_count; row++)
		if (table->cells[row * table->column_count + column].number > 0)
			return true;
	return false;
}

/**
 * table_insert_errors() - show the errors of the columns that are shown
 * @table: the table
 * @includes_zero: show them even if they are all 0 or unknown, as where every event was written
 */
void table_insert_errors(struct table *table, bool includes_zero)
{
	size_t error, i;

	for (i = 0; i < table->column_count; i++) {
		if (!table->columns[i].error_column || !column_is_shown(table, i))
			continue;
		error = table_find_column(table, table->columns[i].error_column);
		if (includes_zero || column_has_positive_cell(table, error))
			table_show_column_in_order(table, error);
	}
}

/**
 * table_hide_column() - do not show a column
 * @table: the table
 * @column: its index
 */
void table_hide_column(struct table *table, size_t column)
{
	size_t k, kept = 0;

	for (k = 0; k < table->shown_count; k++)
		if (table->shown_columns[k] != column)
			table->shown_columns[kept++] = table->shown_columns[k];
	table->shown_count = kept;
}

/**
 * table_find_column() - find a column by its name
 * @table: table
 * @name: name of the column
 *
 * Return: index of the column, or -1 if there is none.
 */
int table_find_column(const struct table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].name, name))
			return i;
	return -1;
}

static int compare_rows(const void *a, const void *b, void *argument)
{
	const struct table *table = argument;
	const union cell *left = (const union cell *)a + table->sort_column;
	const union cell *right = (const union cell *)b + table->sort_column;

	if (table->columns[table->sort_column].kind == CELL_TEXT)
		return strcmp(left->text ? left->text : "", right->text ? right->text : "");
	/* Unknown values come last. */
	if (isnan(left->number) || isnan(right->number))
		return !!isnan(left->number) - !!isnan(right->number);
	return (left->number < right->number) - (left->number > right->number);
}

/**
 * table_sort() - sort the rows by @table->sort_column
 * @table: table
 */
void table_sort(struct table *table)
{
	if (table->row_count)
		qsort_r(table->cells, table->row_count,
			table->column_count * sizeof(*table->cells), compare_rows, table);
}

/**
 * table_has_cells() - test whether a table has anything to show
 * @table: table
 *
 * Return: true if it has rows and at least one column is shown.
 */
bool table_has_cells(const struct table *table)
{
	return table->shown_count && table->row_count;
}

/**
 * table_all_row_count() - compute the number of rows before some were dropped
 * @table: table
 *
 * Return: number of rows.
 */
size_t table_all_row_count(const struct table *table)
{
	return table->row_count + table->dropped_row_count;
}

/**
 * table_shown_row_count() - compute the number of rows to show
 * @table: table
 * @rows_max: most rows to show; 0 for all
 *
 * Return: number of rows.
 */
size_t table_shown_row_count(const struct table *table, size_t rows_max)
{
	return rows_max && rows_max < table->row_count ? rows_max : table->row_count;
}

static void format_time(double ns, char *text, size_t size)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	size_t i;

	/* From 999.5 on a number would be printed as 1000. */
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (fabs(ns) >= 0.9995 * units[i].ns) {
			double value = ns / units[i].ns;

			snprintf(text, size, "%.*f%s",
				 fabs(value) < 9.995 ? 2 : fabs(value) < 99.95, value,
				 units[i].name);
			return;
		}
	snprintf(text, size, "%.0fns", ns);
}

static bool cell_is_unknown(enum cell_kind kind, const union cell *cell)
{
	return kind != CELL_TEXT && !isfinite(cell->number);
}

/**
 * cell_format_text() - format a cell for people
 * @kind: kind of the cell
 * @cell: cell
 * @text: set to the text; "-" for an unknown value, "?" for an error of unknown size
 * @size: bytes of @text
 */
void cell_format_text(enum cell_kind kind, const union cell *cell, char *text, size_t size)
{
	if (cell_is_unknown(kind, cell)) {
		snprintf(text, size, kind == CELL_ERROR && isinf(cell->number) ? "?" : "-");
		return;
	}
	switch (kind) {
	case CELL_TEXT:
		/* snprintf() may have cut the text within a character. */
		if ((size_t)snprintf(text, size, "%s", cell->text ? cell->text : "") >= size)
			text_clean(text);
		return;
	case CELL_COUNT:
		snprintf(text, size, "%.0f", cell->number);
		return;
	case CELL_ESTIMATE:
		snprintf(text, size, "~%.0f", cell->number);
		return;
	case CELL_SHARE:
		/* A share above 0 must not be printed as 0. */
		if (cell->number > 0 && cell->number < 0.0005)
			snprintf(text, size, "<0.1%%");
		else
			snprintf(text, size, "%.1f%%", 100 * cell->number);
		return;
	case CELL_TIME:
		format_time(cell->number, text, size);
		return;
	case CELL_ERROR:
		snprintf(text, size, "%.0f%%", 100 * cell->number);
	}
}

static const union cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->column_count + column];
}

static bool cell_is_lower_bound(const struct table *table, size_t row, size_t column)
{
	const char *missing = table->columns[column].missing_column;

	return missing && cell_at(table, row, table_find_column(table, missing))->number > 0;
}

/**
 * table_format_cell() - format a cell of a table for people
 * @table: table
 * @row: index of the row
 * @column: index of the column
 * @text: set to the text, with ">" before a lower bound and the error behind an estimate
 * @size: bytes of @text
 */
void table_format_cell(const struct table *table, size_t row, size_t column, char *text,
		       size_t size)
{
	const struct column *shown = &table->columns[column];
	const union cell *error = shown->error_column ?
		cell_at(table, row, table_find_column(table, shown->error_column)) : NULL;
	enum cell_kind kind = shown->kind;
	char percent[32];
	size_t length;

	/* The error is 0 if every event was written, and may be NAN. */
	if (kind == CELL_ESTIMATE && error && !(error->number > 0))
		kind = CELL_COUNT;
	cell_format_text(kind, cell_at(table, row, column), text, size);
	if (cell_is_lower_bound(table, row, column)) {
		length = strnlen(text, size - 2);
		memmove(text + 1, text, length);
		text[0] = '>';
		text[length + 1] = '\0';
	}
	if (!error || cell_is_unknown(shown->kind, cell_at(table, row, column)))
		return;
	if (!(error->number > ERROR_MARKED_MIN))
		return;
	length = strlen(text);
	cell_format_text(CELL_ERROR, error, percent, sizeof(percent));
	snprintf(text + length, size - length, "+-%s", percent);
}

/**
 * table_print_csv() - print a table as comma-separated values; times are nanoseconds
 * @table: table
 * @stream: stream to print to
 * @rows_max: most rows to print; 0 for all
 */
void table_print_csv(const struct table *table, FILE *stream, size_t rows_max)
{
	size_t rows = table_shown_row_count(table, rows_max), row, i, k;

	fputs("table", stream);
	for (k = 0; k < table->shown_count; k++) {
		i = table->shown_columns[k];
		fprintf(stream, ",%s%s", table->columns[i].name,
			table->columns[i].kind == CELL_TIME ? "_ns" : "");
	}
	fputc('\n', stream);
	for (row = 0; row < rows; row++) {
		csv_print(stream, table->name);
		for (k = 0; k < table->shown_count; k++) {
			const union cell *cell;

			i = table->shown_columns[k];
			cell = cell_at(table, row, i);
			fputc(',', stream);
			if (table->columns[i].kind == CELL_TEXT)
				csv_print(stream, cell->text ? cell->text : "");
			else if (!cell_is_unknown(table->columns[i].kind, cell))
				fprintf(stream, "%.15g", cell->number);
		}
		fputc('\n', stream);
	}
}

/**
 * table_row_json() - make a JSON object of a row; times are nanoseconds
 * @table: table
 * @row: index of the row
 *
 * Return: the object, or NULL without memory.
 */
json_t *table_row_json(const struct table *table, size_t row)
{
	json_t *object = json_object();
	char name[64];
	size_t k;

	for (k = 0; k < table->shown_count; k++) {
		size_t i = table->shown_columns[k];
		const union cell *cell = cell_at(table, row, i);
		enum cell_kind kind = table->columns[i].kind;
		json_t *value;

		if (kind == CELL_TEXT)
			value = json_string(cell->text ? cell->text : "");
		else if (cell_is_unknown(kind, cell))
			value = json_null();
		else if ((kind == CELL_COUNT || kind == CELL_ESTIMATE) &&
			 cell->number < (double)INT64_MAX && cell->number == trunc(cell->number))
			value = json_integer((json_int_t)cell->number);
		else
			value = json_real(cell->number);
		snprintf(name, sizeof(name), "%s%s", table->columns[i].name,
			 kind == CELL_TIME ? "_ns" : "");
		json_object_set_new(object, name, value);
	}
	return object;
}

/**
 * table_json() - make a JSON array of the rows
 * @table: table
 * @rows_max: most rows of the array; 0 for all
 *
 * Return: array of objects, or NULL without memory.
 */
json_t *table_json(const struct table *table, size_t rows_max)
{
	size_t rows = table_shown_row_count(table, rows_max), row;
	json_t *array = json_array();

	for (row = 0; row < rows; row++)
		json_array_append_new(array, table_row_json(table, row));
	return array;
}

/**
 * table_free() - free the cells of a table
 * @table: table
 */
void table_free(struct table *table)
{
	size_t row;

	for (row = 0; row < table->row_count; row++)
		free_texts(table->columns, table->column_count,
			   &table->cells[row * table->column_count]);
	free(table->cells);
	free(table->shown_columns);
}
