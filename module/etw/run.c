// SPDX-License-Identifier: GPL-2.0-only
/* A run's buffers are a relay channel. The files in debugfs are not relay's. */

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/relay.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <uapi/ntklog/buffer.h>

#include "../ground/clock.h"
#include "../ground/compat.h"
#include "clock.h"
#include "run.h"

/* A full buffer, in which no event fits. Never written. */
struct rchan_buf etw_closed_buffer = { .offset = ETW_BUFFER_SIZE_MAX };

/**
 * etw_get_buffer_of_cpu() - get the buffers of a run on a CPU
 * @run: the run
 * @cpu: the CPU
 *
 * Context: on the CPU itself, or with cpus_read_lock() held.
 * Return: the CPU's part of the relay channel, or NULL if it has none.
 */
struct rchan_buf *etw_get_buffer_of_cpu(const struct etw_run *run, unsigned int cpu)
{
	struct rchan_buf *buf = run->channel ? READ_ONCE(*per_cpu_ptr(run->channel->buf, cpu)) :
					       NULL;

	return buf == &etw_closed_buffer ? NULL : buf;
}

/**
 * etw_init_buffer() - write the header of an empty buffer
 * @header: the header
 * @run: the run; it may not have its channel yet
 * @size: bytes of the buffer
 * @cpu: the CPU whose events the buffer will have
 *
 * Context: any.
 */
void etw_init_buffer(struct wmi_buffer_header *header, const struct etw_run *run,
		     size_t size, unsigned int cpu)
{
	memset(header, 0, sizeof(*header));
	header->buffer_size = size;
	header->clock_type = NTKLOG_CLOCK_TYPE;
	header->frequency = run->clocks.frequency;
	header->processor_index = cpu;
	header->logger_id = run->logger_id;
	header->state = ETW_BUFFER_STATE_FLUSH;
	header->buffer_flag = ETW_BUFFER_FLAG_PROCESSOR_INDEX;
	header->buffer_type = ETW_BUFFER_TYPE_GENERIC;
	header->start_time = run->clocks.start_time;
	header->start_perf_clock = run->clocks.start_clock;
}

/* relay calls this to start a sub-buffer. Returns 0 to keep the old one if no other is free. */
static int etw_subbuf_start(struct rchan_buf *buf, void *subbuf,
			    NTKLOG_RELAY_PREVIOUS)
{
	const struct etw_run *run = buf->chan->private_data;
	struct wmi_buffer_header *header = subbuf;

	if (relay_buf_full(buf))
		return 0;

	etw_init_buffer(header, run, buf->chan->subbuf_size, buf->cpu);
	subbuf_start_reserve(buf, sizeof(*header));
	return 1;
}

/*
 * relay calls this for buffers without a file, too. Any dentry means success, and relay does not
 * use it. An error here would make relay leak the buffers of another CPU.
 */
static struct dentry *etw_create_buf_file(const char *name, struct dentry *parent,
					  umode_t mode, struct rchan_buf *buf,
					  int *is_global)
{
	return buf->chan->parent;
}

/* etw_create_buf_file() has created no file. */
static int etw_remove_buf_file(struct dentry *dentry)
{
	return 0;
}

static const struct rchan_callbacks etw_relay_callbacks = {
	.subbuf_start = etw_subbuf_start,
	.create_buf_file = etw_create_buf_file,
	.remove_buf_file = etw_remove_buf_file,
};

static void etw_wake_readers(struct irq_work *work)
{
	wake_up_interruptible(&container_of(work, struct etw_buffer_cpu, wake)->wait);
}

/*
 * Called with cpus_read_lock() held. relay makes buffers for the CPUs that are online, and in a
 * hotplug callback for each that comes online later. A CPU that came online between the two would
 * have no buffer.
 */
static struct rchan *etw_open_channel(struct etw_run *run, struct dentry *directory,
				      const struct etw_settings *settings)
{
	u64 page_count = (u64)settings->buffer_size * settings->buffers / PAGE_SIZE *
			 num_online_cpus();

	/* relay would try to allocate more, and the kernel might kill processes for the memory. */
	if (page_count > si_mem_available() / 2)
		return NULL;
	return relay_open(NULL, directory, settings->buffer_size, settings->buffers,
			  &etw_relay_callbacks, run);
}

/**
 * etw_alloc_run() - allocate a run of a session
 * @logger_id: number of the session
 * @directory: directory of the session in debugfs
 * @settings: settings of the session
 *
 * Context: task; may sleep.
 * Return: the run, for etw_put_run(), or -ENOMEM.
 */
