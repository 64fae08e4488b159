/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_H
#define _NTKLOG_REPORT_H

#include <ntklog/etl.h>

#include "analysis.h"
#include "names.h"
#include "table.h"

enum report_table_kind {
	REPORT_LOCKS,
	REPORT_CALLERS,
	REPORT_RESOURCES,
	REPORT_BLOCKERS,
	REPORT_STACKS,
	REPORT_THREADS,
	REPORT_PROCESSORS,
	REPORT_UNKNOWN,
	REPORT_WAITERS,
	REPORT_LONGEST,
	REPORT_TABLES,
};

#define REPORT_ALL_TABLES	((1u << REPORT_TABLES) - 1)

/*
 * Tables of an analysis, and the analysis that they are made of.
 * @file: trace, of which the path, the header and the counts of damage are used
 * @has_coverage: the analysis says which time is covered; otherwise it is @seconds
 * @is_one_of_many: its rows are merged with those of other files, which are sorted by totals
 * @joins_locks_of_waiter: the table of waiters has one row for each waiter, not for each lock of it
 * @omits_unused_resources: resources that were only initialized have no row
 * @attribute_name: name of the attribute that splits the rows of the tables; NULL: nothing does
 * @selecting_options: options of the command that chose names and events, each followed by its
 *	argument; NULL after the last
 * @columns: the columns of @tables
 */
struct report {
	const struct etl_file *file;
	const struct analysis *analysis;
	const struct names *names;
	double seconds;
	bool has_coverage;
	bool is_stream;
	bool is_one_of_many;
	bool joins_locks_of_waiter;
	bool omits_unused_resources;
	const char *attribute_name;
	const char *const *selecting_options;
	struct table tables[REPORT_TABLES];
	struct column *columns[REPORT_TABLES];
	char blockers_title[192];
};

enum report_table_kind report_find_table(const char *name);
const char *report_table_name(enum report_table_kind table_kind);
const char *report_attribute_refusal(enum report_table_kind table_kind,
				     enum charge_attribute attribute);
void report_print_columns(const struct report *report, unsigned int tables, FILE *stream);
void report_print_column_help(unsigned int tables, FILE *stream);
bool report_shows_per_second(const struct report *report);
bool report_has_lock_counts(const struct report *report);
void report_show_column(struct report *report, const char *name, bool sorts);
void report_print_empty(enum report_table_kind table_kind, bool is_selection, FILE *stream);
void report_make_tables(struct report *report);
void report_make_host_tables(struct report *report);
int report_check_memory(const struct report *report);
bool report_lacks_names(const struct report *report);
const char *report_resources_text(const struct report *report);
void report_set_resource_kinds(struct report *report, uint32_t kinds);
void report_print_facts(const struct report *report, FILE *stream, const char *before,
			const char *after);
void report_print_stacks(const struct report *report, FILE *stream, size_t rows_max);
json_t *report_rates_json(const struct analysis *analysis);
bool report_file_is_damaged(const struct etl_file *file);
bool report_file_is_lossy(const struct etl_file *file);
json_t *report_damage_json(const char *error);
json_t *report_json(const struct report *report, size_t rows_max, unsigned int tables);
int report_print_page(const struct report *report, const char *path, size_t rows_visible,
		      size_t rows_max, unsigned int tables);
void report_free(struct report *report);

#endif /* _NTKLOG_REPORT_H */
