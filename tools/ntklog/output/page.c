// SPDX-License-Identifier: GPL-2.0-only
/* Names come from the traced system and may hold any character. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "macros.h"
#include "names.h"
#include "output_file.h"
#include "page.h"
#include "text.h"

/* Characters of a text from which on a part of it is behind a click, and of the visible part. */
#define LONG_TEXT_MIN	160
#define LONG_TEXT_BEGIN	72

/* The style sheet, and the script in its parts, which the Makefile makes strings of. */
static const char page_style[] =
#include "page/style.css.h"
#include "page/pictures.css.h"
;

static const char *const page_scripts[] = {
#include "page/base.js.h"
,
#include "page/tables.js.h"
,
#include "page/marks.js.h"
,
#include "page/timelines.js.h"
,
#include "page/flames.js.h"
,
#include "page/locks.js.h"
,
#include "page/changes.js.h"
,
#include "page/main.js.h"
};

/* The Content-Security-Policy forbids the page to load any other file. */
static const char page_head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<style>\n";

static void print_character(FILE *stream, char character)
{
	switch (character) {
	case '<':
		fputs("&lt;", stream);
		break;
	case '>':
		fputs("&gt;", stream);
		break;
	case '&':
		fputs("&amp;", stream);
		break;
	case '"':
		fputs("&quot;", stream);
		break;
	default:
		if ((unsigned char)character >= 0x20 || character == '\n')
			fputc(character, stream);
	}
}

static void print_escaped(FILE *stream, const char *text, size_t length)
{
	while (length--)
		print_character(stream, *text++);
}

static void print_name(FILE *stream, const char *name)
{
	for (; *name; name++) {
		print_character(stream, *name);
		if (strchr("_.:/+", *name))
			fputs("<wbr>", stream);
	}
}

/**
 * page_print_text() - print text in which nothing is markup
 * @stream: stream of the page
 * @text: text; malformed UTF-8 and control characters are replaced, tabs are left out
 */
void page_print_text(FILE *stream, const char *text)
{
	char *clean_text = strdup(text);

	if (!clean_text)
		return;
	text_clean(clean_text);
	print_escaped(stream, clean_text, strlen(clean_text));
	free(clean_text);
}

/**
 * page_print_block() - print lines of text as they are
 * @stream: stream of the page
 * @class: CSS class
 * @text: the lines
 */
void page_print_block(FILE *stream, const char *class, const char *text)
{
	fprintf(stream, "<pre class=\"%s\">", class);
	page_print_text(stream, text);
	fputs("</pre>\n", stream);
}

/**
 * page_open() - begin a page
 * @path: path of the page; "-" is the standard output
 * @title: title of the page
 *
 * Return: the stream of the page, for page_close(); NULL after a message.
 */
FILE *page_open(const char *path, const char *title)
{
	FILE *stream = output_open(path);

	if (!stream)
		return NULL;
	fprintf(stream, "%s%s</style>\n<title>ntklog: ", page_head, page_style);
	page_print_text(stream, title);
	fputs("</title>\n</head>\n<body>\n<header><h1>", stream);
	page_print_text(stream, title);
	fputs("</h1></header>\n<main>\n", stream);
	return stream;
}

static void print_table_head(const struct table *table, FILE *stream)
{
	size_t k;

	fputs("<thead><tr>", stream);
	for (k = 0; k < table->shown_count; k++) {
		const struct column *column = &table->columns[table->shown_columns[k]];
		bool is_name = column->kind == CELL_TEXT;

		fprintf(stream, "<th scope=\"col\"%s%s title=\"", is_name ? " class=\"name\"" : "",
			table->shown_columns[k] != table->sort_column ? "" :
			is_name ? " aria-sort=\"ascending\"" : " aria-sort=\"descending\"");
		page_print_text(stream, column->help);
		fprintf(stream, "\">%s</th>", column->title);
	}
	fputs("</tr></thead>\n<tbody>\n", stream);
}

static void print_cell_text(FILE *stream, const char *text)
{
	char *clean_text = strdup(text);
	const char *rest;

	if (!clean_text)
		return;
	text_clean(clean_text);
	rest = strlen(clean_text) > LONG_TEXT_MIN ? strchr(clean_text + LONG_TEXT_BEGIN, ' ') :
						    NULL;
	if (rest) {
		fputs("<details><summary>", stream);
		print_escaped(stream, clean_text, rest - clean_text);
		fputs("</summary>", stream);
		print_name(stream, rest);
		fputs("</details>", stream);
	} else {
		print_name(stream, clean_text);
	}
	free(clean_text);
}

