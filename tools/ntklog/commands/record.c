// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntklog record: a session, from its start to its stop, in a file. The first buffer is
 * written at once, and again at the end with the final numbers; the others follow in
 * order. So the file can be read whenever the recording ends, in whatever way.
 */

#define _GNU_SOURCE

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "drain.h"
#include "kernel.h"
#include "linux_mode.h"
#include "message.h"
#include "names_writer.h"
#include "session.h"
#include "session_argp.h"
#include "signals.h"
#include "trace_create.h"

enum {
	OPTION_DURATION = 0x100,
	OPTION_SESSION,
	OPTION_NO_NAMES,
	OPTION_MODE,
};

/* Between two looks at the clock, the counts, and what changes slowly. */
#define TICK_MS		200
#define PROGRESS_TICKS	3
#define SLOW_TICKS	5

/* What a command that is told to end has for it. */
#define GRACE_S		5

/*
 * @settings: of the session
 * @path: of the file
 * @duration: seconds; 0: no end
 * @session: its number; -1: a free one
 * @no_names: write none
 * @linux_mode: how Linux' own locks are watched; NULL: as the module is set
 * @old_linux_mode: how they were before
 * @command: to run, or NULL
 * @fd: of the file; -1: not made yet
 * @is_stream: it is written in one go: a pipe, or the standard output
 * @drain: of the session
 * @bytes: in the file
 * @child: that runs the command; 0: none
 * @child_status: of wait(), when it has ended
 * @has_ended_child: it was told to end
 * @has_terminal: it has been given the terminal
 * @names: written beside the file
 */
struct recording {
	struct session_settings settings;
	const char *path;
	double duration;
	int session;
	bool no_names;
	const char *linux_mode;
	char old_linux_mode[KERNEL_TEXT];
	char **command;
	int fd;
	bool is_stream;
	struct drain drain;
	uint64_t bytes;
	pid_t child;
	int child_status;
	bool has_ended_child;
	bool has_terminal;
	struct names_writer names;
};

static int write_at(struct recording *recording, const unsigned char *buffer, size_t size,
		    uint64_t offset)
{
	size_t written = 0;

	while (written < size) {
		ssize_t n = recording->is_stream ?
			write(recording->fd, buffer + written, size - written) :
			pwrite(recording->fd, buffer + written, size - written,
			       offset + written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			message("%s: %s", recording->path, strerror(errno));
			return -1;
		}
		written += n;
	}
	return 0;
}

static int write_buffer(void *argument, unsigned char *buffer, size_t size)
{
	struct recording *recording = argument;

	if (write_at(recording, buffer, size, recording->bytes))
		return -1;
	recording->bytes += size;
	if (!recording->no_names)
		names_writer_take(&recording->names, buffer);
	return 0;
}

static int drop_buffer(void *argument, unsigned char *buffer, size_t size)
{
	return 0;
}

/*
 * What is no file is opened before the session begins: a pipe waits for its reader. So is
 * a file behind the standard output: where it is written, and what else, is not ours.
 */
static int open_stream(struct recording *recording)
{
	bool is_standard = !strcmp(recording->path, "-");
	struct stat status;

	if (is_standard) {
		if (isatty(STDOUT_FILENO)) {
			message("-o -: the standard output is a terminal: redirect it");
			return -1;
		}
		recording->path = "standard output";
		recording->fd = dup(STDOUT_FILENO);
	} else if (!stat(recording->path, &status) && !S_ISREG(status.st_mode) &&
		   !S_ISDIR(status.st_mode)) {
		recording->fd = open(recording->path, O_WRONLY | O_CLOEXEC);
	} else {
		return 0;
	}
	if (recording->fd < 0) {
		message("%s: %s", recording->path, strerror(errno));
		return -1;
	}
	recording->is_stream = is_standard || lseek(recording->fd, 0, SEEK_CUR) < 0;
	/* There is no file that they would be beside. */
	recording->no_names = true;
	return 0;
}

