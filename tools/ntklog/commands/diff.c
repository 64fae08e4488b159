// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <argp.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/group_mask.h>

#include "command.h"
#include "difference.h"
#include "file_list.h"
#include "jobs.h"
#include "linux_mode.h"
#include "message.h"
#include "page.h"
#include "table_argp.h"
#include "trace_argp.h"

enum {
	OPTION_OF = 0x100,
	OPTION_FAIL_IF,
	OPTION_HTML,
};

/* Rows of the table of a page, those of them that are visible before a click, and drawn changes. */
#define PAGE_ROWS_MAX		200
#define PAGE_ROWS_VISIBLE	20
#define PAGE_CHANGES_MAX		30

#define NAMING_BY_NAMES		UINT64_MAX

/*
 * @open_wait_count: number of waits that had not ended, or whose holds had not
 * @open_wait_ns: their sum, nanoseconds
 * @path_without_holds: a file whose mode records no holds of spin locks; NULL: none
 */
struct diff_side {
	const char *path;
	struct file_list files;
	double seconds;
	uint64_t open_wait_count;
	double open_wait_ns;
	const char *path_without_holds;
};

/*
 * @mode_paths: a file with Linux' spin locks in a mode that lacks the first waiter of each (0), and
 *	in another mode (1); NULL: none
 * @limited_measure: measure that the condition of --fail-if limits
 * @change_limit: relative change of the condition
 */
struct options {
	struct table_options table;
	struct diff_side sides[2];
	size_t path_count;
	size_t opened_count;
	const char *html_path;
	enum difference_measure measure;
	uint64_t events_of_lock;
	uint64_t naming_key;
	const char *mode_paths[2];
	bool has_condition;
	enum difference_measure limited_measure;
	bool limits_increase;
	double change_limit;
	struct difference difference;
};

/*
 * First part of the result of a process that reads a file; the rows of its difference follow.
 * @events_of_lock: number of events of the lock of --lock
 * @naming_key: files in which a lock has the same text have the same number: the time of the boot
 *	where the text is an address, NAMING_BY_NAMES where it is a name
 */
struct file_facts {
	double seconds;
	uint64_t events_of_lock;
	uint64_t open_wait_count;
	double open_wait_ns;
	bool has_holds;
	bool has_linux_spinlocks;
	uint32_t linux_mode;
	uint64_t naming_key;
};

/* Return the side of file @number of both sides. Set @number to the file's index in that side. */
static size_t side_of_file(const struct options *options, size_t *number)
{
	if (*number < options->sides[0].files.path_count)
		return 0;
	*number -= options->sides[0].files.path_count;
	return 1;
}

/* Test whether Linux' spin locks were recorded, and @analysis does not leave them out. */
static bool has_linux_spinlocks(const struct analysis *analysis)
{
	bool has_records = analysis->spinlocks.total.record_count;

	if (analysis_has_group(analysis, PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK))
		return has_records || !analysis->wanted_lock.name;
	return has_records && !analysis_has_group(analysis, PERF_SPINLOCK);
}

static const char *path_of_file(void *argument, size_t number)
{
	const struct options *options = argument;
	size_t which = side_of_file(options, &number);

	return options->sides[which].files.paths[number];
}

