// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "each_cpu.h"

/*
 * Serialises the updates of offline CPUs' state. Interrupts are off, so that no interrupt handler
 * on this CPU spins on a seqcount that @update is writing.
 */
static DEFINE_RAW_SPINLOCK(ntklog_offline_lock);

static void ntklog_update_this_cpu(void *update)
{
	((void (*)(int))update)(smp_processor_id());
}

/**
 * ntklog_update_each_cpu() - update the state of every possible CPU
 * @update: called with interrupts off, on the CPU itself if it is online
 *
 * Context: task; may sleep.
 */
void ntklog_update_each_cpu(void (*update)(int cpu))
{
	unsigned long flags;
	int cpu;

	cpus_read_lock();
	on_each_cpu(ntklog_update_this_cpu, update, true);
	raw_spin_lock_irqsave(&ntklog_offline_lock, flags);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			update(cpu);
	raw_spin_unlock_irqrestore(&ntklog_offline_lock, flags);
	cpus_read_unlock();
}
