// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of a CPU come in the order of their sequence numbers, but a CPU with few events fills
 * its buffer late. Buffers of other CPUs with higher numbers are held until then. The flush timer
 * of the session bounds the delay, and a flush bounds the memory.
 *
 * A buffer gets its number when a CPU begins to fill it. Hence a flush usually makes each buffer
 * readable whose number is below that of a buffer that was read before the flush. If it cannot be
 * read then, it counts as missing. A CPU without a free buffer is not flushed: its buffer is passed
 * on later.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ntklog/buffer.h>
#include <ntklog/session.h>

#include "drain.h"
#include "message.h"

/* Buffers that are read of one CPU before the next CPU has its turn. */
#define BUFFERS_PER_READ	64

/* Bytes of early buffers that may wait for late ones until a flush. */
#define HELD_BYTES_MAX	(64u << 20)

struct drain_buffer {
	struct drain_buffer *next;
	int64_t sequence_number;
	unsigned char data[];
};

static int grow_arrays(struct buffer_drain *drain, size_t count)
{
	int *fds = reallocarray(drain->fds, count, sizeof(*fds));
	struct pollfd *polled;

	if (!fds)
		return -1;
	drain->fds = fds;
	polled = reallocarray(drain->poll_fds, count + 1, sizeof(*polled));
	if (!polled)
		return -1;
	drain->poll_fds = polled;
	while (drain->fd_count < count)
		fds[drain->fd_count++] = -1;
	return 0;
}

/* Open the buffers of the CPUs that have come online since the last call. */
static int open_buffers(struct buffer_drain *drain)
{
	size_t processors = sysconf(_SC_NPROCESSORS_CONF), i;

	if (drain->fd_count < processors && grow_arrays(drain, processors)) {
		message("session %d: no memory for the buffers of %zu CPUs", drain->session_number,
			processors);
		return -1;
	}
	for (i = 0; i < drain->fd_count; i++) {
		struct ntklog_session_cpu cpu = { .size = sizeof(cpu), .cpu = i };

		if (drain->fds[i] >= 0)
			continue;
		drain->fds[i] = ioctl(drain->claim_fd, NTKLOG_SESSION_OPEN_CPU, &cpu);
		/* A CPU that has not been online during the run has no buffers. */
		if (drain->fds[i] < 0 && errno != EINVAL && errno != ENXIO && errno != ENOENT) {
			message("session %d: the buffers of CPU %zu cannot be opened: %s",
				drain->session_number, i, strerror(errno));
			return -1;
		}
	}
	return 0;
}

/**
 * drain_open() - begin to read the buffers of a run
 * @drain: its @give_buffer and @argument are set
 * @claim_fd: file descriptor of the claim on the session
 * @session_number: number of the session, for messages
 * @buffer_size: bytes of a buffer
 *
 * Return: 0, or -1 after a message; drain_close() in both cases.
 */
int drain_open(struct buffer_drain *drain, int claim_fd, int session_number, size_t buffer_size)
{
	drain->claim_fd = claim_fd;
	drain->session_number = session_number;
	drain->buffer_size = buffer_size;
	drain->next_number = 1;
	return open_buffers(drain);
}

/**
 * drain_wait() - wait for a full buffer
 * @drain: open
 * @other_fd: another file to wait for; -1: none
 * @timeout_ms: longest wait, in ms
 *
 * Return: 1: @other_fd can be read; 0: a buffer, or the timeout; -1 after a message.
 */
int drain_wait(struct buffer_drain *drain, int other_fd, int timeout_ms)
{
	int got;
	size_t i;

	drain->poll_fds[0] = (struct pollfd) { .fd = other_fd, .events = POLLIN };
	for (i = 0; i < drain->fd_count; i++)
		drain->poll_fds[i + 1] = (struct pollfd) {
			.fd = drain->fds[i], .events = POLLIN
		};
	got = poll(drain->poll_fds, drain->fd_count + 1, timeout_ms);
	if (got < 0 && errno != EINTR) {
		message("session %d: cannot wait for its buffers: %s", drain->session_number,
			strerror(errno));
		return -1;
	}
	drain->is_ready = got > 0;
	return got > 0 && drain->poll_fds[0].revents;
}

/* Pass on the buffers that are next by sequence number, and those up to @last even after a gap. */
static int deliver_held_buffers(struct buffer_drain *drain, int64_t last)
{
	while (drain->held_buffers && (drain->held_buffers->sequence_number <= drain->next_number ||
				       drain->held_buffers->sequence_number <= last)) {
		struct drain_buffer *buffer = drain->held_buffers;
		int err;

		if (buffer->sequence_number >= drain->next_number) {
			drain->missing_count += buffer->sequence_number - drain->next_number;
			drain->next_number = buffer->sequence_number + 1;
		} else {
			drain->late_count++;
		}
		drain->held_buffers = buffer->next;
		drain->held_bytes -= drain->buffer_size;
		err = drain->give_buffer(drain->argument, buffer->data, drain->buffer_size);
		if (drain->spare_buffer)
			free(buffer);
		else
			drain->spare_buffer = buffer;
		if (err)
			return err;
	}
	return 0;
}

