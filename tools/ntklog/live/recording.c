// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"
#include "message.h"
#include "recording.h"
#include "signals.h"

/* Upper bound of one wait, so that buffers of CPUs that come online are found. */
#define TICK_S		.2

/* Bytes of the largest buffer. */
#define HEADER_MAX	1048576

/**
 * read_monotonic_seconds() - read the clock that times recordings
 *
 * Return: seconds of CLOCK_MONOTONIC.
 */
double read_monotonic_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report_busy(int session_number)
{
	char owner[KERNEL_TEXT];

	if (session_number < 0)
		session_report_none_is_free();
	else if (!kernel_read(owner, sizeof(owner), "sessions/%d/owner", session_number) &&
		 strcmp(owner, "none"))
		message("session %d belongs to process %s: wait for its end, or choose another session",
			session_number, owner);
	else
		message("session %d is started already: ntklog stop %d ends it", session_number,
			session_number);
}

static int open_claim(struct recording *recording, int session_number, const char *name)
{
	struct ntklog_session_info info = { .size = sizeof(info) };
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/sessions/%s", kernel_directory(), name);
	recording->claim_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (recording->claim_fd < 0 && errno == EBUSY)
		report_busy(session_number);
	else if (recording->claim_fd < 0 && errno == ENOENT)
		message("%s: the loaded module is older than this tool: load the module of version %s",
			path, NTKLOG_VERSION);
	else if (recording->claim_fd < 0 || ioctl(recording->claim_fd, NTKLOG_SESSION_INFO, &info))
		message("%s: %s", path, strerror(errno));
	else
		recording->session_number = info.session;
	return recording->session_number < 0 ? -1 : 0;
}

/**
 * recording_claim() - claim a session for a new run
 * @recording: RECORDING_NONE
 * @session_number: number of the session; negative: any free session
 *
 * Return: 0, or -1 after a message; recording_close() in both cases.
 */
int recording_claim(struct recording *recording, int session_number)
{
	char name[32] = "claim";

	if (session_number >= 0)
		snprintf(name, sizeof(name), "%d/claim", session_number);
	return open_claim(recording, session_number, name);
}

/**
 * recording_adopt() - claim a session together with its present or last run
 * @recording: RECORDING_NONE
 * @session_number: number of the session
 *
 * Return: 0, or -1 after a message; recording_close() in both cases.
 */
int recording_adopt(struct recording *recording, int session_number)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/adopt", session_number);
	return open_claim(recording, session_number, name);
}

/**
 * recording_take_signals() - let signals end the recording, and not the process, from now on
 * @recording: claimed, not started
 * @more: more signals that @recording's signal_fd gives; 0 ends them
 *
 * Return: 0, or -1 after a message.
 */
int recording_take_signals(struct recording *recording, const int *more)
{
	recording->signal_fd = signals_open(&recording->signals, more);
	recording->wake_fd = recording->signal_fd;
	return recording->signal_fd < 0 ? -1 : 0;
}

/* Name the groups of a run whose events cannot be observed, with the reason. */
static void warn_of_groups(const struct recording *recording,
			   const struct perfinfo_groupmask *mask)
{
	struct ntklog_session_info info = { .size = sizeof(info) };
	char text[KERNEL_TEXT];
	const char *trouble;
	size_t i, j;

	if (ioctl(recording->claim_fd, NTKLOG_SESSION_INFO, &info))
		info.failures = 0;
	for (i = 0; i < session_group_count; i++) {
		const struct session_group *group = &session_groups[i];

		if (!session_mask_has(mask, group->mask))
			continue;
		trouble = session_explain_group(group, text);
		for (j = 0; !trouble && j < info.failures && j < NTKLOG_SESSION_FAILURES; j++)
			if (info.failure[j].group == group->mask)
				trouble = strerror(info.failure[j].error);
		if (trouble)
			message("%s: nothing will be recorded: %s", group->name, trouble);
	}
}

static void report_start_failure(const struct recording *recording,
				 const struct session_settings *settings, int err)
{
	const char *unknown_group = session_find_unknown_group(settings->groups);

	if (err == EINTR)
		message("session %d: interrupted while it started: nothing was recorded",
			recording->session_number);
	else if (err == ENOMEM)
		message("session %d: no memory for its buffers: choose fewer (-n) or smaller ones (-b)",
			recording->session_number);
	else if (err == EINVAL && unknown_group)
		message("session %d: the loaded module does not know %s: load a newer one, or leave it out (-e)",
			recording->session_number, unknown_group);
	else
		message("session %d: cannot be started: %s", recording->session_number,
			strerror(err));
}

/**
 * recording_start() - start the run with all of its settings
 * @recording: claimed
 * @settings: settings of the run
 *
 * A signal that arrives while locks are being attached interrupts the start. The session may run
 * after such a failure; recording_close() stops it.
 *
 * Return: 0, or -1 after a message.
 */
