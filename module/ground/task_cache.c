// SPDX-License-Identifier: GPL-2.0-only

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <ntklog/irql.h>

#include "task_cache.h"
#include "task_record.h"

/* A record that belongs to no task. A CPU caches it while it caches the record of no task. */
static struct ntklog_task ntklog_dummy_record = {
	.next_sleeping_slot = &ntklog_dummy_record.sleeping_slots[1],
};

DEFINE_PER_CPU_ALIGNED(struct ntklog_current, ntklog_current);
EXPORT_PER_CPU_SYMBOL_GPL(ntklog_current);

/**
 * ntklog_init_task_cache() - cache the dummy record on all CPUs
 *
 * The initializer of a module's per-CPU variable cannot hold an address, because per-CPU data are
 * not relocated.
 *
 * Context: module load.
 */
void __init ntklog_init_task_cache(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(ntklog_current.record, cpu) = &ntklog_dummy_record;
}

/**
 * ntklog_cache_task_record() - cache the record of the current task on this CPU
 * @record: record of the current task, or of the task to which this CPU is just switching
 *
 * Context: interrupts off. An interrupt handler does not cache the record of the task that it
 * interrupted. So after ntklog_uncache_task_record() the record stays uncached until its task, or a
 * switch to it, calls this function again.
 */
void ntklog_cache_task_record(struct ntklog_task *record)
{
	if (!in_task())
		return;
	__set_bit(smp_processor_id(), record->cpus);
	/* An NMI must not use the record of one task for another. */
	__this_cpu_write(ntklog_current.cached_task, NULL);
	barrier();
	__this_cpu_write(ntklog_current.record, record);
	barrier();
	__this_cpu_write(ntklog_current.cached_task, record->task);
	if (!record->is_at_apc_level)
		__this_cpu_write(ntklog_current.passive_task, record->task);
}

/**
 * ntklog_uncache_task_record() - remove a record from the caches of all CPUs
 * @record: record of the current task; or of another task that does not look up its record any more
 * @except_cpu: CPU whose cache keeps the record, and only loses the entry @passive_task; -1: no CPU
 *
 * Other tasks may cache their own records concurrently.
 *
 * Context: task.
 */
void ntklog_uncache_task_record(struct ntklog_task *record, int except_cpu)
{
	int cpu;

	for_each_set_bit(cpu, record->cpus, nr_cpu_ids) {
		struct ntklog_current *cache = per_cpu_ptr(&ntklog_current, cpu);

		(void)cmpxchg(&cache->passive_task, record->task, NULL);
		if (cpu == except_cpu)
			continue;
		(void)cmpxchg(&cache->cached_task, record->task, NULL);
		(void)cmpxchg(&cache->record, record, &ntklog_dummy_record);
		__clear_bit(cpu, record->cpus);
	}
}
