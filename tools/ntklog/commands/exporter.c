// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "exporter.h"
#include "kernel.h"
#include "message.h"
#include "rates.h"
#include "signals.h"

enum {
	OPTION_LISTEN = 0x100,
	OPTION_TEXTFILE,
	OPTION_INTERVAL,
	OPTION_TOP,
	OPTION_BUDGET,
	OPTION_MODE,
};

#define DEFAULT_LISTEN		"127.0.0.1:10529"
#define DEFAULT_INTERVAL_S	10
#define DEFAULT_SERIES		50
#define SERIES_MAX			10000
#define DEFAULT_BUDGET		.01
#define DEFAULT_MODE		"sampled"

/* Seconds after which connections that have timed out are looked for. */
#define TICK_S			1

static int write_file(struct exporter *exporter)
{
	size_t size;
	const char *text;

	if (!exporter->textfile.path)
		return 0;
	text = exporter_metrics_text(exporter, false, &size);
	if (!text) {
		message("%s: %s", exporter->textfile.path, strerror(ENOMEM));
		return -1;
	}
	return exporter_textfile_write(&exporter->textfile, text, size);
}

static void add_sums(struct exporter *exporter)
{
	struct live_sums *live = &exporter->live_sums;

	analysis_finish(&live->analysis);
	lock_metrics_add(&exporter->lock_metrics, &live->analysis, live->file);
	if (exporter->lock_metrics.no_memory)
		message("no memory for all metrics: the sums of an interval are too small");
	exporter->lock_metrics.no_memory = false;
	exporter->loss.damaged_event_count += live_sums_count_left_out(live);
	live_sums_reset(live);
}

static int begin_sums(struct exporter *exporter)
{
	return live_sums_begin(&exporter->live_sums) ||
	       live_sums_charge(&exporter->live_sums, CHARGE_BY_FUNCTION) ? -1 : 0;
}

/*
 * A session writes the rates when they change. If another command has changed them, sum up the
 * events before the change with the former rates, and those after it with the new ones. The files
 * of the module may have later ones by now, so the rates come from the event.
 */
static void take_event(void *argument, const struct etl_event *event)
{
	struct exporter *exporter = argument;
	struct analysis *analysis = &exporter->live_sums.analysis;
	struct rates rates = { analysis->spinlocks.rates, analysis->resources.rates };

	if (!hook_is_rates_start(event->hook_id) || !rates_add_rundown(&rates, event))
		return;
	if (analysis->event_count) {
		add_sums(exporter);
		/* After a failure, which the next interval reports again, waits are not charged. */
		begin_sums(exporter);
	}
	analysis->spinlocks.rates = rates.spinlock;
	analysis->resources.rates = rates.resource;
}

/* Test whether a signal has come that ends the command. */
static bool has_ended(const struct exporter *exporter)
{
	struct signalfd_siginfo info;

	return read(exporter->live_sums.recording.signal_fd, &info, sizeof(info)) == sizeof(info);
}

/* Returns 0; 1 if a signal ended the interval early; -1 after a message. */
static int gather_interval(struct exporter *exporter, double end)
{
	struct recording *recording = &exporter->live_sums.recording;
	double next;
	int got = 0;

	if (begin_sums(exporter))
		return -1;
	while (got >= 0 && read_monotonic_seconds() < end) {
		next = read_monotonic_seconds() + TICK_S;
		got = recording_follow(recording, next < end ? next : end);
		exporter_http_serve(&exporter->http);
		if (got > 0 && has_ended(exporter))
			return 1;
	}
	return got < 0 || live_sums_read_all(&exporter->live_sums) ? -1 : 0;
}

static int update_metrics(struct exporter *exporter, double seconds)
{
	struct timespec now;

	add_sums(exporter);
	if (exporter_count_interval(exporter, seconds) ||
	    live_sums_refresh_symbols(&exporter->live_sums) || exporter_keep_budget(exporter))
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	exporter->update_time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	exporter->update_count++;
	exporter_drop_text(exporter);
	/* The file may be on a file system that is full now and not later. */
	write_file(exporter);
	return 0;
}

