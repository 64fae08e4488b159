// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots copy the buffers of a session in buffering mode (a flight recorder) into an ETL file,
 * while the session keeps recording. A copy of a buffer that was overwritten meanwhile is dropped.
 *
 * The rundown of the start may have been overwritten. The snapshot of a started session therefore
 * ends with an additional buffer, which has the rundown that a stop would write, if there is any.
 */

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/relay.h>
#include <linux/sched/signal.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <uapi/ntklog/buffer.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/logfile.h>

#include "../ground/clock.h"
#include "flush.h"
#include "logfile.h"
#include "run.h"
#include "rundown.h"
#include "session.h"
#include "snapshot.h"

/*
 * @buffer_index: number of the buffer on its CPU. @sequence_number may be wrong: see
 * etw_copy_buffer().
 */
struct etw_listed_buffer {
	const struct rchan_buf *buf;
	size_t buffer_index;
	s64 sequence_number;
};

/* @file has 2 + @buffers_max buffers, for the header and the rundown, too. */
struct etw_snapshot {
	size_t buffers_max;
	struct etw_listed_buffer *list;
	size_t count;
	u8 *file;
};

static int etw_compare_buffers(const void *a, const void *b)
{
	const struct etw_listed_buffer *x = a, *y = b;

	return x->sequence_number < y->sequence_number ? -1 : 1;
}

static void *etw_get_buffer_at(const struct rchan_buf *buf, size_t index)
{
	return buf->start + index % buf->chan->n_subbufs * buf->chan->subbuf_size;
}

static bool etw_count_is_greater(size_t count, size_t other_count)
{
	return (ssize_t)(count - other_count) > 0;
}

static void etw_list_buffers(const struct etw_run *run, struct etw_snapshot *snapshot)
{
	unsigned int cpu;

	snapshot->count = 0;
	/* relay may be adding the buffers of a CPU that comes online. */
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		const struct rchan_buf *buf = etw_get_buffer_of_cpu(run, cpu);
		size_t index, end;

		if (!buf)
			continue;
		/*
		 * Read the buffers and subbufs_consumed after subbufs_produced, so that the loop
		 * lists at most n_subbufs buffers of a CPU. Pairs with smp_wmb() in
		 * etw_finish_buffer().
		 */
		end = etw_get_finished_buffer_count(buf);
		index = etw_get_consumed_buffer_count(buf);
		for (; etw_count_is_greater(end, index); index++) {
			const struct wmi_buffer_header *header = etw_get_buffer_at(buf, index);

			if (snapshot->count < snapshot->buffers_max)
				snapshot->list[snapshot->count] = (struct etw_listed_buffer) {
					.buf = buf,
					.buffer_index = index,
					/* The session may be overwriting the buffer. */
					.sequence_number = data_race(header->sequence_number),
				};
			snapshot->count++;
		}
	}
	cpus_read_unlock();
}

static bool etw_fill_rundown_buffer(u8 *buffer, const struct etw_session *session)
{
	struct wmi_buffer_header *header = (void *)buffer;
	const struct etw_run *run = session->run;
	size_t size = run->buffer_size;
	size_t used_bytes = etw_write_rundown(session, buffer + sizeof(*header),
					      size - sizeof(*header));

	if (!used_bytes)
		return false;
	cpus_read_lock();
	etw_init_buffer(header, run, size, etw_find_last_file_cpu(run));
	cpus_read_unlock();
	used_bytes += sizeof(*header);
	header->saved_offset = used_bytes;
	header->current_offset = used_bytes;
	header->offset = used_bytes;
	header->time_stamp = ntklog_read_cycles();
	memset(buffer + used_bytes, ETW_BUFFER_FILL, size - used_bytes);
	return true;
}

static void etw_free_snapshot(struct etw_snapshot *snapshot)
{
	kvfree(snapshot->list);
	kvfree(snapshot->file);
	*snapshot = (struct etw_snapshot) {};
}

