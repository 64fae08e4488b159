// SPDX-License-Identifier: GPL-2.0-only
/* ntklog top: show the locks that are waited for most, now. */

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command.h"
#include "etl_reader.h"
#include "kernel.h"
#include "linux_mode.h"
#include "message.h"
#include "parameter.h"
#include "session.h"
#include "top.h"

enum {
	OPTION_JSON = 0x100,
	OPTION_ONCE,
	OPTION_ADDRESSES,
	OPTION_BY,
};

/* Most locks whose classes are kept before all notes are read anew. */
#define LOCKS_MAX	262144

/* Seconds between two looks for keys. */
#define KEYS_S		.1

/* Upper limit of the first interval after a key has changed the view, seconds. */
#define NEW_VIEW_MAX_S	1

static int take_event(void *argument, const struct etl_event *event)
{
	struct top *top = argument;
	const struct stack *stack;
	int err = 0;

	top_tasks_take(top, event);
	if (!top->stacks)
		return analysis_add(&top->analysis, top->file, event, NULL);
	stacks_add(top->stacks, event);
	while (!err && (event = stacks_next_pending(top->stacks, &stack)))
		err = analysis_add(&top->analysis, top->file, event, stack);
	return err;
}

static int tell_damage(const struct top *top)
{
	message("session %d: %s", top->recording.session, top->file->error);
	return -1;
}

static int take_buffer(void *argument, unsigned char *buffer, size_t size)
{
	struct top *top = argument;

	return event_order_add(&top->order, buffer, size) ? tell_damage(top) : 0;
}

/*
 * Read how Linux' locks are recorded, as the rundown of a file has it. A setting that an older
 * module does not have stays 0.
 */
static int take_rules(struct spinlock_rates *rates)
{
	const char *name = "linux_mode";
	char mode[KERNEL_TEXT];
	int err = kernel_read(mode, sizeof(mode), "%s", name);

	if (!err) {
		rates->has_rules = linux_mode_find(mode, &rates->linux_mode);
		err = rates->has_rules ? 0 : -EINVAL;
	}
	if (!err) {
		name = "blockers";
		err = parameter_get("spinlock", name, &rates->blocker_rate);
	}
	if (!err || err == -ENOENT)
		return 0;
	message("%s: %s", name, strerror(-err));
	return -1;
}

/* Read the present rates of sampling, which may change from one interval to the next. */
static int take_rates(struct top *top)
{
	struct spinlock_rates *spinlock = &top->analysis.spinlocks.rates;
	struct resource_rates *resource = &top->analysis.resources.rates;
	uint32_t values[PARAMETERS_MAX];

	if (parameter_group_get(parameter_group_find("spinlock"), values))
		return -1;
	*spinlock = (struct spinlock_rates) {
		.known = 1,
		.spin_threshold = values[0],
		.acquire_rate = values[1],
		.contention_rate = values[2],
		.hold_threshold = values[3],
	};
	if (take_rules(spinlock))
		return -1;
	if (parameter_group_get(parameter_group_find("resource"), values))
		return -1;
	*resource = (struct resource_rates) {
		.known = 1,
		.release_rate = values[0],
		.contention_rate = values[1],
		.timeouts = values[2],
	};
	return 0;
}

static void take_note(void *argument, const struct class_note *note)
{
	struct top *top = argument;

	if (!names_add_lock(&top->symbols.names, note->address, note->time, note->class))
		top->has_new_class = true;
}

/* Read notes before the events of the locks that they are about. */
static void read_notes(void *argument)
{
	struct top *top = argument;

	top->has_new_class = false;
	identities_read(&top->identities, take_note, top);
	if (top->has_new_class)
		names_sort_locks(top->symbols.names);
	top_tasks_read_notes(top);
}

/* Make the tables of the interval that has ended. */
static void make_tables(struct top *top, const struct ntklog_session_counts *counts)
{
	struct report *report = &top->shown;
	size_t i;

	report_free(report);
	*report = (struct report) {
		.file = top->file,
		.analysis = &top->analysis,
		.names = top->symbols.names,
		.seconds = top->seconds,
		.sums_waiters = true,
	};
	top->shown_view = top->view;
	top->events = counts->generated - top->before.generated;
	top->lost = counts->lost - top->before.lost;
	analysis_finish(&top->analysis);
	report_make(report);
	/* JSON has all columns. */
	if (!top->json)
		top_show_rates(report);
	for (i = 0; top->json && i < REPORT_TABLES; i++) {
		table_insert_errors(&report->tables[i]);
		table_sort(&report->tables[i]);
	}
}