int recording_start(struct recording *recording, const struct session_settings *settings)
{
	struct ntklog_session_start start = { .size = sizeof(start) };
	int err;

	start.buffer_size = settings->buffer_size;
	start.buffers = settings->buffer_count;
	start.flush_timer = settings->flush_ms;
	start.mode = settings->mode;
	start.stacks = settings->stack_events;
	if (session_parse_groups(settings->groups, &start.group_mask))
		return -1;
	if (recording->signal_fd >= 0)
		signals_let_interrupt(&recording->signals);
	err = ioctl(recording->claim_fd, NTKLOG_SESSION_START, &start) ? errno : 0;
	/* A signal may also have come before or after the ioctl, which did not notice it then. */
	if (recording->signal_fd >= 0 && signals_have_interrupted(&recording->signals))
		err = EINTR;
	if (err) {
		report_start_failure(recording, settings, err);
		return -1;
	}
	warn_of_groups(recording, &start.group_mask);
	return 0;
}

/**
 * recording_read_state() - ask whether the session runs
 * @recording: claimed
 *
 * Return: NTKLOG_SESSION_IDLE, NTKLOG_SESSION_STARTED or NTKLOG_SESSION_FINISHED.
 */
int recording_read_state(const struct recording *recording)
{
	struct ntklog_session_info info = { .size = sizeof(info) };

	return ioctl(recording->claim_fd, NTKLOG_SESSION_INFO, &info) ? NTKLOG_SESSION_IDLE :
									info.state;
}

/**
 * recording_read_header() - read the first buffer of the ETL file, as it is now
 * @recording: claimed
 * @size: set to the size of the buffer in bytes
 *
 * Return: the buffer, to be freed; or NULL after a message.
 */
unsigned char *recording_read_header(const struct recording *recording, size_t *size)
{
	unsigned char *buffer = malloc(HEADER_MAX);
	ssize_t got = buffer ? pread(recording->claim_fd, buffer, HEADER_MAX, 0) : -1;

	if (got > 0) {
		*size = got;
		return buffer;
	}
	if (!got || errno == ENODATA)
		message("session %d: nothing to write: it has not run since the module was loaded",
			recording->session_number);
	else
		message("session %d: its header cannot be read: %s", recording->session_number,
			strerror(errno));
	free(buffer);
	return NULL;
}

/**
 * recording_read_counts() - read what the run has counted on all CPUs
 * @recording: claimed
 * @counts: set to the counts
 *
 * Return: 0, or -1 after a message.
 */
int recording_read_counts(const struct recording *recording, struct ntklog_session_counts *counts)
{
	*counts = (struct ntklog_session_counts) {
		.size = sizeof(*counts), .cpu = NTKLOG_SESSION_ALL_CPUS,
	};
	if (!ioctl(recording->claim_fd, NTKLOG_SESSION_COUNTS, counts))
		return 0;
	message("session %d: its counts cannot be read: %s", recording->session_number,
		strerror(errno));
	return -1;
}

/**
 * recording_follow() - read buffers until a time, or a signal
 * @recording: started, with its drain open
 * @end: read_monotonic_seconds() at which to return
 *
 * Return: 1: wake_fd can be read; 0: the time has come; -1 after a message.
 */
int recording_follow(struct recording *recording, double end)
{
	int got = 0;

	while (!got && read_monotonic_seconds() < end) {
		double remaining = end - read_monotonic_seconds();

		got = drain_wait(&recording->drain, recording->wake_fd,
				 remaining > TICK_S ? TICK_S * 1e3 : remaining * 1e3 + 1);
		if (got < 0)
			return -1;
		if (recording->before_read)
			recording->before_read(recording->argument);
		if (drain_read_ready(&recording->drain))
			return -1;
		if (read_monotonic_seconds() < recording->next_tick_time)
			continue;
		recording->next_tick_time = read_monotonic_seconds() + TICK_S;
		if (drain_read(&recording->drain))
			return -1;
	}
	return got;
}

/**
 * recording_flush() - read what the run has written so far, also of buffers that are not full
 * @recording: started, with its drain open
 *
 * Return: 0, or -1 after a message.
 */
int recording_flush(struct recording *recording)
{
	drain_flush(&recording->drain);
	if (recording->before_read)
		recording->before_read(recording->argument);
	return drain_read(&recording->drain);
}

/**
 * recording_stop() - stop the run
 * @recording: started
 *
 * Return: 0, or -1 after a message.
 */
int recording_stop(struct recording *recording)
{
	if (!ioctl(recording->claim_fd, NTKLOG_SESSION_STOP))
		return 0;
	message("session %d: cannot be stopped: %s", recording->session_number, strerror(errno));
	return -1;
}

/**
 * recording_detach() - give the session up without stopping it, or freeing its buffers
 * @recording: claimed
 *
 * Return: 0, or -1 after a message.
 */
int recording_detach(struct recording *recording)
{
	if (!ioctl(recording->claim_fd, NTKLOG_SESSION_KEEP))
		return 0;
	message("session %d: cannot go on without this process: %s", recording->session_number,
		strerror(errno));
	return -1;
}

/**
 * recording_close() - release the claim
 * @recording: claimed or not
 *
 * The module stops the session and frees its buffers, except after recording_detach().
 */
void recording_close(struct recording *recording)
{
	drain_close(&recording->drain);
	if (recording->signal_fd >= 0)
		close(recording->signal_fd);
	if (recording->claim_fd >= 0)
		close(recording->claim_fd);
	*recording = (struct recording)RECORDING_NONE;
}
