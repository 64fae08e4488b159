// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command.h"
#include "kernel.h"
#include "message.h"
#include "session.h"
#include "top.h"

enum {
	OPTION_JSON = 0x100,
	OPTION_ONCE,
	OPTION_ADDRESSES,
	OPTION_BY,
};

/* Seconds between two looks for keys. */
#define KEYS_INTERVAL_S		.1

/* Upper limit of the first interval after a key has changed the view, seconds. */
#define NEW_VIEW_MAX_S	1

static void make_tables(struct top *top, const struct ntklog_session_counts *counts)
{
	struct report *report = &top->shown_report;
	size_t i;

	report_free(report);
	*report = (struct report) {
		.file = top->live_sums.file,
		.analysis = &top->live_sums.analysis,
		.names = top->live_sums.symbols.names,
		.seconds = top->interval_seconds,
		.joins_locks_of_waiter = true,
	};
	top->shown_view = top->view;
	top->event_count = counts->generated - top->counts_before.generated;
	top->lost_count = counts->lost - top->counts_before.lost;
	top->left_out_count = live_sums_count_left_out(&top->live_sums);
	analysis_finish(&top->live_sums.analysis);
	report_make_tables(report);
	/* JSON has all columns. */
	if (!top->prints_json)
		top_show_rates(report);
	for (i = 0; top->prints_json && i < REPORT_TABLES; i++) {
		table_insert_errors(&report->tables[i], true);
		table_sort(&report->tables[i]);
	}
}

/* Show the tables, unless another job has the terminal. */
static void draw_screen(struct top *top)
{
	if (top->screen.is_printed_once || top_screen_is_visible())
		top_print_screen(top);
}

/* Test for a write to a pipe that has no reader any more. */
static bool output_has_lost_reader(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGPIPE);
}

static int show_interval(struct top *top)
{
	struct top_keys *keys = &top->keys;
	struct ntklog_session_counts counts;

	if (live_sums_refresh_symbols(&top->live_sums) ||
	    recording_read_counts(&top->live_sums.recording, &counts))
		return -1;
	/* If a key has changed the view meanwhile, do not show this interval of the former view. */
	if (top_view_is_same(&top->view, &keys->view)) {
		if (!keys->is_paused || !top->shown_report.seconds)
			make_tables(top, &counts);
		if (top->prints_json)
			top_print_object(top);
		else if (!keys->is_paused || keys->has_new_keys)
			draw_screen(top);
		keys->has_new_keys = false;
	}
	live_sums_reset(&top->live_sums);
	top->counts_before = counts;
	fflush(stdout);
	/* The pending signal ends the process silently after the session was stopped. */
	return output_has_lost_reader() ? -1 : finish_output(stdout, NULL);
}

static void leave_terminal(struct top *top)
{
	top_screen_close(&top->screen);
	top_keys_end(&top->keys);
}

/* Let a pending signal do what it does by default. */
static void deliver_signal(int number)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, number);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

/* Stop until SIGCONT. */
static void stop_process(struct top *top)
{
	leave_terminal(top);
	raise(SIGTSTP);
	deliver_signal(SIGTSTP);
}

