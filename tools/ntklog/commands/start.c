// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntklog start and stop: a recording that goes on without a process of the tool, from the command
 * start to the command stop.
 */

#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "identities.h"
#include "kernel.h"
#include "message.h"
#include "recording.h"
#include "session.h"
#include "session_argp.h"
#include "trace_file.h"

enum {
	OPTION_NO_NAMES = 0x100,
};

/*
 * @session_number: number of the session; -1: none was given
 * @trace: file of stop; without a path: none
 */
struct options {
	int session_number;
	struct session_settings settings;
	struct trace_file trace;
};

/* Let the module free its notes about classes, unless a session that runs needs them. */
static void forget_identities(void)
{
	if (!session_any_is_started())
		kernel_write("0", "keep_identities");
}

static int start_session(struct options *options)
{
	struct recording recording = RECORDING_NONE;
	struct identities_file identities = { 0 };
	int err;

	if (kernel_check())
		return NTKLOG_FAILED;
	if (!options->settings.groups)
		options->settings.groups = session_default_groups();
	/* The module keeps notes about classes while its file is open, or keep_identities is 1. */
	identities_open(&identities);
	err = recording_claim(&recording, options->session_number) ||
	      recording_start(&recording, &options->settings);
	if (!err)
		kernel_write("1", "keep_identities");
	err = err || recording_detach(&recording);
	if (err)
		forget_identities();
	else
		printf("session %d is started: %s; ntklog stop %d -o FILE writes what it has logged\n",
		       recording.session_number, options->settings.groups,
		       recording.session_number);
	identities_close(&identities);
	recording_close(&recording);
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}

static int save_trace(struct recording *recording, struct trace_file *trace,
		      const struct ntklog_session_counts *counts)
{
	size_t size;
	unsigned char *header = recording_read_header(recording, &size);
	/* The module's count of unread buffers includes those that were overwritten. */
	uint64_t buffers = counts->unread - (counts->overwritten < counts->unread ?
					     counts->overwritten : counts->unread);
	int err;

	if (!header)
		return -1;
	recording->drain.give_buffer = trace_file_write;
	recording->drain.argument = trace;
	err = trace_file_begin(trace, header, size, size + buffers * size) ||
	      drain_open(&recording->drain, recording->claim_fd, recording->session_number, size);
	if (!err)
		err = drain_finish(&recording->drain);
	/* Count the buffers that could not be written, for the numbers of the file. */
	if (trace->has_failed && trace->written_bytes)
		drain_finish(&recording->drain);
	if (trace_file_finish(trace, header, size))
		err = -1;
	free(header);
	if (trace->written_bytes)
		trace_file_report_counts(trace, counts);
	if (err && !trace->written_buffer_count && !trace->dropped_buffer_count)
		message("session %d keeps its buffers: ntklog stop %d -o FILE writes them",
			recording->session_number, recording->session_number);
	if (!err && !counts->overwritten && trace->written_buffer_count < counts->finished) {
		message("session %d: %" PRIu64 " of its %" PRIu64
			" buffers had been read before: they are not in %s",
			recording->session_number,
			(uint64_t)counts->finished - trace->written_buffer_count,
			(uint64_t)counts->finished, trace->path);
		err = -1;
	}
	return err ? -1 : 0;
}

static int finish_recording(struct recording *recording, struct trace_file *trace)
{
	struct ntklog_session_counts counts;
	int state = recording_read_state(recording);

	if (state == NTKLOG_SESSION_STARTED) {
		if (recording_stop(recording))
			return -1;
	} else if (state == NTKLOG_SESSION_FINISHED && trace->path) {
		message("session %d is not started; what it still holds is written",
			recording->session_number);
	} else {
		message("session %d is not started: see ntklog status", recording->session_number);
		return -1;
	}
	if (recording_read_counts(recording, &counts) ||
	    (trace->path && save_trace(recording, trace, &counts)))
		return -1;
	printf("session %d: %" PRIu64 " events, %" PRIu64 " lost, in %" PRIu64 " buffers\n",
	       recording->session_number, (uint64_t)counts.written, (uint64_t)counts.lost,
	       (uint64_t)counts.finished);
	return finish_output(stdout, NULL);
}