static int read_file(void *argument, size_t number, FILE *result)
{
	static struct analysis analysis;
	struct options *options = argument;
	size_t which = side_of_file(options, &number);
	struct trace_options trace = { .path = options->sides[which].files.paths[number] };
	struct difference difference = { 0 };
	struct file_facts file_facts = { 0 };
	struct names *names;
	struct etl_file *file;
	bool is_open;
	int status;

	status = trace_open(&file, &names, &trace, &is_open);
	if (status)
		return status;
	analysis.names = names;
	analysis.wanted_lock.name = options->table.lock;
	analysis.resources.sums_by_caller = true;
	if (is_open) {
		analysis_read(&analysis, file);
		table_report_newer(&analysis.newer_events, file->path);
	}
	if (analysis.wanted_lock.is_ambiguous) {
		table_refuse_ambiguous_lock(options->table.lock, file->path);
		status = NTKLOG_FAILED;
	} else if (is_open) {
		file_facts.seconds = analysis_length_s(&analysis, file);
		file_facts.has_holds = !analysis.spinlocks.total.wait_only_count;
		file_facts.has_linux_spinlocks = has_linux_spinlocks(&analysis);
		file_facts.linux_mode = analysis.spinlocks.rates.linux_mode;
		file_facts.events_of_lock = analysis.wanted_lock.event_count;
		file_facts.open_wait_count = analysis.open_holds.wait_count;
		file_facts.open_wait_ns = analysis.open_holds.wait_ns;
		difference_add(&difference, which, &analysis, file, names);
		difference.no_memory |= analysis.spinlocks.no_memory ||
					analysis.resources.no_memory;
		difference_merge(&difference, options->measure);
		file_facts.naming_key = difference.lacks_names ? file->boot_time : NAMING_BY_NAMES;
		if (difference.lacks_names)
			message("%s: locks and callers have no names: copy FILE.names with FILE, or record without --no-names",
				file->path);
		fwrite(&file_facts, sizeof(file_facts), 1, result);
		difference_write(&difference, result);
	}
	difference_free(&difference);
	analysis_free(&analysis);
	trace_report_loss(file);
	if (trace_report_damage(file))
		status = NTKLOG_FAILED;
	etl_close(file);
	names_free(names);
	return status;
}

static bool add_file_result(void *argument, size_t number, FILE *result)
{
	struct options *options = argument;
	struct diff_side *side = &options->sides[side_of_file(options, &number)];
	struct file_facts file_facts;

	if (fread(&file_facts, sizeof(file_facts), 1, result) != 1 ||
	    !difference_read(&options->difference, result))
		return false;
	/* Files have the same rows, mostly: the memory grows with the rows, not with the files. */
	difference_merge(&options->difference, options->measure);
	if (options->opened_count++ && options->naming_key != file_facts.naming_key)
		options->difference.mixes_names = true;
	options->naming_key = file_facts.naming_key;
	options->events_of_lock += file_facts.events_of_lock;
	side->seconds += file_facts.seconds;
	side->open_wait_count += file_facts.open_wait_count;
	side->open_wait_ns += file_facts.open_wait_ns;
	if (file_facts.has_linux_spinlocks)
		options->mode_paths[linux_mode_has_holds(file_facts.linux_mode)] =
			side->files.paths[number];
	if (!file_facts.has_holds && !side->path_without_holds)
		side->path_without_holds = side->files.paths[number];
	return true;
}

/* Refuse to overwrite a file that is read, or its names. */
static int refuse_output(const struct options *options)
{
	struct trace_options trace = { 0 };
	size_t which, i;

	for (which = 0; which < 2; which++)
		for (i = 0; i < options->sides[which].files.path_count; i++) {
			trace.path = options->sides[which].files.paths[i];
			if (trace_refuse_output(&trace, options->html_path))
				return NTKLOG_USAGE;
		}
	return NTKLOG_OK;
}

static int read_files(struct options *options)
{
	const struct jobs jobs = {
		.job_count =
			options->sides[0].files.path_count + options->sides[1].files.path_count,
		.get_path = path_of_file,
		.run_job = read_file,
		.take_result = add_file_result,
		.argument = options,
	};
	int status = jobs_run(&jobs);

	difference_drop_callers(&options->difference, options->measure);
	return status;
}

/* Return the path of a file without holds of spin locks; NULL if there is none. */
static const char *find_path_without_holds(const struct options *options)
{
	return options->sides[options->sides[0].path_without_holds ? 0 : 1].path_without_holds;
}

static bool compares_holds(const struct options *options)
{
	return options->measure == DIFFERENCE_OF_HOLDS ||
	       (options->has_condition && options->limited_measure == DIFFERENCE_OF_HOLDS);
}

static bool side_lacks_events(const struct difference *difference, size_t side)
{
	return difference->damaged_counts[side] || difference->lossy_counts[side];
}

static bool condition_is_known(const struct options *options)
{
	const struct difference *difference = &options->difference;

	return !side_lacks_events(difference, 0) && !side_lacks_events(difference, 1) &&
	       isfinite(difference_half_width(&difference->total, options->limited_measure));
}

