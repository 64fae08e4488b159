// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's buffers: a relay channel whose sub-buffers are ETW buffers.
 *
 * Each processor writes its own with interrupts off. A buffer is finished -
 * header final, rest filled, no padding - before relay is told to switch, so
 * that a reader on another processor never meets one that is half made. When
 * there is no buffer to switch to, the full one is kept unfinished: it can
 * still be told of the events that were lost after it, and the last buffer of a
 * processor is always at hand when the session stops.
 *
 * relay's read() would also give the beginning of the buffer that is being
 * written; ours gives finished buffers only.
 */

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/relay.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <uapi/ntklog/buffer.h>
#include <uapi/ntklog/event.h>

#include "../address.h"
#include "../compat.h"
#include "buffer.h"
#include "session.h"

/* relay's own mark for "no sub-buffer to write to", see relay_switch_subbuf(). */
static bool etw_buffer_is_open(const struct rchan_buf *buf)
{
	return buf->offset <= buf->chan->subbuf_size;
}

static struct wmi_buffer_header *etw_buffer_header(struct rchan_buf *buf)
{
	return buf->data;
}

/**
 * etw_session_buffer() - a processor's part of a session's relay channel
 * @session: a session that has been started
 * @cpu: the processor
 *
 * Return: NULL if the processor never was online while the session ran.
 */
struct rchan_buf *etw_session_buffer(const struct etw_session *session,
				     unsigned int cpu)
{
	return *per_cpu_ptr(session->channel->buf, cpu);
}
EXPORT_SYMBOL_IF_KUNIT(etw_session_buffer);

/* relay: a sub-buffer is taken into use, or, by returning 0, is not. */
static int etw_subbuf_start(struct rchan_buf *buf, void *subbuf,
			    NTKLOG_RELAY_PREV_SUBBUF)
{
	struct etw_session *session = buf->chan->private_data;
	struct wmi_buffer_header *header = subbuf;

	if (relay_buf_full(buf))
		return 0;

	memset(header, 0, sizeof(*header));
	header->buffer_size = buf->chan->subbuf_size;
	header->clock_type = ETW_CLOCK_CPU_CYCLE;
	header->frequency = session->clock_frequency;
	header->processor_index = buf->cpu;
	header->logger_id = session->id;
	header->state = ETW_BUFFER_STATE_FLUSH;
	header->buffer_flag = ETW_BUFFER_FLAG_PROCESSOR_INDEX;
	header->buffer_type = ETW_BUFFER_TYPE_GENERIC;
	header->start_time = session->start_time;
	header->start_perf_clock = session->start_clock;
	subbuf_start_reserve(buf, sizeof(*header));
	return 1;
}

static ssize_t etw_buffer_read(struct file *file, char __user *to, size_t count,
			       loff_t *position)
{
	struct rchan_buf *buf = file->private_data;
	size_t size = buf->chan->subbuf_size;
	const struct etw_session *session = buf->chan->private_data;
	size_t done = 0;

	/* The writer itself gives buffers back, to overwrite them. */
	if (READ_ONCE(session->logging) && session->run_mode == ETW_MODE_BUFFERING)
		return -EBUSY;
	/* One reader at a time, as relay's own read() has it. */
	inode_lock(file_inode(file));
	while (done < count) {
		size_t consumed = buf->subbufs_consumed;
		size_t part = min(count - done, size - buf->bytes_consumed);
		const void *from = buf->start + buf->bytes_consumed +
				   (consumed % buf->chan->n_subbufs) * size;

		/* Pairs with smp_wmb() in etw_finish_buffer(). */
		if (smp_load_acquire(&buf->subbufs_produced) == consumed)
			break;
		if (copy_to_user(to + done, from, part)) {
			if (!done)
				done = -EFAULT;
			break;
		}
		done += part;
		buf->bytes_consumed += part;
		if (buf->bytes_consumed == size) {
			buf->bytes_consumed = 0;
			/*
			 * The copy is done before the buffer is given back.
			 * Pairs with the control dependency from
			 * relay_buf_full() to the stores of the writer.
			 */
			smp_mb();
			relay_subbufs_consumed(buf->chan, buf->cpu, 1);
		}
	}
	inode_unlock(file_inode(file));
	return done;
}

