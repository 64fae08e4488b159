// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "command.h"
#include "macros.h"
#include "message.h"
#include "report_distribution.h"
#include "report_longest.h"
#include "report_many.h"
#include "report_options.h"
#include "report_periods.h"

enum {
	OPTION_HTML = 0x100,
	OPTION_TABLE,
	OPTION_COLUMNS,
	OPTION_SORT,
	OPTION_STACKS,
	OPTION_FOLDED,
	OPTION_NDJSON,
	OPTION_ADDRESSES,
	OPTION_BY,
	OPTION_ALL_LOCKS,
};

/* Rows of each table of a page, and those of them that are visible before a click. */
#define PAGE_ROWS_MAX		200
#define PAGE_ROWS_VISIBLE	10

#define TABLE_NAMES \
	"locks, callers, resources, blockers, stacks, threads, processors, unknown, waiters and longest"

/* A report of everything begins with the answer. */
static bool prints_answer(const struct report_options *options)
{
	return options->tables == REPORT_USUAL_TABLES && options->files.path_count == 1;
}

/*
 * Test whether the report leaves out resources that were only initialized. In text without
 * --columns all numbers in their rows would be zero.
 */
static bool omits_unused_resources(const struct report_options *options)
{
	return options->tables == REPORT_USUAL_TABLES && !options->columns &&
	       !options->table.prints_json && !options->table.prints_csv &&
	       !options->prints_ndjson && !options->html_path;
}

static void print_table(const struct report *report, struct table *table,
			const struct report_options *options)
{
	if (options->table.prints_csv) {
		table_print_csv(table, stdout, options->table.rows_max);
		return;
	}
	putchar('\n');
	if (options->table.prints_wide && !options->columns)
		table_insert_errors(table, false);
	if (table == &report->tables[REPORT_STACKS])
		report_print_stacks(report, stdout, options->table.rows_max);
	else if (table == &report->tables[REPORT_LONGEST] && options->files.path_count == 1 &&
		 !options->columns)
		report_print_longest(report, stdout, options->table.rows_max);
	else
		table_print_fitted(table, stdout, options->table.rows_max,
				   options->columns || options->table.prints_wide);
}

/* Print what a report of one lock has beside the tables. */
static void print_lock(const struct report *report, const struct report_options *options)
{
	report_print_distributions(report, stdout);
	if (!report->analysis->charge_sums.total.wait_ticks)
		return;
	putchar('\n');
	report_print_periods(report, stdout);
	putchar('\n');
	report_print_longest(report, stdout, options->table.rows_max);
}

static void print_tables(struct report *report, const struct report_options *options,
			 const struct report_host *hosts)
{
	size_t count = options->files.path_count, rows_max = options->table.rows_max, i;

	if (options->prints_ndjson) {
		report_print_ndjson(report, hosts, count, rows_max, options->tables, stdout);
		return;
	}
	if (options->table.prints_json && hosts) {
		report_print_hosts_json(report, hosts, count, rows_max, options->tables, stdout);
		return;
	}
	if (options->table.prints_json) {
		json_t *object = report_json(report, rows_max, options->tables);

		json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
		putchar('\n');
		json_decref(object);
		return;
	}
	if (!options->table.prints_csv) {
		if (prints_answer(options)) {
			answer_print(report, stdout);
			putchar('\n');
		}
		if (hosts)
			report_print_hosts(hosts, count, stdout);
		else
			report_print_facts(report, stdout, "", "");
	}
	for (i = 0; i < REPORT_TABLES; i++) {
		if (!(options->tables & 1 << i))
			continue;
		if (table_has_cells(&report->tables[i]))
			print_table(report, &report->tables[i], options);
		else if (options->tables != REPORT_USUAL_TABLES && !options->table.prints_csv &&
			 !report->tables[i].row_count)
			report_print_empty(i, options->table.lock ||
					   !selection_includes_all(&options->trace.selection),
					   stdout);
	}
	if (options->table.lock && !options->table.prints_csv && prints_answer(options))
		print_lock(report, options);
}

