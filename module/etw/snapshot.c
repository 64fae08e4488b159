// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots copy the buffers of a session in buffering mode (a flight recorder) into an ETL file.
 * The session is frozen meanwhile: events are lost, and counted.
 *
 * The rundown of the start may have been overwritten, and a program cannot interpret sampled events
 * without its parameters. The snapshot of a started session therefore ends with an additional
 * buffer, which has the rundown that a stop would write. If a stop would write none, there is no
 * additional buffer.
 *
 * The list of the locks that are held is written into the session's own buffers before it freezes.
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

#include "../ground/clock.h"
#include "../ground/compat.h"
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

/**
 * struct etw_snapshot_memory - memory for a snapshot, allocated before the run is frozen
 * @buffers_max: number of buffers that fit, without the header and the rundown
 * @list: @buffers_max entries
 * @file: 2 + @buffers_max buffers
 */
struct etw_snapshot_memory {
	size_t buffers_max;
	struct wmi_buffer_header **list;
	u8 *file;
};

static void etw_free_snapshot_memory(struct etw_snapshot_memory *memory)
{
	kvfree(memory->list);
	kvfree(memory->file);
	*memory = (struct etw_snapshot_memory) {};
}

/* Return: the buffers that the run can have, as long as no CPU comes online. */
static size_t etw_max_buffers(struct etw_run *run)
{
	unsigned int cpu;
	size_t count = 0;

	/* None is added to a finished run, and most of its buffers may have been read. */
	if (etw_run_is_finished(run))
		return etw_list_buffers(run, NULL);
	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (etw_run_buffer(run, cpu))
			count += run->channel->n_subbufs;
	cpus_read_unlock();
	return count;
}

/* Called without etw_mutex: the kernel may write out other memory first. Return: 0 or an errno. */
static int etw_alloc_snapshot_memory(struct etw_snapshot_memory *memory, struct etw_run *run)
{
	/* The allocation fails where it would kill processes to get the memory. */
	const gfp_t flags = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	size_t size;

	memory->buffers_max = etw_max_buffers(run);
	size = (2 + memory->buffers_max) * run->buffer_size;
	/* kvmalloc() refuses more. */
	if (size > INT_MAX)
		return -EFBIG;
	/* The limit of etw_open_channel(). */
	if (size / PAGE_SIZE > si_mem_available() / 2)
		return -ENOMEM;
	memory->list = kvmalloc_array(memory->buffers_max + 1, sizeof(*memory->list), flags);
	memory->file = kvmalloc(size, flags);
	if (memory->list && memory->file)
		return 0;
	etw_free_snapshot_memory(memory);
	return -ENOMEM;
}

/*
 * Called while the run is frozen or finished. Return: the bytes of the file; 0 if
 * @memory is too small.
 */
static size_t etw_copy_buffers(const struct etw_session *session,
			       struct etw_snapshot_memory *memory)
{
	size_t buffer_size = session->run->buffer_size;
	struct wmi_buffer_header **list = memory->list;
	struct trace_logfile_header64 *logfile;
	u8 *snapshot = memory->file;
	size_t count, i;

	if (etw_list_buffers(session->run, NULL) > memory->buffers_max)
		return 0;
	/* A reader of a finished run may have taken buffers meanwhile. None have been added. */
	count = etw_list_buffers(session->run, list);
	sort(list, count, sizeof(*list), etw_compare_buffers, NULL);
	etw_fill_header_buffer(snapshot, session->run);
	/* The header counts buffers that have been read, too. */
	logfile = (void *)(snapshot + sizeof(struct wmi_buffer_header) +
			   sizeof(struct system_trace_header));
	for (i = 0; i < count; i++)
		memcpy(snapshot + (1 + i) * buffer_size, list[i], buffer_size);
	if (session->logging &&
	    etw_fill_rundown_buffer(snapshot + (1 + count) * buffer_size, session))
		count++;
	logfile->buffers_written = 1 + count;
	for (i = 0; i < count; i++) {
		struct wmi_buffer_header *header = (void *)(snapshot + (1 + i) * buffer_size);

		/* The stop may have marked another buffer as the end of the file. */
		header->buffer_flag &= ~ETW_BUFFER_FLAG_FLUSH_MARKER;
		if (i == count - 1)
			header->buffer_flag |= ETW_BUFFER_FLAG_FLUSH_MARKER;
	}
	return (1 + count) * buffer_size;
}

/* Called with etw_mutex held. Return: as etw_copy_buffers(). */
static size_t etw_freeze_and_copy(struct etw_session *session, struct etw_snapshot_memory *memory)
{
	struct etw_run *run = session->run;
	size_t size;

	if (session->logging) {
		etw_list_holds(session);
		WRITE_ONCE(run->frozen, true);
		/*
		 * Loggers run with interrupts off: after this all of them see @frozen, and open
		 * no buffer. The flush closes the open ones.
		 */
		synchronize_rcu();
		etw_flush_buffers(run, ETW_FLUSH_SNAPSHOT);
	}
	size = etw_copy_buffers(session, memory);
	/*
	 * The copy before the next event, which may overwrite a copied buffer.
	 * Pairs with the control dependency from @frozen in etw_open_buffer_for_event().
	 */
	smp_store_release(&run->frozen, false);
	/* The buffers of a flight recorder count as read when a snapshot of them exists. */
	if (size && !session->logging)
		run->in_snapshot = true;
	return size;
}

/*
 * The run has a reader meanwhile, so its buffers stay. Return: the file; -EAGAIN if the session
 * has another run now, or a CPU that came online has added buffers; or another errno.
 */
static void *etw_make_snapshot_of_run(struct etw_session *session, struct etw_run *run,
				      size_t *size)
{
	struct etw_snapshot_memory memory = {};
	int err = etw_alloc_snapshot_memory(&memory, run);

	if (err)
		return ERR_PTR(err);
	*size = 0;
	if (mutex_lock_killable(&etw_mutex)) {
		etw_free_snapshot_memory(&memory);
		return ERR_PTR(-EINTR);
	}
	if (session->run == run)
		*size = etw_freeze_and_copy(session, &memory);
	mutex_unlock(&etw_mutex);
	if (!*size) {
		etw_free_snapshot_memory(&memory);
		return ERR_PTR(-EAGAIN);
	}
	kvfree(memory.list);
	return memory.file;
}

/**
 * etw_make_snapshot() - copy the buffers of a session in buffering mode into an ETL file
 * @session: the session, started or stopped
 * @size: set to the bytes of the file
 *
 * The buffers are in sequence over all CPUs. BuffersLost counts the overwritten ones. The last
 * buffer of a started session's file is the rundown, if the session has any.
 *
 * Context: thread; may sleep.
 * Return: the file, for kvfree(); -ENODATA if the session has no run; -EINVAL in sequential mode;
 * -EFBIG if the file could have 2 GiB or more; -ENOMEM if it could take more than half of the
 * available memory, or cannot be allocated; -EINTR after a fatal signal.
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
EXPORT_SYMBOL_IF_KUNIT(etw_make_snapshot);
