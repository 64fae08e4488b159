/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHILD_H
#define _NTKLOG_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * @pid: process of @command; 0: none
 * @was_signalled: child_end() has sent SIGTERM to the process
 * @has_terminal: the process is in the foreground of the terminal
 */
struct child_process {
	char **command;
	pid_t pid;
	int wait_status;
	bool was_signalled;
	bool has_terminal;
};

int child_start(struct child_process *child, const sigset_t *signals, bool output_is_trace);
bool child_take_signals(struct child_process *child, int signal_fd);
void child_end(struct child_process *child, int signal_fd);
int child_exit_status(const struct child_process *child);
int child_run_exec(const char *command, const char *path, const sigset_t *mask);

#endif /* _NTKLOG_CHILD_H */