static int print_folded(const struct report *report, enum flame_kind what)
{
	struct flame_node root = { 0 };
	bool is_complete = flame_make_tree(&root, report, NULL);

	flame_print_folded(&root, what, stdout);
	flame_free(&root);
	if (!is_complete)
		message("%s: %s", report->file->path, strerror(ENOMEM));
	return finish_output(stdout, NULL) || !is_complete ? NTKLOG_FAILED : NTKLOG_OK;
}

/* Without --table, the page also has the tables that text shows on request only. */
static int print_page(const struct report *report, const struct report_options *options)
{
	size_t visible_rows_max = options->table.has_rows_max ? options->table.rows_max :
								PAGE_ROWS_VISIBLE;
	size_t rows_max = options->table.has_rows_max ? options->table.rows_max : PAGE_ROWS_MAX;

	return report_print_page(report, options->html_path, visible_rows_max, rows_max,
				 options->tables == REPORT_USUAL_TABLES ? REPORT_ALL_TABLES :
				 options->tables) ? NTKLOG_FAILED : NTKLOG_OK;
}

/* Write the first rows of one of many files: its others are not among the first of all files. */
static void write_rows(struct report *report, const struct report_options *options)
{
	size_t i;

	for (i = 0; i < REPORT_TABLES; i++) {
		report_choose_order(&report->tables[i], options);
		table_keep_top_rows(&report->tables[i], options->table.rows_max);
	}
	report_write_tables(report, options->tables, options->result);
}

static int show_report(struct report *report, const struct report_options *options)
{
	int status = NTKLOG_OK;

	if (options->prints_folded)
		return print_folded(report, options->folded_kind);
	report_make_tables(report);
	if (options->result) {
		write_rows(report, options);
	} else if (report_choose_columns(report, options) || report_sort_tables(report, options)) {
		status = NTKLOG_USAGE;
	} else if (options->html_path) {
		status = print_page(report, options);
	} else {
		print_tables(report, options, NULL);
		if (finish_output(stdout, NULL))
			status = NTKLOG_FAILED;
	}
	if (!status && !report_check_memory(report)) {
		message("%s: %s", options->trace.path, strerror(ENOMEM));
		status = NTKLOG_FAILED;
	}
	report_free(report);
	return status;
}

/* Name the options of record that record what the user has asked for. */
static void report_not_recorded(const struct report *report, const struct report_options *options)
{
	const struct analysis *analysis = report->analysis;
	const char *path = report->file->path;
	bool wants_stacks = options->tables == 1 << REPORT_STACKS ||
			    options->attribute == CHARGE_BY_STACK;

	if (wants_stacks && !analysis->stacks.has_any)
		message("%s: no event has a stack: record with --stacks", path);
	/* The report of many files has no facts, which would tell it. */
	if (options->result && report_lacks_names(report))
		message("%s: locks and callers have no names: copy FILE.names with FILE, or record without --no-names",
			path);
	if (options->attribute == CHARGE_BY_IRQL && !analysis->spinlocks.total.record_count)
		message("%s: no event has an IRQL: record spin locks (-e linux_spinlock)", path);
	if ((options->attribute == CHARGE_BY_PROCESS && !names_have_process(report->names, NULL)) ||
	    (options->attribute == CHARGE_BY_CGROUP && !names_have_cgroup(report->names, NULL)))
		message("%s: no thread has a known %s: record without --no-names", path,
			charge_attribute_names[options->attribute]);
	if (options->tables == 1 << REPORT_BLOCKERS && !analysis->spinlocks.rates.blocker_rate &&
	    (!analysis->charge_sums.total.wait_count ||
	     analysis->charge_sums.total.part_ticks[CHARGE_UNKNOWN] !=
	     analysis->charge_sums.sleeping_lock_total.part_ticks[CHARGE_UNKNOWN]))
		message("%s: not all holders of spin locks are recorded: record without --no-blockers, and not in mode waits",
			path);
}

