/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RECORDING_H
#define _NTKLOG_RECORDING_H

/*
 * A recording: a session of the module that belongs to one open file, from the claim to the counts.
 * When the process ends, the kernel closes the file, which stops the session unless
 * recording_detach() was called. See <ntklog/session.h>.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <ntklog/session.h>

#include "drain.h"
#include "session.h"

/*
 * A claimed session.
 * @signal_fd: signalfd of @signals; -1: signals keep their default actions
 * @wake_fd: file whose input ends recording_follow(): @signal_fd, unless a caller sets another
 * @signals: signals that end the recording, and others; blocked except in recording_start()
 * @next_tick_time: read_monotonic_seconds() at which buffers of all CPUs are looked for again
 * @before_read: called before buffers are read, with @argument; NULL: nothing is called
 */
struct recording {
	int claim_fd;
	int session_number;
	int signal_fd;
	int wake_fd;
	sigset_t signals;
	struct buffer_drain drain;
	double next_tick_time;
	void (*before_read)(void *argument);
	void *argument;
};

#define RECORDING_NONE	{ .claim_fd = -1, .session_number = -1, .signal_fd = -1, .wake_fd = -1 }

double read_monotonic_seconds(void);
int recording_claim(struct recording *recording, int session_number);
int recording_adopt(struct recording *recording, int session_number);
int recording_take_signals(struct recording *recording, const int *more);
int recording_start(struct recording *recording, const struct session_settings *settings);
int recording_read_state(const struct recording *recording);
unsigned char *recording_read_header(const struct recording *recording, size_t *size);
int recording_read_counts(const struct recording *recording, struct ntklog_session_counts *counts);
int recording_follow(struct recording *recording, double end);
int recording_flush(struct recording *recording);
int recording_stop(struct recording *recording);
int recording_detach(struct recording *recording);
void recording_close(struct recording *recording);

#endif /* _NTKLOG_RECORDING_H */