struct etw_run *etw_alloc_run(unsigned int logger_id, struct dentry *directory,
			      const struct etw_settings *settings)
{
	struct etw_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	unsigned int cpu;

	if (!run)
		return ERR_PTR(-ENOMEM);
	run->cpus = alloc_percpu(struct etw_buffer_cpu);
	if (!run->cpus)
		goto err_run;
	for_each_possible_cpu(cpu) {
		struct etw_buffer_cpu *buffer_cpu = per_cpu_ptr(run->cpus, cpu);

		buffer_cpu->buf = &etw_closed_buffer;
		buffer_cpu->buffer_size = settings->buffer_size;
		init_waitqueue_head(&buffer_cpu->wait);
		init_irq_work(&buffer_cpu->wake, etw_wake_readers);
		mutex_init(&buffer_cpu->read_mutex);
	}
	kref_init(&run->references);
	mutex_init(&run->mutex);
	run->mode = settings->mode;
	run->buffer_size = settings->buffer_size;
	run->group_mask = settings->group_mask;
	strscpy(run->name, settings->name, sizeof(run->name));
	run->logger_id = logger_id;
	run->starter_thread_id = task_pid_nr(current);
	run->starter_process_id = task_tgid_nr(current);
	etw_read_clocks(&run->clocks);
	cpus_read_lock();
	run->channel = etw_open_channel(run, directory, settings);
	cpus_read_unlock();
	if (!run->channel)
		goto err_cpus;
	return run;

err_cpus:
	free_percpu(run->cpus);
err_run:
	kfree(run);
	return ERR_PTR(-ENOMEM);
}

/*
 * Keep relay from giving a finished run buffers on CPUs that come online later: relay skips a CPU
 * whose pointer is not NULL. Called with cpus_read_lock() held.
 */
static void etw_refuse_new_cpus(struct rchan *channel)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		cmpxchg(per_cpu_ptr(channel->buf, cpu), NULL, &etw_closed_buffer);
}

static void etw_close_channel(struct rchan *channel)
{
	unsigned int cpu;

	/* relay_close() would free etw_closed_buffer. */
	for_each_possible_cpu(cpu)
		cmpxchg(per_cpu_ptr(channel->buf, cpu), &etw_closed_buffer, NULL);
	relay_close(channel);
}

static void etw_free_run(struct kref *references)
{
	struct etw_run *run = container_of(references, struct etw_run, references);
	unsigned int cpu;

	if (run->channel)
		etw_close_channel(run->channel);
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(run->cpus, cpu)->wake);
	free_percpu(run->cpus);
	kfree(run);
}

/**
 * etw_get_run() - get a reference to a run
 * @run: the run; it has a reference, or etw_session_lock is held
 *
 * Context: any.
 * Return: the run, for etw_put_run().
 */
struct etw_run *etw_get_run(struct etw_run *run)
{
	kref_get(&run->references);
	return run;
}

/**
 * etw_put_run() - drop a reference to a run; the last one frees the run
 * @run: the run, or NULL
 *
 * Context: task; may sleep.
 */
void etw_put_run(struct etw_run *run)
{
	if (run)
		kref_put(&run->references, etw_free_run);
}

/**
 * etw_run_is_finished() - test whether a run is complete
 * @run: the run
 *
 * Context: any.
 * Return: true if no logger writes any more and all buffers can be read.
 */
bool etw_run_is_finished(const struct etw_run *run)
{
	/* Pairs with etw_finish_run(). */
	return smp_load_acquire(&run->is_finished);
}

/**
 * etw_lock_buffers() - keep the buffers of a run from being freed or added
 * @run: the run
 *
 * Context: task; may sleep.
 */
void etw_lock_buffers(struct etw_run *run)
{
	mutex_lock(&run->mutex);
	cpus_read_lock();
}

/**
 * etw_unlock_buffers() - undo etw_lock_buffers()
 * @run: the run
 *
 * Context: task.
 */
void etw_unlock_buffers(struct etw_run *run)
{
	cpus_read_unlock();
	mutex_unlock(&run->mutex);
}

/**
 * etw_get_counts() - get the counts of a run on a CPU
 * @run: the run; while it is not finished, its counts still grow
 * @cpu: the CPU
 * @counts: set to the counts
 *
 * Context: between etw_lock_buffers() and etw_unlock_buffers().
 * Return: true; false if the CPU was not online in the run, and so has no counts.
 */
