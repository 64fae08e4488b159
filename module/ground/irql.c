// SPDX-License-Identifier: GPL-2.0-only
/* Slow paths of NT's IRQL. <ntklog/irql.h> explains how the IRQL is represented. */

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <ntklog/irql.h>

#include "irql.h"
#include "thread.h"

DEFINE_PER_CPU(struct ke_irql, ke_irql);

/* APC_LEVEL belongs to the task, which may sleep and migrate at this level. */
static bool ke_thread_is_at_apc_level(void)
{
	return !__ke_task_is_known_passive() && ntklog_is_at_apc_level();
}

static void ke_leave_apc_level(void)
{
	struct ntklog_task *record = ntklog_find_current_record();

	if (!record || !record->is_at_apc_level)
		return;
	ntklog_set_apc_level(record, false);
	ntklog_put_current_record(record);
}

/* Return the IRQL below which the context does not allow to lower. */
static u8 ke_get_context_irql(void)
{
	if (in_nmi())
		return HIGH_LEVEL;
	if (in_hardirq())
		return DIRQL_LEVEL;
	if (KE_SOFTIRQS_ARE_RAISED && in_serving_softirq())
		return DISPATCH_LEVEL;
	return PASSIVE_LEVEL;
}

/**
 * ke_get_current_irql() - NT's KeGetCurrentIrql
 *
 * Context: any.
 * Return: the IRQL of the CPU, or that of the task if it is below DISPATCH_LEVEL.
 */
u8 ke_get_current_irql(void)
{
	u8 irql;

	if (in_nmi())
		return HIGH_LEVEL;
	if (ke_get_current_irql_fast(&irql))
		return irql;
	return ntklog_is_at_apc_level() ? APC_LEVEL : PASSIVE_LEVEL;
}
EXPORT_SYMBOL_GPL(ke_get_current_irql);

/*
 * The caller has disabled softirqs once more, so that ke_lower_irql() does not mistake the task for
 * one at DISPATCH_LEVEL.
 */
static __always_inline void ke_raise_above_dispatch_level(u8 new_irql)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_write(ke_irql.flags, flags);
	this_cpu_write(ke_irql.level, new_irql);
}

static __always_inline void ke_lower_from_above_dispatch_level(void)
{
	unsigned long flags = this_cpu_read(ke_irql.flags);

	this_cpu_write(ke_irql.level, 0);
	local_irq_restore(flags);
}

static void ke_raise_to_dispatch_level(bool from_apc_level)
{
	ke_enter_dispatch_level(from_apc_level);
	if (from_apc_level)
		this_cpu_write(ke_irql.from_apc_level, true);
}

static void ke_lower_from_dispatch_level(void)
{
	bool from_apc_level = this_cpu_read(ke_irql.from_apc_level);

	if (from_apc_level)
		this_cpu_write(ke_irql.from_apc_level, false);
	ke_leave_dispatch_level(from_apc_level);
}

/**
 * ke_raise_irql_slow() - raise the IRQL from any level to any higher one
 * @new_irql: the new IRQL, PASSIVE_LEVEL to HIGH_LEVEL
 *
 * If @new_irql is lower than the current IRQL or above HIGH_LEVEL: warns once and changes nothing.
 *
 * Context: as for ke_raise_irql().
 * Return: the old IRQL.
 */
u8 ke_raise_irql_slow(u8 new_irql)
{
	u8 old_irql = ke_get_current_irql();

	if (WARN_ONCE(new_irql < old_irql || new_irql > HIGH_LEVEL,
		      "KeRaiseIrql: from IRQL %u to %u\n", old_irql, new_irql))
		return old_irql;
	if (new_irql == old_irql)
		return old_irql;

	if (new_irql == APC_LEVEL) {
		ntklog_set_apc_level(ntklog_get_or_alloc_current_record(), true);
		return old_irql;
	}
	if (old_irql < DISPATCH_LEVEL)
		ke_raise_to_dispatch_level(old_irql == APC_LEVEL);
	if (new_irql > DISPATCH_LEVEL) {
		if (this_cpu_read(ke_irql.level)) {
			this_cpu_write(ke_irql.level, new_irql);
		} else {
			__preempt_count_add(__KE_DISPATCH_COUNT);
			ke_raise_above_dispatch_level(new_irql);
		}
	}
	return old_irql;
}
EXPORT_SYMBOL_GPL(ke_raise_irql_slow);

/**
 * ke_raise_irql_to_synch_level() - NT's KeRaiseIrqlToSynchLevel
 *
 * Context: IRQL <= SYNCH_LEVEL.
 * Return: the old IRQL.
 */
u8 ke_raise_irql_to_synch_level(void)
{
	if (unlikely(__ke_raised()) || !__ke_task_is_known_passive())
		return ke_raise_irql_slow(SYNCH_LEVEL);
	ke_enter_dispatch_level(1);
	ke_raise_above_dispatch_level(SYNCH_LEVEL);
	return PASSIVE_LEVEL;
}
EXPORT_SYMBOL_GPL(ke_raise_irql_to_synch_level);

static noinline void ke_check_and_lower_irql(u8 new_irql)
{
	u8 old_irql = ke_get_current_irql();
	u8 context_irql = ke_get_context_irql();

	if (WARN_ONCE(new_irql > old_irql || new_irql < context_irql,
		      "KeLowerIrql: from IRQL %u to %u\n", old_irql, new_irql))
		return;
	if (new_irql == old_irql)
		return;

	if (old_irql > DISPATCH_LEVEL) {
		if (new_irql > DISPATCH_LEVEL && new_irql != context_irql) {
			this_cpu_write(ke_irql.level, new_irql);
			return;
		}
		ke_lower_from_above_dispatch_level();
		__preempt_count_sub(__KE_DISPATCH_COUNT);
	}
	if (new_irql < DISPATCH_LEVEL && old_irql >= DISPATCH_LEVEL)
		ke_lower_from_dispatch_level();

	/* @new_irql may differ from the task's level before it raised. */
	if (new_irql == APC_LEVEL && !ke_thread_is_at_apc_level())
		ntklog_set_apc_level(ntklog_get_or_alloc_current_record(), true);
	else if (new_irql == PASSIVE_LEVEL)
		ke_leave_apc_level();
}

/**
 * ke_lower_irql_slow() - lower the IRQL from any level to any lower one
 * @state_and_irql: the new IRQL, combined with __ke_raised() by OR
 *
 * Context: as for ke_lower_irql().
 */
void ke_lower_irql_slow(u32 state_and_irql)
{
	/* The usual case: back to PASSIVE_LEVEL in a task that was above DISPATCH_LEVEL. */
	if (state_and_irql == 2 * __KE_DISPATCH && likely(this_cpu_read(ke_irql.level))) {
		ke_lower_from_above_dispatch_level();
		ke_leave_dispatch_level(1);
	} else {
		ke_check_and_lower_irql(state_and_irql);
	}
}
EXPORT_SYMBOL_GPL(ke_lower_irql_slow);
