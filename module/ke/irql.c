// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rarer half of NT's IRQL: everything but a thread's way from
 * PASSIVE_LEVEL to DISPATCH_LEVEL and back, which include/ntklog/irql.h has
 * inline together with the idea of the whole.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <ntklog/irql.h>

#include "irql_private.h"

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

/*
 * Threads at APC_LEVEL. The level belongs to the thread, which may sleep and
 * move with it, and Linux has no room for it in the thread. Each entry holds a
 * reference to its thread, so that no later thread can be taken for it.
 */
struct ke_apc_thread {
	struct hlist_node node;
	struct task_struct *thread;
};

static DEFINE_HASHTABLE(ke_apc_threads, 6);
static DEFINE_RAW_SPINLOCK(ke_apc_threads_lock);
struct static_key_false ke_apc_level_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ke_apc_level_key);

/* Called with ke_apc_threads_lock held. Only a thread itself looks for it. */
static struct ke_apc_thread *ke_find_apc_thread(void)
{
	struct ke_apc_thread *apc;

	hash_for_each_possible(ke_apc_threads, apc, node, (unsigned long)current)
		if (apc->thread == current)
			return apc;
	return NULL;
}

static bool ke_thread_is_at_apc_level(void)
{
	unsigned long flags;
	bool found;

	if (!static_branch_unlikely(&ke_apc_level_key))
		return false;
	raw_spin_lock_irqsave(&ke_apc_threads_lock, flags);
	found = ke_find_apc_thread();
	raw_spin_unlock_irqrestore(&ke_apc_threads_lock, flags);
	return found;
}

static void ke_enter_apc_level(void)
{
	struct ke_apc_thread *apc;
	unsigned long flags;

	/* For good: threads come and go more often than a key should. */
	static_branch_enable(&ke_apc_level_key);
	/* NT's function cannot fail, and below DISPATCH_LEVEL one may wait. */
	apc = kmalloc(sizeof(*apc), GFP_KERNEL | __GFP_NOFAIL);
	apc->thread = get_task_struct(current);
	raw_spin_lock_irqsave(&ke_apc_threads_lock, flags);
	hash_add(ke_apc_threads, &apc->node, (unsigned long)current);
	raw_spin_unlock_irqrestore(&ke_apc_threads_lock, flags);
}

static void ke_leave_apc_level(void)
{
	struct ke_apc_thread *apc;
	unsigned long flags;

	raw_spin_lock_irqsave(&ke_apc_threads_lock, flags);
	apc = ke_find_apc_thread();
	if (apc)
		hash_del(&apc->node);
	raw_spin_unlock_irqrestore(&ke_apc_threads_lock, flags);
	if (!apc)
		return;
	put_task_struct(apc->thread);
	kfree(apc);
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

/**
 * ke_irql_exit() - forget the threads that ended at APC_LEVEL
 *
 * Context: unload, when no user of the module is left.
 */
void ke_irql_exit(void)
{
	struct ke_apc_thread *apc;
	struct hlist_node *next;
	unsigned int bucket;

	hash_for_each_safe(ke_apc_threads, bucket, next, apc, node) {
		pr_warn("thread %d was left at APC_LEVEL\n",
			task_pid_nr(apc->thread));
		hash_del(&apc->node);
		put_task_struct(apc->thread);
		kfree(apc);
	}
}