/* Show the tables, unless another job has the terminal. */
static void draw(struct top *top)
{
	if (top->screen.is_printed_once || top_screen_is_visible())
		top_print_screen(top);
}

/* Test for a write to a pipe that has no reader any more. */
static bool has_lost_reader(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGPIPE);
}

/* Free the sums of an interval, but keep the holds that later waits are charged to. */
static void free_sums(struct top *top)
{
	struct charges *charges = top->analysis.charges.charges;

	top->analysis.charges.charges = NULL;
	analysis_free(&top->analysis);
	top->analysis.charges.charges = charges;
}

static int show_interval(struct top *top)
{
	struct top_keys *keys = &top->keys;
	struct ntklog_session_counts counts;
	int got = symbols_update(&top->symbols);

	if (got < 0 || recording_counts(&top->recording, &counts))
		return -1;
	if (got)
		identities_refresh_classes(&top->identities);
	/* If a key has changed the view meanwhile, do not show this interval of the former view. */
	if (top_view_is_same(&top->view, &keys->view)) {
		if (!keys->is_paused || !top->shown.seconds)
			make_tables(top, &counts);
		if (top->json)
			top_print_object(top);
		else if (!keys->is_paused || keys->has_new)
			draw(top);
		keys->has_new = false;
	}
	free_sums(top);
	top->before = counts;
	fflush(stdout);
	/* The pending signal ends the process silently after the session was stopped. */
	return has_lost_reader() ? -1 : finish_output(stdout, NULL);
}

static void leave_terminal(struct top *top)
{
	top_screen_close(&top->screen);
	top_keys_end(&top->keys);
}

/* Let a pending signal do what it does by default. */
static void deliver(int number)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, number);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

/* Stop until SIGCONT. */
static void stop(struct top *top)
{
	leave_terminal(top);
	raise(SIGTSTP);
	deliver(SIGTSTP);
}