static int write_header(struct recording *recording)
{
	size_t size;
	unsigned char *header = drain_read_header(recording->session, &size);
	int err;

	if (!header)
		return -1;
	recording->drain.buffer_size = size;
	/*
	 * The file is made when there is something to put in it, and the names' file when
	 * this one could be. The numbers of a stream stay those of the start.
	 */
	if (recording->is_stream && recording->bytes)
		err = 0;
	else if (recording->fd < 0)
		err = trace_create(recording->path, &recording->fd) ||
		      write_at(recording, header, size, 0) ||
		      (!recording->no_names && names_writer_open(&recording->names,
								 recording->path, header, size));
	else
		err = write_at(recording, header, size, 0);
	free(header);
	if (!err && !recording->bytes)
		recording->bytes = size;
	return err ? -1 : 0;
}

/*
 * The command has a process group of its own, so that its children end with it, and the
 * terminal, if that is ours to give.
 */
static void give_terminal(pid_t group)
{
	sighandler_t handler = signal(SIGTTOU, SIG_IGN);

	tcsetpgrp(STDIN_FILENO, group);
	signal(SIGTTOU, handler);
}

static int start_command(struct recording *recording, const sigset_t *signals)
{
	int err;

	recording->has_terminal = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
	recording->child = fork();
	if (recording->child < 0) {
		message("%s: %s", recording->command[0], strerror(errno));
		return -1;
	}
	/* Whoever is first. */
	if (recording->child) {
		setpgid(recording->child, recording->child);
		return 0;
	}
	setpgid(0, 0);
	if (recording->has_terminal)
		give_terminal(getpid());
	/* What it prints is no part of the trace. */
	if (recording->is_stream)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	execvp(recording->command[0], recording->command);
	err = errno;
	message("%s: %s", recording->command[0], strerror(err));
	_exit(err == ENOENT ? 127 : 126);
}

static void print_progress(const struct recording *recording, double seconds)
{
	struct session_counts counts;

	if (session_counts(recording->session, &counts))
		return;
	/* Blanks over what was longer. */
	fprintf(stderr,
		"\r%.1f s, %" PRIu64 " events, %.1f MB, %" PRIu64 " lost      ", seconds,
		counts.generated, (double)recording->bytes / 1e6, counts.lost);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Has the command ended? */
static bool take_child(struct recording *recording)
{
	int status;

	if (recording->child <= 0 || waitpid(recording->child, &status, WNOHANG | WUNTRACED) !=
	    recording->child)
		return false;
	if (WIFSTOPPED(status)) {
		/* A recording does not pause, and nobody else could let it go on. */
		kill(-recording->child, SIGCONT);
		return false;
	}
	recording->child_status = status;
	recording->child = 0;
	return true;
}

/* Whether a signal says that it is time to stop. */
static bool take_signals(struct recording *recording, int signal_fd)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD || take_child(recording))
			stop = true;
	return stop;
}

/* Until it is time to stop; -1 after a message. */
static int record_events(struct recording *recording, int signal_fd)
{
	bool progress = isatty(STDERR_FILENO);
	double start = now(), tick = start;
	unsigned int ticks = 0;
	int got;

	for (;;) {
		got = drain_wait(&recording->drain, signal_fd, TICK_MS);
		if (got < 0 || drain_read_ready(&recording->drain))
			return -1;
		if (got && take_signals(recording, signal_fd))
			return 0;
		if (recording->duration > 0 && now() - start >= recording->duration)
			return 0;
		if (now() - tick < TICK_MS / 1e3)
			continue;
		tick = now();
		if (progress && ticks % PROGRESS_TICKS == 0)
			print_progress(recording, tick - start);
		if (ticks++ % SLOW_TICKS)
			continue;
		if (!recording->no_names)
			names_writer_update(&recording->names);
		/* Processors may have come up, and somebody else may have stopped it. */
		if (drain_read(&recording->drain))
			return -1;
		if (!session_is_started(recording->session)) {
			message("session %d was stopped by somebody else",
				recording->session);
			return 0;
		}
	}
}

