// SPDX-License-Identifier: GPL-2.0-only
/* ntklog diff: compare two traces. */

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "difference.h"
#include "message.h"
#include "table_argp.h"
#include "trace_argp.h"

enum {
	OPTION_OF = 0x100,
	OPTION_FAIL_IF,
};

/*
 * @table: how to print the table
 * @paths: files before and after
 * @count: number of @paths
 * @seconds: duration of each recording
 * @opened: number of files that could be opened
 * @has_holds: each record of the file has a hold; those of mode waits have none
 * @of: property of the table
 * @lock_events: events of that lock in both files
 * @has_condition: --fail-if was given
 * @failing: property of the condition
 * @is_increase: the condition is an increase, not a decrease
 * @limit: relative change of the condition
 */
struct options {
	struct table_options table;
	const char *paths[2];
	size_t count;
	double seconds[2];
	unsigned int opened;
	bool has_holds[2];
	enum difference_of of;
	uint64_t lock_events;
	bool has_condition;
	enum difference_of failing;
	bool is_increase;
	double limit;
};

static int read_file(struct options *options, size_t which, struct difference *difference)
{
	static struct analysis analysis;
	struct trace_options trace = { .path = options->paths[which] };
	struct names *names;
	struct etl_file *file;
	bool is_open;
	int status;

	status = trace_open(&file, &names, &trace, &is_open);
	if (status)
		return status;
	analysis.names = names;
	analysis.lock = options->table.lock;
	if (is_open) {
		options->opened++;
		analysis_read(&analysis, file);
		options->seconds[which] = analysis_seconds(&analysis, file);
		options->has_holds[which] = !analysis.spinlocks.total.waits_only;
		options->lock_events += analysis.lock_events;
		difference_add(difference, which, &analysis, file, names);
		difference->no_memory |= analysis.spinlocks.no_memory ||
					 analysis.resources.no_memory;
	}
	analysis_free(&analysis);
	trace_tell_loss(file);
	if (trace_tell_damage(file))
		status = NTKLOG_FAILED;
	etl_close(file);
	names_free(names);
	return status;
}

/* Return the path of a file that was recorded in mode waits, without holds; NULL if none was. */
static const char *path_without_holds(const struct options *options)
{
	if (!options->has_holds[0])
		return options->paths[0];
	return options->has_holds[1] ? NULL : options->paths[1];
}

/* Test whether the table or the condition compares holds. */
static bool compares_holds(const struct options *options)
{
	return options->of == DIFFERENCE_OF_HOLDS ||
	       (options->has_condition && options->failing == DIFFERENCE_OF_HOLDS);
}

/* Test whether the error of the condition's totals is known. */
static bool condition_is_known(const struct options *options, const struct difference *difference)
{
	return isfinite(difference_half_width(&difference->total, options->failing));
}

/*
 * Test whether the change is beyond the limit for sure: the sum after is compared with the scaled
 * sum before, and the interval is that of this difference.
 */
static bool condition_is_true(const struct options *options, const struct difference *difference)
{
	const struct difference_sum *before = &difference->total.sums[0][options->failing];
	const struct difference_sum *after = &difference->total.sums[1][options->failing];
	double scale = 1 + options->limit;
	double beyond = after->estimate - scale * before->estimate;
	double interval = DIFFERENCE_ERRORS *
			  sqrt(after->variance + scale * scale * before->variance);

	return (options->is_increase ? beyond : -beyond) > interval;
}

static json_t *total_json(const struct difference *difference, enum difference_of of)
{
	const struct difference_row *total = &difference->total;
	double interval = difference_half_width(total, of);

	return json_pack("{s:f, s:f, s:o}", "before", total->sums[0][of].estimate, "after",
			 total->sums[1][of].estimate, "interval",
			 isfinite(interval) ? json_real(interval) : json_null());
}

