// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first buffer of the file is written at the start, and again at the end with the final
 * numbers. The other buffers follow in their order, so that the file can be read even if the
 * recording is killed.
 */

#define _GNU_SOURCE

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntklog/group_mask.h>

#include "child.h"
#include "command.h"
#include "kernel.h"
#include "linux_mode.h"
#include "macros.h"
#include "message.h"
#include "recording.h"
#include "session.h"
#include "session_argp.h"
#include "setting.h"
#include "trace_file.h"
#include "trap.h"

enum {
	OPTION_DURATION = 0x100,
	OPTION_SESSION,
	OPTION_NO_NAMES,
	OPTION_MODE,
	OPTION_HOLDERS,
	OPTION_BLOCKERS,
	OPTION_NO_BLOCKERS,
};

/* Seconds between two lines of progress, two updates of the names, and two tests of the trap. */
#define PROGRESS_INTERVAL_S	.6
#define NAMES_INTERVAL_S	1.
#define TRAP_INTERVAL_S		.5

/*
 * NT's default rate of sampling, and the rate in its place. A loop of ten acquisitions is in step
 * with a rate of 1000: each sample is of the same one of the ten. A prime rate is in step with no
 * short loop.
 */
#define NT_RATE		"1000"
#define PRIME_RATE	"1009"

/*
 * @duration_s: seconds; INFINITY: until a signal, or the end of @command
 * @session_number: number of the session; -1: any free session
 * @linux_mode: new mode of recording Linux' own locks; NULL: the module's present mode
 * @blocker_rate: new value of spinlock/blockers; NULL: 1, if it is 0 and can change, except in
 *	mode waits
 * @wants_holders: with mode waits: record the releases that leave a waiter behind, too
 * @path: path of the file, before a number of the recording was added
 * @must_end: a signal, or the end of the command, has ended the recording
 */
struct record_command {
	struct session_settings settings;
	struct recording recording;
	struct trace_file trace;
	double duration_s;
	int session_number;
	const char *linux_mode;
	bool wants_holders;
	const char *blocker_rate;
	struct setting mode_setting;
	struct setting blocker_setting;
	struct setting rate_settings[2];
	struct child_process child;
	struct trap trap;
	const char *path;
	bool must_end;
};

static void print_progress(const struct record_command *record, double seconds)
{
	struct ntklog_session_counts counts;

	if (recording_read_counts(&record->recording, &counts))
		return;
	/* The blanks erase the rest of a longer line. */
	fprintf(stderr,
		"\r%.1f s, %" PRIu64 " events, %.1f MB, %" PRIu64 " lost      ", seconds,
		(uint64_t)counts.generated, (double)record->trace.written_bytes / 1e6,
		(uint64_t)counts.lost);
}

static void read_notes(void *names)
{
	names_writer_read_notes(names);
}

/*
 * Record until the end of the command, of the duration, of the time after the event that the trap
 * waits for, or a signal. Returns -1 after a message.
 */
static int record_events(struct record_command *record)
{
	double start = read_monotonic_seconds(), end = start + record->duration_s;
	double next_progress_time = isatty(STDERR_FILENO) ? start : INFINITY;
	double next_names_time = record->trace.has_names ? start : INFINITY;
	bool is_waiting = record->trap.condition;
	int got;

	while (read_monotonic_seconds() < end) {
		double next = fmin(end, fmin(next_progress_time, next_names_time));

		if (is_waiting)
			next = fmin(next, read_monotonic_seconds() + TRAP_INTERVAL_S);
		got = recording_follow(&record->recording, next);
		if (got < 0)
			return -1;
		if (got && child_take_signals(&record->child, record->recording.signal_fd)) {
			record->must_end = true;
			return 0;
		}
		if (is_waiting && record->trap.condition_was_met) {
			is_waiting = false;
			end = fmin(end, read_monotonic_seconds() + record->trap.seconds_after);
		}
		if (read_monotonic_seconds() >= next_progress_time) {
			next_progress_time = read_monotonic_seconds() + PROGRESS_INTERVAL_S;
			print_progress(record, read_monotonic_seconds() - start);
		}
		if (read_monotonic_seconds() >= next_names_time) {
			next_names_time = read_monotonic_seconds() + NAMES_INTERVAL_S;
			names_writer_update(&record->trace.names);
		}
	}
	return 0;
}

