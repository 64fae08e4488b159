// SPDX-License-Identifier: GPL-2.0-only

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "table_argp.h"

/* Rows of a table that fit a screen. */
#define DEFAULT_ROWS_MAX	20

enum {
	/* Keys above those of the commands' own options and of trace_argp.c. */
	OPTION_JSON = 0x300,
	OPTION_CSV,
	OPTION_WIDE,
	OPTION_LOCK,
	OPTION_TOP,
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct table_options *options = state->input;
	char *end;

	switch (key) {
	case OPTION_JSON:
		options->prints_json = true;
		return 0;
	case OPTION_CSV:
		options->prints_csv = true;
		return 0;
	case OPTION_WIDE:
		options->prints_wide = true;
		return 0;
	case OPTION_LOCK:
		if (options->lock)
			argp_error(state,
				   "--lock is given twice: it takes one lock; --filter takes more");
		options->lock = argument;
		return 0;
	case OPTION_TOP:
		options->rows_max = strtoul(argument, &end, 10);
		if (!isdigit((unsigned char)argument[0]) || *end)
			argp_error(state, "--top: \"%s\" is no number", argument);
		options->has_rows_max = true;
		return 0;
	case ARGP_KEY_END:
		if (options->prints_json && options->prints_csv)
			argp_error(state, "give only one of --json and --csv");
		if (!options->has_rows_max && !options->prints_json && !options->prints_csv)
			options->rows_max = DEFAULT_ROWS_MAX;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option table_options[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print one JSON object; times are nanoseconds", 0 },
	{ "csv", OPTION_CSV, NULL, 0,
	  "Print comma-separated values, one table after the other; times are nanoseconds", 0 },
	{ "wide", OPTION_WIDE, NULL, 0,
	  "Show tables as wide as they are, and not only the columns that the terminal has room for; with the standard errors of estimates",
	  0 },
	{ "lock", OPTION_LOCK, "CLASS", 0,
	  "Sum up this lock only, by its class or address as the tables print it", 0 },
	{ "top", OPTION_TOP, "N", 0,
	  "Print at most so many rows of each table (20; with --json and --csv all); 0: all", 0 },
	{ 0 }
};

/**
 * table_lock_hint() - tell where the names of locks are found
 * @lock: the lock of --lock, of which no event is
 *
 * Return: a sentence without its full stop.
 */
const char *table_lock_hint(const char *lock)
{
	return strstr(lock, "..") ?
		"\"..\" stands for a cut part of a name: report --wide prints names whole" :
		"report without --lock names the locks";
}

/**
 * table_refuse_ambiguous_lock() - print that the name of a lock fits locks of several modules
 * @lock: the lock of --lock
 * @path: path of the file with these locks
 */
void table_refuse_ambiguous_lock(const char *lock, const char *path)
{
	message("%s: locks of several modules are called \"%s\": give the module too, as --wide prints it, or the lock's address",
		path, lock);
}

/**
 * table_report_newer() - print that the sums lack events of versions that are not known
 * @newer: these events of an analysis
 * @path: path of the file
 */
void table_report_newer(const struct newer_events *newer, const char *path)
{
	if (newer->count)
		message("%s: left out: %" PRIu64 " event%s of versions that this ntklog does not know, such as %s of version %u: use a newer ntklog",
			path, newer->count, newer->count == 1 ? "" : "s", newer->name,
			newer->version);
}

const struct argp table_argp = {
	.options = table_options,
	.parser = parse_option,
};
