/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PAGE_H
#define _NTKLOG_PAGE_H

/*
 * Pages of HTML, for report and diff. A page is one file that needs no other: text and tables are
 * HTML, and can be read without the script. The script draws the pictures from a JSON object that
 * is in the page. The script and the style sheet are the files of the folder page/.
 */

#include <stdio.h>

#include <jansson.h>

#include "table.h"

FILE *page_open(const char *path, const char *title);
void page_print_text(FILE *stream, const char *text);
void page_print_block(FILE *stream, const char *class, const char *text);
void page_print_table(FILE *stream, const struct table *table, size_t rows_visible,
		      size_t rows_max);
int page_close(FILE *stream, const char *path, json_t *pictures);
json_t *page_json_string(const char *text);

#endif /* _NTKLOG_PAGE_H */
