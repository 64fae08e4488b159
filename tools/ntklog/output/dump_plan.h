/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DUMP_PLAN_H
#define _NTKLOG_DUMP_PLAN_H

/*
 * How the fields of the known events are written. What is the same for all events of a
 * type and version, which fields there are, their names and what is around them, is made
 * once: a plan, of a step for each field.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump_writer.h"
#include "event_type.h"
#include "names_cache.h"
#include "out.h"
#include "put.h"

/* Fields of all events, each name once. */
#define DUMP_COLUMNS_MAX	64

/* Versions of a type, each of which has a plan. */
#define DUMP_VERSIONS_MAX	4

/* Of a line's fields at most: those of an event, commas, and how each is written. */
#define DUMP_FIELDS_SIZE	(24 * (2 * PUT_MORE + OUT_DIGITS + NAMES_CACHE_TEXT) + \
				 2 * DUMP_COLUMNS_MAX + PUT_MORE)

struct dump_plan;

/**
 * struct dump_columns - of a CSV, which has the fields of all events
 * @names: of the columns
 * @suffixes: of those that another one follows, with a name: what that is called more
 * @count: of them
 * @fields: by type and column; NULL: the event has none such
 * @thread: of ThreadId
 */
struct dump_columns {
	const char *names[DUMP_COLUMNS_MAX];
	const char *suffixes[DUMP_COLUMNS_MAX];
	size_t count;
	const struct event_field *fields[EVENT_TYPES][DUMP_COLUMNS_MAX];
	size_t thread;
};

/**
 * struct dump_plans - of all types
 * @format: of what is written
 * @has_names: there are some
 * @columns: of DUMP_CSV
 * @plans: by type and version, from the type's first on
 * @locks: names of locks
 * @code: names of instructions
 * @threads: names of threads
 */
struct dump_plans {
	enum dump_format format;
	bool has_names;
	struct dump_columns columns;
	struct dump_plan *plans[EVENT_TYPES][DUMP_VERSIONS_MAX];
	struct names_cache locks;
	struct names_cache code;
	struct names_cache threads;
};

int dump_plans_make(struct dump_plans *plans, enum dump_format format,
		    const struct names *names);
char *dump_plans_put(struct dump_plans *plans, char *to, const struct etl_event *event,
		     const struct event_type *type);
void dump_plans_clear(struct dump_plans *plans);

#endif /* _NTKLOG_DUMP_PLAN_H */