static int stop_session(struct options *options)
{
	struct recording recording = RECORDING_NONE;
	struct trace_file *trace = &options->trace;
	int number = options->session_number, err;

	if (kernel_check())
		return NTKLOG_FAILED;
	if (number < 0)
		number = session_find_started();
	if (number < 0)
		return NTKLOG_FAILED;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	trace->has_names &= !!trace->path;
	/*
	 * Prepare the names before the adoption: the module's notes about classes that belong to
	 * the started session end with it.
	 */
	if ((trace->path && trace_file_open_stream(trace)) ||
	    (trace->has_names && names_writer_prepare(&trace->names)) ||
	    recording_adopt(&recording, number)) {
		trace_file_close(trace);
		return NTKLOG_FAILED;
	}
	err = finish_recording(&recording, trace);
	/* If the buffers were not written to a file, leave them in the session. */
	if ((err || !trace->path) && recording_detach(&recording))
		err = -1;
	recording_close(&recording);
	if (trace_file_close(trace))
		err = -1;
	if (!err)
		forget_identities();
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}

static error_t parse_start_or_stop(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'm':
		if (strcmp(argument, "sequential") && strcmp(argument, "buffering"))
			argp_error(state, "-m: \"%s\" is not sequential or buffering", argument);
		options->settings.mode = strcmp(argument, "buffering") ?
			NTKLOG_SESSION_SEQUENTIAL : NTKLOG_SESSION_BUFFERING;
		return 0;
	case 'o':
		options->trace.path = argument;
		return 0;
	case OPTION_NO_NAMES:
		options->trace.has_names = false;
		return 0;
	case ARGP_KEY_ARG:
		options->session_number = session_parse_number(argument);
		if (options->session_number < 0 || state->arg_num)
			argp_error(state, "give the number of one session, 0 to %d",
				   KERNEL_SESSIONS - 1);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_start(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != ARGP_KEY_INIT)
		return parse_start_or_stop(key, argument, state);
	state->child_inputs[0] = &options->settings;
	return 0;
}

static const struct argp_option start_options[] = {
	{ "mode", 'm', "MODE", 0,
	  "sequential (the default): when the buffers are full, new events are lost; buffering: the oldest buffers are overwritten (a flight recorder)",
	  0 },
	{ 0 }
};

static const struct argp_option stop_options[] = {
	{ "output", 'o', "FILE", 0, "Write the events that it has logged to this ETL file", 0 },
	{ "no-names", OPTION_NO_NAMES, NULL, 0,
	  "Do not write FILE.names, the names of addresses and threads", 0 },
	{ 0 }
};

static int parse_and_run(const struct argp *argp, int argc, char **argv,
			 int (*function)(struct options *))
{
	static struct options options = {
		.session_number = -1,
		.trace = { .fd = -1, .has_names = true },
	};

	argp_parse(argp, argc, argv, 0, NULL, &options);
	return function(&options);
}

/**
 * command_start() - ntklog start
 * @argc: number of arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_start(int argc, char **argv)
{
	static const struct argp argp = {
		.options = start_options,
		.parser = parse_start,
		.children = session_argp_children,
		.args_doc = "[SESSION]",
		.doc = "Start a session, 0 to 7, or a free one, and print which events it records:\n"
		       "without -e those that ntklog record records without -e. It runs until ntklog\n"
		       "stop. Without -b and -n the buffers are those that the session has, at first\n"
		       "16 of 64K for each CPU.",
	};

	return parse_and_run(&argp, argc, argv, start_session);
}

/**
 * command_stop() - ntklog stop
 * @argc: number of arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_stop(int argc, char **argv)
{
	static const struct argp argp = {
		.options = stop_options,
		.parser = parse_start_or_stop,
		.args_doc = "[SESSION]",
		.doc = "Stop a session, or the only one that is started, and print its counts. With -o\n"
		       "also write its events to a file. If that fails, or without -o, the session\n"
		       "keeps them: ntklog stop SESSION -o FILE writes them later.",
	};

	return parse_and_run(&argp, argc, argv, stop_session);
}
