// SPDX-License-Identifier: GPL-2.0-only
/* Signals that are read, not taken at any time. */

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

#include "message.h"
#include "signals.h"

/**
 * signals_open() - from now on read those that tell a program to end, and one more
 * @signals: which that are, for a child to let through
 * @more: the one more
 *
 * Return: a file of them that is not waited for, or -1 after a message.
 */
int signals_open(sigset_t *signals, int more)
{
	int fd;

	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, more);
	fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		message("signalfd: %s", strerror(errno));
	else
		sigprocmask(SIG_BLOCK, signals, NULL);
	return fd;
}