static int report_file(struct report_options *options)
{
	static struct analysis analysis;
	struct names *names;
	struct etl_file *file;
	bool is_open;
	double end;
	int status;

	status = trace_refuse_output(&options->trace, options->html_path);
	if (!status)
		status = trace_open(&file, &names, &options->trace, &is_open);
	if (status)
		return status;
	analysis.selection = &options->trace.selection;
	analysis.names = names;
	analysis.sums_by_address = options->sums_by_address;
	analysis.charges_waits = options->tables &
				 (1 << REPORT_BLOCKERS | REPORT_TABLES_ON_REQUEST);
	analysis.wanted_lock.name = options->table.lock;
	analysis.charge_attribute = options->attribute;
	analysis.is_split = options->has_attribute;
	/* A lock's section on the page has flame graphs of its waiters and holders. */
	analysis.has_lock_stacks = options->html_path && analysis.charges_waits;
	if (is_open) {
		struct report report = {
			.file = file, .analysis = &analysis, .names = names,
			.has_coverage = true, .is_stream = !strcmp(file->path, "-"),
			.is_one_of_many = !!options->result,
			.joins_locks_of_waiter = options->joins_locks,
			.omits_unused_resources = omits_unused_resources(options),
			.attribute_name = options->has_attribute ?
					  charge_attribute_names[options->attribute] : NULL,
			.selecting_options = options->trace.given,
		};

		analysis_read(&analysis, file);
		report.seconds = analysis_length_s(&analysis, file);
		table_report_newer(&analysis.newer_events, file->path);
		end = analysis_find_end_s(&analysis, file);
		if (isfinite(end))
			message("--from: %s ends at %.3f s", file->path, end);
		/* Other files may have events of this time. */
		if (isfinite(end) && !options->result) {
			status = NTKLOG_USAGE;
		} else if (options->table.lock && !analysis.wanted_lock.event_count &&
			   !options->result) {
			message("%s: no %sevent is of a lock \"%s\"; %s", file->path,
				selection_includes_all(analysis.selection) ? "" : "selected ",
				options->table.lock, table_lock_hint(options->table.lock));
			status = NTKLOG_FAILED;
		} else if (analysis.wanted_lock.is_ambiguous) {
			table_refuse_ambiguous_lock(options->table.lock, file->path);
			status = NTKLOG_FAILED;
		} else {
			status = show_report(&report, options);
			report_not_recorded(&report, options);
		}
		analysis_free(&analysis);
	}
	/* The report of many files has no facts about a file, which would tell its losses. */
	if (options->result)
		trace_report_loss(file);
	if (trace_report_damage(file) && !status)
		status = NTKLOG_FAILED;
	etl_close(file);
	names_free(names);
	return status;
}

static int sum_up_file(void *argument, const char *path, FILE *result)
{
	struct report_options *options = argument;

	options->trace.path = path;
	options->result = result;
	return report_file(options);
}

static int report_files(struct report_options *options)
{
	struct report_many many = {
		.files = &options->files, .tables = options->tables,
		.rows_max = options->table.rows_max,
		.sum_up_file = sum_up_file, .argument = options,
		.report.attribute_name =
			options->has_attribute ? charge_attribute_names[options->attribute] : NULL,
	};
	int status = NTKLOG_FAILED;

	if (!report_many_open(&many))
		goto close;
	if (report_choose_columns(&many.report, options) ||
	    report_sort_tables(&many.report, options)) {
		status = NTKLOG_USAGE;
		goto close;
	}
	status = report_many_read(&many);
	/* Each file has a message. */
	if (!status && report_many_all_end_before_selection(&many)) {
		status = NTKLOG_USAGE;
		goto close;
	}
	if (!status && options->table.lock && !report_many_events_of_lock(&many)) {
		message("no event is of a lock \"%s\"; %s", options->table.lock,
			table_lock_hint(options->table.lock));
		status = NTKLOG_FAILED;
		goto close;
	}
	/* report_many_read() may have shown the column "kind", which the user has not chosen. */
	report_choose_columns(&many.report, options);
	print_tables(&many.report, options, many.hosts);
	if (finish_output(stdout, NULL))
		status = NTKLOG_FAILED;
close:
	report_many_close(&many);
	return status;
}