/* Return the number of buffers that the run can have at most, as long as no CPU comes online. */
static size_t etw_get_max_buffer_count(struct etw_run *run)
{
	struct etw_snapshot empty = {};
	unsigned int cpu;
	size_t count = 0;

	/* A finished run gets no more buffers, and most of its buffers may have been read. */
	if (etw_run_is_finished(run)) {
		etw_list_buffers(run, &empty);
		return empty.count;
	}
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (etw_get_buffer_of_cpu(run, cpu))
			count += run->channel->n_subbufs;
	cpus_read_unlock();
	return count;
}

/* Called without etw_mutex, because the allocation may sleep for long. */
static int etw_alloc_snapshot(struct etw_snapshot *snapshot, struct etw_run *run)
{
	/* The allocation fails where it would kill processes to get the memory. */
	const gfp_t flags = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	size_t size;

	snapshot->buffers_max = etw_get_max_buffer_count(run);
	size = (2 + snapshot->buffers_max) * run->buffer_size;
	/* kvmalloc() refuses more. */
	if (size > INT_MAX)
		return -EFBIG;
	/* The limit of etw_open_channel(). */
	if (size / PAGE_SIZE > si_mem_available() / 2)
		return -ENOMEM;
	snapshot->list = kvmalloc_array(snapshot->buffers_max + 1, sizeof(*snapshot->list), flags);
	snapshot->file = kvmalloc(size, flags);
	if (snapshot->list && snapshot->file)
		return 0;
	etw_free_snapshot(snapshot);
	return -ENOMEM;
}

/* Returns false if the copy may have parts of the contents of two buffers. */
static bool etw_copy_buffer(u8 *copy, const struct etw_listed_buffer *listed)
{
	const struct rchan_buf *buf = listed->buf;

	/* The session may be overwriting the buffer; the comparison below detects that. */
	data_race(memcpy(copy, etw_get_buffer_at(buf, listed->buffer_index),
			 buf->chan->subbuf_size));
	/* Read the count after the copy. Pairs with smp_wmb() in etw_overwrite_buffer(). */
	smp_rmb();
	return !etw_count_is_greater(etw_get_consumed_buffer_count(buf), listed->buffer_index);
}

/*
 * Copy the listed buffers to the second and later buffers of the file, the newest buffer first: if
 * the session has overwritten a buffer, it has overwritten all older buffers of the CPU, too.
 * Therefore the copies of a CPU have no gap. Returns 0 or -EINTR.
 */
