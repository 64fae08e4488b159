/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_BUFFER_H
#define _NTKLOG_ETW_BUFFER_H

#include <linux/types.h>

struct etw_session;
struct perfinfo_trace_header;
struct rchan_buf;

#define ETW_BUFFER_SIZE_MIN	SZ_4K
#define ETW_BUFFER_SIZE_MAX	SZ_1M
#define ETW_BUFFER_SIZE_DEFAULT	SZ_64K
/* Of each processor. As in ETW, one to write and one to flush at the least. */
#define ETW_BUFFERS_MIN		2
#define ETW_BUFFERS_MAX		1024
#define ETW_BUFFERS_DEFAULT	16

/**
 * struct etw_buffer_cpu - what a session counts for each processor
 * @generated: events that were to be written
 * @written: events in buffers
 * @lost: events that found no room
 * @overwritten: buffers that were overwritten in buffering mode
 * @flushed: @written at the last flush; written by who flushes
 * @lost_unmarked: some of them are not yet told by a buffer's flag
 *
 * Written by its own processor with interrupts off, read by any.
 */
struct etw_buffer_cpu {
	u64 generated;
	u64 written;
	u64 lost;
	u64 overwritten;
	u64 flushed;
	bool lost_unmarked;
};

int etw_open_buffers(struct etw_session *session);
void etw_close_buffers(struct etw_session *session);
void etw_buffer_write(struct etw_session *session,
		      const struct perfinfo_trace_header *header,
		      const void *data);
void etw_flush_buffers(struct etw_session *session, bool last);
size_t etw_kept_buffers(const struct etw_session *session);
unsigned int etw_last_file_cpu(const struct etw_session *session);
struct rchan_buf *etw_session_buffer(const struct etw_session *session,
				     unsigned int cpu);

#endif /* _NTKLOG_ETW_BUFFER_H */