static void insert_held_buffer(struct buffer_drain *drain, struct drain_buffer *buffer)
{
	struct drain_buffer **place = &drain->held_buffers;
	struct wmi_buffer_header header;

	memcpy(&header, buffer->data, sizeof(header));
	buffer->sequence_number = header.sequence_number;
	while (*place && (*place)->sequence_number < buffer->sequence_number)
		place = &(*place)->next;
	buffer->next = *place;
	*place = buffer;
	drain->held_bytes += drain->buffer_size;
	if (buffer->sequence_number > drain->highest_number)
		drain->highest_number = buffer->sequence_number;
}

/*
 * Read at most @buffers_max full buffers of a CPU, apart from those that a flush has made readable
 * and that belong before a buffer that was read earlier. Without a bound the loop might never end,
 * and other CPUs and signals would wait: handling a buffer may cause the events that fill the next
 * one.
 */
static int read_processor(struct buffer_drain *drain, size_t processor, size_t buffers_max)
{
	int64_t number = 0;

	while (number < drain->flushed_number || buffers_max) {
		struct drain_buffer *buffer = drain->spare_buffer;
		ssize_t got;

		/* One buffer stays allocated for the next read. */
		if (!buffer)
			buffer = malloc(sizeof(*buffer) + drain->buffer_size);
		if (!buffer) {
			message("session %d: no memory for a buffer of %zu bytes: choose smaller ones (-b)",
				drain->session_number, drain->buffer_size);
			return -1;
		}
		drain->spare_buffer = buffer;
		got = read(drain->fds[processor], buffer->data, drain->buffer_size);
		if (got == (ssize_t)drain->buffer_size) {
			drain->spare_buffer = NULL;
			insert_held_buffer(drain, buffer);
			number = buffer->sequence_number;
			buffers_max -= buffers_max > 0;
			if (deliver_held_buffers(drain, 0))
				return -1;
			continue;
		}
		if (!got || (got < 0 && (errno == EAGAIN || errno == EINTR)))
			return 0;
		if (got < 0)
			message("session %d: the buffers of CPU %zu cannot be read: %s",
				drain->session_number, processor, strerror(errno));
		else
			message("session %d: CPU %zu gives %zd bytes of a buffer of %zu",
				drain->session_number, processor, got, drain->buffer_size);
		return -1;
	}
	return 0;
}

static int read_processors(struct buffer_drain *drain, size_t buffers_max)
{
	size_t i;

	if (open_buffers(drain))
		return -1;
	for (i = 0; i < drain->fd_count; i++)
		if (drain->fds[i] >= 0 && read_processor(drain, i, buffers_max))
			return -1;
	return 0;
}

/**
 * drain_flush() - make the events of buffers that are not full readable
 * @drain: open, of a sequential session that runs
 */
void drain_flush(struct buffer_drain *drain)
{
	int64_t highest = drain->highest_number;

	if (!ioctl(drain->claim_fd, NTKLOG_SESSION_FLUSH))
		drain->flushed_number = highest;
}

/**
 * drain_read() - read full buffers of every CPU, at most BUFFERS_PER_READ of each
 * @drain: open
 *
 * After a flush the function passes the gaps that the flush has not closed.
 *
 * Return: 0, or -1 after a message.
 */
int drain_read(struct buffer_drain *drain)
{
	if (read_processors(drain, BUFFERS_PER_READ) ||
	    deliver_held_buffers(drain, drain->flushed_number))
		return -1;
	drain->flushed_number = 0;
	if (drain->held_bytes > HELD_BYTES_MAX)
		drain_flush(drain);
	return 0;
}

/**
 * drain_read_ready() - read the buffers that drain_wait() has found
 * @drain: open
 *
 * Unlike drain_read(), the function does not look for CPUs that have come online.
 *
 * Return: 0, or -1 after a message.
 */
int drain_read_ready(struct buffer_drain *drain)
{
	size_t i;

	for (i = 0; drain->is_ready && i < drain->fd_count; i++)
		if (drain->poll_fds[i + 1].revents && drain->fds[i] >= 0 &&
		    read_processor(drain, i, BUFFERS_PER_READ))
			return -1;
	if (drain->held_bytes > HELD_BYTES_MAX)
		drain_flush(drain);
	return 0;
}

/**
 * drain_finish() - read all other buffers of a run that has stopped
 * @drain: open
 *
 * Return: 0, or -1 after a message.
 */
int drain_finish(struct buffer_drain *drain)
{
	if (read_processors(drain, SIZE_MAX))
		return -1;
	return deliver_held_buffers(drain, INT64_MAX);
}

/**
 * drain_close() - free what the drain has
 * @drain: after drain_open(), or all zero
 */
void drain_close(struct buffer_drain *drain)
{
	size_t i;

	for (i = 0; i < drain->fd_count; i++)
		if (drain->fds[i] >= 0)
			close(drain->fds[i]);
	free(drain->fds);
	free(drain->poll_fds);
	free(drain->spare_buffer);
	while (drain->held_buffers) {
		struct drain_buffer *buffer = drain->held_buffers;

		drain->held_buffers = buffer->next;
		free(buffer);
	}
	*drain = (struct buffer_drain) { 0 };
}