/* With all of its group; a second signal, or some seconds, and it has no choice. */
static void end_command(struct recording *recording, int signal_fd)
{
	struct pollfd fd = { .fd = signal_fd, .events = POLLIN };
	pid_t group = recording->child;
	double start = now();
	bool killed = false;

	if (recording->child > 0) {
		recording->has_ended_child = true;
		kill(-group, SIGTERM);
	}
	while (recording->child > 0) {
		bool again = poll(&fd, 1, TICK_MS) > 0 && take_signals(recording, signal_fd);

		if (recording->child <= 0 || killed || (!again && now() - start < GRACE_S))
			continue;
		message("%s has not ended 5 seconds after SIGTERM: it is killed",
			recording->command[0]);
		kill(-group, SIGKILL);
		killed = true;
	}
	if (recording->has_terminal)
		give_terminal(getpgrp());
}

static void print_end(const struct recording *recording)
{
	struct session_counts counts;

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (session_counts(recording->session, &counts))
		return;
	message("%s: %" PRIu64 " events in %" PRIu64 " buffers, %.1f MB; %" PRIu64 " lost",
		recording->path, counts.written, counts.finished,
		(double)recording->bytes / 1e6, counts.lost);
	if (counts.lost)
		message("to lose fewer events: more or larger buffers (-n, -b), or ntklog set");
	if (recording->drain.missing)
		message("%" PRIu64 " buffers are missing: another process may have read them",
			recording->drain.missing);
}

/* With the session started; stops it in any case. */
static int record_session(struct recording *recording)
{
	sigset_t signals;
	int signal_fd, err;

	signal_fd = signals_open(&signals, SIGCHLD);
	recording->drain.session = recording->session;
	recording->drain.give = write_buffer;
	recording->drain.argument = recording;
	err = signal_fd < 0 ? -1 : write_header(recording);
	if (!err)
		err = drain_open(&recording->drain, recording->session,
				 recording->drain.buffer_size);
	if (!err && recording->command)
		err = start_command(recording, &signals);
	if (!err)
		err = record_events(recording, signal_fd);
	if (session_is_started(recording->session) && session_stop(recording->session))
		err = -1;
	end_command(recording, signal_fd);
	/* Of a recording that has failed the rest is dropped: the session is free again. */
	if (err)
		recording->drain.give = drop_buffer;
	if (drain_finish(&recording->drain))
		err = -1;
	if (!err)
		err = write_header(recording);
	drain_close(&recording->drain);
	if (signal_fd >= 0)
		close(signal_fd);
	return err;
}

static int exit_status(const struct recording *recording)
{
	/* What was told to end has done so. */
	if (!recording->command || recording->has_ended_child)
		return NTKLOG_OK;
	if (WIFEXITED(recording->child_status))
		return WEXITSTATUS(recording->child_status);
	return 128 + WTERMSIG(recording->child_status);
}

/*
 * After the mode, the groups that nobody has named: it is one thing what can be redirected and
 * another what waits, and the module tells what there is in the mode that it is in.
 */
static int start_session(const struct recording *recording)
{
	struct session_settings groups = { 0 };

	if (!recording->settings.groups) {
		groups.groups = session_default_groups();
		if (session_configure(recording->session, &groups))
			return -1;
	}
	return session_start(recording->session);
}

/* What has been recorded has its mode; else the module is left in the one that it was in. */
static int record_in_mode(struct recording *recording)
{
	const char *mode = recording->linux_mode;
	int err;

	if (mode && session_set_linux_mode(mode))
		return -1;
	err = start_session(recording);
	if (!err) {
		err = record_session(recording);
		print_end(recording);
	}
	if (err && mode && !recording->bytes)
		session_set_linux_mode(recording->old_linux_mode);
	return err;
}