/*
 * Test whether the change is beyond the limit by more than the confidence interval. The sum after
 * is compared with the scaled sum before.
 */
static bool condition_is_true(const struct options *options, const struct difference *difference)
{
	const struct difference_sum *before = &difference->total.sums[0][options->limited_measure];
	const struct difference_sum *after = &difference->total.sums[1][options->limited_measure];
	double scale = 1 + options->change_limit;
	double change_above_limit = after->estimate - scale * before->estimate;
	double interval = DIFFERENCE_INTERVAL_ERRORS *
			  sqrt(after->variance + scale * scale * before->variance);

	return (options->limits_increase ? change_above_limit : -change_above_limit) > interval;
}

static json_t *total_json(const struct difference *difference, enum difference_measure measure)
{
	const struct difference_row *total = &difference->total;
	double interval = difference_half_width(total, measure);

	return json_pack("{s:f, s:f, s:o}", "before", total->sums[0][measure].estimate, "after",
			 total->sums[1][measure].estimate, "interval",
			 isfinite(interval) ? json_real(interval) : json_null());
}

static void print_json(const struct options *options, const struct difference *difference,
		       const struct table *table)
{
	const struct diff_side *sides = options->sides;
	json_t *object = json_pack("{s:[f,f],s:[I,I],s:[I,I],s:[I,I],s:[I,I],s:[f,f],s:s,s:o}",
				   "seconds", sides[0].seconds, sides[1].seconds,
				   "files", (json_int_t)sides[0].files.path_count,
				   (json_int_t)sides[1].files.path_count,
				   "files_damaged", (json_int_t)difference->damaged_counts[0],
				   (json_int_t)difference->damaged_counts[1],
				   "files_lossy", (json_int_t)difference->lossy_counts[0],
				   (json_int_t)difference->lossy_counts[1],
				   "open_waits", (json_int_t)sides[0].open_wait_count,
				   (json_int_t)sides[1].open_wait_count,
				   "open_wait_total", sides[0].open_wait_ns, sides[1].open_wait_ns,
				   "of", difference_measure_name(options->measure),
				   "changes", table_json(table, options->table.rows_max));
	json_t *totals = json_object();
	size_t i;

	for (i = 0; i < DIFFERENCE_MEASURES; i++)
		json_object_set_new(totals, difference_measure_name(i),
				    i == DIFFERENCE_OF_HOLDS && find_path_without_holds(options) ?
				    json_null() : total_json(difference, i));
	json_object_set_new(object, "totals", totals);
	if (options->has_condition)
		json_object_set_new(object, "condition",
				    condition_is_known(options) ?
				    json_boolean(condition_is_true(options, difference)) :
				    json_null());
	json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(object);
}

static void print_side(const struct options *options, size_t which, FILE *stream)
{
	const struct difference *difference = &options->difference;
	const struct diff_side *side = &options->sides[which];

	fprintf(stream, "%s %.3f s in ", which ? "After: " : "Before:", side->seconds);
	if (strcmp(side->path, side->files.paths[0]))
		fprintf(stream, "%zu files of ", side->files.path_count);
	fprintf(stream, "%s%s%s%s\n", side->path,
		difference->damaged_counts[which] ? ", DAMAGED" : "",
		difference->lossy_counts[which] ? ", LOST EVENTS" : "",
		side_lacks_events(difference, which) ? ": sums are too small" : "");
}

/* Name the waits that are not compared, which may be those of a hang. */
static void print_open_waits(const struct diff_side *sides, FILE *stream)
{
	char times[2][32];
	size_t i;

	if (!sides[0].open_wait_count && !sides[1].open_wait_count)
		return;
	for (i = 0; i < 2; i++)
		cell_format_text(CELL_TIME, &(union cell) { .number = sides[i].open_wait_ns },
				 times[i], sizeof(times[i]));
	fprintf(stream,
		"Not compared: waits that had not ended, or whose holds had not:\n%" PRIu64
		" (%s) before, %" PRIu64 " (%s) after; ntklog report tells of them\n",
		sides[0].open_wait_count, times[0], sides[1].open_wait_count, times[1]);
}

