// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "comparison.h"
#include "message.h"
#include "rundown.h"
#include "trace_argp.h"

enum {
	/* Keys above those of the options that the commands have themselves. */
	OPTION_NAMES = 0x200,
	OPTION_FILTER,
	OPTION_FROM,
	OPTION_TO,
};

static double parse_limit(const char *name, const char *text, struct argp_state *state)
{
	double seconds = 0;

	if (!parse_seconds(text, &seconds))
		argp_error(state,
			   "%s: \"%s\" is not a time: give seconds, or a number with ns, us, ms or s",
			   name, text);
	return seconds;
}

/**
 * trace_add_option() - note an option that chooses names or events; refuse it if it is given twice
 * @options: options to change
 * @state: state of the parser
 * @name: the option
 * @argument: its argument
 */
void trace_add_option(struct trace_options *options, const struct argp_state *state,
		      const char *name, const char *argument)
{
	size_t i;

	for (i = 0; options->given[i]; i += 2)
		if (!strcmp(options->given[i], name))
			argp_error(state, "%s is given twice%s", name, strcmp(name, "--filter") ?
				   "" : ": join the expressions with && or ||");
	options->given[i] = name;
	options->given[i + 1] = argument;
}

/**
 * trace_parse_path() - parse the one file that a command takes, in a parser of struct argp
 * @key: key of the argument
 * @argument: the argument
 * @state: state of the parser
 * @path: set to the path of the file
 *
 * Return: 0, or ARGP_ERR_UNKNOWN.
 */
error_t trace_parse_path(int key, char *argument, struct argp_state *state, const char **path)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (*path)
			argp_error(state, "only one file can be given");
		*path = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no file is given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct trace_options *options = state->input;
	struct selection *selection = &options->selection;
	char error[FILTER_ERROR_SIZE];

	switch (key) {
	case OPTION_NAMES:
		if (!strcmp(argument, "-"))
			argp_error(state, "--names: the standard input is for the trace");
		trace_add_option(options, state, "--names", argument);
		options->names_path = argument;
		return 0;
	case OPTION_FILTER:
		trace_add_option(options, state, "--filter", argument);
		selection->filter = filter_parse(argument, error, sizeof(error));
		if (!selection->filter)
			argp_error(state, "--filter: %s", error);
		return 0;
	case OPTION_FROM:
		trace_add_option(options, state, "--from", argument);
		selection->begin_seconds = parse_limit("--from", argument, state);
		selection->has_begin = true;
		return 0;
	case OPTION_TO:
		trace_add_option(options, state, "--to", argument);
		selection->end_seconds = parse_limit("--to", argument, state);
		selection->has_end = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!options->files)
			return trace_parse_path(key, argument, state, &options->path);
		if (file_list_add(options->files, argument))
			exit(NTKLOG_FAILED);
		options->path = options->files->paths[0];
		return 0;
	case ARGP_KEY_END:
		if (selection->has_begin && selection->has_end &&
		    selection->begin_seconds > selection->end_seconds)
			argp_error(state, "--from is later than --to: exchange them");
		return 0;
	default:
		return trace_parse_path(key, argument, state, &options->path);
	}
}

static const struct argp_option trace_options[] = {
	{ "names", OPTION_NAMES, "FILE", 0,
	  "Take the names of addresses and threads from this file, not from FILE.names", 0 },
	{ "filter", OPTION_FILTER, "EXPR", 0,
	  "Use only events for which this is true, such as \"lock == my_lock && hold > 100us\"",
	  0 },
	{ "from", OPTION_FROM, "TIME", 0,
	  "Use only events from this time on: seconds since the start, or a number with ns, us, ms or s",
	  0 },
	{ "to", OPTION_TO, "TIME", 0, "Use only events up to this time", 0 },
	{ 0 }
};

const struct argp trace_argp = {
	.options = trace_options,
	.parser = parse_option,
};

const struct argp_child trace_argp_children[] = {
	{ &trace_argp, 0, NULL, 0 },
	{ 0 }
};

/* Refuse names of another boot: the same addresses are other symbols there. */
static int check_boot(const struct names *names, const struct trace_options *options,
		      const struct etl_file *file)
{
	uint64_t boot_time_of_names = names_boot_time(names);

	if (!boot_time_of_names || !file->boot_time || boot_time_of_names == file->boot_time)
		return 0;
	message("%s%s: names of another boot (%s): --names FILE takes others, /dev/null none",
		options->names_path ? options->names_path : options->path,
		options->names_path ? "" : NAMES_SUFFIX, names_boot_id(names));
	return -1;
}

static int read_names(struct names **names, const struct trace_options *options,
		      const struct etl_file *file)
{
	if (names_load(names, options->names_path, options->path))
		return -1;
	if (check_boot(*names, options, file)) {
		names_free(*names);
		return -1;
	}
	if (file->buffers && rundown_read(names, file)) {
		message("%s: %s", file->path, strerror(ENOMEM));
		names_free(*names);
		return -1;
	}
	return 0;
}

/* Test whether two paths are the same name in the same directory; the files need not exist. */
static bool is_same_name(const char *left, const char *right)
{
	const char *slash_in_left = strrchr(left, '/'), *slash_in_right = strrchr(right, '/');
	const char *left_name = slash_in_left ? slash_in_left + 1 : left;
	const char *right_name = slash_in_right ? slash_in_right + 1 : right;
	char left_directory[PATH_MAX], right_directory[PATH_MAX];
	struct stat left_status, right_status;

	if (strcmp(left_name, right_name))
		return false;
	snprintf(left_directory, sizeof(left_directory), "%.*s.", (int)(left_name - left), left);
	snprintf(right_directory, sizeof(right_directory), "%.*s.", (int)(right_name - right),
		 right);
	return !stat(left_directory, &left_status) && !stat(right_directory, &right_status) &&
	       left_status.st_dev == right_status.st_dev &&
	       left_status.st_ino == right_status.st_ino;
}

