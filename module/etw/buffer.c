// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing into a run's buffers.
 *
 * Each processor writes its own with interrupts off. A buffer is finished -
 * header final, rest filled, no padding - before relay is told to switch, so
 * that a reader on another processor never meets one that is half made. When
 * there is no buffer to switch to, the full one is kept unfinished: it can
 * still be told of the events that were lost after it, and the last buffer of a
 * processor is always at hand when the session stops.
 */

#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <uapi/ntklog/buffer.h>
#include <uapi/ntklog/event.h>

#include "../compat.h"
#include "../ground/clock.h"
#include "buffer.h"
#include "run.h"

/* relay's own mark for "no sub-buffer to write to", see relay_switch_subbuf(). */
static bool etw_buffer_is_open(const struct rchan_buf *buf)
{
	return buf->offset <= buf->chan->subbuf_size;
}

static struct wmi_buffer_header *etw_buffer_header(const struct rchan_buf *buf)
{
	return buf->data;
}

/**
 * etw_buffer_has_events() - is there something in the buffer that is written to?
 * @buf: of a processor
 *
 * Context: as etw_finish_buffer().
 * Return: whether there is.
 */
bool etw_buffer_has_events(const struct rchan_buf *buf)
{
	return etw_buffer_is_open(buf) && etw_buffer_header(buf)->sequence_number;
}

/**
 * etw_number_buffer() - the buffer that is written to is to be finished, events or not
 * @run: the run
 * @buf: of a processor
 *
 * Context: as etw_finish_buffer().
 */
void etw_number_buffer(struct etw_run *run, struct rchan_buf *buf)
{
	if (etw_buffer_is_open(buf) && !etw_buffer_header(buf)->sequence_number)
		etw_buffer_header(buf)->sequence_number =
			atomic64_inc_return(&run->sequence_number);
}

/**
 * etw_unread_buffers() - finished buffers that nobody has read
 * @buf: of a processor
 *
 * Context: any; elsewhere than etw_finish_buffer() it may have changed already.
 * Return: how many.
 */
size_t etw_unread_buffers(const struct rchan_buf *buf)
{
	/* What is done with the buffers depends on it; pairs with etw_read_buffers(). */
	size_t consumed = READ_ONCE(buf->subbufs_consumed);

	return READ_ONCE(buf->subbufs_produced) - consumed;
}

/**
 * etw_finish_buffer() - the buffer that is written to becomes what a file holds
 * @run: the run
 * @buf: of a processor; its buffer has events
 * @flags: of the buffer, besides those that it has anyway
 *
 * The next one is taken into use, if there is one.
 *
 * Context: interrupts off, on its own processor, or with that one offline and
 * cpus_read_lock() held.
 */
void etw_finish_buffer(struct etw_run *run, struct rchan_buf *buf, u16 flags)
{
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, buf->cpu);
	struct wmi_buffer_header *header = etw_buffer_header(buf);
	size_t size = buf->chan->subbuf_size;

	/* The next one has no number yet, and perhaps there is none. */
	cpu->buf = &etw_closed_buffer;
	header->saved_offset = buf->offset;
	header->current_offset = buf->offset;
	header->offset = buf->offset;
	header->time_stamp = ntklog_cycles();
	header->buffer_flag |= flags;
	if (cpu->lost_unmarked) {
		header->buffer_flag |= ETW_BUFFER_FLAG_EVENTS_LOST;
		cpu->lost_unmarked = false;
	}
	memset(buf->data + buf->offset, ETW_BUFFER_FILL, size - buf->offset);
	/* No padding: what relay counts are whole buffers. */
	buf->offset = size;
	/*
	 * The buffer's bytes before subbufs_produced, which relay increments.
	 * Pairs with smp_load_acquire() in etw_read_buffers().
	 */
	smp_wmb();
	relay_switch_subbuf(buf, 0);
	/*
	 * subbufs_produced before who waits for it. Pairs with smp_mb() in
	 * etw_poll_buffers(). Not to be woken from here: the scheduler may be writing.
	 */
	smp_mb();
	/* After the barrier. */
	if (waitqueue_active(&cpu->wait))
		irq_work_queue(&cpu->wake);
}

