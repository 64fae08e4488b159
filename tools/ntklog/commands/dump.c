// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/etl.h>
#include <ntklog/event.h>

#include "command.h"
#include "dump_writer.h"
#include "event_type.h"
#include "file_list.h"
#include "jobs.h"
#include "message.h"
#include "names.h"
#include "stacks.h"
#include "trace_argp.h"
#include "wmi_record.h"

enum {
	OPTION_JSON = 0x100,
	OPTION_CSV,
	OPTION_CYCLES,
	OPTION_HEX,
};

struct dump_command {
	struct trace_options trace;
	struct file_list files;
	struct dump_options output;
	struct names *names;
};

struct dump_context {
	const struct dump_command *dump;
	struct etl_file *file;
	struct dump_writer *writer;
	struct stack_matcher *stacks;
	struct kept_caller *callers;
};

static int dump_event(struct dump_context *context, const struct etl_event *event,
		      const struct stack *stack)
{
	const struct dump_command *dump = context->dump;
	const struct event_type *type = event_type_find(event);
	union wmi_record record;

	if (!selection_includes_time(&dump->trace.selection, context->file, event) ||
	    (type && wmi_record_read(&record, context->file, event, type)))
		return 0;
	if (dump->trace.selection.filter && type &&
	    event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_CALLER &&
	    !kept_callers_keep(&context->callers, event)) {
		message("%s: no memory for callers", context->file->path);
		return -1;
	}
	if (!selection_includes_event(&dump->trace.selection, context->file, event, type,
				      dump->names, context->callers))
		return 0;
	return dump_writer_put(context->writer, event, type, stack);
}

/*
 * Print the events so far, also those that are queued for a stack: the next one may take a while.
 */
static void flush_writer(void *argument)
{
	struct dump_context *context = argument;
	const struct etl_event *event;
	const struct stack *stack;

	while (context->stacks && (event = stack_matcher_next_pending(context->stacks, &stack)))
		dump_event(context, event, stack);
	dump_writer_flush(context->writer);
}

static int dump_events(const struct dump_command *dump, struct etl_file *file,
		       struct dump_writer *writer)
{
	struct dump_context context = { .dump = dump, .file = file, .writer = writer };
	struct etl_merge *merge = etl_merge_open(file);
	const struct etl_event *event;
	const struct stack *stack = NULL;
	int err = 0;

	/* A row of CSV has no column for a stack. Events that are stacks are rows as all others. */
	if (merge && dump->output.format != DUMP_CSV) {
		context.stacks = stack_matcher_open(file, merge);
		if (!context.stacks) {
			message("%s: no memory for its stacks", file->path);
			err = -1;
		}
	}
	etl_on_wait(file, flush_writer, &context);
	while (merge && !err) {
		event = context.stacks ? stack_matcher_next(context.stacks, &stack) :
					 etl_merge_next(merge);
		if (!event || dump_event(&context, event, stack))
			break;
	}
	etl_on_wait(file, NULL, NULL);
	stack_matcher_report_missing(context.stacks, file);
	stack_matcher_close(context.stacks);
	etl_merge_close(merge);
	free(context.callers);
	return err;
}

static int dump_file(struct dump_command *dump)
{
	struct dump_writer *writer;
	struct etl_file *file;
	bool is_open;
	int status;

	status = trace_open(&file, &dump->names, &dump->trace, &is_open);
	if (status)
		return status;
	if (is_open) {
		writer = dump_writer_make(&dump->output, file, dump->names);
		if (writer) {
			/* dump_files() prints the titles of many files. */
			if (!dump->output.host)
				dump_writer_begin(writer);
			if (dump_events(dump, file, writer))
				status = NTKLOG_FAILED;
			dump_writer_free(writer);
		} else {
			status = NTKLOG_FAILED;
		}
	}
	if (!dump->output.host && finish_output(stdout, NULL))
		status = NTKLOG_FAILED;
	trace_report_loss(file);
	if (trace_report_damage(file))
		status = NTKLOG_FAILED;
	etl_close(file);
	names_free(dump->names);
	return status;
}

static const char *path_of_job(void *argument, size_t number)
{
	const struct dump_command *dump = argument;

	return dump->files.paths[number];
}