/* Test whether @path is the file of @output, by this or another name: a symbolic or hard link. */
static bool is_same_file(const struct stat *output, const char *path)
{
	struct stat input;

	return !(strcmp(path, "-") ? stat(path, &input) : fstat(STDIN_FILENO, &input)) &&
	       S_ISREG(input.st_mode) && input.st_dev == output->st_dev &&
	       input.st_ino == output->st_ino;
}

/**
 * trace_refuse_output() - refuse to overwrite the file that a command reads, or its names
 * @options: parsed options
 * @output: path of the file that the command will write; "-" or NULL: the standard output
 *
 * Return: NTKLOG_OK, or NTKLOG_USAGE after a message.
 */
int trace_refuse_output(const struct trace_options *options, const char *output)
{
	char names_path[PATH_MAX];
	struct stat status;

	if (!output || !strcmp(output, "-"))
		return NTKLOG_OK;
	snprintf(names_path, sizeof(names_path), "%s%s", options->path, NAMES_SUFFIX);
	if (is_same_name(output, names_path)) {
		message("%s: this is the name of the trace's file of names: choose another name",
			output);
		return NTKLOG_USAGE;
	}
	if (stat(output, &status) || (!is_same_file(&status, options->path) &&
				      !is_same_file(&status, options->names_path ?
						    options->names_path : names_path)))
		return NTKLOG_OK;
	message("%s: this command reads the same file, and would overwrite it: choose another name",
		output);
	return NTKLOG_USAGE;
}

/**
 * trace_open() - open the file, read its names, and resolve the names in the filter
 * @file: set to the file; if it could not be opened, to a structure that has the reason
 * @names: set to the names, to be freed; NULL if there are none
 * @options: parsed options
 * @is_open: set to true if the file could be opened
 *
 * Return: NTKLOG_OK, also if the file could not be opened: then @is_open is false, and the caller
 * reports the reason with trace_report_damage() and closes @file. Otherwise another enum
 * ntklog_exit_status after a message; then nothing is left to close or free.
 */
int trace_open(struct etl_file **file, struct names **names, struct trace_options *options,
	       bool *is_open)
{
	int status = NTKLOG_FAILED;
	char error[FILTER_ERROR_SIZE];

	*is_open = !etl_open(file, options->path);
	if (read_names(names, options, *file))
		goto close;
	if (!filter_check_names(options->selection.filter, *names, true, error, sizeof(error)))
		return NTKLOG_OK;
	message("--filter: %s%s", error, *names ? "" : " (there are no names of this file)");
	names_free(*names);
	status = NTKLOG_USAGE;
close:
	etl_close(*file);
	return status;
}

/**
 * trace_report_loss() - print how many events and buffers were lost in the recording
 * @file: the file
 */
void trace_report_loss(const struct etl_file *file)
{
	if (file->events_lost || file->buffers_lost)
		message("%s: %" PRIu32 " events and %" PRIu32
			" buffers were lost while it was recorded",
			file->path, file->events_lost, file->buffers_lost);
	else if (file->lossy_buffers)
		message("%s: events were lost after %" PRIu64 " buffers; their number is not known",
			file->path, file->lossy_buffers);
}

/**
 * trace_report_damage() - print the damage that was found while the file was read
 * @file: the file
 *
 * Return: 0 if the file is whole, or -1 after messages.
 */
int trace_report_damage(const struct etl_file *file)
{
	if (file->error[0])
		message("%s: %s", file->path, file->error);
	if (file->damaged_buffers || file->damaged_events)
		message("%s: left out: %" PRIu64 " bytes of %" PRIu64
			" damaged buffers and %" PRIu64 " damaged events",
			file->path, file->left_out_bytes, file->damaged_buffers,
			file->damaged_events);
	if (file->wrong_times)
		message("%s: offset 0x%" PRIx64 ": the time of an event is impossible; %" PRIu64
			" such events are left out of all sums",
			file->path, file->wrong_time_at, file->wrong_times);
	if (file->repeated_buffers)
		message("%s: left out: %" PRIu64 " buffers that are in the file twice", file->path,
			file->repeated_buffers);
	if (file->missing_buffers)
		message("%s: %" PRIu64 " buffers are missing, from sequence number %" PRId64 " on",
			file->path, file->missing_buffers, file->first_missing_number);
	if (file->late_buffers)
		message("%s: %" PRIu64
			" buffers came too late to be in the order of time: write the stream to a file first, and read that",
			file->path, file->late_buffers);
	if (file->backwards)
		message("%s: offset 0x%" PRIx64 ": the clock goes back; %" PRIu64
			" events are earlier than those before them on the same CPU, and are not in the order of time",
			file->path, file->backwards_at, file->backwards);
	if (file->unfinished_bytes)
		message("%s: left out: %" PRIu64
			" bytes of the last buffer, which is not complete",
			file->path, file->unfinished_bytes);
	return file->error[0] || file->wrong_times || file->repeated_buffers ||
	       file->missing_buffers || file->late_buffers ? -1 : 0;
}
