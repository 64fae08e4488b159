/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_IRQL_H
#define _NTKLOG_GROUND_IRQL_H

/* The IRQL of whoever asks, for who has no time for a call. */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>
#include <ntklog/irql.h>

/**
 * struct ke_irql - what Linux does not know of a processor's level
 * @level: 0, or DIRQL_LEVEL and above
 * @from_apc_level: the thread raised from APC_LEVEL; softirqs are disabled once more
 * @flags: interrupt state before the processor was raised above DISPATCH_LEVEL
 *
 * Levels above DISPATCH_LEVEL are only ever current with interrupts off, so that no other context
 * of the processor sees one half changed; and from DISPATCH_LEVEL on a thread stays. So one of
 * this for each processor is enough.
 */
struct ke_irql {
	u8 level;
	bool from_apc_level;
	unsigned long flags;
};

DECLARE_PER_CPU(struct ke_irql, ke_irql);

/**
 * ke_get_plain_irql() - ke_get_current_irql(), but for a thread that may be at APC_LEVEL
 * @irql: set to the IRQL, or to PASSIVE_LEVEL
 *
 * Context: any but NMI.
 * Return: whether that is it; if not it is for ke_get_current_irql() to look at the thread.
 */
static __always_inline bool ke_get_plain_irql(u8 *irql)
{
	*irql = PASSIVE_LEVEL;
	if (!__ke_raised())
		return __ke_thread_is_passive();
	/*
	 * Only with interrupts off, and then with softirqs disabled or in an
	 * interrupt, is the processor's level that of the caller.
	 */
	*irql = this_cpu_read(ke_irql.level);
	if (likely(!*irql))
		*irql = in_hardirq() ? DIRQL_LEVEL : DISPATCH_LEVEL;
	return true;
}

#endif /* _NTKLOG_GROUND_IRQL_H */
