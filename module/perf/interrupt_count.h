/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_INTERRUPT_COUNT_H
#define _NTKLOG_PERF_INTERRUPT_COUNT_H

/*
 * NT's InterruptCount: kstat_cpu_irqs_sum(), and on x86 the interrupt counters of irq_stat.
 *
 * A snapshot adds the counters in pairs, as words of 64 bits, because there are many. The halves of
 * the difference of two snapshots are the increases of the counters in low and in high halves. A
 * low counter that wraps makes the high half one too small.
 */

#include <linux/compiler.h>
#include <linux/kernel_stat.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <asm/hardirq.h>

#include "../ground/compat.h"
#include "this_cpu.h"

#ifdef CONFIG_X86

static __always_inline bool ntklog_irq_stat_has_counter_at(size_t offset)
{
#ifdef NTKLOG_IRQ_STAT_IS_ARRAY
	return offset >= offsetof(irq_cpustat_t, counts) &&
	       offset < offsetofend(irq_cpustat_t, counts);
#else
#define NTKLOG_IS_COUNTER(_member)	(offset == offsetof(irq_cpustat_t, _member))
	return NTKLOG_IS_COUNTER(__nmi_count) ||
#ifdef CONFIG_X86_LOCAL_APIC
	       NTKLOG_IS_COUNTER(apic_timer_irqs) ||
	       NTKLOG_IS_COUNTER(irq_spurious_count) ||
#endif
#ifdef CONFIG_SMP
	       NTKLOG_IS_COUNTER(irq_resched_count) ||
	       NTKLOG_IS_COUNTER(irq_call_count) ||
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	       NTKLOG_IS_COUNTER(irq_thermal_count) ||
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	       NTKLOG_IS_COUNTER(irq_threshold_count) ||
#endif
#ifdef CONFIG_X86_MCE_AMD
	       NTKLOG_IS_COUNTER(irq_deferred_error_count) ||
#endif
#ifdef CONFIG_X86_HV_CALLBACK_VECTOR
	       NTKLOG_IS_COUNTER(irq_hv_callback_count) ||
#endif
#if IS_ENABLED(CONFIG_HYPERV)
	       NTKLOG_IS_COUNTER(irq_hv_reenlightenment_count) ||
	       NTKLOG_IS_COUNTER(hyperv_stimer0_count) ||
#endif
	       NTKLOG_IS_COUNTER(x86_platform_ipis) ||
	       NTKLOG_IS_COUNTER(apic_perf_irqs) ||
	       NTKLOG_IS_COUNTER(apic_irq_work_irqs);
#undef NTKLOG_IS_COUNTER
#endif
}

/* irq_stat as an array of words, some of which are counters. */
union ntklog_irq_stat {
	irq_cpustat_t stat;
	u32 words[sizeof(irq_cpustat_t) / sizeof(u32)];
	u64 pairs[sizeof(irq_cpustat_t) / sizeof(u64)];
};

#define ntklog_irq_stat (*(union ntklog_irq_stat __percpu *)&irq_stat)
#define NTKLOG_IRQ_STAT_PAIR_COUNT	(sizeof(irq_cpustat_t) / sizeof(u64))

/* The loops unroll to one instruction for each counter or pair. */
static __always_inline u64 ntklog_add_irq_stat_counters(u64 snapshot)
{
	size_t i;

#pragma GCC unroll 64
	for (i = 0; i < NTKLOG_IRQ_STAT_PAIR_COUNT; i++) {
		bool low_is_counter = ntklog_irq_stat_has_counter_at(i * sizeof(u64));
		bool high_is_counter = ntklog_irq_stat_has_counter_at(i * sizeof(u64) +
								      sizeof(u32));

		if (low_is_counter && !high_is_counter)
			ntklog_this_cpu_add_u32_to_sum(snapshot, ntklog_irq_stat.words[2 * i]);
		if (high_is_counter && !low_is_counter)
			ntklog_this_cpu_add_u32_to_sum(snapshot, ntklog_irq_stat.words[2 * i + 1]);
	}
#pragma GCC unroll 64
	for (i = 0; i < NTKLOG_IRQ_STAT_PAIR_COUNT; i++)
		if (ntklog_irq_stat_has_counter_at(i * sizeof(u64)) &&
		    ntklog_irq_stat_has_counter_at(i * sizeof(u64) + sizeof(u32)))
			ntklog_this_cpu_add_to_sum(snapshot, ntklog_irq_stat.pairs[i]);
	return snapshot;
}

#else

static __always_inline u64 ntklog_add_irq_stat_counters(u64 snapshot)
{
	return snapshot;
}

#endif

/**
 * ntklog_snapshot_interrupts() - take a snapshot of this CPU's interrupt counters
 *
 * Context: preemption off. Interrupts may change the counters meanwhile; each is read once.
 * Return: the snapshot. Only the difference of two snapshots has a meaning.
 */
static __always_inline u64 ntklog_snapshot_interrupts(void)
{
	return ntklog_add_irq_stat_counters((u32)raw_cpu_read(kstat.irqs_sum));
}

/**
 * ntklog_count_irqs_since() - count the interrupts since a snapshot
 * @snapshot: from ntklog_snapshot_interrupts() on this CPU
 *
 * Context: preemption off.
 * Return: number of interrupts.
 */
static __always_inline u32 ntklog_count_irqs_since(u64 snapshot)
{
	u64 increase = ntklog_snapshot_interrupts() - snapshot;

	return (u32)increase + (u32)(increase >> 32);
}

#endif /* _NTKLOG_PERF_INTERRUPT_COUNT_H */