/* Make the file, and write its first buffer, whose numbers finish_file() updates. */
static int begin_file(struct record_command *record)
{
	struct recording *recording = &record->recording;
	size_t size;
	unsigned char *header = recording_read_header(recording, &size);
	int err;

	if (!header)
		return -1;
	err = trace_file_begin(&record->trace, header, size, 0);
	free(header);
	if (record->trap.condition) {
		recording->drain.give_buffer = trap_take_buffer;
		recording->drain.argument = &record->trap;
	} else {
		recording->drain.give_buffer = trace_file_write;
		recording->drain.argument = &record->trace;
	}
	if (record->trace.has_names) {
		recording->before_read = read_notes;
		recording->argument = &record->trace.names;
	}
	return err ? -1 :
		     drain_open(&recording->drain, recording->claim_fd, recording->session_number,
				size);
}

/* Write the last buffers, and the first one again with the final numbers of the file. */
static int finish_file(struct record_command *record)
{
	struct recording *recording = &record->recording;
	struct ntklog_session_counts counts;
	unsigned char *header;
	size_t size;
	int err;

	err = drain_finish(&recording->drain);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (record->trap.condition)
		trap_report_result(&record->trap);
	if (record->trap.condition && !record->trap.condition_was_met) {
		trace_file_remove(&record->trace);
		return err;
	}
	header = recording_read_header(recording, &size);
	if (!header || trace_file_finish(&record->trace, header, size))
		err = -1;
	free(header);
	if (recording_read_counts(recording, &counts))
		return -1;
	trace_file_report_counts(&record->trace, &counts);
	if (recording->drain.missing_count > recording->drain.late_count)
		message("%" PRIu64 " buffers are missing: another process may have read them",
			recording->drain.missing_count - recording->drain.late_count);
	return err;
}

static int record_session(struct record_command *record)
{
	int err = begin_file(record);

	if (!err && record->child.command)
		err = child_start(&record->child, &record->recording.signals,
				  record->trace.is_stream);
	if (!err)
		err = record_events(record);
	if (recording_stop(&record->recording))
		err = -1;
	child_end(&record->child, record->recording.signal_fd);
	if (record->trace.written_bytes && finish_file(record))
		err = -1;
	return err;
}

static int set_linux_mode(struct record_command *record)
{
	const char *mode = record->linux_mode, *trouble = NULL;
	int err = mode ? setting_change(&record->mode_setting, NULL, mode) : 0;
	char text[KERNEL_TEXT];

	if (!err && mode && !strcmp(mode, "holders"))
		trouble = session_explain_kind("spinlock", text);
	if (trouble && !strncmp(trouble, "unavailable: ", 13)) {
		message("mode holders: spin locks are %s", trouble);
		return -1;
	}
	if (err == -EBUSY)
		message("mode %s: Linux' locks are being recorded in another mode: stop that session first (ntklog list)",
			mode);
	else if (err == -ENOENT)
		message("mode %s: the loaded module has no modes: load a newer one", mode);
	else if (err)
		message("mode %s: %s", mode, strerror(-err));
	return err;
}

static int set_blockers(struct record_command *record)
{
	const char *rate = record->blocker_rate;
	bool is_off = rate && !strcmp(rate, "0");
	char mode[KERNEL_TEXT] = "full";
	bool has_holders;
	int err;

	kernel_read(mode, sizeof(mode), "linux_mode");
	has_holders = strcmp(mode, "waits");
	if (!rate) {
		if (has_holders)
			setting_change(&record->blocker_setting, "0", "1");
		return 0;
	}
	if (!has_holders && !is_off) {
		message("--blockers: mode waits does not record the holders of Linux' locks: add --holders, or use --mode full");
		return -1;
	}
	err = setting_change(&record->blocker_setting, NULL, rate);
	if (err == -ENOENT && is_off)
		return 0;
	if (err == -EBUSY)
		message("--%sblockers: another session records NT's spin locks with%s blockers: stop it first (ntklog status)",
			is_off ? "no-" : "", is_off ? "" : "out");
	else if (err == -ENOENT)
		message("--blockers: the loaded module does not record blockers: load a newer one");
	else if (err)
		message("--blockers: %s", strerror(-err));
	return err;
}

