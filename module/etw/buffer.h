/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_BUFFER_H
#define _NTKLOG_ETW_BUFFER_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/types.h>

#include "run.h"

struct perfinfo_trace_header;

/**
 * etw_reserve_event() - reserve space for an event in the open buffer of this CPU
 * @cpus: @cpus of a run that is not finished
 * @size: bytes of the event, a multiple of TRACE_EVENT_ALIGNMENT, not 0
 * @event: set to the address at which the caller writes the event
 *
 * The event counts as written, so the caller writes all of its bytes before it enables interrupts.
 *
 * Context: interrupts off, not NMI, because an NMI may interrupt a write to the same buffer.
 * Return: true on success. Otherwise nothing is counted, and the caller calls etw_write_event().
 */
static __always_inline bool etw_reserve_event(struct etw_buffer_cpu __percpu *cpus, size_t size,
					      void **event)
{
	struct rchan_buf *buf = raw_cpu_read(cpus->buf);
	size_t offset = buf->offset;

	/* One comparison for a full buffer and for etw_closed_buffer. */
	if (unlikely(offset + size > raw_cpu_read(cpus->buffer_size)))
		return false;
	buf->offset = offset + size;
	/* Single instructions, so that an NMI in between does not lose a count. */
	this_cpu_inc(cpus->generated);
	this_cpu_inc(cpus->written);
	*event = buf->data + offset;
	return true;
}

bool etw_write_event(struct etw_run *run,
		     const struct perfinfo_trace_header *header,
		     const void *data);
bool etw_buffer_has_space(const struct etw_run *run, size_t size);
bool etw_buffer_is_numbered(const struct rchan_buf *buf);
void etw_number_buffer(struct etw_run *run, struct rchan_buf *buf);
size_t etw_count_unread_buffers(const struct rchan_buf *buf);
void etw_finish_buffer(struct etw_run *run, struct rchan_buf *buf, u16 flags);

#endif /* _NTKLOG_ETW_BUFFER_H */
