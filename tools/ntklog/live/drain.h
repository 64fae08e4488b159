/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DRAIN_H
#define _NTKLOG_DRAIN_H

/*
 * Taking the buffers of a session that logs, in the order in which they were taken into
 * use, over all processors.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drain_buffer;
struct pollfd;

/**
 * struct drain - of a session
 * @session: its number
 * @buffer_size: bytes
 * @fds: of its cpu files; -1: none
 * @fd_count: of them
 * @polled: what drain_wait() has waited for: another file, and these
 * @ready: one of them has something
 * @spare: memory for the next buffer, or NULL
 * @held: buffers that are too early: others are to come before them, by number
 * @held_bytes: in them
 * @next: sequence number of the next buffer
 * @missing: numbers that never came
 * @give: takes a buffer; 0, or -1 after a message
 * @argument: of @give
 */
struct drain {
	int session;
	size_t buffer_size;
	int *fds;
	size_t fd_count;
	struct pollfd *polled;
	bool ready;
	struct drain_buffer *spare;
	struct drain_buffer *held;
	uint64_t held_bytes;
	int64_t next;
	uint64_t missing;
	int (*give)(void *argument, unsigned char *buffer, size_t size);
	void *argument;
};

int drain_open(struct drain *drain, int session, size_t buffer_size);
int drain_wait(struct drain *drain, int other_fd, int timeout_ms);
int drain_read(struct drain *drain);
int drain_read_ready(struct drain *drain);
int drain_finish(struct drain *drain);
void drain_close(struct drain *drain);

unsigned char *drain_read_header(int session, size_t *size);

#endif /* _NTKLOG_DRAIN_H */
