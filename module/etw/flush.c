// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <uapi/ntklog/buffer.h>

#include "buffer.h"
#include "flush.h"
#include "run.h"

struct etw_flush_request {
	struct etw_run *run;
	unsigned int cpu;
	enum etw_flush_reason reason;
	u16 flags;
};

/*
 * The timer finishes a buffer only if all earlier buffers of the CPU have been read, because a
 * buffer that is not full takes the same memory as a full one. A request keeps the last free
 * buffer, which is needed for the flag of lost events and as the end of the file.
 */
static bool etw_buffer_may_be_finished(const struct rchan_buf *buf, enum etw_flush_reason reason)
{
	switch (reason) {
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
	const struct etw_flush_request *request = data;
	struct etw_run *run = request->run;
	struct rchan_buf *buf = etw_get_buffer_of_cpu(run, request->cpu);
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, request->cpu);

	/*
	 * In sequential mode the last buffer of the file carries the marker of the end, even if it
	 * has no events. If no buffer of the run has a number, the buffer of the file "header" is
	 * the last one.
	 */
	if (request->flags & ETW_BUFFER_FLAG_FLUSH_MARKER && run->mode == ETW_MODE_SEQUENTIAL &&
	    atomic64_read(&run->sequence_number))
		etw_number_buffer(run, buf);
	if (etw_buffer_is_numbered(buf)) {
		if (!etw_buffer_may_be_finished(buf, request->reason))
			return;
		etw_finish_buffer(run, buf, request->flags);
	}
	WRITE_ONCE(cpu->written_at_flush, cpu->written);
}

/* Avoid an IPI. The CPU may be writing these fields, so the answer may be stale. */
static bool etw_buffer_needs_flush(const struct etw_run *run, unsigned int cpu,
				   enum etw_flush_reason reason)
{
	const struct etw_buffer_cpu *buffer_cpu = per_cpu_ptr(run->cpus, cpu);

	if (READ_ONCE(buffer_cpu->written) == READ_ONCE(buffer_cpu->written_at_flush))
		return false;
	/* relay does not mark its fields as shared. */
	return data_race(etw_buffer_may_be_finished(etw_get_buffer_of_cpu(run, cpu), reason));
}

/* Of the CPUs in @cpus with buffers, return the one whose file "cpu<number>" a shell sorts last. */
static unsigned int etw_find_last_in_file(const struct etw_run *run, const struct cpumask *cpus)
{
	char name[16], last_name[16] = "";
	unsigned int cpu, last = 0;

	for_each_cpu(cpu, cpus) {
		snprintf(name, sizeof(name), "%u", cpu);
		if (etw_get_buffer_of_cpu(run, cpu) && strcmp(name, last_name) > 0) {
			strscpy(last_name, name, sizeof(last_name));
			last = cpu;
		}
	}
	return last;
}

/**
 * etw_find_last_file_cpu() - find the online CPU whose buffers are the last in the file
 * @run: the run
 *
 * Context: cpus_read_lock() held.
 * Return: the CPU whose file `cat cpu*` reads last; a shell sorts cpu10 before cpu2.
 */
unsigned int etw_find_last_file_cpu(const struct etw_run *run)
{
	return etw_find_last_in_file(run, cpu_online_mask);
}

/**
 * etw_call_on_last_cpu() - call a function on the CPU that etw_find_last_file_cpu() gives
 * @run: the run
 * @function: called with interrupts off
 * @data: its argument
 *
 * Context: task; may sleep.
 */
void etw_call_on_last_cpu(const struct etw_run *run, smp_call_func_t function, void *data)
{
	cpus_read_lock();
	smp_call_function_single(etw_find_last_file_cpu(run), function, data, 1);
	cpus_read_unlock();
}

/**
 * etw_flush_buffers() - finish the buffers of a run that have events
 * @run: the run, without loggers for ETW_FLUSH_LAST
 * @reason: why the buffers are finished
 *
 * Context: task; may sleep.
 */
void etw_flush_buffers(struct etw_run *run, enum etw_flush_reason reason)
{
	unsigned int cpu, last_cpu;

	mutex_lock(&run->mutex);
	/* An offline CPU has no writer while no CPU can come online. */
	cpus_read_lock();
	/* The ETL file also has the buffers of CPUs that have gone offline. */
	last_cpu = etw_find_last_in_file(run, cpu_possible_mask);
	for_each_possible_cpu(cpu) {
		struct etw_flush_request cpu_flush = {
			.run = run,
			.cpu = cpu,
			.reason = reason,
		};

		if (!etw_get_buffer_of_cpu(run, cpu))
			continue;
		if (reason == ETW_FLUSH_LAST) {
			if (cpu == last_cpu)
				cpu_flush.flags = ETW_BUFFER_FLAG_FLUSH_MARKER;
		} else if (!etw_buffer_needs_flush(run, cpu, reason)) {
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

/**
 * etw_flush_run() - make the events that a run has written so far readable
 * @run: the run, or NULL
 *
 * Events in a CPU's last free buffer stay there.
 *
 * Context: task; may sleep.
 * Return: 0, or -EINVAL if there is no run that can be flushed.
 */
int etw_flush_run(struct etw_run *run)
{
	if (!run || etw_run_is_finished(run) || run->mode != ETW_MODE_SEQUENTIAL)
		return -EINVAL;
	etw_flush_buffers(run, ETW_FLUSH_REQUEST);
	return 0;
}
