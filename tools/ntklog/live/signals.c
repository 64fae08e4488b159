// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

#include "macros.h"
#include "message.h"
#include "signals.h"

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

/* Set by the handler, which runs only between signals_let_interrupt() and the function after it. */
static volatile sig_atomic_t has_interrupted;

static void note_signal(int number)
{
	has_interrupted = 1;
}

static void set_ending_signals(sigset_t *signals)
{
	size_t i;

	sigemptyset(signals);
	for (i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaddset(signals, ending_signals[i]);
}

/**
 * signals_block() - block SIGINT, SIGTERM and SIGHUP until signals_open() reads them
 */
void signals_block(void)
{
	sigset_t signals;

	set_ending_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
}

/**
 * signals_open() - block SIGINT, SIGTERM, SIGHUP and more signals, and read them from a file
 * @signals: set to the blocked signals, which a child has to unblock
 * @more: the additional signals; 0 ends them
 *
 * Return: a file descriptor whose reads do not wait, or -1 after a message.
 */
int signals_open(sigset_t *signals, const int *more)
{
	/* Without SA_RESTART a system call that the signal interrupts fails with EINTR. */
	const struct sigaction action = { .sa_handler = note_signal };
	size_t i;
	int fd;

	set_ending_signals(signals);
	for (; *more; more++)
		sigaddset(signals, *more);
	fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0) {
		message("cannot wait for signals: signalfd: %s", strerror(errno));
		return -1;
	}
	sigprocmask(SIG_BLOCK, signals, NULL);
	for (i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaction(ending_signals[i], &action, NULL);
	return fd;
}

/**
 * signals_let_interrupt() - unblock the signals, so that they interrupt system calls
 * @signals: set by signals_open()
 */
void signals_let_interrupt(const sigset_t *signals)
{
	has_interrupted = 0;
	sigprocmask(SIG_UNBLOCK, signals, NULL);
}

/**
 * signals_have_interrupted() - block the signals again, and test whether one has arrived
 * @signals: set by signals_open()
 *
 * Return: true if a signal that ends the process has arrived since signals_let_interrupt().
 */
bool signals_have_interrupted(const sigset_t *signals)
{
	sigprocmask(SIG_BLOCK, signals, NULL);
	return has_interrupted;
}
