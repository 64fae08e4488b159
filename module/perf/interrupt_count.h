/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_INTERRUPT_COUNT_H
#define _NTKLOG_PERF_INTERRUPT_COUNT_H

#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <asm/hardirq.h>

#include "../compat.h"

/**
 * ntklog_interrupt_count() - NT's InterruptCount of the current processor
 *
 * Every interrupt that the kernel counts for the processor: those of devices,
 * the local timer's, those between processors, NMIs. What
 * kstat_cpu_irqs_sum() and arch_irq_stat_cpu() sum up for /proc/stat; the
 * latter is not exported, the counters are.
 *
 * Context: preemption off.
 * Return: the count, which wraps; only differences mean something.
 */
static __always_inline u32 ntklog_interrupt_count(void)
{
	u32 count = raw_cpu_read(kstat.irqs_sum);
#ifdef NTKLOG_IRQ_STAT_IS_ARRAY
	int i;

	/* As below. Without a loop: each is an addition of one word. */
#pragma GCC unroll 64
	for (i = 0; i < IRQ_COUNT_MAX; i++)
		count += this_cpu_read(irq_stat.counts[i]);
#else
	const irq_cpustat_t *stat = raw_cpu_ptr(&irq_stat);

	/* Interrupts write these while we read: each read is of one word. */
	count += READ_ONCE(stat->__nmi_count);
#ifdef CONFIG_X86_LOCAL_APIC
	count += READ_ONCE(stat->apic_timer_irqs);
	count += READ_ONCE(stat->irq_spurious_count);
#endif
	count += READ_ONCE(stat->x86_platform_ipis);
	count += READ_ONCE(stat->apic_perf_irqs);
	count += READ_ONCE(stat->apic_irq_work_irqs);
#ifdef CONFIG_SMP
	count += READ_ONCE(stat->irq_resched_count);
	count += READ_ONCE(stat->irq_call_count);
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	count += READ_ONCE(stat->irq_thermal_count);
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	count += READ_ONCE(stat->irq_threshold_count);
#endif
#ifdef CONFIG_X86_MCE_AMD
	count += READ_ONCE(stat->irq_deferred_error_count);
#endif
#ifdef CONFIG_X86_HV_CALLBACK_VECTOR
	count += READ_ONCE(stat->irq_hv_callback_count);
#endif
#if IS_ENABLED(CONFIG_HYPERV)
	count += READ_ONCE(stat->irq_hv_reenlightenment_count);
	count += READ_ONCE(stat->hyperv_stimer0_count);
#endif
#endif
	return count;
}

#endif /* _NTKLOG_PERF_INTERRUPT_COUNT_H */