static int etw_copy_buffers(struct etw_snapshot *snapshot, size_t size)
{
	u8 *first = snapshot->file + size, *oldest_copy = first + snapshot->count * size;
	size_t i, copied_buffers = 0;

	for (i = snapshot->count; i--;) {
		if (etw_copy_buffer(oldest_copy - size, &snapshot->list[i])) {
			oldest_copy -= size;
			copied_buffers++;
		}
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	memmove(first, oldest_copy, copied_buffers * size);
	snapshot->count = copied_buffers;
	return 0;
}

static s64 etw_get_last_copied_number(const struct etw_run *run,
				      const struct etw_snapshot *snapshot)
{
	const struct wmi_buffer_header *header =
		(const void *)(snapshot->file + snapshot->count * run->buffer_size);

	return snapshot->count ? header->sequence_number : atomic64_read(&run->sequence_number);
}

/*
 * @last_number: sequence number of the file's last buffer. For a started session, smaller numbers
 * that the file does not have count as lost.
 */
static void etw_finish_file(const struct etw_session *session, struct etw_snapshot *snapshot,
			    s64 last_number)
{
	struct trace_logfile_header64 *logfile = (void *)(snapshot->file +
							  sizeof(struct wmi_buffer_header) +
							  sizeof(struct system_trace_header));
	size_t i;

	etw_fill_header_buffer(snapshot->file, session->run);
	/* The run also counts buffers that have been read, or that the session has filled since. */
	logfile->buffers_written = 1 + snapshot->count;
	if (session->is_logging)
		logfile->buffers_lost = last_number - snapshot->count;
	for (i = 1; i <= snapshot->count; i++) {
		struct wmi_buffer_header *header =
			(void *)(snapshot->file + i * session->run->buffer_size);

		/* The stop may have marked another buffer as the end of the file. */
		header->buffer_flag &= ~ETW_BUFFER_FLAG_FLUSH_MARKER;
		if (i == snapshot->count)
			header->buffer_flag |= ETW_BUFFER_FLAG_FLUSH_MARKER;
	}
}

/* Called with etw_mutex held. Returns 0; -EAGAIN if @snapshot is too small; -EINTR. */
static int etw_fill_snapshot(struct etw_session *session, struct etw_snapshot *snapshot)
{
	struct etw_run *run = session->run;
	size_t size = run->buffer_size;
	bool has_rundown = false;
	s64 last_number;
	u8 *rundown_buffer;
	int err;

	if (session->is_logging) {
		etw_list_holds(session);
		etw_flush_buffers(run, ETW_FLUSH_SNAPSHOT);
	}
	/* The snapshot leaves out a buffer that a reader of a finished run consumes meanwhile. */
	etw_list_buffers(run, snapshot);
	if (snapshot->count > snapshot->buffers_max)
		return -EAGAIN;
	sort(snapshot->list, snapshot->count, sizeof(*snapshot->list), etw_compare_buffers, NULL);
	/* Make the rundown before the copies, so that its time is close to the last events. */
	rundown_buffer = snapshot->file + (1 + snapshot->count) * size;
	if (session->is_logging)
		has_rundown = etw_fill_rundown_buffer(rundown_buffer, session);
	err = etw_copy_buffers(snapshot, size);
	if (err)
		return err;
	last_number = etw_get_last_copied_number(run, snapshot);
	if (has_rundown) {
		((struct wmi_buffer_header *)rundown_buffer)->sequence_number = ++last_number;
		memmove(snapshot->file + ++snapshot->count * size, rundown_buffer, size);
	}
	etw_finish_file(session, snapshot, last_number);
	/* The buffers of a flight recorder count as read when a snapshot of them exists. */
	if (!session->is_logging)
		run->is_in_snapshot = true;
	return 0;
}

/* The caller has added a reader, so that the buffers of the run are not freed. */
static void *etw_make_snapshot_of_run(struct etw_session *session, struct etw_run *run,
				      size_t *size)
{
	struct etw_snapshot snapshot = {};
	int err = etw_alloc_snapshot(&snapshot, run);

	if (err)
		return ERR_PTR(err);
	if (mutex_lock_killable(&etw_mutex)) {
		etw_free_snapshot(&snapshot);
		return ERR_PTR(-EINTR);
	}
	err = session->run == run ? etw_fill_snapshot(session, &snapshot) : -EAGAIN;
	mutex_unlock(&etw_mutex);
	if (err) {
		etw_free_snapshot(&snapshot);
		return ERR_PTR(err);
	}
	*size = (1 + snapshot.count) * run->buffer_size;
	kvfree(snapshot.list);
	return snapshot.file;
}

/**
 * etw_make_snapshot() - copy the buffers of a session in buffering mode into an ETL file
 * @session: the session, started or stopped
 * @size: set to the bytes of the file
 *
 * Context: task; may sleep.
 * Return: the file, for kvfree(), or a negative errno.
 */
void *etw_make_snapshot(struct etw_session *session, size_t *size)
{
	struct etw_run *run;
	void *snapshot;

	do {
		run = etw_get_session_run(session);
		if (!run)
			return ERR_PTR(-ENODATA);
		if (run->mode == ETW_MODE_BUFFERING) {
			etw_add_reader(run);
			snapshot = etw_make_snapshot_of_run(session, run, size);
			etw_remove_reader(run);
		} else {
			snapshot = ERR_PTR(-EINVAL);
		}
		etw_put_run(run);
	} while (snapshot == ERR_PTR(-EAGAIN));
	return snapshot;
}