static void print_json(const struct options *options, const struct difference *difference,
		       const struct table *table)
{
	json_t *object = json_pack("{s:[f, f], s:s, s:o}", "seconds", options->seconds[0],
				   options->seconds[1], "of", difference_name(options->of),
				   "changes", table_json(table, options->table.top));
	json_t *totals = json_object();
	size_t i;

	for (i = 0; i < DIFFERENCE_PROPERTIES; i++)
		json_object_set_new(totals, difference_name(i),
				    i == DIFFERENCE_OF_HOLDS && path_without_holds(options) ?
				    json_null() : total_json(difference, i));
	json_object_set_new(object, "totals", totals);
	if (options->has_condition)
		json_object_set_new(object, "condition",
				    condition_is_known(options, difference) ?
				    json_boolean(condition_is_true(options, difference)) :
				    json_null());
	json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(object);
}

static void print_total(const struct difference *difference, enum difference_of of)
{
	enum cell_kind kind = of == DIFFERENCE_OF_COUNTS ? CELL_COUNT : CELL_TIME;
	const struct difference_row *total = &difference->total;
	double change = total->sums[1][of].estimate - total->sums[0][of].estimate;
	const union cell cells[] = {
		{ .number = total->sums[0][of].estimate },
		{ .number = total->sums[1][of].estimate },
		{ .number = change }, { .number = difference_half_width(total, of) },
	};
	char texts[4][32];
	size_t i;

	for (i = 0; i < 4; i++)
		cell_format(isinf(cells[i].number) ? CELL_ERROR : kind, &cells[i], texts[i],
			    sizeof(texts[i]));
	printf("%s: %s before, %s after: %s%s +-%s", difference_name(of), texts[0], texts[1],
	       change > 0 ? "+" : "", texts[2], texts[3]);
	if (total->sums[0][of].estimate > 0)
		printf(" (%+.1f%%)", 100 * change / total->sums[0][of].estimate);
	if (isinf(cells[3].number))
		puts(", unknown");
	else
		puts(fabs(change) > cells[3].number ? "" : ", noise");
}

static void print_text(const struct options *options, const struct difference *difference,
		       struct table *table)
{
	size_t i;

	printf("Before: %.3f s in %s\nAfter:  %.3f s in %s\n", options->seconds[0],
	       options->paths[0], options->seconds[1], options->paths[1]);
	for (i = 0; i < DIFFERENCE_PROPERTIES; i++)
		if (i == DIFFERENCE_OF_HOLDS && path_without_holds(options))
			printf("%s: not known: %s was recorded in mode waits\n",
			       difference_name(i), path_without_holds(options));
		else
			print_total(difference, i);
	if (!table_has_cells(table))
		return;
	putchar('\n');
	table_print_fitted(table, stdout, options->table.top, options->table.is_wide);
}

static int show(const struct options *options, const struct difference *difference)
{
	struct table table;
	int status = NTKLOG_OK;

	if (!difference_table(&table, difference, options->of) || difference->no_memory) {
		message("%s", strerror(ENOMEM));
		status = NTKLOG_FAILED;
	} else if (options->table.json) {
		print_json(options, difference, &table);
	} else if (options->table.csv) {
		table_print_csv(&table, stdout, options->table.top);
	} else {
		print_text(options, difference, &table);
	}
	table_free(&table);
	if (finish_output(stdout, NULL))
		status = NTKLOG_FAILED;
	return status;
}

static bool find_property(const char *text, size_t length, enum difference_of *of)
{
	size_t i;

	for (i = 0; i < DIFFERENCE_PROPERTIES; i++)
		if (strlen(difference_name(i)) == length &&
		    !strncmp(difference_name(i), text, length)) {
			*of = i;
			return true;
		}
	return false;
}

