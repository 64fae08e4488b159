/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_BUFFER_H
#define _NTKLOG_ETW_BUFFER_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/types.h>

#include "run.h"

struct perfinfo_trace_header;

#define ETW_BUFFER_SIZE_MIN	SZ_4K
#define ETW_BUFFER_SIZE_MAX	SZ_1M
#define ETW_BUFFER_SIZE_DEFAULT	SZ_64K
/* Of each processor. As in ETW, one to write and one to flush at the least. */
#define ETW_BUFFERS_MIN		2
#define ETW_BUFFERS_MAX		1024
#define ETW_BUFFERS_DEFAULT	16

/**
 * etw_reserve() - room for an event, where there is some at once
 * @cpus: of a run that is not finished
 * @size: bytes, a multiple of TRACE_EVENT_ALIGNMENT, not 0
 * @event: set to where the event goes
 *
 * The event counts as written: its bytes have to be there before interrupts are on.
 *
 * Context: interrupts off, not NMI, which may have interrupted a write to the very buffer.
 * Return: whether there is; if not, nothing is counted, and etw_buffer_write() has to look.
 */
static __always_inline bool etw_reserve(struct etw_buffer_cpu __percpu *cpus, size_t size,
					void **event)
{
	struct rchan_buf *buf = raw_cpu_read(cpus->buf);
	size_t offset = buf->offset;

	/* Frozen, no buffer, none of its events there yet, and full: one comparison. */
	if (unlikely(offset + size > raw_cpu_read(cpus->limit)))
		return false;
	buf->offset = offset + size;
	/* Single instructions: an NMI's own counting loses nothing. */
	this_cpu_inc(cpus->generated);
	this_cpu_inc(cpus->written);
	*event = buf->data + offset;
	return true;
}

bool etw_buffer_write(struct etw_run *run,
		      const struct perfinfo_trace_header *header,
		      const void *data);
bool etw_buffer_has_events(const struct rchan_buf *buf);
void etw_number_buffer(struct etw_run *run, struct rchan_buf *buf);
size_t etw_unread_buffers(const struct rchan_buf *buf);
void etw_finish_buffer(struct etw_run *run, struct rchan_buf *buf, u16 flags);

#endif /* _NTKLOG_ETW_BUFFER_H */
