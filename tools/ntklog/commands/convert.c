// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "convert.h"
#include "message.h"
#include "trace_argp.h"

enum {
	OPTION_CTF = 0x100,
	OPTION_PERFETTO,
	OPTION_PPROF,
};

struct options {
	struct trace_options trace;
	const char *ctf_path;
	const char *perfetto_path;
	const char *pprof_path;
};

static int convert_events(const struct options *options, struct etl_file *file,
			  const struct names *names)
{
	struct conversion conversion = {
		.file = file, .names = names, .selection = &options->trace.selection,
	};
	struct etl_merge *merge;
	int err = -1;

	conversion_find_rates(&conversion);
	merge = etl_merge_open(file);
	conversion.stacks = merge ? stack_matcher_open(file, merge) : NULL;
	if (conversion.stacks)
		err = options->ctf_path ? convert_to_ctf(&conversion, options->ctf_path) :
				     convert_to_perfetto(&conversion, options->perfetto_path);
	else if (merge)
		message("%s: no memory for its stacks", file->path);
	if (!err)
		message("%" PRIu64 " events converted, %" PRIu64 " not known: left out",
			conversion.converted_count, conversion.left_out_count);
	conversion_clear(&conversion);
	stack_matcher_report_missing(conversion.stacks, file);
	stack_matcher_close(conversion.stacks);
	etl_merge_close(merge);
	return err;
}

static int convert_file(struct options *options)
{
	struct etl_file *file;
	struct names *names;
	int status, err = -1;
	bool is_open;

	status = trace_refuse_output(&options->trace,
				     options->pprof_path ? options->pprof_path :
							   options->perfetto_path);
	if (!status)
		status = trace_open(&file, &names, &options->trace, &is_open);
	if (status)
		return status;
	if (is_open && options->pprof_path)
		err = convert_to_pprof(file, names, &options->trace.selection, options->pprof_path);
	else if (is_open)
		err = convert_events(options, file, names);
	if (trace_report_damage(file))
		err = -1;
	trace_report_loss(file);
	etl_close(file);
	names_free(names);
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_CTF:
		if (!strcmp(argument, "-"))
			argp_error(state, "--ctf: the trace is a directory, which needs a name");
		options->ctf_path = argument;
		return 0;
	case OPTION_PERFETTO:
		options->perfetto_path = argument;
		return 0;
	case OPTION_PPROF:
		options->pprof_path = argument;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->trace;
		return 0;
	case ARGP_KEY_END:
		if (!!options->ctf_path + !!options->perfetto_path + !!options->pprof_path != 1)
			argp_error(state, "give exactly one of --ctf, --perfetto and --pprof");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option convert_options[] = {
	{ "ctf", OPTION_CTF, "DIRECTORY", 0,
	  "A trace in the Common Trace Format, for babeltrace2 and Trace Compass", 0 },
	{ "perfetto", OPTION_PERFETTO, "FILE", 0,
	  "A trace for ui.perfetto.dev: slices by CPU, task and lock class, flows from holder to waiter, and counters of waiters; - is the standard output",
	  0 },
	{ "pprof", OPTION_PPROF, "FILE", 0,
	  "A compressed profile for pprof: contentions, delay, acquisitions, hold and charged waits by stack, lock class and task; - is the standard output",
	  0 },
	{ 0 }
};

static const struct argp convert_argp = {
	.options = convert_options,
	.parser = parse_option,
	.args_doc = "FILE",
	.children = trace_argp_children,
	.doc = "Convert an ETL file for other tools.\n"
	       "\vEvents of unknown kinds are left out and counted; so is damaged data, which is\n"
	       "reported with its offset.",
};

/**
 * command_convert() - ntklog convert
 * @argc: number of arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_convert(int argc, char **argv)
{
	struct options options = { 0 };
	int status;

	argp_parse(&convert_argp, argc, argv, 0, NULL, &options);
	status = convert_file(&options);
	filter_free(options.trace.selection.filter);
	return status;
}