/* Parse "wait_total > +20%" or "waits < -10%". */
static bool parse_condition(struct options *options, const char *text)
{
	char name[32], comparison, percent, rest;
	double limit;

	if (sscanf(text, " %31[a-z_] %c %lf %c %c", name, &comparison, &limit, &percent,
		   &rest) != 4 ||
	    !find_property(name, strlen(name), &options->failing) ||
	    !strchr("<>", comparison) || percent != '%' || !(fabs(limit) < 1e9))
		return false;
	options->has_condition = true;
	options->is_increase = comparison == '>';
	options->limit = limit / 100;
	return true;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_OF:
		if (!find_property(argument, strlen(argument), &options->of))
			argp_error(state, "--of: \"%s\" is not wait_total, hold_total or waits",
				   argument);
		return 0;
	case OPTION_FAIL_IF:
		if (options->has_condition)
			argp_error(state, "give only one --fail-if");
		if (!parse_condition(options, argument))
			argp_error(state,
				   "--fail-if: \"%s\" is not like \"wait_total > +20%%\" (wait_total, hold_total or waits; > or <)",
				   argument);
		if (!options->is_increase && options->limit <= -1)
			argp_error(state, "--fail-if: \"%s\" is never true: no sum is below 0",
				   argument);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->table;
		return 0;
	case ARGP_KEY_ARG:
		if (options->count == 2)
			argp_error(state, "give two files: before and after");
		options->paths[options->count++] = argument;
		return 0;
	case ARGP_KEY_END:
		if (options->count != 2)
			argp_error(state, "give two files: before and after");
		if (!strcmp(options->paths[0], "-") && !strcmp(options->paths[1], "-"))
			argp_error(state, "only one of the two files can be the standard input");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option diff_options[] = {
	{ "of", OPTION_OF, "wait_total|hold_total|waits", 0,
	  "What the table compares; wait_total, if not given", 0 },
	{ "fail-if", OPTION_FAIL_IF, "CONDITION", 0,
	  "End with status 3 if a total has changed by more than this for sure, such as \"wait_total > +20%\"",
	  0 },
	{ 0 }
};

static const struct argp_child diff_children[] = {
	{ &table_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp diff_argp = {
	.options = diff_options,
	.children = diff_children,
	.parser = parse_option,
	.args_doc = "BEFORE AFTER",
	.doc = "Compare two ETL files: sums of waits and holds by lock and caller, the greatest\n"
	       "change first. Record both for the same time or work, because sums are compared.\n"
	       "\vA change has a confidence interval of 95 percent, from the sampling of both files\n"
	       "and from the random arrival of events. A change inside it is \"noise\";\n"
	       "\"unknown\" means that too few events were sampled to tell the interval.",
};

/**
 * command_diff() - ntklog diff
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_status.
 */
int command_diff(int argc, char **argv)
{
	struct options options = { 0 };
	struct difference difference = { 0 };
	int status, status_after;

	argp_parse(&diff_argp, argc, argv, 0, NULL, &options);
	status = read_file(&options, 0, &difference);
	status_after = read_file(&options, 1, &difference);
	if (!status)
		status = status_after;
	if (!status && options.table.lock && !options.lock_events) {
		message("neither file has an event of a lock \"%s\"", options.table.lock);
		status = NTKLOG_FAILED;
	} else if (options.opened == 2 && compares_holds(&options) &&
		   path_without_holds(&options)) {
		message("%s: mode waits records no holds of spin locks: compare wait_total or waits, or record in mode full",
			path_without_holds(&options));
		status = NTKLOG_FAILED;
	} else if (options.opened == 2) {
		/* A damaged file is compared as far as it can be read. */
		difference_merge(&difference, options.of);
		if (show(&options, &difference))
			status = NTKLOG_FAILED;
	}
	if (!status && options.has_condition && !condition_is_known(&options, &difference)) {
		message("--fail-if: the error of the change of %s is not known, because too few events were sampled: record for longer, or at lower rates (ntklog set)",
			difference_name(options.failing));
		status = NTKLOG_FAILED;
	}
	if (!status && options.has_condition && condition_is_true(&options, &difference))
		status = NTKLOG_CHANGED;
	difference_free(&difference);
	return status;
}