/*
 * relay makes the file first and then initialises what the file points to, its
 * reference count included: whoever opens it in between is forgotten, and the buffer
 * freed under him. What relay does last is to put it into its channel.
 */
static bool etw_buffer_is_ready(const struct rchan_buf *buf)
{
	bool ready = READ_ONCE(*per_cpu_ptr(buf->chan->buf, buf->cpu)) == buf;

	/* Before kref_get(); relay's stores are in order on x86. */
	smp_rmb();
	return ready;
}

static int etw_buffer_open(struct inode *inode, struct file *file)
{
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	if (!etw_buffer_is_ready(inode->i_private))
		return -EBUSY;
	return relay_file_operations.open(inode, file);
}

static int etw_buffer_release(struct inode *inode, struct file *file)
{
	return relay_file_operations.release(inode, file);
}

static __poll_t etw_buffer_poll(struct file *file, poll_table *wait)
{
	const struct rchan_buf *buf = file->private_data;
	const struct etw_session *session = buf->chan->private_data;
	__poll_t events = relay_file_operations.poll(file, wait);

	/* Once what is there has been read, that was all. */
	if (!READ_ONCE(session->logging))
		events |= EPOLLHUP;
	return events;
}

static const struct file_operations etw_buffer_fops = {
	.owner = THIS_MODULE,
	.open = etw_buffer_open,
	.read = etw_buffer_read,
	.poll = etw_buffer_poll,
	.release = etw_buffer_release,
};

static struct dentry *etw_create_buf_file(const char *name, struct dentry *parent,
					  umode_t mode, struct rchan_buf *buf,
					  int *is_global)
{
	struct etw_session *session = buf->chan->private_data;
	struct dentry *file = debugfs_create_file(name, 0400, parent, buf,
						  &etw_buffer_fops);

	/* The first one: see etw_close_forgotten_buffer(). */
	if (!IS_ERR(file) && !session->first_buffer)
		session->first_buffer = buf;
	return file;
}

static int etw_remove_buf_file(struct dentry *dentry)
{
	struct rchan_buf *buf = d_inode(dentry)->i_private;
	struct etw_session *session = buf->chan->private_data;

	if (session->first_buffer == buf)
		session->first_buffer = NULL;
	debugfs_remove(dentry);
	return 0;
}

static const struct rchan_callbacks etw_relay_callbacks = {
	.subbuf_start = etw_subbuf_start,
	.create_buf_file = etw_create_buf_file,
	.remove_buf_file = etw_remove_buf_file,
};

/*
 * relay, when it cannot make a later processor's buffer (at the start, or when a
 * processor comes up), forgets the first one's instead of closing it.
 */
static void etw_close_forgotten_buffer(struct etw_session *session)
{
	struct file opener = { .private_data = session->first_buffer };

	if (!session->first_buffer)
		return;
	etw_remove_buf_file(session->first_buffer->dentry);
	/* The way to its last reference. */
	relay_file_operations.release(NULL, &opener);
}

/**
 * etw_open_buffers() - make a session's buffers and their files
 * @session: a session without, its sizes and times set
 *
 * Context: thread; may sleep.
 * Return: 0 or -ENOMEM.
 */
int etw_open_buffers(struct etw_session *session)
{
	u64 pages = (u64)session->buffer_size * session->buffers / PAGE_SIZE *
		    num_online_cpus();

	/* relay would try, and the kernel would end processes to make room. */
	if (pages > si_mem_available() / 2)
		return -ENOMEM;
	session->buffer_cpu = alloc_percpu(struct etw_buffer_cpu);
	if (!session->buffer_cpu)
		return -ENOMEM;

	session->channel = relay_open("cpu", session->directory,
				      session->buffer_size, session->buffers,
				      &etw_relay_callbacks, session);
	if (!session->channel) {
		etw_close_forgotten_buffer(session);
		free_percpu(session->buffer_cpu);
		session->buffer_cpu = NULL;
		return -ENOMEM;
	}
	return 0;
}

