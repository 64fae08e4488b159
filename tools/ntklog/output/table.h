/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TABLE_H
#define _NTKLOG_TABLE_H

/* Tables: columns that compute cells from the objects of an analysis, and their output. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

enum cell_kind {
	CELL_TEXT,
	CELL_COUNT,
	CELL_ESTIMATE,	/* a count that is estimated from a sample */
	CELL_SHARE,	/* 0 to 1 */
	CELL_TIME,	/* nanoseconds */
	CELL_ERROR,	/* standard error of another column's cell, divided by that cell */
};

struct report;

/*
 * @drop_order: order in which columns are left out if a line is too short, the greatest first; 0:
 *	the column stays
 * @error_column: name of the column with the errors of this column's cells, or NULL
 * @missing_column: name of the column with the number of events that this column's cells lack, or
 *	NULL. If it is above 0, the cell is a lower bound
 * @help: meaning of the column, without a full stop
 * @make_text: function that makes a cell of CELL_TEXT from a row's object; the caller frees the
 *	text, which is NULL without memory. Columns of other kinds have NULL here
 * @compute_number: function that computes a cell of another kind from a row's object
 */
struct column {
	const char *name;
	const char *title;
	enum cell_kind kind;
	bool is_hidden;
	unsigned int drop_order;
	const char *error_column;
	const char *missing_column;
	const char *help;
	char *(*make_text)(const struct report *report, const void *row);
	double (*compute_number)(const struct report *report, const void *row);
};

/**
 * union cell - a cell of a row
 * @text: text of CELL_TEXT, which the table frees
 * @number: number of other kinds; NAN if it is not known. INFINITY of CELL_ERROR means an error
 *	whose size no record tells
 */
union cell {
	char *text;
	double number;
};

/*
 * @sort_column: index of the column to sort by: the greatest number first, or text from A on
 * @shown_columns: indices of the columns that are shown, in their order
 * @cuts_modules: the names of modules are left out
 * @text_width_max: most characters of a text that are shown; 0: all
 * @dropped_row_count: number of rows that table_keep_top_rows() has removed, here or in the
 *	processes that read files
 */
struct table {
	const char *name;
	const char *title;
	const struct column *columns;
	size_t column_count;
	size_t sort_column;
	size_t *shown_columns;
	size_t shown_count;
	bool cuts_modules;
	size_t text_width_max;
	union cell *cells;
	size_t row_count;
	size_t dropped_row_count;
	bool no_memory;
};

bool table_init(struct table *table, const char *name, const char *title,
		const struct column *columns, size_t column_count, const char *sort_column_name);
bool table_add_row(struct table *table, const struct report *report, const void *row);
void table_write(const struct table *table, FILE *stream);
bool table_read(struct table *table, const char *first, FILE *stream);
void table_cut_rows(struct table *table, size_t rows);
void table_keep_top_rows(struct table *table, size_t rows_max);
void table_keep_rows_with_text(struct table *table, const char *part, size_t count);
void table_show_column_last(struct table *table, size_t column);
void table_show_column_in_order(struct table *table, size_t column);
void table_insert_errors(struct table *table, bool includes_zero);
void table_hide_column(struct table *table, size_t column);
int table_find_column(const struct table *table, const char *name);
void table_sort(struct table *table);
void table_fit_width(struct table *table, size_t rows_max, size_t width, bool shortens_texts);
void table_print_fitted(struct table *table, FILE *stream, size_t rows_max, bool prints_wide);
void table_print_text(const struct table *table, FILE *stream, size_t rows_max, size_t width_max);
void table_print_csv(const struct table *table, FILE *stream, size_t rows_max);
json_t *table_row_json(const struct table *table, size_t row);
json_t *table_json(const struct table *table, size_t rows_max);
bool table_has_cells(const struct table *table);
size_t table_all_row_count(const struct table *table);
size_t table_shown_row_count(const struct table *table, size_t rows_max);
void table_format_cell(const struct table *table, size_t row, size_t column, char *text,
		       size_t size);
void cell_format_text(enum cell_kind kind, const union cell *cell, char *text, size_t size);
void table_free(struct table *table);

#endif /* _NTKLOG_TABLE_H */