/* The file of another session must not have events of two rates: the rates stay while it runs. */
static int change_module_settings(struct record_command *record)
{
	size_t i;

	if (set_linux_mode(record) || set_blockers(record))
		return -1;
	for (i = 0; i < ARRAY_SIZE(record->rate_settings) && !session_any_is_started(); i++)
		setting_change(&record->rate_settings[i], NT_RATE, PRIME_RATE);
	return 0;
}

/*
 * The mode of a successful recording stays. While another session runs, the rates and blockers stay
 * changed.
 */
static void restore_module(struct record_command *record, bool has_failed)
{
	size_t i;

	if (has_failed)
		setting_restore(&record->mode_setting);
	if (session_any_is_started())
		return;
	setting_restore(&record->blocker_setting);
	for (i = 0; i < ARRAY_SIZE(record->rate_settings); i++)
		setting_restore(&record->rate_settings[i]);
}

/* Record one file. Returns enum ntklog_exit_status. */
static int record_file(struct record_command *record)
{
	static const int more_signals[] = { SIGCHLD, 0 };
	struct recording *recording = &record->recording;
	int status = NTKLOG_FAILED, err;

	if (trace_file_open_stream(&record->trace))
		return status;
	/* Reading all symbols takes a while, so it precedes the start. */
	err = record->trace.has_names && names_writer_prepare(&record->trace.names);
	if (!err && record->trap.condition) {
		status = trap_open(&record->trap, &record->trace);
		err = status;
	}
	err = err || recording_claim(recording, record->session_number) ||
	      recording_take_signals(recording, more_signals) || change_module_settings(record);
	/* The default groups depend on the mode, which the module has by now. */
	if (!err && !record->settings.groups)
		record->settings.groups = session_default_groups();
	err = err || recording_start(recording, &record->settings) || record_session(record);
	/* The module refuses some changes of its settings while a session runs. */
	recording_close(recording);
	restore_module(record, err);
	if (!trace_file_close(&record->trace) && !err)
		return NTKLOG_OK;
	return status ? status : NTKLOG_FAILED;
}

/*
 * Copy the path of the file, with the number of one of many recordings: a.etl becomes a.1.etl. The
 * standard output has no number: trap_open() refuses it.
 */
static char *make_path(const struct record_command *record, unsigned long number)
{
	size_t length = strlen(record->path);
	bool has_suffix = length > 4 && !strcmp(record->path + length - 4, ".etl");
	char *path;

	if (record->trap.recording_count == 1 || !strcmp(record->path, "-"))
		path = strdup(record->path);
	else if (asprintf(&path, "%.*s.%lu%s", (int)(has_suffix ? length - 4 : length),
			  record->path, number, has_suffix ? ".etl" : "") < 0)
		path = NULL;
	if (!path)
		message("%s: no memory for its path", record->path);
	return path;
}

/* Test for a signal that came after the recording, while signals were still blocked. */
static bool signal_is_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP);
}

