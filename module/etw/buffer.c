// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each CPU has its own buffers, to which it writes with interrupts off and without a lock, because
 * an event may be written with locks of the scheduler held. The events of an NMI are lost, because
 * the NMI may have interrupted a write. A CPU's buffers are the sub-buffers of a relay channel:
 *
 *	subbufs_consumed         subbufs_produced
 *	v                        v
 *	finished     finished    open         free         free
 *
 * - A free buffer becomes open when relay switches to it. Its first event gives it a number, or
 *   else the mark for the end of the file.
 * - The open buffer is finished when an event does not fit, or by a flush: its header becomes final
 *   and its rest is filled. relay then increments subbufs_produced.
 * - A reader copies a finished buffer and then increments subbufs_consumed, which frees it.
 *
 * When an event finds no free buffer, buffering mode frees the oldest finished one, even while a
 * snapshot copies it. In sequential mode the event is lost. The full buffer stays open for the flag
 * of lost events and the mark for the end of the file.
 */

#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <uapi/ntklog/buffer.h>
#include <uapi/ntklog/event.h>

#include "../ground/clock.h"
#include "buffer.h"
#include "run.h"

/* relay_switch_subbuf() sets @offset beyond the end if there is no sub-buffer to write to. */
static bool etw_buffer_is_open(const struct rchan_buf *buf)
{
	return buf->offset <= buf->chan->subbuf_size;
}

static struct wmi_buffer_header *etw_get_buffer_header(const struct rchan_buf *buf)
{
	return buf->data;
}

/**
 * etw_buffer_is_numbered() - test whether the buffer being written has a number
 * @buf: the buffers of a CPU
 *
 * Context: as for etw_finish_buffer().
 * Return: true if the buffer has an event, or etw_number_buffer() has given it a number.
 */
bool etw_buffer_is_numbered(const struct rchan_buf *buf)
{
	return etw_buffer_is_open(buf) && etw_get_buffer_header(buf)->sequence_number;
}

/**
 * etw_number_buffer() - give the buffer being written a number, even if it has no events
 * @run: the run
 * @buf: the buffers of a CPU
 *
 * Context: as for etw_finish_buffer().
 */
void etw_number_buffer(struct etw_run *run, struct rchan_buf *buf)
{
	if (etw_buffer_is_open(buf) && !etw_get_buffer_header(buf)->sequence_number)
		etw_get_buffer_header(buf)->sequence_number =
			atomic64_inc_return(&run->sequence_number);
}

/**
 * etw_count_unread_buffers() - count the finished buffers that have not been read
 * @buf: the buffers of a CPU
 *
 * Context: any. The number may be stale when it is returned.
 * Return: the number of buffers.
 */
size_t etw_count_unread_buffers(const struct rchan_buf *buf)
{
	/*
	 * The writer stores into a buffer only if this count shows that the buffer is free: a
	 * control dependency. Pairs with smp_mb() in etw_read_finished_buffers().
	 */
	size_t consumed_buffers = etw_get_consumed_buffer_count(buf);

	return etw_get_finished_buffer_count(buf) - consumed_buffers;
}

/**
 * etw_finish_buffer() - finish the buffer being written, and switch to the next free one, if any
 * @run: the run
 * @buf: the buffers of a CPU; the one being written has a number
 * @flags: additional ETW_BUFFER_FLAG_* of the buffer
 *
 * Context: interrupts off, on the buffers' CPU, or with that CPU offline and cpus_read_lock() held.
 */
void etw_finish_buffer(struct etw_run *run, struct rchan_buf *buf, u16 flags)
{
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, buf->cpu);
	struct wmi_buffer_header *header = etw_get_buffer_header(buf);
	size_t size = buf->chan->subbuf_size;

	/* The next event takes etw_open_buffer_for_event(), which numbers the next buffer. */
	cpu->buf = &etw_closed_buffer;
	header->saved_offset = buf->offset;
	header->current_offset = buf->offset;
	header->offset = buf->offset;
	header->time_stamp = ntklog_read_cycles();
	header->buffer_flag |= flags;
	if (cpu->has_unmarked_loss) {
		header->buffer_flag |= ETW_BUFFER_FLAG_EVENTS_LOST;
		cpu->has_unmarked_loss = false;
	}
	memset(buf->data + buf->offset, ETW_BUFFER_FILL, size - buf->offset);
	/* relay would count the rest as padding, but a reader gets whole buffers. */
	buf->offset = size;
	/*
	 * Write the buffer before subbufs_produced, which relay increments.
	 * Pairs with etw_get_finished_buffer_count() in etw_read_finished_buffers().
	 */
	smp_wmb();
	relay_switch_subbuf(buf, 0);
	/*
	 * Write subbufs_produced before testing for waiters. Pairs with smp_mb() in
	 * etw_poll_buffers(). An irq_work wakes them, because the scheduler may be the writer, with
	 * its locks held.
	 */
	smp_mb();
	/* The barrier above orders this test. */
	if (waitqueue_active(&cpu->wait))
		irq_work_queue(&cpu->wake);
}

