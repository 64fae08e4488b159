// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "comparison.h"
#include "etl_reader.h"
#include "event_type.h"
#include "message.h"
#include "status.h"
#include "trap.h"
#include "wmi_record.h"

/* Greatest number of bytes of the buffers that are kept until the event. */
#define KEPT_BYTES_MAX	((size_t)256 << 20)

/* Suffix of the file's path until the condition is met. */
#define PART_SUFFIX	".part"

/* @newest_time: latest time of an event in this buffer and in those before it, session clock */
struct trap_buffer {
	STAILQ_ENTRY(trap_buffer) next;
	uint64_t newest_time;
	size_t size;
	unsigned char data[];
};

enum {
	/* Keys above those of the options that the commands have themselves. */
	OPTION_ON = 0x300,
	OPTION_BEFORE,
	OPTION_AFTER,
	OPTION_TIMES,
	OPTION_EXEC,
};

#define RECORDINGS_MAX	1000000

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct trap *trap = state->input;
	char error[FILTER_ERROR_SIZE], *end;
	double *seconds = key == OPTION_BEFORE ? &trap->seconds_before : &trap->seconds_after;

	switch (key) {
	case OPTION_ON:
		filter_free(trap->condition);
		trap->condition = filter_parse(argument, error, sizeof(error));
		if (!trap->condition)
			argp_error(state, "--on: %s", error);
		return 0;
	case OPTION_BEFORE:
	case OPTION_AFTER:
		if (!parse_seconds(argument, seconds) || !(*seconds >= 0 && *seconds <= 3600))
			argp_error(state,
				   "--%s: \"%s\" is not a time from 0 to 3600 s, such as 10 or 500ms",
				   key == OPTION_BEFORE ? "before" : "after", argument);
		trap->has_option = true;
		return 0;
	case OPTION_TIMES:
		trap->recording_count = strtoul(argument, &end, 10);
		if (!isdigit((unsigned char)*argument) || *end || !trap->recording_count ||
		    trap->recording_count > RECORDINGS_MAX)
			argp_error(state, "--times: \"%s\" is no number from 1 to %d", argument,
				   RECORDINGS_MAX);
		trap->has_option = true;
		return 0;
	case OPTION_EXEC:
		trap->exec_command = argument;
		trap->has_option = true;
		return 0;
	case ARGP_KEY_END:
		if (!trap->condition && trap->has_option)
			argp_error(state,
				   "--before, --after, --times and --exec are for --on: give the condition");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option trap_options[] = {
	{ "on", OPTION_ON, "EXPR", 0,
	  "Wait for an event for which this is true, such as \"wait > 10ms\", and write the seconds before and after it alone. The expressions are those that ntklog dump filters by",
	  0 },
	{ "before", OPTION_BEFORE, "TIME", 0, "Seconds to write before the event of --on (10)", 0 },
	{ "after", OPTION_AFTER, "TIME", 0, "Seconds to record after the event of --on (2)", 0 },
	{ "times", OPTION_TIMES, "COUNT", 0,
	  "Wait for so many events of --on, and write each into a file of its own: FILE.1, FILE.2 ...",
	  0 },
	{ "exec", OPTION_EXEC, "COMMAND", 0,
	  "Run this shell command after each file of --on, whose path is in NTKLOG_FILE", 0 },
	{ 0 }
};

const struct argp trap_argp = {
	.options = trap_options,
	.parser = parse_option,
};

/**
 * trap_open() - set a trap
 * @trap: its condition and times are set
 * @trace: file to write, not made yet; the names of its addresses are read. Its path gets a suffix
 *	until the condition is met
 *
 * Return: NTKLOG_OK, or another enum ntklog_exit_status after a message; trap_close() in all cases.
 */
int trap_open(struct trap *trap, struct trace_file *trace)
{
	unsigned int used = filter_needed_names(trap->condition);
	char error[FILTER_ERROR_SIZE];
	struct stat status;

	STAILQ_INIT(&trap->kept_buffers);
	trap->trace = trace;
	trap->path = trace->path;
	/* At the end the number of left-out buffers is written to the header of the file. */
	if (trace->fd >= 0 || (!stat(trace->path, &status) && !S_ISREG(status.st_mode))) {
		message("--on: %s is not a regular file: give the name of one (-o)", trace->path);
		return NTKLOG_FAILED;
	}
	if (used & FILTER_NAMES_TASKS) {
		message("--on: names of threads, processes and cgroups are not known while events are recorded: use the number of a thread");
		return NTKLOG_USAGE;
	}
	if (used && !trace->has_names) {
		message("--on: the condition has names, which this recording does not read: leave --no-names out, and write a regular file");
		return NTKLOG_USAGE;
	}
	/* The classes of locks become known only while the session runs. */
	trace->names.adds_classes = used & FILTER_NAMES_CLASSES;
	if (filter_check_names(trap->condition, trace->names.symbols.names, false, error,
			       sizeof(error))) {
		message("--on: %s", error);
		return NTKLOG_USAGE;
	}
	/* A file that has the path already must stay if the condition is never met. */
	if (asprintf(&trap->part_path, "%s" PART_SUFFIX, trace->path) < 0) {
		trap->part_path = NULL;
		message("--on: no memory for the path of the file");
		return NTKLOG_FAILED;
	}
	trace->path = trap->part_path;
	return NTKLOG_OK;
}

static void drop_oldest_buffer(struct trap *trap)
{
	struct trap_buffer *oldest = STAILQ_FIRST(&trap->kept_buffers);

	STAILQ_REMOVE_HEAD(&trap->kept_buffers, next);
	trap->kept_bytes -= oldest->size;
	free(oldest);
}

/* Test the condition for the events of a buffer. */
static bool meets_condition(struct trap *trap, unsigned char *buffer)
{
	struct etl_cursor cursor = { .buffer = buffer };
	struct etl_file *file = trap->trace->etl_file;
	struct etl_event event;
	bool is_met = false;

	if (etl_use_buffer(etl_reader_of(file), &cursor, 1))
		return false;
	while (cursor.next_offset < cursor.end_offset &&
	       etl_parse_event(etl_reader_of(file), &cursor, &event) == 1) {
		const struct event_type *type = event_type_find(&event);
		union wmi_record record;

		trap->event_count++;
		if (type && wmi_record_read(&record, file, &event, type))
			continue;
		/* Without memory the records of locks that sleep have no callers. */
		if (type && event.hook_id == PERFINFO_LOG_TYPE_NTKLOG_CALLER)
			kept_callers_keep(&trap->callers, &event);
		/* The session writes its list of open holds when it stops. */
		if (type && event.hook_id == NTKLOG_LOG_TYPE_OPEN_HOLD)
			continue;
		is_met |= filter_matches(trap->condition, file, &event, type,
					 trap->trace->names.symbols.names, trap->callers);
	}
	if (cursor.last_time > trap->newest_time)
		trap->newest_time = cursor.last_time;
	return is_met;
}

/* Add a buffer to the kept ones, and drop those that have become too old, or too many. */
static int keep_buffer(struct trap *trap, const unsigned char *buffer, size_t size)
{
	struct trap_buffer *kept = malloc(sizeof(*kept) + size);
	uint64_t ticks = trap->seconds_before * (double)trap->trace->etl_file->perf_freq;
	bool is_old;

	if (!kept) {
		message("--on: no memory for the buffers of the last %g seconds: choose fewer (--before)",
			trap->seconds_before);
		return -1;
	}
	*kept = (struct trap_buffer) { .newest_time = trap->newest_time, .size = size };
	memcpy(kept->data, buffer, size);
	STAILQ_INSERT_TAIL(&trap->kept_buffers, kept, next);
	trap->kept_bytes += size;
	while ((kept = STAILQ_FIRST(&trap->kept_buffers))) {
		is_old = trap->newest_time - kept->newest_time > ticks;
		if (!is_old && trap->kept_bytes <= KEPT_BYTES_MAX)
			break;
		trap->lacks_early_buffers |= !is_old;
		drop_oldest_buffer(trap);
		trap->trace->left_out_buffer_count++;
	}
	return 0;
}

static int write_kept_buffers(struct trap *trap)
{
	struct trap_buffer *oldest;
	int err = 0;

	if (trace_file_rename(trap->trace, trap->path))
		message("%s: the recording is in this file", trap->trace->path);
	while (!err && (oldest = STAILQ_FIRST(&trap->kept_buffers))) {
		err = trace_file_write(trap->trace, oldest->data, oldest->size);
		drop_oldest_buffer(trap);
	}
	return err;
}

/**
 * trap_take_buffer() - keep a buffer, or write it
 * @argument: struct trap
 * @buffer: the buffer
 * @size: bytes of @buffer
 *
 * Return: 0, or -1 after a message.
 */
int trap_take_buffer(void *argument, unsigned char *buffer, size_t size)
{
	struct trap *trap = argument;

	if (trap->condition_was_met)
		return trace_file_write(trap->trace, buffer, size);
	trap->condition_was_met = meets_condition(trap, buffer);
	if (keep_buffer(trap, buffer, size))
		return -1;
	return trap->condition_was_met ? write_kept_buffers(trap) : 0;
}

/**
 * trap_report_result() - say whether the condition was met, and whether the file begins late
 * @trap: opened
 */
void trap_report_result(const struct trap *trap)
{
	if (!trap->condition_was_met)
		message("--on: none of %" PRIu64 " events has met the condition: nothing is written",
			trap->event_count);
	else if (trap->lacks_early_buffers)
		message("--on: the buffers of %g seconds are more than %zu MB: the file begins later",
			trap->seconds_before, KEPT_BYTES_MAX >> 20);
}

/**
 * trap_close() - free the buffers
 * @trap: after trap_open()
 *
 * The options stay, for a further trap_open().
 */
void trap_close(struct trap *trap)
{
	while (!STAILQ_EMPTY(&trap->kept_buffers))
		drop_oldest_buffer(trap);
	free(trap->part_path);
	free(trap->callers);
	*trap = (struct trap){
		.condition = trap->condition,
		.seconds_before = trap->seconds_before,
		.seconds_after = trap->seconds_after,
		.recording_count = trap->recording_count,
		.exec_command = trap->exec_command,
	};
}
