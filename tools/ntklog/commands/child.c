// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "macros.h"
#include "message.h"
#include "recording.h"
#include "status.h"

/* Seconds between SIGTERM and SIGKILL for a command that is told to end. */
#define KILL_DELAY_S	5
#define POLL_MS		200

/*
 * Put a process group in the foreground of the terminal. The command has a group of its own, so
 * that signals also end its children; it gets the terminal if this process had it.
 */
static void give_terminal(pid_t group)
{
	sighandler_t handler = signal(SIGTTOU, SIG_IGN);

	tcsetpgrp(STDIN_FILENO, group);
	signal(SIGTTOU, handler);
}

/**
 * child_start() - start the command
 * @child: its command is set
 * @signals: signals that are blocked in this process, and not in the command
 * @output_is_trace: the standard output gets the trace, so that the command's output goes to the
 *	standard error
 *
 * Return: 0, or -1 after a message.
 */
int child_start(struct child_process *child, const sigset_t *signals, bool output_is_trace)
{
	int err;

	child->has_terminal = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
	child->pid = fork();
	if (child->pid < 0) {
		message("%s: no process can be made for it: %s", child->command[0],
			strerror(errno));
		return -1;
	}
	/* Parent and child both set the group, because either may run first. */
	if (child->pid) {
		setpgid(child->pid, child->pid);
		return 0;
	}
	setpgid(0, 0);
	if (child->has_terminal)
		give_terminal(getpid());
	if (output_is_trace)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	execvp(child->command[0], child->command);
	err = errno;
	message("%s: %s", child->command[0], strerror(err));
	_exit(err == ENOENT ? 127 : 126);
}

static bool child_has_ended(struct child_process *child)
{
	int status;

	if (child->pid <= 0 ||
	    waitpid(child->pid, &status, WNOHANG | WUNTRACED) != child->pid)
		return false;
	if (WIFSTOPPED(status)) {
		/* Continue a stopped command: no shell has it as its job. */
		kill(-child->pid, SIGCONT);
		return false;
	}
	child->wait_status = status;
	child->pid = 0;
	/* An interrupt is how a user ends the command, and a reader of a pipe may want no more. */
	if (WIFSIGNALED(status) && !child->was_signalled && WTERMSIG(status) != SIGINT &&
	    WTERMSIG(status) != SIGPIPE)
		message_ended_by_signal(child->command[0], WTERMSIG(status),
					"record with fewer buffers (-n)");
	return true;
}

/**
 * child_take_signals() - read the pending signals
 * @child: the command, started or not
 * @signal_fd: signalfd of the signals that end the recording, and SIGCHLD
 *
 * Return: true if the command has ended, or another signal ends the recording.
 */
bool child_take_signals(struct child_process *child, int signal_fd)
{
	struct signalfd_siginfo info;
	bool must_end = false;

	while (read(signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD || child_has_ended(child))
			must_end = true;
	return must_end;
}

/**
 * child_end() - end the command, and ask its process group to end
 * @child: the command, started or not
 * @signal_fd: as for child_take_signals()
 *
 * The group gets SIGTERM. If the command has not ended after 5 seconds, or at a second signal, the
 * group gets SIGKILL. Other processes of the group may outlive the command.
 */
void child_end(struct child_process *child, int signal_fd)
{
	struct pollfd fd = { .fd = signal_fd, .events = POLLIN };
	pid_t group = child->pid;
	double start = read_monotonic_seconds();
	bool was_killed = false;

	if (child->pid > 0) {
		child->was_signalled = true;
		kill(-group, SIGTERM);
	}
	while (child->pid > 0) {
		bool is_second_signal = poll(&fd, 1, POLL_MS) > 0 &&
					child_take_signals(child, signal_fd);

		if (child->pid <= 0 || was_killed ||
		    (!is_second_signal && read_monotonic_seconds() - start < KILL_DELAY_S))
			continue;
		message(is_second_signal ? "%s has not ended at a second signal: it is killed" :
				"%s has not ended 5 seconds after SIGTERM: it is killed",
			child->command[0]);
		kill(-group, SIGKILL);
		was_killed = true;
	}
	if (child->has_terminal)
		give_terminal(getpgrp());
}

/**
 * child_exit_status() - get the exit status of the recording of a command
 * @child: the command, which has ended, or none
 *
 * Return: the exit status of the command, or 128 plus the number of the signal that has ended it.
 * NTKLOG_OK if there is no command, or if child_end() has ended it.
 */
int child_exit_status(const struct child_process *child)
{
	if (!child->command || child->was_signalled)
		return NTKLOG_OK;
	if (WIFEXITED(child->wait_status))
		return WEXITSTATUS(child->wait_status);
	return 128 + WTERMSIG(child->wait_status);
}

/**
 * child_run_exec() - run the shell command of --exec
 * @command: the command
 * @path: path of the file, which the command finds in its environment as NTKLOG_FILE
 * @mask: signals that are blocked from now on, here and in the command
 *
 * Return: 0, or -1 after a message.
 */
int child_run_exec(const char *command, const char *path, const sigset_t *mask)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ };
	int status;
	size_t i;

	if (setenv("NTKLOG_FILE", path, 1)) {
		message("--exec: no memory for the path of the file");
		return -1;
	}
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	status = system(command);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (status && WIFSIGNALED(status))
		message_ended_by_signal("the command of --exec", WTERMSIG(status),
					"free some for it");
	else if (status)
		message("--exec: \"%s\" has failed (status %d)", command, WEXITSTATUS(status));
	return status ? -1 : 0;
}