/* Print one of many files to @result, in a process of its own. */
static int run_job(void *argument, size_t number, FILE *result)
{
	struct dump_command *dump = argument;
	char *host = file_list_make_host_name(&dump->files, number);
	int status;

	if (!host) {
		message("%s: %s", dump->files.paths[number], strerror(ENOMEM));
		return NTKLOG_FAILED;
	}
	dump->trace.path = dump->files.paths[number];
	dump->output.host = host;
	dump->output.stream = result;
	status = dump_file(dump);
	free(host);
	return status;
}

/* Copy the events of a file. Returns false if they cannot be copied. */
static bool copy_result(void *argument, size_t number, FILE *result)
{
	static char part[0x10000];
	size_t size;

	do {
		size = fread(part, 1, sizeof(part), result);
		if (fwrite(part, 1, size, stdout) != size)
			return false;
	} while (size == sizeof(part));
	return !ferror(result);
}

/* Print files in their order, with as many of them read at a time as there are CPUs. */
static int dump_files(struct dump_command *dump)
{
	const struct jobs jobs = {
		.job_count = dump->files.path_count, .get_path = path_of_job, .run_job = run_job,
		.take_result = copy_result, .argument = dump,
	};
	struct dump_options titles = dump->output;
	struct dump_writer *writer;
	int status;

	titles.host = "";
	writer = dump_writer_make(&titles, NULL, NULL);
	if (!writer)
		return NTKLOG_FAILED;
	dump_writer_begin(writer);
	dump_writer_free(writer);
	status = jobs_run(&jobs);
	return finish_output(stdout, NULL) ? NTKLOG_FAILED : status;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct dump_command *dump = state->input;

	switch (key) {
	case OPTION_JSON:
	case OPTION_CSV:
		if (dump->output.format != DUMP_TEXT)
			argp_error(state, "give only one of --json and --csv");
		dump->output.format = key == OPTION_JSON ? DUMP_JSON : DUMP_CSV;
		return 0;
	case OPTION_CYCLES:
		dump->output.prints_cycles = true;
		return 0;
	case OPTION_HEX:
		dump->output.prints_data = true;
		return 0;
	case ARGP_KEY_INIT:
		dump->trace.files = &dump->files;
		state->child_inputs[0] = &dump->trace;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option dump_options[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print a JSON object for each event, on a line", 0 },
	{ "csv", OPTION_CSV, NULL, 0, "Print comma-separated values, a column for each field", 0 },
	{ "cycles", OPTION_CYCLES, NULL, 0,
	  "Print also the raw time of each event (TimeStamp), in ticks of the session's clock, and durations in cycles instead of units",
	  0 },
	{ "hex", OPTION_HEX, NULL, 0, "Print also the data of each event, in hexadecimal", 0 },
	{ 0 }
};

static const struct argp dump_argp = {
	.options = dump_options,
	.parser = parse_option,
	.args_doc = "FILE...",
	.children = trace_argp_children,
	.doc = "Print each event of an ETL file, in the order of time: seconds since the start\n"
	       "of the session, processor, name, and all fields as name=value. Text has\n"
	       "durations with units; JSON and CSV have them in cycles. Points of time\n"
	       "(AcquireTime, ReleaseTime) are cycles of the session's clock.\n"
	       "\vEvents of unknown kinds are printed with what their header says: hook id and\n"
	       "its name, or provider, id, opcode, process and thread; and size. Damaged data\n"
	       "is left out, up to the end of its buffer, and reported with its offset. An\n"
	       "event whose time is impossible is printed behind the one before it, with\n"
	       "WrongTimeStamp. Many files, or a directory with files *.etl, are printed one\n"
	       "after the other, and each event has the host, which is the name of the file. A\n"
	       "file \"-\" is the standard input; a pipe is printed while it is written:\n"
	       "ntklog record -o - | ntklog dump -\n\n"
	       "EXPR compares fields, by the names that are printed here, or time, cpu, hold,\n"
	       "wait, lock, class, caller, thread, kind, with ==, !=, <, <=, >, >= or ~\n"
	       "(contains), joined by &&, ||, ! and parentheses. See ntklog(1).",
};

/**
 * command_dump() - ntklog dump
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_dump(int argc, char **argv)
{
	struct dump_command dump = { .output.stream = stdout };
	int status;

	argp_parse(&dump_argp, argc, argv, 0, NULL, &dump);
	status = dump.files.path_count > 1 ? dump_files(&dump) : dump_file(&dump);
	file_list_free(&dump.files);
	filter_free(dump.trace.selection.filter);
	return status;
}