static int record_files(struct record_command *record)
{
	const struct trace_file trace = record->trace;
	unsigned long recording_number;
	char *path;
	bool condition_was_met = true, has_file = false;
	sigset_t mask;
	int status = NTKLOG_OK;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (kernel_check())
		return NTKLOG_FAILED;
	/* Let a write fail with an error, which is reported, instead of ending this process. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	for (recording_number = 1; !status && condition_was_met && !record->must_end &&
	     recording_number <= record->trap.recording_count; recording_number++) {
		record->trace = trace;
		path = make_path(record, recording_number);
		record->trace.path = path;
		status = path ? record_file(record) : NTKLOG_FAILED;
		condition_was_met = record->trap.condition_was_met;
		has_file |= condition_was_met || !record->trap.condition;
		if (!status && condition_was_met && record->trap.exec_command &&
		    child_run_exec(record->trap.exec_command, record->trace.path, &mask))
			status = NTKLOG_FAILED;
		trap_close(&record->trap);
		free(path);
		record->must_end |= signal_is_pending();
	}
	filter_free(record->trap.condition);
	if (status)
		return status;
	if (!has_file && !record->child.command)
		return NTKLOG_NOT_MET;
	return child_exit_status(&record->child);
}

/* Refuse options with which mode holders would record no holder. */
static void check_holders(const struct argp_state *state, const struct record_command *record)
{
	struct perfinfo_groupmask mask;

	if (!record->linux_mode || strcmp(record->linux_mode, "holders"))
		return;
	if (record->blocker_rate && !strcmp(record->blocker_rate, "0"))
		argp_error(state, "--no-blockers: mode holders records nothing else than mode waits then: leave one of them out");
	if (record->settings.groups && !session_parse_groups(record->settings.groups, &mask) &&
	    !session_mask_has(&mask, PERF_LINUX_SPINLOCK))
		argp_error(state, "-e: mode holders records who releases spin locks: add linux_spinlock, or use --mode waits");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct record_command *record = state->input;
	unsigned long number;
	uint32_t mode;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &record->settings;
		state->child_inputs[1] = &record->trap;
		return 0;
	case ARGP_KEY_END:
		if (record->settings.groups &&
		    !session_groups_have_events(record->settings.groups))
			argp_error(state, "-e: %s has no events: nothing would be recorded",
				   record->settings.groups);
		if (record->trap.recording_count > 1 && record->child.command)
			argp_error(state, "--times: a command is run once: leave one of them out");
		if (record->wants_holders &&
		    (!record->linux_mode || strcmp(record->linux_mode, "waits")))
			argp_error(state,
				   "--holders: add --mode waits; the other modes record holders without it");
		if (record->wants_holders)
			record->linux_mode = "holders";
		check_holders(state, record);
		return 0;
	case 'o':
		record->path = argument;
		return 0;
	case OPTION_DURATION:
		record->duration_s = strtod(argument, &end);
		if (end == argument || *end || !(record->duration_s > 0))
			argp_error(state, "--duration: \"%s\" is no number of seconds",
				   argument);
		return 0;
	case OPTION_SESSION:
		record->session_number = session_parse_number(argument);
		if (record->session_number < 0)
			argp_error(state, "--session: \"%s\" is not 0 to %d", argument,
				   KERNEL_SESSIONS - 1);
		return 0;
	case OPTION_NO_NAMES:
		record->trace.has_names = false;
		return 0;
	case OPTION_MODE:
		if (!linux_mode_find(argument, &mode))
			argp_error(state, "--mode: \"%s\" is not full, sampled, waits or holders",
				   argument);
		record->linux_mode = argument;
		return 0;
	case OPTION_HOLDERS:
		record->wants_holders = true;
		return 0;
	case OPTION_BLOCKERS:
		record->blocker_rate = argument ? argument : "1";
		number = strtoul(record->blocker_rate, &end, 10);
		if (!number || *end || *record->blocker_rate == '-' || number > UINT32_MAX)
			argp_error(state, "--blockers: \"%s\" is not 1 to %" PRIu32, argument,
				   UINT32_MAX);
		return 0;
	case OPTION_NO_BLOCKERS:
		record->blocker_rate = "0";
		return 0;
	case ARGP_KEY_ARG:
		/* The arguments that follow belong to the command. */
		record->child.command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option record_options[] = {
	{ "output", 'o', "FILE", 0, "Write this file (ntklog.etl); - is the standard output", 0 },
	{ "duration", OPTION_DURATION, "SECONDS", 0, "Stop after that time", 0 },
	{ "session", OPTION_SESSION, "NUMBER", 0,
	  "Use this session, 0 to 7, instead of a free one",
	  0 },
	{ "no-names", OPTION_NO_NAMES, NULL, 0,
	  "Do not write FILE.names, the names of addresses and threads", 0 },
	{ "mode", OPTION_MODE, "MODE", 0,
	  "How Linux' own spin locks and rwlocks are recorded from now on: full, sampled (cheaper: no depth, no hold threshold), waits (hardly any cost: no holds) or holders (waits, with --holders). Without this option: as the module is set",
	  0 },
	{ "holders", OPTION_HOLDERS, NULL, 0,
	  "With --mode waits: record also who releases a spin lock that others wait for, if the kernel has the tracepoint contended_release, whose use slows each unlock down",
	  0 },
	{ "blockers", OPTION_BLOCKERS, "RATE", OPTION_ARG_OPTIONAL,
	  "Record one in RATE of the releases of spin locks that left a waiter behind, with their holders: 1, if not given, except in mode waits",
	  0 },
	{ "no-blockers", OPTION_NO_BLOCKERS, NULL, 0, "Do not record these releases", 0 },
	{ 0 }
};

static const struct argp_child record_children[] = {
	{ &session_argp, 0, NULL, 0 },
	{ &trap_argp, 0, NULL, 0 },
	{ 0 }
};

static const struct argp record_argp = {
	.options = record_options,
	.children = record_children,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARGUMENT...]]",
	.doc = "Record a session in an ETL file, until the command ends, the time is over, or\n"
	       "Ctrl-C. A command that still runs then gets SIGTERM, with all of its process\n"
	       "group, and after 5 seconds SIGKILL. Without options: 64 buffers of 64K for\n"
	       "each processor; the events spinlock and resource, and of Linux' own locks\n"
	       "those that the running kernel allows (ntklog list prints the reasons). In the\n"
	       "other modes than full Linux' locks that sleep are left out, because they are\n"
	       "tracked in full in every mode. Context switches and wake-ups are recorded only\n"
	       "if contextswap and readythread are named. The rates of the sampling are the\n"
	       "module's, with 1009 in place of NT's 1000, which is in step with loops of ten\n"
	       "acquisitions.\n"
	       "\vThe file holds NT's events alone, as Windows writes them, in the order of the\n"
	       "buffers' sequence numbers. FILE.names beside it holds names: of the kernel's\n"
	       "functions and variables, of locks, and of threads; dump and report read it. If\n"
	       "the recording is killed, its session ends with it, and the file can be read up\n"
	       "to about a second before. An earlier FILE is kept as FILE.old; a FILE that\n"
	       "another recording is writing is refused. A FILE that is a pipe, or \"-\", the\n"
	       "standard output, has no names, and its first buffer lacks the numbers that are\n"
	       "known only at the end.\n\n"
	       "Exit status: that of the command, if it has ended by itself (127: it was not\n"
	       "found; 128 + N: signal N has ended it); otherwise 0. 1: nothing could be\n"
	       "recorded, or the command of --exec has failed. 2: wrong usage. 3: no event has\n"
	       "met the condition of --on.",
};

/**
 * command_record() - ntklog record
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status, or the status of the command that was run.
 */
int command_record(int argc, char **argv)
{
	static struct record_command record = {
		.settings = {
			.buffer_size = 64 << 10,
			.buffer_count = 64,
			/* This bounds what a recording that is killed lacks. */
			.flush_ms = 1000,
			.mode = NTKLOG_SESSION_SEQUENTIAL,
		},
		.recording = RECORDING_NONE,
		.trace = { .fd = -1, .has_names = true },
		.trap = { .seconds_before = 10, .seconds_after = 2, .recording_count = 1 },
		.path = "ntklog.etl",
		.duration_s = INFINITY,
		.session_number = -1,
		.mode_setting.file = "linux_mode",
		.blocker_setting.file = "spinlock/blockers",
		.rate_settings = {
			{ .file = "spinlock/acquire_sample_rate" },
			{ .file = "resource/release_sample_rate" },
		},
	};

	argp_parse(&record_argp, argc, argv, ARGP_IN_ORDER, NULL, &record);
	return record_files(&record);
}