bool etw_get_counts(const struct etw_run *run, unsigned int cpu,
		    struct etw_counts *counts)
{
	const struct etw_buffer_cpu *buffer_cpu = per_cpu_ptr(run->cpus, cpu);
	const struct rchan_buf *buf = etw_get_buffer_of_cpu(run, cpu);
	size_t consumed;

	if (!buf && !buffer_cpu->had_buffers)
		return false;
	counts->generated = READ_ONCE(buffer_cpu->generated);
	counts->written = READ_ONCE(buffer_cpu->written);
	counts->lost = READ_ONCE(buffer_cpu->lost);
	counts->overwritten = READ_ONCE(buffer_cpu->overwritten);
	if (!buf) {
		counts->finished = buffer_cpu->finished;
		counts->unread = 0;
		return true;
	}
	/*
	 * Read subbufs_consumed first, otherwise unread may be negative. Pairs with smp_mb() in
	 * etw_read_finished_buffers().
	 */
	consumed = etw_get_consumed_buffer_count(buf);
	counts->finished = etw_get_finished_buffer_count(buf);
	counts->unread = counts->finished - consumed;
	return true;
}

static bool etw_any_cpu_has_unread_buffers(const struct etw_run *run)
{
	struct etw_counts counts;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (etw_get_counts(run, cpu, &counts) && counts.unread)
			return true;
	return false;
}

/**
 * etw_run_has_unread_buffers() - test whether a run has buffers that have not been read
 * @run: the run
 *
 * Context: task; may sleep.
 * Return: true if it has.
 */
bool etw_run_has_unread_buffers(struct etw_run *run)
{
	bool unread;

	etw_lock_buffers(run);
	unread = etw_any_cpu_has_unread_buffers(run);
	etw_unlock_buffers(run);
	return unread;
}

static void etw_free_read_buffers(struct etw_run *run)
{
	struct rchan *channel = NULL;
	unsigned int cpu;

	etw_lock_buffers(run);
	if (run->channel && !run->reader_count && etw_run_is_finished(run) &&
	    !etw_any_cpu_has_unread_buffers(run)) {
		for_each_possible_cpu(cpu) {
			struct etw_buffer_cpu *buffer_cpu = per_cpu_ptr(run->cpus, cpu);
			const struct rchan_buf *buf = etw_get_buffer_of_cpu(run, cpu);

			buffer_cpu->buf = &etw_closed_buffer;
			buffer_cpu->had_buffers = !!buf;
			buffer_cpu->finished = buf ? buf->subbufs_produced : 0;
		}
		channel = run->channel;
		run->channel = NULL;
	}
	etw_unlock_buffers(run);
	if (channel)
		etw_close_channel(channel);
}

/**
 * etw_add_reader() - keep the buffers of a run while a reader is open
 * @run: the run
 *
 * Context: task; may sleep.
 */
void etw_add_reader(struct etw_run *run)
{
	mutex_lock(&run->mutex);
	run->reader_count++;
	mutex_unlock(&run->mutex);
}

/**
 * etw_remove_reader() - undo etw_add_reader()
 * @run: the run; its buffers are freed if it is finished and read, and has no other reader
 *
 * Context: task; may sleep.
 */
void etw_remove_reader(struct etw_run *run)
{
	mutex_lock(&run->mutex);
	run->reader_count--;
	mutex_unlock(&run->mutex);
	etw_free_read_buffers(run);
}

/**
 * etw_finish_run() - mark a run as finished: all its buffers can be read
 * @run: the run, without loggers, flushed for the last time
 *
 * Context: task; may sleep.
 */
void etw_finish_run(struct etw_run *run)
{
	unsigned int cpu;

	cpus_read_lock();
	etw_refuse_new_cpus(run->channel);
	cpus_read_unlock();
	/* Publishes the last buffers. Pairs with etw_run_is_finished(). */
	smp_store_release(&run->is_finished, true);
	/* Wake readers that wait for a buffer. */
	for_each_possible_cpu(cpu)
		wake_up_interruptible(&per_cpu_ptr(run->cpus, cpu)->wait);
}

/**
 * etw_count_numbered_buffers() - count the buffers that have a sequence number
 * @run: the run; the count may be stale if the run is not finished
 *
 * Return: the count, without the buffers that have been overwritten.
 */
size_t etw_count_numbered_buffers(const struct etw_run *run)
{
	u64 overwritten_buffers = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		overwritten_buffers += READ_ONCE(per_cpu_ptr(run->cpus, cpu)->overwritten);
	return atomic64_read(&run->sequence_number) - overwritten_buffers;
}