/**
 * etw_close_buffers() - let a session's buffers and files go
 * @session: a session that does not log; unread buffers are dropped
 *
 * Context: thread; may sleep.
 */
void etw_close_buffers(struct etw_session *session)
{
	if (!session->channel)
		return;
	relay_close(session->channel);
	etw_close_forgotten_buffer(session);
	session->channel = NULL;
	free_percpu(session->buffer_cpu);
	session->buffer_cpu = NULL;
}

/* The buffer that is written to becomes what a file holds. Interrupts off. */
static void etw_finish_buffer(struct rchan_buf *buf, struct etw_buffer_cpu *cpu)
{
	struct wmi_buffer_header *header = etw_buffer_header(buf);
	size_t size = buf->chan->subbuf_size;

	header->saved_offset = buf->offset;
	header->current_offset = buf->offset;
	header->offset = buf->offset;
	header->time_stamp = get_cycles();
	if (cpu->lost_unmarked) {
		header->buffer_flag |= ETW_BUFFER_FLAG_EVENTS_LOST;
		cpu->lost_unmarked = false;
	}
	memset(buf->data + buf->offset, ETW_BUFFER_FILL, size - buf->offset);
	/* No padding: relay's readers and its file size see whole buffers. */
	buf->offset = size;
	/*
	 * The buffer's bytes before subbufs_produced, which relay increments.
	 * Pairs with smp_load_acquire() in etw_buffer_read().
	 */
	smp_wmb();
}

/*
 * Make the oldest buffer a free one, if the session is for that. Its finished
 * buffers have no reader while it logs. Interrupts off.
 */
static bool etw_overwrite_buffer(struct rchan_buf *buf, struct etw_buffer_cpu *cpu)
{
	const struct etw_session *session = buf->chan->private_data;

	if (session->run_mode != ETW_MODE_BUFFERING)
		return false;
	relay_subbufs_consumed(buf->chan, buf->cpu, 1);
	WRITE_ONCE(cpu->overwritten, cpu->overwritten + 1);
	return true;
}

