// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking the buffers of a session. Each processor's come in order, but one that has
 * little to write finishes an early buffer late: the others' later ones are held until
 * then. The session's flush timer, and where that is not enough a flush, bound that.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ntklog/buffer.h>

#include "drain.h"
#include "kernel.h"
#include "message.h"

/* Buffers of one processor, before the next one has its turn: all that a session has by default. */
#define AT_ONCE		64

/* Of early buffers, before the late ones are asked for. */
#define HELD_MAX	(64u << 20)

struct drain_buffer {
	struct drain_buffer *next;
	int64_t sequence_number;
	unsigned char data[];
};

/* Files of processors that have come up since are new. */
static int open_files(struct drain *drain)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	char path[512];
	size_t i;

	if (drain->fd_count < (size_t)processors) {
		int *more = reallocarray(drain->fds, processors, sizeof(*more));
		struct pollfd *polled;

		if (!more) {
			message("%s", strerror(ENOMEM));
			return -1;
		}
		for (i = drain->fd_count; i < (size_t)processors; i++)
			more[i] = -1;
		drain->fds = more;
		polled = reallocarray(drain->polled, processors + 1, sizeof(*polled));
		if (!polled) {
			message("%s", strerror(ENOMEM));
			return -1;
		}
		drain->polled = polled;
		drain->fd_count = processors;
	}
	for (i = 0; i < drain->fd_count; i++) {
		if (drain->fds[i] >= 0)
			continue;
		snprintf(path, sizeof(path), "%s/sessions/%d/cpu%zu", kernel_directory(),
			 drain->session, i);
		drain->fds[i] = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		/* A processor that is not there has none. */
		if (drain->fds[i] < 0 && errno != ENOENT && errno != EBUSY) {
			message("%s: %s", path, strerror(errno));
			return -1;
		}
	}
	return 0;
}

/**
 * drain_open() - begin to take buffers
 * @drain: its @give and @argument set
 * @session: number of a session that has just been started
 * @buffer_size: of its buffers
 *
 * Return: 0, or -1 after a message; drain_close() in both cases.
 */
int drain_open(struct drain *drain, int session, size_t buffer_size)
{
	drain->session = session;
	drain->buffer_size = buffer_size;
	drain->next = 1;
	return open_files(drain);
}

/**
 * drain_wait() - wait until there is something to read
 * @drain: of the session
 * @other_fd: another file that is waited for
 * @timeout_ms: at most so long
 *
 * Return: 1: @other_fd has something; 0; -1 after a message.
 */
int drain_wait(struct drain *drain, int other_fd, int timeout_ms)
{
	int got;
	size_t i;

	drain->polled[0] = (struct pollfd) { .fd = other_fd, .events = POLLIN };
	for (i = 0; i < drain->fd_count; i++)
		drain->polled[i + 1] = (struct pollfd) {
			.fd = drain->fds[i], .events = POLLIN
		};
	got = poll(drain->polled, drain->fd_count + 1, timeout_ms);
	if (got < 0 && errno != EINTR) {
		message("poll: %s", strerror(errno));
		return -1;
	}
	drain->ready = got > 0;
	return got > 0 && drain->polled[0].revents;
}

/* Give what is next in order. With @all also what comes after a gap. */
static int give_held(struct drain *drain, bool all)
{
	while (drain->held && (all || drain->held->sequence_number <= drain->next)) {
		struct drain_buffer *buffer = drain->held;
		int err;

		if (buffer->sequence_number > drain->next)
			drain->missing += buffer->sequence_number - drain->next;
		drain->next = buffer->sequence_number + 1;
		drain->held = buffer->next;
		drain->held_bytes -= drain->buffer_size;
		err = drain->give(drain->argument, buffer->data, drain->buffer_size);
		if (drain->spare)
			free(buffer);
		else
			drain->spare = buffer;
		if (err)
			return err;
	}
	return 0;
}

static void hold(struct drain *drain, struct drain_buffer *buffer)
{
	struct drain_buffer **place = &drain->held;
	struct wmi_buffer_header header;

	memcpy(&header, buffer->data, sizeof(header));
	buffer->sequence_number = header.sequence_number;
	while (*place && (*place)->sequence_number < buffer->sequence_number)
		place = &(*place)->next;
	buffer->next = *place;
	*place = buffer;
	drain->held_bytes += drain->buffer_size;
}

