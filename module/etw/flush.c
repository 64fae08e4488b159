// SPDX-License-Identifier: GPL-2.0-only
/* Finish buffers that are not full, so that the events in them can be read. */

#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <uapi/ntklog/buffer.h>

#include "../ground/compat.h"
#include "buffer.h"
#include "flush.h"
#include "run.h"

/*
 * @run: the run
 * @cpu: the CPU whose buffer is flushed
 * @flush: the reason
 * @flags: additional ETW_BUFFER_FLAG_* of the buffer
 */
struct etw_cpu_flush {
	struct etw_run *run;
	unsigned int cpu;
	enum etw_flush flush;
	u16 flags;
};

/*
 * A finished buffer takes the same memory whether it is full or not. The timer therefore finishes
 * a buffer only if all earlier ones have been read: without a reader, the memory is left for
 * later events. The last free buffer is needed for the flag of lost events and as the end of the
 * file.
 */
static bool etw_buffer_may_be_finished(const struct rchan_buf *buf, enum etw_flush flush)
{
	switch (flush) {
	case ETW_FLUSH_TIMER:
		return !etw_count_unread_buffers(buf);
	case ETW_FLUSH_REQUEST:
		return etw_count_unread_buffers(buf) + 1 < buf->chan->n_subbufs;
	default:
		return true;
	}
}

/* Called with interrupts off, on the CPU or with the CPU offline. */
static void etw_flush_cpu(void *data)
{
	const struct etw_cpu_flush *flush = data;
	struct etw_run *run = flush->run;
	struct rchan_buf *buf = etw_run_buffer(run, flush->cpu);
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, flush->cpu);

	/*
	 * The last buffer of the file carries the marker, also if it has no events. If the run has
	 * no numbered buffer at all, the header is the last one.
	 */
	if (flush->flags & ETW_BUFFER_FLAG_FLUSH_MARKER && run->mode == ETW_MODE_SEQUENTIAL &&
	    atomic64_read(&run->sequence_number))
		etw_number_buffer(run, buf);
	if (etw_buffer_has_events(buf)) {
		if (!etw_buffer_may_be_finished(buf, flush->flush))
			return;
		etw_finish_buffer(run, buf, flush->flags);
	}
	WRITE_ONCE(cpu->flushed, cpu->written);
}

/*
 * Avoid an IPI to a CPU that has nothing to flush. The CPU may be writing these fields, so the
 * answer may be stale; the next flush corrects it.
 */
static bool etw_buffer_needs_flush(const struct etw_run *run, unsigned int cpu,
				   enum etw_flush flush)
{
	const struct etw_buffer_cpu *buffer_cpu = per_cpu_ptr(run->cpus, cpu);

	if (READ_ONCE(buffer_cpu->written) == READ_ONCE(buffer_cpu->flushed))
		return false;
	/* relay does not mark its fields as shared. */
	return data_race(etw_buffer_may_be_finished(etw_run_buffer(run, cpu), flush));
}

/* The CPU among @cpus whose file name sorts last. */
static unsigned int etw_find_last_in_file(const struct etw_run *run, const struct cpumask *cpus)
{
	char name[16], last_name[16] = "";
	unsigned int cpu, last = 0;

	for_each_cpu(cpu, cpus) {
		snprintf(name, sizeof(name), "%u", cpu);
		if (etw_run_buffer(run, cpu) && strcmp(name, last_name) > 0) {
			strscpy(last_name, name, sizeof(last_name));
			last = cpu;
		}
	}
	return last;
}

/**
 * etw_last_file_cpu() - find the online CPU whose buffers are the last in the file
 * @run: the run
 *
 * Context: cpus_read_lock() held.
 * Return: the CPU whose file `cat cpu*` reads last; a shell sorts cpu10 before cpu2.
 */
unsigned int etw_last_file_cpu(const struct etw_run *run)
{
	return etw_find_last_in_file(run, cpu_online_mask);
}
EXPORT_SYMBOL_IF_KUNIT(etw_last_file_cpu);

/**
 * etw_call_on_last_cpu() - call a function on the CPU that etw_last_file_cpu() gives
 * @run: the run
 * @function: called with interrupts off
 * @data: its argument
 *
 * Context: thread; may sleep.
 */
void etw_call_on_last_cpu(const struct etw_run *run, smp_call_func_t function, void *data)
{
	cpus_read_lock();
	smp_call_function_single(etw_last_file_cpu(run), function, data, 1);
	cpus_read_unlock();
}
EXPORT_SYMBOL_IF_KUNIT(etw_call_on_last_cpu);

/**
 * etw_flush_buffers() - finish the buffers of a run that have events
 * @run: the run, without loggers for ETW_FLUSH_LAST
 * @flush: the reason
 *
 * Context: thread; may sleep.
 */
void etw_flush_buffers(struct etw_run *run, enum etw_flush flush)
{
	unsigned int cpu, last_cpu;

	mutex_lock(&run->mutex);
	/* An offline CPU has no writer while no CPU can come online. */
	cpus_read_lock();
	/* The file of a CPU that has gone offline is part of the whole. */
	last_cpu = etw_find_last_in_file(run, cpu_possible_mask);
	for_each_possible_cpu(cpu) {
		struct etw_cpu_flush cpu_flush = {
			.run = run,
			.cpu = cpu,
			.flush = flush,
		};

		if (!etw_run_buffer(run, cpu))
			continue;
		if (flush == ETW_FLUSH_LAST) {
			if (cpu == last_cpu)
				cpu_flush.flags = ETW_BUFFER_FLAG_FLUSH_MARKER;
		} else if (!etw_buffer_needs_flush(run, cpu, flush)) {
			continue;
		}
		if (cpu_online(cpu)) {
			smp_call_function_single(cpu, etw_flush_cpu, &cpu_flush, 1);
		} else {
			local_irq_disable();
			etw_flush_cpu(&cpu_flush);
			local_irq_enable();
		}
	}
	cpus_read_unlock();
	mutex_unlock(&run->mutex);
}
EXPORT_SYMBOL_IF_KUNIT(etw_flush_buffers);

/**
 * etw_flush_run() - make readable what a run has written so far
 * @run: the run, or NULL
 *
 * Events in a CPU's last free buffer stay there.
 *
 * Context: thread; may sleep.
 * Return: 0; -EINVAL if there is no run, if it is finished, or in buffering mode, in which only a
 * snapshot reads the buffers.
 */
int etw_flush_run(struct etw_run *run)
{
	if (!run || etw_run_is_finished(run) || run->mode != ETW_MODE_SEQUENTIAL)
		return -EINVAL;
	etw_flush_buffers(run, ETW_FLUSH_REQUEST);
	return 0;
}
