// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder's last minutes: what a session in buffering mode has in its
 * buffers, copied out as an ETL file, while the session stands still. Events that come
 * meanwhile are lost, and counted. Then it goes on.
 *
 * The rundown of its start has been overwritten long since, and without the parameters of
 * the sampling nobody knows what the events stand for. So a file of a session that goes on
 * ends with a buffer that is not the session's: with the rundown as a stop would write it.
 */

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/relay.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <uapi/ntklog/buffer.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/logfile.h>

#include "../compat.h"
#include "../ground/clock.h"
#include "flush.h"
#include "logfile.h"
#include "run.h"
#include "rundown.h"
#include "session.h"
#include "snapshot.h"

static int etw_compare_buffers(const void *a, const void *b)
{
	const struct wmi_buffer_header * const *x = a, * const *y = b;

	return (*x)->sequence_number < (*y)->sequence_number ? -1 : 1;
}

/* Finished buffers, oldest first in each processor's. */
static size_t etw_list_buffers(const struct etw_run *run,
			       struct wmi_buffer_header **list)
{
	unsigned int cpu;
	size_t count = 0;

	/* What relay has made of a processor that comes up: see etw_prepare_reader(). */
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		const struct rchan_buf *buf = etw_run_buffer(run, cpu);
		size_t i;

		if (!buf)
			continue;
		/* Once: of a run that is finished somebody may read meanwhile. */
		for (i = READ_ONCE(buf->subbufs_consumed); i != buf->subbufs_produced; i++) {
			if (list)
				list[count] = buf->start + i % buf->chan->n_subbufs *
					      buf->chan->subbuf_size;
			count++;
		}
	}
	cpus_read_unlock();
	return count;
}

/* The buffer of the rundown, if there is one. It has the number that no other has yet. */
static bool etw_fill_rundown_buffer(u8 *buffer, const struct etw_session *session)
{
	struct wmi_buffer_header *header = (void *)buffer;
	const struct etw_run *run = session->run;
	size_t size = run->buffer_size;
	size_t used = etw_put_rundown(session, buffer + sizeof(*header), size - sizeof(*header));

	if (!used)
		return false;
	cpus_read_lock();
	etw_init_buffer(header, run, size, etw_last_file_cpu(run));
	cpus_read_unlock();
	used += sizeof(*header);
	header->saved_offset = used;
	header->current_offset = used;
	header->offset = used;
	header->time_stamp = ntklog_cycles();
	header->sequence_number = atomic64_read(&run->sequence_number) + 1;
	memset(buffer + used, ETW_BUFFER_FILL, size - used);
	return true;
}

/* Called with nobody writing. */
static void *etw_copy_buffers(const struct etw_session *session, size_t *size)
{
	size_t each = session->run->buffer_size;
	size_t count = etw_list_buffers(session->run, NULL), i;
	struct trace_logfile_header64 *logfile;
	struct wmi_buffer_header **list;
	u8 *snapshot;

	*size = (2 + count) * each;
	/* More is not to be had from kvmalloc(). */
	if (*size > INT_MAX)
		return ERR_PTR(-EFBIG);
	list = kvmalloc_array(count + 1, sizeof(*list), GFP_KERNEL);
	snapshot = kvmalloc(*size, GFP_KERNEL);
	if (!list || !snapshot) {
		kvfree(list);
		kvfree(snapshot);
		return ERR_PTR(-ENOMEM);
	}
	/* Who reads a run that is finished may have taken some meanwhile; none have come. */
	count = etw_list_buffers(session->run, list);
	sort(list, count, sizeof(*list), etw_compare_buffers, NULL);
	etw_fill_header_buffer(snapshot, session->run);
	/* Without those that have been read. */
	logfile = (void *)(snapshot + sizeof(struct wmi_buffer_header) +
			   sizeof(struct system_trace_header));
	for (i = 0; i < count; i++)
		memcpy(snapshot + (1 + i) * each, list[i], each);
	if (session->logging && etw_fill_rundown_buffer(snapshot + (1 + count) * each, session))
		count++;
	logfile->buffers_written = 1 + count;
	*size = (1 + count) * each;
	for (i = 0; i < count; i++) {
		struct wmi_buffer_header *header = (void *)(snapshot + (1 + i) * each);

		/* The end of this file, whatever a stop has taken for that. */
		header->buffer_flag &= ~ETW_BUFFER_FLAG_FLUSH_MARKER;
		if (i == count - 1)
			header->buffer_flag |= ETW_BUFFER_FLAG_FLUSH_MARKER;
	}
	kvfree(list);
	return snapshot;
}

/**
 * etw_make_snapshot() - what a flight recorder has recorded, as an ETL file
 * @session: a session in buffering mode, started or stopped
 * @size: bytes of the file
 *
 * Buffers are in sequence over all processors. What has been overwritten is told as
 * BuffersLost. Of a session that goes on the last buffer is the rundown.
 *
 * Context: thread; may sleep.
 * Return: the file, to be freed with kvfree(); -ENODATA if the session has never been
 * started, -EINVAL if its mode is another, -EFBIG if it were 2 GiB or more, -ENOMEM.
 */
void *etw_make_snapshot(struct etw_session *session, size_t *size)
{
	struct etw_run *run;
	void *snapshot;

	mutex_lock(&etw_mutex);
	run = session->run;
	if (!run) {
		snapshot = ERR_PTR(-ENODATA);
		goto out;
	}
	if (run->mode != ETW_MODE_BUFFERING) {
		snapshot = ERR_PTR(-EINVAL);
		goto out;
	}
	if (session->logging) {
		WRITE_ONCE(run->frozen, true);
		/*
		 * Loggers, who have interrupts off and had not seen it, have left the
		 * buffers: none is opened any more, and the flush closes those that are.
		 */
		synchronize_rcu();
		etw_flush_buffers(run, ETW_FLUSH_SNAPSHOT);
	}
	etw_add_reader(run);
	snapshot = etw_copy_buffers(session, size);
	etw_remove_reader(run);
	/*
	 * The copy before the next event, which may be written over what was copied.
	 * Pairs with the control dependency from @frozen in etw_open_buffer_for_event().
	 */
	smp_store_release(&run->frozen, false);
	/* Who reads a flight recorder reads this, and none of the files that give buffers back. */
	if (!IS_ERR(snapshot) && !session->logging)
		run->in_snapshot = true;
out:
	mutex_unlock(&etw_mutex);
	return snapshot;
}
EXPORT_SYMBOL_IF_KUNIT(etw_make_snapshot);