/* Obey the signals that have come. Returns true if one of them ends the command. */
static bool take_signals(struct top *top)
{
	struct signalfd_siginfo info;
	bool ends = false, stops = false;

	while (read(top->recording.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		stops |= info.ssi_signo == SIGTSTP;
		ends |= info.ssi_signo != SIGTSTP && info.ssi_signo != SIGCONT &&
			info.ssi_signo != SIGWINCH;
	}
	if (stops && !ends)
		stop(top);
	if (ends || top->json || top->once)
		return ends;
	/* The terminal has another size, or had been left to another job. */
	top_keys_begin(&top->keys);
	if (top->shown.seconds)
		draw(top);
	return false;
}

/* Read buffers until a time, a signal or a key, which changes the screen at once. */
static int follow(struct top *top, double end)
{
	int got = 0;

	while (!got && recording_now() < end) {
		double next = recording_now() + KEYS_S;

		got = recording_follow(&top->recording,
				       top->keys.is_raw && next < end ? next : end);
		if (got > 0)
			got = take_signals(top);
		if (!got && top_keys_read(&top->keys))
			break;
	}
	return got || !top->keys.quits ? got : 1;
}

/* Charge the waits of the next interval, if the view has waiters. */
static int begin_charges(struct top *top)
{
	struct charge_sums *sums = &top->analysis.charges;

	if (!top->view.has_waiters) {
		charge_sums_finish(sums);
		return 0;
	}
	if (!charge_sums_open(sums, top->symbols.names, top->view.by, top->file->perf_freq)) {
		message("no memory for the waits of an interval");
		return -1;
	}
	sums->origin = top->file->start_clock;
	return 0;
}

/* Gather the events of one interval. Returns 1 if a signal ended it early; -1 after a message. */
static int gather_interval(struct top *top)
{
	double start = recording_now(), end = start + top->interval;
	bool is_new_view;
	int got;

	if (take_rates(top))
		return -1;
	/* Objects come and go, and the addresses of their locks with them. */
	if (names_lock_count(top->symbols.names) > LOCKS_MAX) {
		names_forget_classes(top->symbols.names);
		identities_rewind(&top->identities);
	}
	is_new_view = !top_view_is_same(&top->view, &top->keys.view);
	if (is_new_view && top->seconds && end > start + NEW_VIEW_MAX_S)
		end = start + NEW_VIEW_MAX_S;
	top->view = top->keys.view;
	top_tasks_prepare(top);
	top->analysis.names = top->symbols.names;
	top->analysis.by_address = top->view.by_address;
	if (begin_charges(top))
		return -1;
	top->analysis.origin = top->file->start_clock;
	got = follow(top, end);
	/* Events in buffers that are not full belong to the interval too. */
	if (got < 0 || recording_flush(&top->recording))
		return -1;
	if (event_order_finish(&top->order))
		return tell_damage(top);
	top->seconds = recording_now() - start;
	return got;
}

/* Test whether the session records stacks, by which waiters and holders are told apart. */
static bool records_stacks(const struct top *top)
{
	return top->keys.view.has_waiters && top->keys.view.by == CHARGE_BY_STACK;
}

/* Show intervals of a session that has just been started. */
static int show_intervals(struct top *top)
{
	struct recording *recording = &top->recording;
	size_t size;
	unsigned char *header = recording_read_header(recording, &size);
	int got = 0, err = header ? etl_attach(&top->file, "session", header, size) : -1;

	if (err && header)
		message("session %d: %s", recording->session, top->file->error);
	free(header);
	if (!err && records_stacks(top)) {
		top->stacks = stacks_open_session(top->file);
		err = top->stacks ? 0 : -1;
		if (err)
			message("no memory for stacks");
	}
	top->order.file = top->file;
	top->order.give = take_event;
	top->order.argument = top;
	recording->drain.give = take_buffer;
	recording->drain.argument = top;
	recording->before_read = read_notes;
	recording->argument = top;
	err = err || drain_open(&recording->drain, recording->fd, recording->session, size);
	while (!err && !got) {
		if (!top->json && !top->once)
			top_keys_begin(&top->keys);
		got = gather_interval(top);
		/* The rates of an interval that was cut off are not comparable. */
		err = got < 0 || (!got && show_interval(top));
		if (top->once)
			break;
	}
	leave_terminal(top);
	report_free(&top->shown);
	analysis_free(&top->analysis);
	event_order_free(&top->order);
	stacks_close(top->stacks);
	top_tasks_free(top);
	if (top->file)
		etl_close(top->file);
	return err ? -1 : 0;
}

static int run(struct top *top)
{
	static const int more_signals[] = { SIGQUIT, SIGPIPE, SIGTSTP, SIGCONT, SIGWINCH, 0 };
	struct session_settings settings = {
		.buffer_size = 64 << 10,
		.buffers = 32,
		.mode = NTKLOG_SESSION_SEQUENTIAL,
	};
	int err;

	if (kernel_check())
		return NTKLOG_FAILED;
	if (!top->groups)
		top->groups = session_default_groups();
	settings.groups = top->groups;
	if (records_stacks(top))
		settings.stacks = NTKLOG_STACKS_SPINLOCK | NTKLOG_STACKS_RESOURCE;
	/* Reading all symbols takes a while, so it precedes the start. */
	if (symbols_read(&top->symbols))
		return NTKLOG_FAILED;
	identities_open(&top->identities);
	err = recording_claim(&top->recording, -1) ||
	      recording_take_signals(&top->recording, more_signals) ||
	      recording_start(&top->recording, &settings) || show_intervals(top);
	recording_close(&top->recording);
	identities_close(&top->identities);
	symbols_free(&top->symbols);
	if (has_lost_reader())
		deliver(SIGPIPE);
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
		if (!session_has_events(argument))
			argp_error(state, "-e: %s has no events: see ntklog list", argument);
		top->groups = argument;
		return 0;
	case 'd':
		top->interval = strtod(argument, &end);
		if (end == argument || *end || !(top->interval >= .1))
			argp_error(state, "-d: \"%s\" is not 0.1 seconds or more", argument);
		return 0;
	case 'n':
		top->top = strtoul(argument, &end, 10);
		if (!top->top || *end || *argument == '-')
			argp_error(state, "-n: \"%s\" is no number of rows", argument);
		return 0;
	case OPTION_ONCE:
		top->once = true;
		top->screen.is_printed_once = true;
		return 0;
	case OPTION_JSON:
		top->json = true;
		return 0;
	case OPTION_ADDRESSES:
		top->keys.view.by_address = true;
		return 0;
	case OPTION_BY:
		top->keys.view.has_waiters = true;
		top->keys.view.by = charge_find_by(argument);
		if (top->keys.view.by == CHARGE_BYS)
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
	{ "by", OPTION_BY, "PROPERTY", 0,
	  "Show the tasks that waited and those that held the lock meanwhile, by caller, task, stack, thread, process, cgroup, cpu or irql",
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
	       "s sort, f filter by name, p processes that wait, t threads that wait, a locks one\n"
	       "by one, space pause, h help, q quit.",
};

/**
 * command_top() - ntklog top
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_status.
 */
int command_top(int argc, char **argv)
{
	static struct top top = { .interval = 1, .recording = RECORDING_NONE };

	argp_parse(&top_argp, argc, argv, 0, NULL, &top);
	return run(&top);
}