static void print_totals(const struct options *options, const struct difference *difference,
			 FILE *stream)
{
	size_t i;

	print_side(options, 0, stream);
	print_side(options, 1, stream);
	for (i = 0; i < DIFFERENCE_MEASURES; i++)
		if (i == DIFFERENCE_OF_HOLDS && find_path_without_holds(options))
			fprintf(stream,
				"%s: not known: the mode of %s records no holds of spin locks\n",
				difference_measure_name(i), find_path_without_holds(options));
		else
			difference_print_total(difference, i, stream);
	print_open_waits(options->sides, stream);
	if (difference->locks_without_callers)
		fprintf(stream,
			"Compared without callers: %zu locks, of which one side records none\n",
			difference->locks_without_callers);
}

static void print_text(const struct options *options, const struct difference *difference,
		       struct table *table)
{
	print_totals(options, difference, stdout);
	if (!table_has_cells(table))
		return;
	putchar('\n');
	table_print_fitted(table, stdout, options->table.rows_max, options->table.prints_wide);
}

static int print_page(const struct options *options, const struct difference *difference,
		      const struct table *table)
{
	size_t visible_rows_max = options->table.has_rows_max ? options->table.rows_max :
								PAGE_ROWS_VISIBLE;
	size_t rows_max = options->table.has_rows_max ? options->table.rows_max : PAGE_ROWS_MAX;
	char *title = NULL, *text = NULL;
	FILE *stream, *memory;
	size_t size;

	if (asprintf(&title, "From %s to %s", options->sides[0].path, options->sides[1].path) < 0)
		title = NULL;
	stream = page_open(options->html_path, title ? title : "Changes");
	free(title);
	if (!stream)
		return -1;
	memory = open_memstream(&text, &size);
	if (memory) {
		print_totals(options, difference, memory);
		fclose(memory);
		page_print_block(stream, "answer", text);
	}
	free(text);
	if (table_has_cells(table)) {
		struct table titled = *table;

		titled.title = "Changes by lock and caller";
		page_print_table(stream, &titled, visible_rows_max, rows_max);
	}
	return page_close(stream, options->html_path,
			  json_pack("{s:b, s:I, s:o}", "is_count",
				    options->measure == DIFFERENCE_OF_COUNTS, "change_count",
				    (json_int_t)table->row_count, "changes",
				    table_json(table, PAGE_CHANGES_MAX)));
}

static int show_difference(const struct options *options, const struct difference *difference)
{
	struct table table;
	int status = NTKLOG_OK;

	if (!difference_table(&table, difference, options->measure) || difference->no_memory) {
		message("no memory for the rows of the difference");
		status = NTKLOG_FAILED;
	} else if (options->table.prints_json) {
		print_json(options, difference, &table);
	} else if (options->html_path) {
		if (print_page(options, difference, &table))
			status = NTKLOG_FAILED;
	} else if (options->table.prints_csv) {
		table_print_csv(&table, stdout, options->table.rows_max);
	} else {
		print_text(options, difference, &table);
	}
	table_free(&table);
	if (finish_output(stdout, NULL))
		status = NTKLOG_FAILED;
	return status;
}