static int follow_session(struct exporter *exporter)
{
	double start = read_monotonic_seconds();
	int got;

	exporter->counted_cpu_seconds = exporter_cpu_seconds();
	for (;;) {
		uint64_t changes =
			exporter->budget_change_counts[BUDGET_DOWN] +
			exporter->budget_change_counts[BUDGET_UP];

		got = gather_interval(exporter, start + exporter->interval_s);
		if (got)
			return got < 0 ? -1 : 0;
		if (update_metrics(exporter, read_monotonic_seconds() - start))
			return -1;
		start = read_monotonic_seconds();
		/* The CPU time of attaching and detaching hooks counts for no interval. */
		if (changes !=
		    exporter->budget_change_counts[BUDGET_DOWN] +
		    exporter->budget_change_counts[BUDGET_UP])
			exporter->counted_cpu_seconds = exporter_cpu_seconds();
	}
}

static int open_outputs(struct exporter *exporter)
{
	struct epoll_event event = { .events = EPOLLIN };

	exporter->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (exporter->wake_fd < 0) {
		message("epoll_create1: %s", strerror(errno));
		return -1;
	}
	if (exporter->textfile.path && exporter_textfile_check(&exporter->textfile))
		return -1;
	if (!exporter->listen_address)
		return 0;
	exporter->http.get_text = exporter_metrics_text;
	exporter->http.argument = exporter;
	if (exporter_http_open(&exporter->http, exporter->listen_address))
		return -1;
	if (epoll_ctl(exporter->wake_fd, EPOLL_CTL_ADD, exporter_http_fd(&exporter->http),
		      &event)) {
		message("epoll_ctl: %s", strerror(errno));
		return -1;
	}
	return 0;
}

/* Reserve the settings of the module. Returns a descriptor, or -1 after a message. */
static int lock_settings(void)
{
	int lock = settings_lock();

	if (lock >= 0)
		return lock;
	if (lock == -EWOULDBLOCK)
		message("another ntklog exporter changes the module's settings: stop it first (systemctl stop ntklog-exporter)");
	else
		message("%s: %s", kernel_directory(), strerror(-lock));
	return -1;
}

static int run_exporter(struct exporter *exporter)
{
	int err, lock;

	if (kernel_check())
		return NTKLOG_FAILED;
	/* Before all else: the outputs may be those of the other exporter. */
	lock = lock_settings();
	if (lock < 0)
		return NTKLOG_FAILED;
	/* Let a write fail with an error, so that the settings are restored. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signals_block();
	exporter->live_sums.before_event = take_event;
	exporter->live_sums.argument = exporter;
	err = open_outputs(exporter) || live_sums_prepare(&exporter->live_sums) ||
	      counters_read(&exporter->counters) || exporter_begin_settings(exporter) ||
	      exporter_start_session(exporter);
	if (!err) {
		exporter_drop_text(exporter);
		err = write_file(exporter);
	}
	if (!err) {
		if (exporter->listen_address)
			message("the metrics are at http://%s/metrics", exporter->listen_address);
		err = follow_session(exporter);
	}
	/* A signal during a change of the mode ends the command as any other does. */
	if (err && signals_have_interrupted(&exporter->live_sums.recording.signals))
		err = 0;
	live_sums_stop(&exporter->live_sums);
	exporter_restore_settings(exporter);
	close(lock);
	/* Metrics of a recording that has ended would look like those of a quiet machine. */
	exporter_textfile_remove(&exporter->textfile);
	exporter_http_close(&exporter->http);
	if (exporter->wake_fd >= 0)
		close(exporter->wake_fd);
	live_sums_close(&exporter->live_sums);
	lock_metrics_free(&exporter->lock_metrics);
	counters_free(&exporter->counters);
	exporter_drop_text(exporter);
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}

