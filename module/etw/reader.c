// SPDX-License-Identifier: GPL-2.0-only
/* relay's own read() would also return the beginning of the buffer that is being written. */

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "reader.h"
#include "run.h"

/*
 * @buffer_index: index of the buffer that was read last; the first buffer of the CPU in the run is
 * 0. @offset: number of bytes of that buffer that were read. A buffer that was read in part counts
 * as unread: the next reader gets all of it. @buf may be NULL.
 */
struct etw_reader {
	struct etw_run *run;
	unsigned int cpu;
	size_t buffer_index;
	size_t offset;
	struct rchan_buf *buf;
};

static void etw_prepare_reader(struct etw_reader *reader)
{
	if (READ_ONCE(reader->buf))
		return;
	/* relay has no barrier between a new buffer and its pointer. The lock orders them. */
	cpus_read_lock();
	WRITE_ONCE(reader->buf, etw_get_buffer_of_cpu(reader->run, reader->cpu));
	cpus_read_unlock();
}

/**
 * etw_open_reader() - open a reader of a run's buffers on a CPU
 * @run: the run; the reader gets its own reference
 * @cpu: a possible CPU; it may be offline
 *
 * Context: task; may sleep.
 * Return: the reader, for etw_close_reader(), or -ENOMEM.
 */
struct etw_reader *etw_open_reader(struct etw_run *run, unsigned int cpu)
{
	struct etw_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return ERR_PTR(-ENOMEM);
	reader->run = etw_get_run(run);
	etw_add_reader(run);
	reader->cpu = cpu;
	etw_prepare_reader(reader);
	return reader;
}

/**
 * etw_close_reader() - close a reader
 * @reader: the reader; it is freed
 *
 * Context: task; may sleep.
 */
void etw_close_reader(struct etw_reader *reader)
{
	etw_remove_reader(reader->run);
	etw_put_run(reader->run);
	kfree(reader);
}

/* In buffering mode the writer overwrites finished buffers until the run is finished. */
static bool etw_run_is_readable(const struct etw_run *run)
{
	return run->mode != ETW_MODE_BUFFERING || etw_run_is_finished(run);
}

/* Called with the CPU's read_mutex held. */
static ssize_t etw_read_finished_buffers(struct etw_reader *reader, char __user *buffer,
					 size_t count)
{
	struct rchan_buf *buf = READ_ONCE(reader->buf);
	size_t size, copied = 0;

	if (!buf)
		return 0;
	size = buf->chan->subbuf_size;
	while (copied < count) {
		size_t consumed_buffers = buf->subbufs_consumed, part;

		/* Pairs with smp_wmb() in etw_finish_buffer(). */
		if (etw_get_finished_buffer_count(buf) == consumed_buffers)
			break;
		/* Another reader has read the rest of the buffer that this reader read in part. */
		if (reader->buffer_index != consumed_buffers)
			reader->offset = 0;
		reader->buffer_index = consumed_buffers;
		part = min(count - copied, size - reader->offset);
		if (copy_to_user(buffer + copied,
				 buf->start + consumed_buffers % buf->chan->n_subbufs * size +
				 reader->offset, part)) {
			if (!copied)
				return -EFAULT;
			break;
		}
		copied += part;
		reader->offset += part;
		if (reader->offset == size) {
			/*
			 * Complete the copy before the buffer becomes free. Pairs with the control
			 * dependency from etw_count_unread_buffers() to the writer's stores.
			 */
			smp_mb();
			relay_subbufs_consumed(buf->chan, buf->cpu, 1);
		}
	}
	return copied;
}

/**
 * etw_read_buffers() - read finished buffers
 * @reader: the reader
 * @buffer: buffer of the caller
 * @count: the most bytes to read
 *
 * Context: task; may sleep.
 * Return: the number of bytes, 0 if there are no more for now, or a negative errno.
 */
ssize_t etw_read_buffers(struct etw_reader *reader, char __user *buffer, size_t count)
{
	struct mutex *mutex = &per_cpu_ptr(reader->run->cpus, reader->cpu)->read_mutex;
	ssize_t copied;

	if (!etw_run_is_readable(reader->run))
		return -EBUSY;
	etw_prepare_reader(reader);
	if (mutex_lock_interruptible(mutex))
		return -ERESTARTSYS;
	copied = etw_read_finished_buffers(reader, buffer, count);
	mutex_unlock(mutex);
	return copied;
}

/**
 * etw_poll_buffers() - poll for finished buffers
 * @reader: the reader
 * @file: the reader's file
 * @wait: the poll table
 *
 * Context: task; may sleep.
 * Return: EPOLLIN if a buffer can be read, and EPOLLHUP if the run is finished; 0 for neither.
 */
__poll_t etw_poll_buffers(struct etw_reader *reader, struct file *file,
			  poll_table *wait)
{
	struct etw_run *run = reader->run;
	const struct rchan_buf *buf;
	__poll_t events = 0;

	/* relay has a queue in its buffers, but the CPU may have no buffers yet. */
	poll_wait(file, &per_cpu_ptr(run->cpus, reader->cpu)->wait, wait);
	/* Enter the queue before reading the counts. Pairs with smp_mb() in etw_finish_buffer(). */
	smp_mb();
	/*
	 * Test for the end before reading the counts: a finished run gets no more buffers, so no
	 * reader gets EPOLLHUP without EPOLLIN while buffers are unread.
	 */
	if (etw_run_is_finished(run))
		events |= EPOLLHUP;
	etw_prepare_reader(reader);
	buf = READ_ONCE(reader->buf);
	if (buf && etw_run_is_readable(run) &&
	    etw_get_finished_buffer_count(buf) != etw_get_consumed_buffer_count(buf))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}
