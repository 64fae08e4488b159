/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DUMP_PLAN_H
#define _NTKLOG_DUMP_PLAN_H

/*
 * Plans for printing the fields of known events. A plan is made once for each type and version of
 * events. It has a step for each field, with all text between the values.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump_format.h"
#include "event_type.h"
#include "names_cache.h"
#include "out.h"
#include "put.h"

#define DUMP_COLUMNS_MAX	96

#define DUMP_VERSIONS_MAX	4

/* Upper limit of the bytes of an event's fields in a line, with all names and commas. */
#define DUMP_FIELDS_SIZE	(24 * (2 * PUT_OVERRUN_MAX + OUT_DIGITS + NAMES_CACHE_TEXT) + \
				 2 * DUMP_COLUMNS_MAX + PUT_OVERRUN_MAX)

struct dump_plan;

/*
 * Columns of a CSV, one for each name of a field of any event.
 * @suffixes: suffix of the title of the column that follows with the name of a value: "Symbol" or
 *	"Name"; NULL if no such column follows
 */
struct dump_columns {
	const char *names[DUMP_COLUMNS_MAX];
	const char *suffixes[DUMP_COLUMNS_MAX];
	size_t column_count;
	const struct event_field *fields[EVENT_TYPES][DUMP_COLUMNS_MAX];
	size_t thread_column;
};

/*
 * Plans of all types.
 * @ns_per_cycle: nanoseconds of a cycle, to print durations with units; 0: print cycles
 * @plans: plans by type and version, from the first version of the type on
 */
struct dump_plans {
	enum dump_format format;
	bool has_names;
	double ns_per_cycle;
	struct dump_columns columns;
	struct dump_plan *plans[EVENT_TYPES][DUMP_VERSIONS_MAX];
	struct names_cache lock_names;
	struct names_cache code_names;
	struct names_cache thread_names;
};

int dump_plans_make(struct dump_plans *plans, enum dump_format format,
		    const struct names *names, double ns_per_cycle);
char *dump_plans_put(struct dump_plans *plans, char *dest, const struct etl_event *event,
		     const struct event_type *type);
void dump_plans_clear(struct dump_plans *plans);

#endif /* _NTKLOG_DUMP_PLAN_H */
