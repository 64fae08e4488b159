/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_INTERRUPT_COUNT_H
#define _NTKLOG_PERF_INTERRUPT_COUNT_H

/*
 * NT's InterruptCount of the current processor: every interrupt that the kernel counts for
 * it - those of devices, the local timer's, those between processors, NMIs. What
 * kstat_cpu_irqs_sum() and arch_irq_stat_cpu() sum up for /proc/stat. x86 counts its own in the
 * latter, which is not exported, but the counters are; elsewhere all interrupts are in the former.
 *
 * An acquisition only notes them, two counters of 32 bits in each word of 64: the difference
 * of two such notes has the sum of what one half's counters have grown by in its low half, of
 * the other's in its high half. A counter that wraps, once in 4,294,967,296 interrupts, takes
 * one from the latter.
 */

#include <linux/compiler.h>
#include <linux/kernel_stat.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <asm/hardirq.h>

#include "../compat.h"
#include "this_cpu.h"

#ifdef CONFIG_X86

/* Is there a counter of interrupts at this offset in irq_stat? */
static __always_inline bool ntklog_irq_stat_counts(size_t offset)
{
#ifdef NTKLOG_IRQ_STAT_IS_ARRAY
	return offset >= offsetof(irq_cpustat_t, counts) &&
	       offset < offsetofend(irq_cpustat_t, counts);
#else
#define NTKLOG_COUNTS(_member)	(offset == offsetof(irq_cpustat_t, _member))
	return NTKLOG_COUNTS(__nmi_count) ||
#ifdef CONFIG_X86_LOCAL_APIC
	       NTKLOG_COUNTS(apic_timer_irqs) ||
	       NTKLOG_COUNTS(irq_spurious_count) ||
#endif
#ifdef CONFIG_SMP
	       NTKLOG_COUNTS(irq_resched_count) ||
	       NTKLOG_COUNTS(irq_call_count) ||
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	       NTKLOG_COUNTS(irq_thermal_count) ||
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	       NTKLOG_COUNTS(irq_threshold_count) ||
#endif
#ifdef CONFIG_X86_MCE_AMD
	       NTKLOG_COUNTS(irq_deferred_error_count) ||
#endif
#ifdef CONFIG_X86_HV_CALLBACK_VECTOR
	       NTKLOG_COUNTS(irq_hv_callback_count) ||
#endif
#if IS_ENABLED(CONFIG_HYPERV)
	       NTKLOG_COUNTS(irq_hv_reenlightenment_count) ||
	       NTKLOG_COUNTS(hyperv_stimer0_count) ||
#endif
	       NTKLOG_COUNTS(x86_platform_ipis) ||
	       NTKLOG_COUNTS(apic_perf_irqs) ||
	       NTKLOG_COUNTS(apic_irq_work_irqs);
#undef NTKLOG_COUNTS
#endif
}

/* irq_stat as words, some of which are counters. */
union ntklog_irq_stat {
	irq_cpustat_t stat;
	u32 word[sizeof(irq_cpustat_t) / sizeof(u32)];
	u64 pair[sizeof(irq_cpustat_t) / sizeof(u64)];
};

#define ntklog_irq_stat (*(union ntklog_irq_stat __percpu *)&irq_stat)
#define NTKLOG_IRQ_STAT_PAIRS	(sizeof(irq_cpustat_t) / sizeof(u64))

/*
 * The note with x86's own counters added to it. No loop is left of these: what is at an offset is
 * known when this is compiled.
 */
static __always_inline u64 ntklog_add_irq_stat(u64 note)
{
	size_t i;

#pragma GCC unroll 64
	for (i = 0; i < NTKLOG_IRQ_STAT_PAIRS; i++) {
		bool low = ntklog_irq_stat_counts(i * sizeof(u64));
		bool high = ntklog_irq_stat_counts(i * sizeof(u64) + sizeof(u32));

		if (low && !high)
			ntklog_this_cpu_add_word_to(note, ntklog_irq_stat.word[2 * i]);
		if (high && !low)
			ntklog_this_cpu_add_word_to(note, ntklog_irq_stat.word[2 * i + 1]);
	}
#pragma GCC unroll 64
	for (i = 0; i < NTKLOG_IRQ_STAT_PAIRS; i++)
		if (ntklog_irq_stat_counts(i * sizeof(u64)) &&
		    ntklog_irq_stat_counts(i * sizeof(u64) + sizeof(u32)))
			ntklog_this_cpu_add_to(note, ntklog_irq_stat.pair[i]);
	return note;
}

#else

static __always_inline u64 ntklog_add_irq_stat(u64 note)
{
	return note;
}

#endif

/**
 * ntklog_snapshot_interrupts() - the counters, for ntklog_interrupts_since()
 *
 * Context: preemption off. Interrupts write the counters meanwhile: each is read once.
 * Return: a note, which means nothing but in comparison.
 */
static __always_inline u64 ntklog_snapshot_interrupts(void)
{
	return ntklog_add_irq_stat((u32)raw_cpu_read(kstat.irqs_sum));
}

/**
 * ntklog_interrupts_since() - how many interrupts there were
 * @note: what ntklog_snapshot_interrupts() returned then, on this processor
 *
 * Context: preemption off.
 * Return: so many.
 */
static __always_inline u32 ntklog_interrupts_since(u64 note)
{
	u64 grown = ntklog_snapshot_interrupts() - note;

	return (u32)grown + (u32)(grown >> 32);
}

#endif /* _NTKLOG_PERF_INTERRUPT_COUNT_H */