static double parse_budget(const char *text, struct argp_state *state)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%") || !(percent > 0) || percent > 100)
		argp_error(state, "--budget: \"%s\" is not a percentage of up to 100%%, such as 0.5%%",
			   text);
	return percent / 100;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct exporter *exporter = state->input;
	struct perfinfo_groupmask mask;
	char *end;
	int mode;

	switch (key) {
	case 'e':
		if (session_parse_groups(argument, &mask))
			argp_usage(state);
		if (!session_groups_have_events(argument))
			argp_error(state, "-e: %s has no events: see ntklog list", argument);
		exporter->groups = argument;
		return 0;
	case OPTION_LISTEN:
		if (!exporter_http_is_address(argument))
			argp_error(state, "--listen: \"%s\" is not ADDRESS:PORT, such as "
				   DEFAULT_LISTEN, argument);
		exporter->listen_address = argument;
		return 0;
	case OPTION_TEXTFILE:
		exporter->textfile.path = argument;
		return 0;
	case OPTION_INTERVAL:
		exporter->interval_s = strtod(argument, &end);
		if (end == argument || *end || !(exporter->interval_s >= .1))
			argp_error(state, "--interval: \"%s\" is not 0.1 seconds or more",
				   argument);
		return 0;
	case OPTION_TOP:
		exporter->lock_metrics.series_limit = strtoul(argument, &end, 10);
		if (!exporter->lock_metrics.series_limit || *end || *argument == '-' ||
		    exporter->lock_metrics.series_limit > SERIES_MAX)
			argp_error(state, "--top: \"%s\" is not 1 to %d", argument, SERIES_MAX);
		return 0;
	case OPTION_BUDGET:
		exporter->budget.overhead_limit = parse_budget(argument, state);
		return 0;
	case OPTION_MODE:
		mode = exporter_find_mode(argument);
		if (mode < 0)
			argp_error(state, "--mode: \"%s\" is not full, sampled or waits", argument);
		exporter->richest_mode = mode;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "the argument \"%s\" is not understood", argument);
		return 0;
	case ARGP_KEY_END:
		if (!exporter->listen_address && !exporter->textfile.path)
			exporter->listen_address = DEFAULT_LISTEN;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option exporter_options[] = {
	{ "listen", OPTION_LISTEN, "ADDRESS:PORT", 0,
	  "Offer the metrics by HTTP at this address (" DEFAULT_LISTEN ", unless --textfile is given)",
	  0 },
	{ "textfile", OPTION_TEXTFILE, "FILE", 0,
	  "Write the metrics to this file, for node_exporter's textfile collector", 0 },
	{ "interval", OPTION_INTERVAL, "SECONDS", 0, "Time between two updates (10)", 0 },
	{ "events", 'e', "GROUP,...", 0,
	  "Record these events, with the names of ntklog record; without this option those of all locks that the kernel allows",
	  0 },
	{ "mode", OPTION_MODE, "MODE", 0,
	  "Record at most this of Linux' spin locks and rwlocks: full, sampled or waits (sampled)",
	  0 },
	{ "budget", OPTION_BUDGET, "PERCENT", 0,
	  "Keep the overhead below this share of the time of all CPUs, such as 0.5% (1%)", 0 },
	{ "top", OPTION_TOP, "COUNT", 0,
	  "Most classes of locks, and most holders, that have series of their own (50)", 0 },
	{ 0 }
};

static const struct argp exporter_argp = {
	.options = exporter_options,
	.parser = parse_option,
	.doc = "Record all the time, and offer Prometheus metrics by class and kind of lock:\n"
	       "acquisitions, waits, holds, and the waiting that is charged to functions that\n"
	       "held the lock. Counts are estimates from a sample. If the recording costs more\n"
	       "than the budget, rates go up, or the mode becomes a cheaper one; later less or\n"
	       "more again. At the end the settings of the module are restored.\n"
	       "\vExit status: 0: a signal has ended it. 1: nothing could be recorded, or the\n"
	       "outputs cannot be opened. 2: wrong usage.",
};

/**
 * command_exporter() - ntklog exporter
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_exporter(int argc, char **argv)
{
	static struct exporter exporter = {
		.interval_s = DEFAULT_INTERVAL_S,
		.live_sums.recording = RECORDING_NONE,
		.lock_metrics.series_limit = DEFAULT_SERIES,
		.budget.overhead_limit = DEFAULT_BUDGET,
		.wake_fd = -1,
		.mode_setting.file = "linux_mode",
		.rate_settings = {
			[EXPORTER_SPINLOCK_ACQUIRE].setting.file = "spinlock/acquire_sample_rate",
			[EXPORTER_SPINLOCK_CONTENTION].setting.file =
				"spinlock/contention_sample_rate",
			[EXPORTER_SPINLOCK_BLOCKERS].setting.file = "spinlock/blockers",
			[EXPORTER_RESOURCE_RELEASE].setting.file = "resource/release_sample_rate",
			[EXPORTER_RESOURCE_CONTENTION].setting.file =
				"resource/contention_sample_rate",
		},
	};

	exporter.richest_mode = exporter_find_mode(DEFAULT_MODE);
	argp_parse(&exporter_argp, argc, argv, 0, NULL, &exporter);
	return run_exporter(&exporter);
}
