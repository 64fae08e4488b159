/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TABLE_ARGP_H
#define _NTKLOG_TABLE_ARGP_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis.h"

/*
 * @lock: name or address of the only lock that is summed up, or NULL
 * @rows_max: most rows of a table; 0 for all
 */
struct table_options {
	bool prints_json;
	bool prints_csv;
	bool prints_wide;
	const char *lock;
	size_t rows_max;
	bool has_rows_max;
};

/* The input of the parser is a struct table_options. */
extern const struct argp table_argp;

const char *table_lock_hint(const char *lock);
void table_refuse_ambiguous_lock(const char *lock, const char *path);
void table_report_newer(const struct newer_events *newer, const char *path);

#endif /* _NTKLOG_TABLE_ARGP_H */
