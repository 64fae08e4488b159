/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DRAIN_H
#define _NTKLOG_DRAIN_H

/*
 * Reading the buffers of a session's run in the order of their sequence numbers, which is the order
 * in which all CPUs began to fill them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drain_buffer;
struct pollfd;

/*
 * @fds: files of the CPUs' buffers; -1: the CPU has none
 * @is_ready: the last poll() found a buffer, or the other file readable
 * @held_buffers: buffers that wait for one with a lower sequence number, in order
 * @flushed_number: @highest_number before the last flush; 0: drain_read() has come after it
 * @missing_count: number of buffers whose gap was passed
 * @late_count: number of those that were read afterwards
 * @give_buffer: called with each buffer; returns 0, or -1 after a message
 */
struct buffer_drain {
	int claim_fd;
	int session_number;
	size_t buffer_size;
	int *fds;
	size_t fd_count;
	struct pollfd *poll_fds;
	bool is_ready;
	struct drain_buffer *spare_buffer;
	struct drain_buffer *held_buffers;
	uint64_t held_bytes;
	int64_t next_number;
	int64_t highest_number;
	int64_t flushed_number;
	uint64_t missing_count;
	uint64_t late_count;
	int (*give_buffer)(void *argument, unsigned char *buffer, size_t size);
	void *argument;
};

int drain_open(struct buffer_drain *drain, int claim_fd, int session_number, size_t buffer_size);
int drain_wait(struct buffer_drain *drain, int other_fd, int timeout_ms);
void drain_flush(struct buffer_drain *drain);
int drain_read(struct buffer_drain *drain);
int drain_read_ready(struct buffer_drain *drain);
int drain_finish(struct buffer_drain *drain);
void drain_close(struct buffer_drain *drain);

#endif /* _NTKLOG_DRAIN_H */