static void print_number(FILE *stream, const struct table *table, size_t row, size_t column)
{
	const union cell *cell = &table->cells[row * table->column_count + column];
	char text[NAME_SIZE], *error;

	table_format_cell(table, row, column, text, sizeof(text));
	if (isfinite(cell->number))
		fprintf(stream, " data-value=\"%.15g\"", cell->number);
	fputc('>', stream);
	/* A number may be broken before its error: "~19286" and "+-23%". */
	error = strstr(text, "+-");
	print_escaped(stream, text, error ? (size_t)(error - text) : strlen(text));
	if (error) {
		fputs("<wbr>", stream);
		print_escaped(stream, error, strlen(error));
	}
}

static void print_row(FILE *stream, const struct table *table, size_t row)
{
	size_t k;

	fputs("<tr>", stream);
	for (k = 0; k < table->shown_count; k++) {
		size_t i = table->shown_columns[k];
		const union cell *cell = &table->cells[row * table->column_count + i];
		bool is_name = table->columns[i].kind == CELL_TEXT;

		fprintf(stream, "<td data-title=\"%s\"", table->columns[i].title);
		if (is_name) {
			fputs(" class=\"name\">", stream);
			print_cell_text(stream, cell->text ? cell->text : "");
		} else {
			print_number(stream, table, row, i);
		}
		fputs("</td>", stream);
	}
	fputs("</tr>\n", stream);
}

/**
 * page_print_table() - print a table, with a heading
 * @stream: stream of the page
 * @table: sorted table
 * @rows_visible: most rows that are visible before a click; 0 for all
 * @rows_max: most rows in the page; 0 for all
 */
void page_print_table(FILE *stream, const struct table *table, size_t rows_visible, size_t rows_max)
{
	size_t shown = table_shown_row_count(table, rows_visible);
	size_t rows = table_shown_row_count(table, rows_max), row;

	fprintf(stream, "<section id=\"table-%s\" class=\"%s\"><h2>", table->name, table->name);
	page_print_text(stream, table->title);
	fprintf(stream, "</h2>\n<p>By %s", table->columns[table->sort_column].title);
	if (rows < table->row_count)
		fprintf(stream, "; %zu of %zu rows (<code>--top</code>)", rows, table->row_count);
	fputs("</p>\n<div class=\"table\"><table>\n", stream);
	print_table_head(table, stream);
	for (row = 0; row < rows; row++) {
		if (row == shown)
			fputs("</tbody>\n<tbody>\n", stream);
		print_row(stream, table, row);
	}
	fputs("</tbody></table></div></section>\n", stream);
}

/**
 * page_json_string() - make a JSON string
 * @text: text; malformed UTF-8 and control characters are replaced
 *
 * Return: the string, or NULL without memory.
 */
json_t *page_json_string(const char *text)
{
	char *clean_text = strdup(text);
	json_t *string = NULL;

	if (clean_text) {
		text_clean(clean_text);
		string = json_string(clean_text);
	}
	free(clean_text);
	return string;
}

/*
 * Print a part of the JSON. In JSON, "<" is within strings only. As an escape sequence it can
 * neither end the element nor begin a comment.
 */
static int print_json_part(const char *part, size_t size, void *stream)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (part[i] == '<')
			fputs("\\u003c", stream);
		else
			fputc(part[i], stream);
	return 0;
}

/**
 * page_close() - end a page
 * @stream: stream from page_open()
 * @path: path of the page; "-" is the standard output
 * @pictures: data for the script; freed
 *
 * Return: 0, or -1 after a message.
 */
int page_close(FILE *stream, const char *path, json_t *pictures)
{
	size_t i;

	fputs("<noscript><p>The pictures need a script.</p></noscript>\n</main>\n", stream);
	fputs("<script type=\"application/json\" id=\"data\">\n", stream);
	json_dump_callback(pictures, print_json_part, stream,
			   JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(pictures);
	fputs("\n</script>\n<script>\n\"use strict\";\n", stream);
	for (i = 0; i < ARRAY_SIZE(page_scripts); i++)
		fputs(page_scripts[i], stream);
	fputs("</script>\n</body>\n</html>\n", stream);
	return output_close(stream, path, 0);
}
