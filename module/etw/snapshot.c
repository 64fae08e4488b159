// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots copy the buffers of a session in buffering mode (a flight recorder) into an ETL file.
 * The session is frozen meanwhile: events are lost, and counted.
 *
 * The rundown of the start has been overwritten, and a program cannot interpret sampled events
 * without its parameters. The snapshot of a started session therefore ends with an additional
 * buffer, which has the rundown that a stop would write.
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

/* List the finished buffers of each CPU, the oldest first. Return: the number of buffers. */
static size_t etw_list_buffers(const struct etw_run *run,
			       struct wmi_buffer_header **list)
{
	unsigned int cpu;
	size_t count = 0;

	/* relay may be adding the buffers of a CPU that comes online. */
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		const struct rchan_buf *buf = etw_run_buffer(run, cpu);
		size_t i;

		if (!buf)
			continue;
		/* Read once: a reader of a finished run may increase it meanwhile. */
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

/* Make the buffer of the rundown, with the next number. Return: false if there is no rundown. */
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

/* Called while the run is frozen or finished. */
static void *etw_copy_buffers(const struct etw_session *session, size_t *size)
{
	size_t each = session->run->buffer_size;
	size_t count = etw_list_buffers(session->run, NULL), i;
	struct trace_logfile_header64 *logfile;
	struct wmi_buffer_header **list;
	u8 *snapshot;

	*size = (2 + count) * each;
	/* kvmalloc() refuses more. */
	if (*size > INT_MAX)
		return ERR_PTR(-EFBIG);
	list = kvmalloc_array(count + 1, sizeof(*list), GFP_KERNEL);
	snapshot = kvmalloc(*size, GFP_KERNEL);
	if (!list || !snapshot) {
		kvfree(list);
		kvfree(snapshot);
		return ERR_PTR(-ENOMEM);
	}
	/* A reader of a finished run may have taken buffers meanwhile. None have been added. */
	count = etw_list_buffers(session->run, list);
	sort(list, count, sizeof(*list), etw_compare_buffers, NULL);
	etw_fill_header_buffer(snapshot, session->run);
	/* The header counts buffers that have been read, too. */
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

		/* The stop may have marked another buffer as the end of the file. */
		header->buffer_flag &= ~ETW_BUFFER_FLAG_FLUSH_MARKER;
		if (i == count - 1)
			header->buffer_flag |= ETW_BUFFER_FLAG_FLUSH_MARKER;
	}
	kvfree(list);
	return snapshot;
}

/**
 * etw_make_snapshot() - copy the buffers of a session in buffering mode into an ETL file
 * @session: the session, started or stopped
 * @size: set to the bytes of the file
 *
 * The buffers are in sequence over all CPUs. BuffersLost counts the overwritten ones. The last
 * buffer of a started session's file is the rundown.
 *
 * Context: thread; may sleep.
 * Return: the file, for kvfree(); -ENODATA if the session has not been started yet; -EINVAL in
 * sequential mode; -EFBIG if the file had 2 GiB or more; -ENOMEM; -EINTR after a fatal signal.
 */
void *etw_make_snapshot(struct etw_session *session, size_t *size)
{
	struct etw_run *run;
	void *snapshot;

	if (mutex_lock_killable(&etw_mutex))
		return ERR_PTR(-EINTR);
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
		 * Loggers run with interrupts off: after this all of them see @frozen, and open
		 * no buffer. The flush closes the open ones.
		 */
		synchronize_rcu();
		etw_flush_buffers(run, ETW_FLUSH_SNAPSHOT);
	}
	etw_add_reader(run);
	snapshot = etw_copy_buffers(session, size);
	etw_remove_reader(run);
	/*
	 * The copy before the next event, which may overwrite a copied buffer.
	 * Pairs with the control dependency from @frozen in etw_open_buffer_for_event().
	 */
	smp_store_release(&run->frozen, false);
	/* The buffers of a flight recorder count as read when a snapshot of them exists. */
	if (!IS_ERR(snapshot) && !session->logging)
		run->in_snapshot = true;
out:
	mutex_unlock(&etw_mutex);
	return snapshot;
}
EXPORT_SYMBOL_IF_KUNIT(etw_make_snapshot);