/* Obey the signals that have come. Returns true if one of them ends the command. */
static bool obey_signals(struct top *top)
{
	struct signalfd_siginfo info;
	bool ends_command = false, stops_process = false;

	while (read(top->live_sums.recording.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		stops_process |= info.ssi_signo == SIGTSTP;
		ends_command |= info.ssi_signo != SIGTSTP && info.ssi_signo != SIGCONT &&
			info.ssi_signo != SIGWINCH;
	}
	if (stops_process && !ends_command)
		stop_process(top);
	if (ends_command || top->prints_json || top->prints_once)
		return ends_command;
	/* The terminal has another size, or had been left to another job. */
	top_keys_begin(&top->keys);
	if (top->shown_report.seconds)
		draw_screen(top);
	return false;
}

/* Read buffers until a time, a signal or a key, which changes the screen at once. */
static int follow_session(struct top *top, double end)
{
	int got = 0;

	while (!got && read_monotonic_seconds() < end) {
		double next = read_monotonic_seconds() + KEYS_INTERVAL_S;

		got = recording_follow(&top->live_sums.recording,
				       top->keys.is_raw && next < end ? next : end);
		if (got > 0)
			got = obey_signals(top);
		if (!got && top_keys_read(&top->keys))
			break;
	}
	return got || !top->keys.must_quit ? got : 1;
}

/* Returns 0; 1 if a signal, or the key q, ends the command; -1 after a message. */
static int gather_interval(struct top *top)
{
	double start = read_monotonic_seconds(), end = start + top->interval_s;
	struct live_sums *live = &top->live_sums;
	bool is_new_view;
	int got;

	if (live_sums_begin(live))
		return -1;
	is_new_view = !top_view_is_same(&top->view, &top->keys.view);
	if (is_new_view && top->interval_seconds && end > start + NEW_VIEW_MAX_S)
		end = start + NEW_VIEW_MAX_S;
	top->view = top->keys.view;
	top_tasks_prepare(top);
	live->analysis.names = live->symbols.names;
	live->analysis.sums_by_address = top->view.sums_by_address;
	if (!top->view.has_waiters)
		charge_sums_finish(&live->analysis.charge_sums);
	else if (live_sums_charge(live, top->view.attribute))
		return -1;
	got = follow_session(top, end);
	if (got < 0 || live_sums_read_all(live))
		return -1;
	top->interval_seconds = read_monotonic_seconds() - start;
	return got;
}

static bool view_needs_stacks(const struct top *top)
{
	return top->keys.view.has_waiters && top->keys.view.attribute == CHARGE_BY_STACK;
}

static int show_intervals(struct top *top)
{
	int got = 0, err;

	top->live_sums.before_event = top_tasks_take_event;
	top->live_sums.before_read = top_tasks_read_notes;
	top->live_sums.argument = top;
	err = live_sums_follow(&top->live_sums);
	while (!err && !got) {
		if (!top->prints_json && !top->prints_once)
			top_keys_begin(&top->keys);
		got = gather_interval(top);
		/* The rates of an interval that was cut off are not comparable. */
		err = got < 0 || (!got && show_interval(top));
		if (top->prints_once)
			break;
	}
	leave_terminal(top);
	report_free(&top->shown_report);
	return err ? -1 : 0;
}

static int run_top(struct top *top)
{
	static const int more_signals[] = { SIGQUIT, SIGPIPE, SIGTSTP, SIGCONT, SIGWINCH, 0 };
	struct session_settings settings = {
		.buffer_size = 64 << 10,
		.buffer_count = 32,
		.mode = NTKLOG_SESSION_SEQUENTIAL,
	};
	int err;

	if (kernel_check())
		return NTKLOG_FAILED;
	if (!top->groups)
		top->groups = session_default_groups();
	settings.groups = top->groups;
	if (view_needs_stacks(top))
		settings.stack_events = NTKLOG_STACKS_SPINLOCK | NTKLOG_STACKS_RESOURCE;
	err = live_sums_prepare(&top->live_sums) ||
	      live_sums_start(&top->live_sums, &settings, more_signals) || show_intervals(top);
	live_sums_stop(&top->live_sums);
	top_tasks_free(top);
	live_sums_close(&top->live_sums);
	if (output_has_lost_reader())
		deliver_signal(SIGPIPE);
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct top *top = state->input;
	struct perfinfo_groupmask mask;
	char *end;

	switch (key) {
	case 'e':
		if (session_parse_groups(argument, &mask))
			argp_usage(state);
		if (!session_groups_have_events(argument))
			argp_error(state, "-e: %s has no events: see ntklog list", argument);
		top->groups = argument;
		return 0;
	case 'd':
		top->interval_s = strtod(argument, &end);
		if (end == argument || *end || !(top->interval_s >= .1))
			argp_error(state, "-d: \"%s\" is not 0.1 seconds or more", argument);
		return 0;
	case 'n':
		top->rows_max = strtoul(argument, &end, 10);
		if (!top->rows_max || *end || *argument == '-')
			argp_error(state, "-n: \"%s\" is no number of rows", argument);
		return 0;
	case OPTION_ONCE:
		top->prints_once = true;
		top->screen.is_printed_once = true;
		return 0;
	case OPTION_JSON:
		top->prints_json = true;
		return 0;
	case OPTION_ADDRESSES:
		top->keys.view.sums_by_address = true;
		return 0;
	case OPTION_BY:
		top->keys.view.has_waiters = true;
		top->keys.view.attribute = charge_find_attribute(argument);
		if (top->keys.view.attribute == CHARGE_ATTRIBUTES)
			argp_error(state, "--by: \"%s\" is not " CHARGE_BY_NAMES, argument);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "the argument \"%s\" is not understood", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option top_options[] = {
	{ "events", 'e', "GROUP,...", 0,
	  "Record these events: names and defaults as of ntklog record",
	  0 },
	{ "delay", 'd', "SECONDS", 0, "Time between two screens (1)", 0 },
	{ "rows", 'n', "COUNT", 0, "Rows of each table (as many as fit)", 0 },
	{ "once", OPTION_ONCE, NULL, 0, "Print one interval, and end", 0 },
	{ "addresses", OPTION_ADDRESSES, NULL, 0, "Show each lock by itself, not by its class", 0 },
	{ "by", OPTION_BY, "ATTRIBUTE", 0,
	  "Show the tasks that waited and those that held the lock meanwhile, by caller, function, task, stack, thread, process, cgroup, cpu or irql",
	  0 },
	{ "json", OPTION_JSON, NULL, 0, "Print a JSON object for each interval, on a line", 0 },
	{ 0 }
};

static const struct argp top_argp = {
	.options = top_options,
	.parser = parse_option,
	.doc = "Show the locks that are waited for most, each second anew. It uses a session\n"
	       "of its own; others go on. The columns are those of ntklog report. Below the\n"
	       "tables are the longest waits that go on, with the holders. Keys on a terminal:\n"
	       "s sort, f filter by name, p processes that wait, t threads that wait, a locks\n"
	       "one by one, space pause, h help, q quit.",
};

/**
 * command_top() - ntklog top
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_top(int argc, char **argv)
{
	static struct top top = { .interval_s = 1, .live_sums.recording = RECORDING_NONE };

	argp_parse(&top_argp, argc, argv, 0, NULL, &top);
	return run_top(&top);
}
