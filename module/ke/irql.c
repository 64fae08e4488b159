// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rarer half of NT's IRQL: everything but a thread's way from
 * PASSIVE_LEVEL to DISPATCH_LEVEL and back, which include/ntklog/irql.h has
 * inline together with the idea of the whole.
 */

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <ntklog/irql.h>

#include "thread.h"

/*
 * Levels above DISPATCH_LEVEL. Such a level is only ever current with
 * interrupts off, so that no other context of the processor sees it half
 * changed, and one level for each processor is enough.
 *
 * @level: 0, or DIRQL_LEVEL and above
 * @flags: interrupt state before the processor was raised above DISPATCH_LEVEL
 */
struct ke_irql {
	u8 level;
	unsigned long flags;
};

static DEFINE_PER_CPU(struct ke_irql, ke_irql);

struct static_key_false ke_apc_level_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ke_apc_level_key);

/* The level belongs to the thread, which may sleep and move with it. */
static bool ke_thread_is_at_apc_level(void)
{
	const struct ke_thread *thread;

	if (!static_branch_unlikely(&ke_apc_level_key))
		return false;
	thread = ke_find_thread();
	return thread && READ_ONCE(thread->apc_level);
}

static void ke_enter_apc_level(void)
{
	/* For good: threads come and go more often than a key should. */
	static_branch_enable(&ke_apc_level_key);
	WRITE_ONCE(ke_get_thread()->apc_level, true);
}

static void ke_leave_apc_level(void)
{
	struct ke_thread *thread = ke_find_thread();

	if (!thread)
		return;
	WRITE_ONCE(thread->apc_level, false);
	ke_put_thread(thread);
}

/* The level that the context gives by itself, below which nothing lowers. */
static u8 ke_context_irql(void)
{
	if (in_nmi())
		return HIGH_LEVEL;
	if (in_hardirq())
		return DIRQL_LEVEL;
	if (in_serving_softirq())
		return DISPATCH_LEVEL;
	return PASSIVE_LEVEL;
}

/**
 * ke_get_current_irql() - NT's KeGetCurrentIrql
 *
 * Context: any.
 * Return: the IRQL of the processor, or of the thread if below DISPATCH_LEVEL.
 */
u8 ke_get_current_irql(void)
{
	u8 level;

	if (in_nmi())
		return HIGH_LEVEL;
	/*
	 * Only with interrupts off, and then with softirqs disabled or in an
	 * interrupt, is the processor's level that of the caller.
	 */
	if (irq_count()) {
		level = this_cpu_read(ke_irql.level);
		if (level)
			return level;
	}
	if (in_hardirq())
		return DIRQL_LEVEL;
	if (softirq_count())
		return DISPATCH_LEVEL;
	return ke_thread_is_at_apc_level() ? APC_LEVEL : PASSIVE_LEVEL;
}
EXPORT_SYMBOL_GPL(ke_get_current_irql);

/* From at most DISPATCH_LEVEL, or a hard interrupt's own level, to above. */
static void ke_raise_above_dispatch_level(u8 new_irql)
{
	unsigned long flags;

	local_irq_save(flags);
	/*
	 * Softirqs are disabled a second time so that ke_lower_irql() does not
	 * take the thread for one at DISPATCH_LEVEL.
	 */
	__preempt_count_add(SOFTIRQ_DISABLE_OFFSET);
	this_cpu_write(ke_irql.flags, flags);
	this_cpu_write(ke_irql.level, new_irql);
}

static void ke_lower_from_above_dispatch_level(void)
{
	unsigned long flags = this_cpu_read(ke_irql.flags);

	this_cpu_write(ke_irql.level, 0);
	__preempt_count_sub(SOFTIRQ_DISABLE_OFFSET);
	local_irq_restore(flags);
}

/**
 * ke_raise_irql_slow() - raise to any IRQL from any
 * @new_irql: the IRQL, PASSIVE_LEVEL to HIGH_LEVEL
 *
 * Context: any; may sleep if @new_irql is APC_LEVEL.
 * Return: the IRQL before; a warning and no change if that is higher.
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
		ke_enter_apc_level();
		return old_irql;
	}
	if (old_irql < DISPATCH_LEVEL)
		local_bh_disable();
	if (new_irql > DISPATCH_LEVEL) {
		if (this_cpu_read(ke_irql.level))
			this_cpu_write(ke_irql.level, new_irql);
		else
			ke_raise_above_dispatch_level(new_irql);
	}
	return old_irql;
}
EXPORT_SYMBOL_GPL(ke_raise_irql_slow);

/**
 * ke_lower_irql_slow() - lower to any IRQL from any
 * @new_irql: the IRQL
 *
 * Context: any; see ke_lower_irql().
 */
void ke_lower_irql_slow(u8 new_irql)
{
	u8 old_irql = ke_get_current_irql();
	u8 context_irql = ke_context_irql();

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
	}
	if (new_irql < DISPATCH_LEVEL && old_irql >= DISPATCH_LEVEL)
		local_bh_enable();

	/* What the thread was at before it raised may differ from new_irql. */
	if (new_irql == APC_LEVEL && !ke_thread_is_at_apc_level())
		ke_enter_apc_level();
	else if (new_irql == PASSIVE_LEVEL)
		ke_leave_apc_level();
}
EXPORT_SYMBOL_GPL(ke_lower_irql_slow);