/* Make room by going on to the next buffer, if there is one. Interrupts off. */
static bool etw_switch_buffer(struct rchan_buf *buf, struct etw_buffer_cpu *cpu)
{
	size_t unread = buf->subbufs_produced - READ_ONCE(buf->subbufs_consumed);

	if (etw_buffer_is_open(buf)) {
		if (unread + 1 >= buf->chan->n_subbufs &&
		    !etw_overwrite_buffer(buf, cpu))
			return false;
		etw_finish_buffer(buf, cpu);
	} else if (unread >= buf->chan->n_subbufs &&
		   !etw_overwrite_buffer(buf, cpu)) {
		return false;
	}
	relay_switch_subbuf(buf, 0);
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

/**
 * etw_buffer_write() - write an event into a session's buffer, or count it lost
 * @session: a session that has buffers
 * @header: the event's header, which tells its size
 * @data: the event's data
 *
 * Context: interrupts off.
 */
void etw_buffer_write(struct etw_session *session,
		      const struct perfinfo_trace_header *header,
		      const void *data)
{
	struct etw_buffer_cpu *cpu = this_cpu_ptr(session->buffer_cpu);
	struct rchan_buf *buf = *this_cpu_ptr(session->channel->buf);
	size_t size = ALIGN(header->size, TRACE_EVENT_ALIGNMENT);
	struct wmi_buffer_header *buffer;
	void *event;

	/* Single instructions: an NMI's own counting loses nothing. */
	this_cpu_inc(session->buffer_cpu->generated);
	/* An NMI may have interrupted a write to the very buffer. */
	if (unlikely(in_nmi() || !buf || READ_ONCE(session->frozen) ||
		     (buf->offset + size > buf->chan->subbuf_size &&
		      !etw_switch_buffer(buf, cpu)))) {
		this_cpu_inc(session->buffer_cpu->lost);
		cpu->lost_unmarked = true;
		return;
	}

	/* Taken into use now: no number goes to a buffer that stays empty. */
	buffer = etw_buffer_header(buf);
	if (!buffer->sequence_number)
		buffer->sequence_number =
			atomic64_inc_return(&session->sequence_number);

	event = buf->data + buf->offset;
	memcpy(event, header, sizeof(*header));
	etw_copy_padded(event + sizeof(*header), data,
			header->size - sizeof(*header));
	buf->offset += size;
	this_cpu_inc(session->buffer_cpu->written);
}

/**
 * etw_kept_buffers() - buffers with events that there are
 * @session: a session with buffers; one that logs goes on meanwhile
 *
 * Return: finished and not overwritten ones, and those in use.
 */
size_t etw_kept_buffers(const struct etw_session *session)
{
	unsigned int cpu;
	u64 overwritten = 0;

	for_each_possible_cpu(cpu)
		overwritten += READ_ONCE(per_cpu_ptr(session->buffer_cpu,
						     cpu)->overwritten);
	return atomic64_read(&session->sequence_number) - overwritten;
}

static bool etw_buffer_has_events(struct rchan_buf *buf)
{
	return buf && etw_buffer_is_open(buf) &&
		etw_buffer_header(buf)->sequence_number;
}

struct etw_flush {
	struct etw_session *session;
	unsigned int cpu;
	bool last;
};

static void etw_flush_buffer(void *data)
{
	struct etw_flush *flush = data;
	struct rchan_buf *buf = etw_session_buffer(flush->session, flush->cpu);

	if (!etw_buffer_has_events(buf))
		return;
	if (flush->last)
		etw_buffer_header(buf)->buffer_flag |=
			ETW_BUFFER_FLAG_FLUSH_MARKER;
	etw_finish_buffer(buf, per_cpu_ptr(flush->session->buffer_cpu,
					   flush->cpu));
	relay_switch_subbuf(buf, 0);
}

/**
 * etw_last_file_cpu() - the processor whose file comes last
 * @session: a session with buffers
 *
 * Return: of the processors that are online, the one that `cat cpu*` gives
 * last: a shell sorts cpu10 before cpu2.
 */
unsigned int etw_last_file_cpu(const struct etw_session *session)
{
	char name[16], last_name[16] = "";
	unsigned int cpu, last = 0;

	for_each_online_cpu(cpu) {
		snprintf(name, sizeof(name), "%u", cpu);
		if (etw_session_buffer(session, cpu) &&
		    strcmp(name, last_name) > 0) {
			strscpy(last_name, name, sizeof(last_name));
			last = cpu;
		}
	}
	return last;
}
EXPORT_SYMBOL_IF_KUNIT(etw_last_file_cpu);

/* Who waits for more waits for nothing. */
static void etw_wake_readers(struct etw_session *session)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct rchan_buf *buf = etw_session_buffer(session, cpu);

		if (buf)
			wake_up_interruptible(&buf->read_wait);
	}
}

/**
 * etw_flush_buffers() - make what has been written readable
 * @session: a session with buffers
 * @last: the session has stopped; mark the last buffer of the file
 *
 * Buffers without events are left alone.
 *
 * Context: thread; may sleep.
 */
void etw_flush_buffers(struct etw_session *session, bool last)
{
	unsigned int cpu, last_cpu;

	/* Nobody comes or goes; an offline processor's buffer has no writer. */
	cpus_read_lock();
	last_cpu = etw_last_file_cpu(session);
	for_each_possible_cpu(cpu) {
		struct etw_flush flush = {
			.session = session,
			.cpu = cpu,
			.last = last && cpu == last_cpu,
		};

		struct etw_buffer_cpu *count = per_cpu_ptr(session->buffer_cpu, cpu);
		u64 written = READ_ONCE(count->written);

		/* Let those sleep on that have nothing new. */
		if (written == count->flushed && !last)
			continue;
		count->flushed = written;
		if (cpu_online(cpu)) {
			smp_call_function_single(cpu, etw_flush_buffer, &flush, 1);
		} else {
			local_irq_disable();
			etw_flush_buffer(&flush);
			local_irq_enable();
		}
	}
	cpus_read_unlock();
	if (last)
		etw_wake_readers(session);
}