static int run(struct recording *recording)
{
	int err;

	if (kernel_check())
		return NTKLOG_FAILED;
	if (recording->linux_mode &&
	    session_get_linux_mode(recording->linux_mode, recording->old_linux_mode))
		return NTKLOG_FAILED;
	if (recording->session < 0)
		recording->session = session_find_free();
	if (recording->session < 0 ||
	    session_configure(recording->session, &recording->settings))
		return NTKLOG_FAILED;
	/* It is told by the write. */
	signal(SIGPIPE, SIG_IGN);
	if (open_stream(recording))
		return NTKLOG_FAILED;
	/* Before the start: reading all symbols takes a while. */
	if (!recording->no_names && names_writer_prepare(&recording->names))
		return NTKLOG_FAILED;
	err = record_in_mode(recording);
	if (names_writer_close(&recording->names))
		err = -1;
	if (recording->fd >= 0 && close(recording->fd)) {
		message("%s: %s", recording->path, strerror(errno));
		err = -1;
	}
	return err ? NTKLOG_FAILED : exit_status(recording);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct recording *recording = state->input;
	uint32_t mode;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &recording->settings;
		return 0;
	case ARGP_KEY_END:
		if (recording->settings.groups &&
		    !session_has_events(recording->settings.groups))
			argp_error(state, "-e: %s has no events: nothing would be recorded",
				   recording->settings.groups);
		return 0;
	case 'o':
		recording->path = argument;
		return 0;
	case OPTION_DURATION:
		recording->duration = strtod(argument, &end);
		if (end == argument || *end || !(recording->duration > 0))
			argp_error(state, "--duration: \"%s\" is no number of seconds",
				   argument);
		return 0;
	case OPTION_SESSION:
		recording->session = strtol(argument, &end, 10);
		if (end == argument || *end || recording->session < 0 ||
		    recording->session >= KERNEL_SESSIONS)
			argp_error(state, "--session: \"%s\" is not 0 to %d", argument,
				   KERNEL_SESSIONS - 1);
		return 0;
	case OPTION_NO_NAMES:
		recording->no_names = true;
		return 0;
	case OPTION_MODE:
		if (!linux_mode_find(argument, &mode))
			argp_error(state, "--mode: \"%s\" is not full, sampled or waits", argument);
		recording->linux_mode = argument;
		return 0;
	case ARGP_KEY_ARG:
		/* All that follows is the command's. */
		recording->command = &state->argv[state->next - 1];
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
	  "How Linux' own spin locks and rwlocks are recorded from now on: full, sampled (cheaper: no depth, no hold threshold) or waits (hardly any cost: no holds). Without this option: as the module is set",
	  0 },
	{ 0 }
};

static const struct argp record_argp = {
	.options = record_options,
	.children = session_argp_children,
	.parser = parse_option,
	.args_doc = "[-- COMMAND [ARGUMENT...]]",
	.doc = "Record a session in an ETL file, until the command ends, the time is over, or\n"
	       "Ctrl-C. A command that still runs then gets SIGTERM, with all of its process\n"
	       "group, and after 5 seconds SIGKILL. Without options: 64 buffers of 64K for\n"
	       "each processor; the events spinlock and resource, and of Linux' own locks\n"
	       "those that the running kernel allows (ntklog list prints the reasons).\n"
	       "In the modes sampled and waits Linux' locks that sleep are left out, because\n"
	       "they are tracked in full in every mode. Context switches are recorded only if\n"
	       "contextswap is named.\n"
	       "\vThe file holds NT's events alone, as Windows writes them, in the order of the\n"
	       "buffers' sequence numbers. FILE.names beside it holds names: of the kernel's\n"
	       "functions and variables, of locks, and of threads; dump and report read it.\n"
	       "If the recording is killed, the file can be read up to about a second before;\n"
	       "the session goes on until ntklog stop. An earlier FILE is kept as FILE.old.\n"
	       "A FILE that is a pipe, or \"-\", the standard output, has no names, and its\n"
	       "first buffer lacks the numbers that are known only at the end.\n\n"
	       "Exit status: that of the command, if it has ended by itself (127: it was not\n"
	       "found; 128 + N: signal N has ended it); otherwise 0. 1: nothing could be\n"
	       "recorded. 2: wrong usage.",
};

/**
 * command_record() - ntklog record
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_status, or the status of the command that was run.
 */
int command_record(int argc, char **argv)
{
	struct recording recording = {
		.settings = {
			.buffer_size = 64 << 10,
			.buffers = 64,
			/* A recording that is killed lacks no more than twice this. */
			.flush_ms = 1000,
			.mode = "sequential",
			.stacks = SESSION_STACKS_NONE,
		},
		.path = "ntklog.etl",
		.session = -1,
		.fd = -1,
	};

	argp_parse(&record_argp, argc, argv, ARGP_IN_ORDER, NULL, &recording);
	return run(&recording);
}