/* Parse "wait_total > +20%" or "waits < -10%". */
static bool parse_condition(struct options *options, const char *text)
{
	char name[32], comparison, percent, trailing;
	double limit;

	if (sscanf(text, " %31[a-z_] %c %lf %c %c", name, &comparison, &limit, &percent,
		   &trailing) != 4 ||
	    !strchr("<>", comparison) || percent != '%' || !(fabs(limit) < 1e9))
		return false;
	options->limited_measure = difference_find_measure(name);
	options->has_condition = true;
	options->limits_increase = comparison == '>';
	options->change_limit = limit / 100;
	return options->limited_measure != DIFFERENCE_MEASURES;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_OF:
		options->measure = difference_find_measure(argument);
		if (options->measure == DIFFERENCE_MEASURES)
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
		if (!options->limits_increase && options->change_limit <= -1)
			argp_error(state, "--fail-if: \"%s\" is never true: no sum is below 0",
				   argument);
		return 0;
	case OPTION_HTML:
		options->html_path = argument;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->table;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path_count == 2)
			argp_error(state, "give two files or directories: before and after");
		options->sides[options->path_count++].path = argument;
		return 0;
	case ARGP_KEY_END:
		if (options->path_count != 2)
			argp_error(state, "give two files or directories: before and after");
		if (!strcmp(options->sides[0].path, "-") && !strcmp(options->sides[1].path, "-"))
			argp_error(state, "only one of the two files can be the standard input");
		if (options->html_path && (options->table.prints_json || options->table.prints_csv))
			argp_error(state, "give only one of --json, --csv and --html");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option diff_options[] = {
	{ "html", OPTION_HTML, "PAGE", 0,
	  "Write one page with the changes, which needs nothing else; - is the standard output",
	  0 },
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
	.doc = "Compare two ETL files: sums of waits and holds by lock and caller, the\n"
	       "greatest change first. Record both for the same time or work, because sums are\n"
	       "compared. A directory stands for its files *.etl, such as those of many\n"
	       "machines, of which the sums are added up.\n"
	       "\vA change has a confidence interval of 95 percent, from the sampling of both\n"
	       "files and from the random arrival of events. A change inside it is \"noise\";\n"
	       "\"unknown\" means that too few events were sampled to tell the interval, or that\n"
	       "only one side has the row, and a side has no FILE.names, or that the modes of\n"
	       "the files record different waits of spin locks, or that one side did not\n"
	       "record this kind of lock. Waits that had not ended are named, but not\n"
	       "compared.",
};

/**
 * command_diff() - ntklog diff
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_diff(int argc, char **argv)
{
	struct options options = { 0 };
	bool unknown_change_is_explained = false;
	char groups[256];
	size_t count;
	int status;

	argp_parse(&diff_argp, argc, argv, 0, NULL, &options);
	status = file_list_add(&options.sides[0].files, options.sides[0].path) ||
		 file_list_add(&options.sides[1].files, options.sides[1].path) ?
		 NTKLOG_FAILED : refuse_output(&options);
	if (!status)
		status = read_files(&options);
	count = options.sides[0].files.path_count + options.sides[1].files.path_count;
	if (options.mode_paths[0] && options.mode_paths[1]) {
		message("%s and %s: their modes record different waits of spin locks: record both in mode full or sampled, or both in mode waits or holders",
			options.mode_paths[0], options.mode_paths[1]);
		difference_forget_waits(&options.difference);
		unknown_change_is_explained = options.limited_measure != DIFFERENCE_OF_HOLDS;
	}
	if (options.opened_count == count &&
	    difference_forget_groups(&options.difference, groups, sizeof(groups))) {
		message("only one of %s and %s recorded %s: record both with the same -e, or compare a lock that both recorded (--lock)",
			options.sides[0].path, options.sides[1].path, groups);
		unknown_change_is_explained = true;
	}
	if (!status && options.table.lock && !options.events_of_lock) {
		message("no file has an event of a lock \"%s\"; %s", options.table.lock,
			table_lock_hint(options.table.lock));
		status = NTKLOG_FAILED;
	} else if (options.opened_count == count && compares_holds(&options) &&
		   find_path_without_holds(&options)) {
		message("%s: its mode records no holds of spin locks: compare wait_total or waits, or record in mode full",
			find_path_without_holds(&options));
		status = NTKLOG_FAILED;
	} else if (options.opened_count && options.opened_count == count) {
		/* A damaged file is compared as far as it can be read. */
		if (show_difference(&options, &options.difference))
			status = NTKLOG_FAILED;
	}
	if (!status && options.has_condition && !condition_is_known(&options)) {
		if (options.difference.lossy_counts[0] || options.difference.lossy_counts[1])
			message("--fail-if: events were lost, so sums are too small: record with more buffers (-n), or at lower rates (ntklog set)");
		else if (!unknown_change_is_explained)
			message("--fail-if: the error of the change of %s is not known, because too few events were sampled: record for longer, or at lower rates (ntklog set)",
				difference_measure_name(options.limited_measure));
		status = NTKLOG_FAILED;
	}
	if (!status && options.has_condition && condition_is_true(&options, &options.difference))
		status = NTKLOG_CHANGED;
	difference_free(&options.difference);
	file_list_free(&options.sides[0].files);
	file_list_free(&options.sides[1].files);
	return status;
}