/* The oldest buffer has no reader in buffering mode, but a snapshot may be copying it. */
static bool etw_overwrite_buffer(struct etw_run *run, struct rchan_buf *buf)
{
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, buf->cpu);

	if (run->mode != ETW_MODE_BUFFERING)
		return false;
	relay_subbufs_consumed(buf->chan, buf->cpu, 1);
	/*
	 * Write subbufs_consumed before the new contents of the buffer, so that a snapshot discards
	 * a copy that may have them. Pairs with smp_rmb() in etw_copy_buffer().
	 */
	smp_wmb();
	WRITE_ONCE(cpu->overwritten, cpu->overwritten + 1);
	return true;
}

/* Switch to the next free buffer. Returns false if there is none. Interrupts are off. */
static bool etw_switch_buffer(struct etw_run *run, struct rchan_buf *buf)
{
	size_t unread_buffers = etw_count_unread_buffers(buf);

	if (etw_buffer_is_open(buf)) {
		if (unread_buffers + 1 >= buf->chan->n_subbufs &&
		    !etw_overwrite_buffer(run, buf))
			return false;
		etw_finish_buffer(run, buf, 0);
	} else {
		if (unread_buffers >= buf->chan->n_subbufs && !etw_overwrite_buffer(run, buf))
			return false;
		relay_switch_subbuf(buf, 0);
	}
	return etw_buffer_is_open(buf);
}

/**
 * etw_buffer_has_space() - test whether an event would be written on this CPU, not lost
 * @run: a run that is not finished
 * @size: bytes of the event with its header and padding
 *
 * Context: interrupts off; not NMI. Changes and counts nothing.
 * Return: true if it would be written.
 */
bool etw_buffer_has_space(const struct etw_run *run, size_t size)
{
	const struct rchan_buf *buf = *this_cpu_ptr(run->channel->buf);

	if (!buf)
		return false;
	return buf->offset + size <= buf->chan->subbuf_size ||
	       run->mode == ETW_MODE_BUFFERING ||
	       etw_count_unread_buffers(buf) + etw_buffer_is_open(buf) < buf->chan->n_subbufs;
}

/* Copy, and add zeros up to a multiple of TRACE_EVENT_ALIGNMENT. Events are a few words long. */
static void etw_copy_padded(void *destination, const void *source, size_t length)
{
	u64 word;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(destination, source, sizeof(word));
		destination += sizeof(word);
		source += sizeof(word);
	}
	if (length) {
		word = 0;
		memcpy(&word, source, length);
		memcpy(destination, &word, sizeof(word));
	}
}

/* Slow path of etw_reserve_event(): count the event as written or lost. Interrupts are off. */
static noinline void *etw_open_buffer_for_event(struct etw_run *run, size_t size)
{
	struct rchan_buf *buf = *this_cpu_ptr(run->channel->buf);
	void *event;

	/* Single instructions, so that an NMI in between does not lose a count. */
	this_cpu_inc(run->cpus->generated);
	/* An NMI may have interrupted a write to this buffer. */
	if (unlikely(in_nmi() || !buf ||
		     (buf->offset + size > buf->chan->subbuf_size &&
		      !etw_switch_buffer(run, buf)))) {
		this_cpu_inc(run->cpus->lost);
		this_cpu_write(run->cpus->has_unmarked_loss, true);
		return NULL;
	}

	etw_number_buffer(run, buf);
	event = buf->data + buf->offset;
	buf->offset += size;
	this_cpu_inc(run->cpus->written);
	this_cpu_write(run->cpus->buf, buf);
	return event;
}

/**
 * etw_write_event() - write an event into a run's buffer, or count it as lost
 * @run: a run that is not finished
 * @header: the event's header, with its size
 * @data: the event's data
 *
 * Context: interrupts off; also NMI, in which every event is lost.
 * Return: true if the event has been written.
 */
bool etw_write_event(struct etw_run *run,
		     const struct perfinfo_trace_header *header,
		     const void *data)
{
	size_t size = ALIGN(header->size, TRACE_EVENT_ALIGNMENT);
	void *event;

	if (unlikely(in_nmi() || !etw_reserve_event(run->cpus, size, &event))) {
		event = etw_open_buffer_for_event(run, size);
		if (!event)
			return false;
	}
	memcpy(event, header, sizeof(*header));
	etw_copy_padded(event + sizeof(*header), data,
			header->size - sizeof(*header));
	return true;
}
