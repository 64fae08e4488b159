/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TABLE_H
#define _NTKLOG_TABLE_H

/* Tables of what was summed up, and the ways to show them. */

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
	CELL_ERROR,	/* standard error of another column's cell, by that */
};

/**
 * struct column - of a table
 * @name: for options, JSON and CSV
 * @title: for people
 * @kind: of its cells
 * @extra: shown only when it is asked for
 * @error: name of the column with the error of this one's cells, or NULL
 * @missing: name of the column with the number of records' weights that are missing in this one's
 *	cells, which are lower bounds then; or NULL
 */
struct column {
	const char *name;
	const char *title;
	enum cell_kind kind;
	bool extra;
	const char *error;
	const char *missing;
};

/**
 * union cell - of a row
 * @text: of CELL_TEXT, the table's own
 * @number: of the others; not a number: not known. INFINITY of CELL_ERROR: there is an error, but
 *	no record tells how large
 */
union cell {
	char *text;
	double number;
};

/**
 * struct table - rows of cells
 * @name: for options, JSON and CSV
 * @title: for people
 * @columns: of it
 * @column_count: how many
 * @sort: index of the column that it is sorted by, the greatest first; text: A first
 * @shown: indices of the columns that are shown, in their order
 * @shown_count: how many
 * @cells: row after row
 * @rows: how many
 * @no_memory: rows are missing for want of it
 */
struct table {
	const char *name;
	const char *title;
	const struct column *columns;
	size_t column_count;
	size_t sort;
	size_t *shown;
	size_t shown_count;
	union cell *cells;
	size_t rows;
	bool no_memory;
};

bool table_init(struct table *table, const char *name, const char *title,
		const struct column *columns, size_t column_count, const char *sort);
union cell *table_add_row(struct table *table);
void table_show(struct table *table, size_t column);
void table_insert(struct table *table, size_t column);
void table_insert_errors(struct table *table);
void table_hide(struct table *table, size_t column);
int table_find_column(const struct table *table, const char *name);
void table_sort(struct table *table);
size_t table_fit(struct table *table, size_t top, size_t width);
void table_print_text(const struct table *table, FILE *stream, size_t top);
void table_print_csv(const struct table *table, FILE *stream, size_t top);
json_t *table_json(const struct table *table, size_t top);
bool table_has_cells(const struct table *table);
size_t table_top(const struct table *table, size_t top);
void table_format_cell(const struct table *table, size_t row, size_t column, char *text,
		       size_t size);
void cell_format(enum cell_kind kind, const union cell *cell, char *text, size_t size);
void table_free(struct table *table);

#endif /* _NTKLOG_TABLE_H */
