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
 * @flags: of the buffer, besides those that it has anyway
 */
struct etw_cpu_flush {
	struct etw_run *run;
	unsigned int cpu;
	u16 flags;
};

/* Interrupts off, on the processor or with that one offline. */
static void etw_flush_cpu(void *data)
{
	const struct etw_cpu_flush *flush = data;
	struct etw_run *run = flush->run;
	struct rchan_buf *buf = etw_run_buffer(run, flush->cpu);
	struct etw_buffer_cpu *cpu = per_cpu_ptr(run->cpus, flush->cpu);

	if (etw_buffer_has_events(buf))
		etw_finish_buffer(run, buf, flush->flags);
	WRITE_ONCE(cpu->flushed, cpu->written);
}

/* Its processor need not be disturbed for nothing. */
static bool etw_is_worth_a_flush(const struct etw_run *run, unsigned int cpu)
{
	const struct etw_buffer_cpu *of_cpu = per_cpu_ptr(run->cpus, cpu);

	return READ_ONCE(of_cpu->written) != READ_ONCE(of_cpu->flushed);
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
	char name[16], last_name[16] = "";
	unsigned int cpu, last = 0;

	for_each_online_cpu(cpu) {
		snprintf(name, sizeof(name), "%u", cpu);
		if (etw_run_buffer(run, cpu) && strcmp(name, last_name) > 0) {
			strscpy(last_name, name, sizeof(last_name));
			last = cpu;
		}
	}
	return last;
}
EXPORT_SYMBOL_IF_KUNIT(etw_last_file_cpu);

/**
 * etw_flush_buffers() - make what has been written readable
 * @run: the run; frozen for a snapshot, without loggers for the last time
 * @flush: for whom
 *
 * Buffers without events are left alone.
 *
 * Context: thread; may sleep; etw_mutex held.
 */
void etw_flush_buffers(struct etw_run *run, enum etw_flush flush)
{
	unsigned int cpu, last_cpu;

	/* Nobody comes or goes; an offline processor's buffer has no writer. */
	cpus_read_lock();
	last_cpu = etw_last_file_cpu(run);
	for_each_possible_cpu(cpu) {
		struct etw_cpu_flush of_cpu = {
			.run = run,
			.cpu = cpu,
		};

		if (!etw_run_buffer(run, cpu))
			continue;
		if (flush == ETW_FLUSH_LAST) {
			if (cpu == last_cpu)
				of_cpu.flags = ETW_BUFFER_FLAG_FLUSH_MARKER;
		} else if (!etw_is_worth_a_flush(run, cpu)) {
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
}