/*
 * What a processor has finished, @most buffers. That is so that each has its turn, and signals
 * too: what is done with a buffer may make events for the next one, so that there always is one.
 */
static int read_processor(struct drain *drain, size_t processor, size_t most)
{
	while (most--) {
		struct drain_buffer *buffer = drain->spare;
		ssize_t got;

		/* One is kept: most reads find nothing, or one buffer. */
		if (!buffer)
			buffer = malloc(sizeof(*buffer) + drain->buffer_size);
		if (!buffer) {
			message("%s", strerror(ENOMEM));
			return -1;
		}
		drain->spare = buffer;
		got = read(drain->fds[processor], buffer->data, drain->buffer_size);
		if (got == (ssize_t)drain->buffer_size) {
			drain->spare = NULL;
			hold(drain, buffer);
			if (give_held(drain, false))
				return -1;
			continue;
		}
		if (!got || (got < 0 && (errno == EAGAIN || errno == EINTR)))
			return 0;
		if (got < 0)
			message("session %d: cpu%zu: %s", drain->session, processor,
				strerror(errno));
		else
			message("session %d: cpu%zu gives %zd bytes of a buffer of %zu",
				drain->session, processor, got, drain->buffer_size);
		return -1;
	}
	return 0;
}

static int read_processors(struct drain *drain, size_t most)
{
	size_t i;

	if (open_files(drain))
		return -1;
	for (i = 0; i < drain->fd_count; i++)
		if (drain->fds[i] >= 0 && read_processor(drain, i, most))
			return -1;
	return 0;
}

/**
 * drain_read() - take what there is
 * @drain: of the session
 *
 * Return: 0, or -1 after a message.
 */
int drain_read(struct drain *drain)
{
	if (read_processors(drain, AT_ONCE))
		return -1;
	if (drain->held_bytes > HELD_MAX)
		kernel_write("1", "sessions/%d/flush", drain->session);
	return 0;
}

/**
 * drain_read_ready() - take what drain_wait() has found
 * @drain: of the session
 *
 * Processors that have come up since are not looked for: that is for drain_read(), now and
 * then.
 *
 * Return: 0, or -1 after a message.
 */
int drain_read_ready(struct drain *drain)
{
	size_t i;

	for (i = 0; drain->ready && i < drain->fd_count; i++)
		if (drain->polled[i + 1].revents && drain->fds[i] >= 0 &&
		    read_processor(drain, i, AT_ONCE))
			return -1;
	if (drain->held_bytes > HELD_MAX)
		kernel_write("1", "sessions/%d/flush", drain->session);
	return 0;
}

/**
 * drain_finish() - take the rest
 * @drain: of a session that has stopped
 *
 * Return: 0, or -1 after a message.
 */
int drain_finish(struct drain *drain)
{
	if (read_processors(drain, SIZE_MAX))
		return -1;
	return give_held(drain, true);
}

/**
 * drain_close() - let it go
 * @drain: what drain_open() was called for
 */
void drain_close(struct drain *drain)
{
	size_t i;

	for (i = 0; i < drain->fd_count; i++)
		if (drain->fds[i] >= 0)
			close(drain->fds[i]);
	free(drain->fds);
	free(drain->polled);
	free(drain->spare);
	while (drain->held) {
		struct drain_buffer *buffer = drain->held;

		drain->held = buffer->next;
		free(buffer);
	}
}

/**
 * drain_read_header() - the first buffer of the session's file, as it is now
 * @session: its number
 * @size: of the buffer
 *
 * Return: the buffer, to be freed, or NULL after a message.
 */
unsigned char *drain_read_header(int session, size_t *size)
{
	unsigned char *buffer = malloc(1 << 20);
	char path[512];
	int fd, err = ENOMEM;
	ssize_t got = 0, n;

	snprintf(path, sizeof(path), "%s/sessions/%d/header", kernel_directory(), session);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err = errno;
	if (fd >= 0 && buffer) {
		while ((n = read(fd, buffer + got, (1 << 20) - got)) > 0)
			got += n;
		err = n < 0 ? errno : 0;
	}
	if (!err && !got)
		err = ENODATA;
	if (err) {
		message("%s: %s", path, strerror(err));
		free(buffer);
		buffer = NULL;
	}
	if (fd >= 0)
		close(fd);
	*size = got;
	return buffer;
}