/*
 * Make the oldest buffer a free one, if the session is for that. Its buffers have no
 * reader before the run is finished. Interrupts off.
 */
static bool etw_overwrite_buffer(struct etw_run *run, struct rchan_buf *buf)
{
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, buf->cpu);

	if (run->mode != ETW_MODE_BUFFERING)
		return false;
	relay_subbufs_consumed(buf->chan, buf->cpu, 1);
	WRITE_ONCE(cpu->overwritten, cpu->overwritten + 1);
	return true;
}

/* Make room by going on to the next buffer, if there is one. Interrupts off. */
static bool etw_switch_buffer(struct etw_run *run, struct rchan_buf *buf)
{
	size_t unread = etw_unread_buffers(buf);

	if (etw_buffer_is_open(buf)) {
		if (unread + 1 >= buf->chan->n_subbufs &&
		    !etw_overwrite_buffer(run, buf))
			return false;
		etw_finish_buffer(run, buf, 0);
	} else {
		if (unread >= buf->chan->n_subbufs && !etw_overwrite_buffer(run, buf))
			return false;
		relay_switch_subbuf(buf, 0);
	}
	return etw_buffer_is_open(buf);
}

/*
 * Copy and pad with zeros to TRACE_EVENT_ALIGNMENT. By words: events are a few of
 * them, for which memcpy() takes longer to begin than to copy.
 */
static void etw_copy_padded(void *to, const void *from, size_t length)
{
	u64 word;

	for (; length >= sizeof(word); length -= sizeof(word)) {
		memcpy(to, from, sizeof(word));
		to += sizeof(word);
		from += sizeof(word);
	}
	if (length) {
		word = 0;
		memcpy(&word, from, length);
		memcpy(to, &word, sizeof(word));
	}
}

/*
 * Room for an event where etw_reserve() has found none, and the event's count: as
 * written, or as lost. Interrupts off.
 */
static noinline void *etw_open_buffer_for_event(struct etw_run *run, size_t size)
{
	struct rchan_buf *buf = *this_cpu_ptr(run->channel->buf);
	struct wmi_buffer_header *buffer;
	void *event;

	/* Single instructions: an NMI's own counting loses nothing. */
	this_cpu_inc(run->cpus->generated);
	/*
	 * An NMI may have interrupted a write to the very buffer. Nothing is written
	 * before @frozen was seen off: see etw_make_snapshot().
	 */
	if (unlikely(in_nmi() || !buf || READ_ONCE(run->frozen) ||
		     (buf->offset + size > buf->chan->subbuf_size &&
		      !etw_switch_buffer(run, buf)))) {
		this_cpu_inc(run->cpus->lost);
		this_cpu_write(run->cpus->lost_unmarked, true);
		return NULL;
	}

	/* Taken into use now: no number goes to a buffer that stays empty. */
	buffer = etw_buffer_header(buf);
	if (!buffer->sequence_number)
		buffer->sequence_number = atomic64_inc_return(&run->sequence_number);

	event = buf->data + buf->offset;
	buf->offset += size;
	this_cpu_inc(run->cpus->written);
	/* The next ones need not look. etw_finish_buffer() closes it. */
	this_cpu_write(run->cpus->buf, buf);
	return event;
}

/**
 * etw_buffer_write() - write an event into a run's buffer, or count it lost
 * @run: a run that is not finished
 * @header: the event's header, which tells its size
 * @data: the event's data
 *
 * Context: interrupts off.
 * Return: whether it has been written.
 */
bool etw_buffer_write(struct etw_run *run,
		      const struct perfinfo_trace_header *header,
		      const void *data)
{
	size_t size = ALIGN(header->size, TRACE_EVENT_ALIGNMENT);
	void *event;

	if (unlikely(in_nmi() || !etw_reserve(run->cpus, size, &event))) {
		event = etw_open_buffer_for_event(run, size);
		if (!event)
			return false;
	}
	memcpy(event, header, sizeof(*header));
	etw_copy_padded(event + sizeof(*header), data,
			header->size - sizeof(*header));
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(etw_buffer_write);