/* Refuse --by if it cannot split one of the tables that the user has named. */
static void refuse_attribute(const struct report_options *options, const struct argp_state *state)
{
	size_t i;

	for (i = 0; options->has_attribute && i < REPORT_TABLES; i++) {
		const char *reason = report_attribute_refusal(i, options->attribute);

		if (options->tables & 1 << i && reason)
			argp_error(state, "--by %s: it cannot split the table %s: %s",
				   charge_attribute_names[options->attribute], report_table_name(i),
				   reason);
	}
}

/* Print the help of --columns help, and exit. All options have been read, also the tables. */
static void print_wanted_help(const struct report_options *options)
{
	if (!options->columns || strcmp(options->columns, "help"))
		return;
	report_print_column_help(report_tables_with_columns(options->tables), stdout);
	exit(finish_output(stdout, NULL) ? NTKLOG_FAILED : NTKLOG_OK);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct report_options *options = state->input;
	size_t i;

	switch (key) {
	case OPTION_HTML:
		options->html_path = argument;
		return 0;
	case OPTION_TABLE:
		i = report_find_table(argument);
		if (i == REPORT_TABLES)
			argp_error(state, "no table \"%s\"; there are " TABLE_NAMES, argument);
		options->tables |= 1 << i;
		return 0;
	case OPTION_STACKS:
		options->tables |= 1 << REPORT_STACKS;
		return 0;
	case OPTION_FOLDED:
		if (argument && strcmp(argument, "wait") && strcmp(argument, "hold"))
			argp_error(state, "--folded: \"%s\" is not wait or hold", argument);
		options->prints_folded = true;
		options->folded_kind = argument && !strcmp(argument, "hold") ?
				       FLAME_HOLD : FLAME_WAIT;
		options->tables |= 1 << REPORT_STACKS;
		return 0;
	case OPTION_NDJSON:
		options->prints_ndjson = true;
		/* All rows, as with --json, unless the user wants fewer. */
		options->table.has_rows_max = true;
		return 0;
	case OPTION_COLUMNS:
		options->columns = argument;
		return 0;
	case OPTION_SORT:
		options->sort_column_name = argument;
		return 0;
	case OPTION_ADDRESSES:
		options->sums_by_address = true;
		return 0;
	case OPTION_BY:
		options->attribute = charge_find_attribute(argument);
		if (options->attribute == CHARGE_ATTRIBUTES)
			argp_error(state, "--by: \"%s\" is not " CHARGE_BY_NAMES, argument);
		trace_add_option(&options->trace, state, "--by", argument);
		options->has_attribute = true;
		return 0;
	case OPTION_ALL_LOCKS:
		options->joins_locks = true;
		return 0;
	case ARGP_KEY_INIT:
		options->trace.files = &options->files;
		state->child_inputs[0] = &options->trace;
		state->child_inputs[1] = &options->table;
		return 0;
	case ARGP_KEY_NO_ARGS:
		print_wanted_help(options);
		return ARGP_ERR_UNKNOWN;
	case ARGP_KEY_END:
		print_wanted_help(options);
		if (options->files.path_count > 1 && (options->html_path || options->prints_folded))
			argp_error(state, "--html and --folded take one file");
		if (options->table.prints_json + options->table.prints_csv + !!options->html_path +
		    options->prints_folded + options->prints_ndjson > 1)
			argp_error(state,
				   "give only one of --json, --ndjson, --csv, --html and --folded");
		if (options->prints_folded && (options->table.has_rows_max || options->columns ||
					       options->sort_column_name))
			argp_error(state,
				   "--folded prints all stacks: leave out --top, --columns and --sort");
		refuse_attribute(options, state);
		if (options->joins_locks && !(options->tables & 1 << REPORT_WAITERS))
			argp_error(state, "--all-locks: it changes the table waiters: add --table waiters");
		if (!options->tables)
			options->tables = REPORT_USUAL_TABLES;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option report_options[] = {
	{ "html", OPTION_HTML, "PAGE", 0,
	  "Write one page with tables and pictures, which needs nothing else; - is the standard output",
	  0 },
	{ "table", OPTION_TABLE, "TABLE", 0,
	  "Print only this table: one of " TABLE_NAMES "; may be given more than once", 0 },
	{ "stacks", OPTION_STACKS, NULL, 0,
	  "Print waits and holds by stack: the same as --table stacks", 0 },
	{ "folded", OPTION_FOLDED, "wait|hold", OPTION_ARG_OPTIONAL,
	  "Print only stacks, in the form that flame graph tools read: functions from the outermost on with ; between them, and nanoseconds waited (or held)",
	  0 },
	{ "ndjson", OPTION_NDJSON, NULL, 0,
	  "Print a JSON object for each row of the tables, on a line, with the host, the begin of its recording, and the version of the lines' schema",
	  0 },
	{ "columns", OPTION_COLUMNS, "NAME,...", 0,
	  "Show these columns, by their names for --sort; \"all\" shows every column, \"help\" describes them and exits",
	  0 },
	{ "sort", OPTION_SORT, "COLUMN", 0,
	  "Sort by this column, the greatest first. Its name may differ from the heading: a wrong name prints all names",
	  0 },
	{ "addresses", OPTION_ADDRESSES, NULL, 0, "Show each lock by itself, not by its class", 0 },
	{ "by", OPTION_BY, "caller|function|task|stack|thread|process|cgroup|cpu|irql", 0,
	  "What waiters and holders are told apart by in the answer and the tables blockers and waiters; caller, if not given. Each row of the other tables is split by it, in the column by",
	  0 },
	{ "all-locks", OPTION_ALL_LOCKS, NULL, 0,
	  "In the table waiters, give each waiter one row: the sum of its waits for all locks", 0 },
	{ 0 }
};

static const struct argp_child report_children[] = {
	{ &trace_argp, 0, NULL, 0 },
	{ &table_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp report_argp = {
	.options = report_options,
	.parser = parse_option,
	.args_doc = "FILE...",
	.children = report_children,
	.doc = "Sum up ETL files: which locks are waited for, and which are held for long. The\n"
	       "tables locks and callers are made of events of spin locks and rwlocks, the\n"
	       "table resources of events of locks that sleep, the tables threads and\n"
	       "processors of context switches. The table blockers says who held a lock while\n"
	       "others waited for it; the table stacks needs a recording with --stacks.\n"
	       "\vA trace is a sample. A number with \"~\" is an estimate of what happened, from\n"
	       "the rates in the file; shares, totals, means and percentiles are scaled in the\n"
	       "same way. \"+-23%\" is the standard error of an estimate, where it is above 10\n"
	       "percent; \"+-?\" means that no record tells how large the error is. See\n"
	       "ntklog(1).\n\n"
	       "Waits are those of contended acquisitions. Percentiles are within 3 percent.\n"
	       "\"Longest chain\" is of locks that sleep, or of spin locks. Of a blocked holder\n"
	       "the answer has one function, not a stack.\n\n"
	       "The file \"-\" is the standard input. A directory stands for its files *.etl.\n"
	       "With many files, such as those of many machines, each row has the host, which\n"
	       "is the name of the file.",
};

/**
 * command_report() - ntklog report
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_report(int argc, char **argv)
{
	struct report_options options = { 0 };
	int status;

	argp_parse(&report_argp, argc, argv, 0, NULL, &options);
	status = report_has_hosts(&options) ? report_files(&options) : report_file(&options);
	filter_free(options.trace.selection.filter);
	file_list_free(&options.files);
	return status;
}
