// SPDX-License-Identifier: GPL-2.0-only
/* Finishing buffers that are not full, so that what is in them can be read. */

#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <uapi/ntklog/buffer.h>

#include "../compat.h"
#include "buffer.h"
#include "flush.h"
#include "run.h"

/*
 * @run: whose buffers
 * @cpu: of which processor
 * @flush: for whom
 * @flags: of the buffer, besides those that it has anyway
 */
struct etw_cpu_flush {
	struct etw_run *run;
	unsigned int cpu;
	enum etw_flush flush;
	u16 flags;
};

/*
 * A buffer that is not full takes as much memory as one that is. So the timer goes no
 * further than a reader follows: without one, the rest is for what is yet to come. And
 * the last free one is needed, to tell in it what was lost, and to end the file.
 */
static bool etw_buffer_may_be_finished(const struct rchan_buf *buf, enum etw_flush flush)
{
	switch (flush) {
	case ETW_FLUSH_TIMER:
		return !etw_unread_buffers(buf);
	case ETW_FLUSH_REQUEST:
		return etw_unread_buffers(buf) + 1 < buf->chan->n_subbufs;
	default:
		return true;
	}
}

/* Interrupts off, on the processor or with that one offline. */
static void etw_flush_cpu(void *data)
{
	const struct etw_cpu_flush *flush = data;
	struct etw_run *run = flush->run;
	struct rchan_buf *buf = etw_run_buffer(run, flush->cpu);
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, flush->cpu);

	/* The file has an end, also where nothing came after the last buffer was finished. */
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
 * Its processor need not be disturbed for nothing. A guess, from what it may be writing
 * and relay does not mark as shared; a timer or a person comes again.
 */
static bool etw_buffer_needs_flush(const struct etw_run *run, unsigned int cpu,
				   enum etw_flush flush)
{
	const struct etw_buffer_cpu *of_cpu = per_cpu_ptr(run->cpus, cpu);

	if (READ_ONCE(of_cpu->written) == READ_ONCE(of_cpu->flushed))
		return false;
	/* A guess, as above. */
	return data_race(etw_buffer_may_be_finished(etw_run_buffer(run, cpu), flush));
}

/* Of these processors. */
static unsigned int etw_compare_file_order(const struct etw_run *run, const struct cpumask *cpus)
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
 * etw_last_file_cpu() - the processor whose file comes last
 * @run: the run
 *
 * Return: of the processors that are online, the one that `cat cpu*` gives
 * last: a shell sorts cpu10 before cpu2.
 */
unsigned int etw_last_file_cpu(const struct etw_run *run)
{
	return etw_compare_file_order(run, cpu_online_mask);
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

/**
 * etw_flush_buffers() - make what has been written readable
 * @run: the run; frozen for a snapshot, without loggers for the last time
 * @flush: for whom
 *
 * Buffers without events are left alone.
 *
 * Context: thread; may sleep.
 */
void etw_flush_buffers(struct etw_run *run, enum etw_flush flush)
{
	unsigned int cpu, last_cpu;

	mutex_lock(&run->mutex);
	/* Nobody comes or goes; an offline processor's buffer has no writer. */
	cpus_read_lock();
	/* Also of one that has gone: its file is there. */
	last_cpu = etw_compare_file_order(run, cpu_possible_mask);
	for_each_possible_cpu(cpu) {
		struct etw_cpu_flush of_cpu = {
			.run = run,
			.cpu = cpu,
			.flush = flush,
		};

		if (!etw_run_buffer(run, cpu))
			continue;
		if (flush == ETW_FLUSH_LAST) {
			if (cpu == last_cpu)
				of_cpu.flags = ETW_BUFFER_FLAG_FLUSH_MARKER;
		} else if (!etw_buffer_needs_flush(run, cpu, flush)) {
			continue;
		}
		if (cpu_online(cpu)) {
			smp_call_function_single(cpu, etw_flush_cpu, &of_cpu, 1);
		} else {
			local_irq_disable();
			etw_flush_cpu(&of_cpu);
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
 * Return: 0, or -EINVAL if the run is finished, or in buffering mode: a snapshot reads that.
 */
int etw_flush_run(struct etw_run *run)
{
	if (!run || etw_run_is_finished(run) || run->mode != ETW_MODE_SEQUENTIAL)
		return -EINVAL;
	etw_flush_buffers(run, ETW_FLUSH_REQUEST);
	return 0;
}
