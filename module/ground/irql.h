/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_IRQL_H
#define _NTKLOG_GROUND_IRQL_H

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>
#include <ntklog/irql.h>

/**
 * struct ke_irql - part of a CPU's IRQL that Linux does not keep
 * @level: 0, or DIRQL_LEVEL and above
 * @from_apc_level: the task raised from APC_LEVEL, so softirqs are disabled once more
 * @flags: interrupt state before the CPU raised above DISPATCH_LEVEL
 *
 * One per CPU suffices: a task at DISPATCH_LEVEL or above does not migrate. A level above
 * DISPATCH_LEVEL has interrupts off, so no interrupt handler of the CPU sees a partial update.
 */
struct ke_irql {
	u8 level;
	bool from_apc_level;
	unsigned long flags;
};

DECLARE_PER_CPU(struct ke_irql, ke_irql);

/**
 * ke_get_current_irql_fast() - return the IRQL unless the task may be at APC_LEVEL
 * @irql: set to the IRQL
 *
 * Context: any but NMI.
 * Return: true if @irql is the IRQL; false if the caller must call ke_get_current_irql().
 */
static __always_inline bool ke_get_current_irql_fast(u8 *irql)
{
	*irql = PASSIVE_LEVEL;
	if (!__ke_raised())
		return __ke_task_is_known_passive();
	/*
	 * The CPU's level is that of the caller only while interrupts are off and softirqs are
	 * disabled or an interrupt is being handled.
	 */
	*irql = this_cpu_read(ke_irql.level);
	if (likely(!*irql))
		*irql = in_hardirq() ? DIRQL_LEVEL : DISPATCH_LEVEL;
	return true;
}

#endif /* _NTKLOG_GROUND_IRQL_H */
