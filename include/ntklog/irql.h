/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_IRQL_H
#define _NTKLOG_IRQL_H

/*
 * NT's interrupt request levels (IRQLs) on Linux.
 *
 * The IRQL is derived from Linux' own state where possible: a task is at DISPATCH_LEVEL while
 * softirqs are disabled on its CPU, a softirq at DISPATCH_LEVEL, and a hard interrupt at
 * DIRQL_LEVEL. Levels above DISPATCH_LEVEL are stored per CPU, with interrupts off, because Linux
 * on x86 does not mask interrupts by priority. APC_LEVEL is stored per task.
 *
 * With PREEMPT_RT softirqs run in preemptible tasks, and local_bh_disable() leaves preemption on.
 * DISPATCH_LEVEL is then preempt_disable(), which also keeps the softirq tasks from running. A
 * softirq is at PASSIVE_LEVEL until it raises.
 *
 * A task that has turned interrupts off by Linux' functions must not raise the IRQL, as it must not
 * call spin_lock_bh().
 */

#include <linux/bottom_half.h>
#include <linux/build_bug.h>
#include <linux/bug.h>
#include <linux/interrupt.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>

#define PASSIVE_LEVEL	0
#define APC_LEVEL	1
#define DISPATCH_LEVEL	2
#define DIRQL_LEVEL	3	/* lowest level of a device interrupt */
#define SYNCH_LEVEL	12
#define CLOCK_LEVEL	13
#define IPI_LEVEL	14
#define HIGH_LEVEL	15

/*
 * __ke_raised(): the part of preempt_count() that raises the IRQL, shifted so that an IRQL fits
 * into the bits below __KE_IRQL_MIN. __KE_DISPATCH: the value of __ke_raised() in a task that has
 * raised from PASSIVE_LEVEL to DISPATCH_LEVEL. __KE_DISPATCH_COUNT: the same value, not shifted.
 * KE_SOFTIRQS_ARE_RAISED: softirqs run at DISPATCH_LEVEL.
 */
#ifdef CONFIG_PREEMPT_RT
#define __ke_raised()			((u32)preempt_count() << 8)
#define __KE_DISPATCH			((u32)PREEMPT_OFFSET << 8)
#define __KE_IRQL_MIN			__KE_DISPATCH
#define __KE_DISPATCH_COUNT		PREEMPT_OFFSET
#define KE_SOFTIRQS_ARE_RAISED		false
#else
#define __ke_raised()			((u32)irq_count())
#define __KE_DISPATCH			((u32)SOFTIRQ_DISABLE_OFFSET)
#define __KE_IRQL_MIN			SOFTIRQ_OFFSET
#define __KE_DISPATCH_COUNT		SOFTIRQ_DISABLE_OFFSET
#define KE_SOFTIRQS_ARE_RAISED		true
#endif

struct ntklog_task;

/**
 * struct ntklog_current - task that a CPU caches
 * @passive_task: a task that is not at APC_LEVEL, and was not at APC_LEVEL when it raised the IRQL
 *	above it; or NULL
 * @cached_task: a task whose record is cached; or NULL
 * @record: the record of @cached_task; a dummy record if there is none
 *
 * Tasks are compared, not dereferenced. A task writes the members for itself while it runs on the
 * CPU, and a probe of sched_switch may write them for the next task. When a task enters APC_LEVEL
 * it clears its @passive_task entries on all CPUs; when its record is freed, all its entries are
 * cleared. A cached entry is therefore valid on every CPU.
 */
struct ntklog_current {
	const struct task_struct *passive_task;
	const struct task_struct *cached_task;
	struct ntklog_task *record;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_current, ntklog_current);

void ke_enter_critical_region(void);
void ke_leave_critical_region(void);
void ke_enter_guarded_region(void);
void ke_leave_guarded_region(void);
bool ke_are_apcs_disabled(void);
bool ke_are_all_apcs_disabled(void);
u8 ke_get_current_irql(void);
u8 ke_raise_irql_slow(u8 new_irql);
u8 ke_raise_irql_to_synch_level(void);
void ke_lower_irql_slow(u32 state_and_irql);

/* False means that the task may be at any level. */
static __always_inline bool __ke_task_is_known_passive(void)
{
	return likely(this_cpu_read(ntklog_current.passive_task) == current);
}

/**
 * ke_raise_irql_to_dpc_level() - NT's KeRaiseIrqlToDpcLevel
 *
 * From above DISPATCH_LEVEL: warns once and changes nothing.
 *
 * Context: task at IRQL <= DISPATCH_LEVEL with interrupts on; softirq.
 * Return: the old IRQL.
 */
static __always_inline u8 ke_raise_irql_to_dpc_level(void)
{
	if (unlikely(__ke_raised()) || !__ke_task_is_known_passive())
		return ke_raise_irql_slow(DISPATCH_LEVEL);
	if (KE_SOFTIRQS_ARE_RAISED)
		local_bh_disable();
	else
		preempt_disable();
	return PASSIVE_LEVEL;
}

/**
 * ke_raise_irql() - NT's KeRaiseIrql
 * @new_irql: the new IRQL, not lower than the current one
 * @old_irql: set to the old IRQL
 *
 * If @new_irql is lower than the current IRQL or above HIGH_LEVEL: warns once and keeps the IRQL.
 *
 * Context: any, except a task that has turned interrupts off by Linux' functions; may sleep if
 * @new_irql is APC_LEVEL.
 */
static inline void ke_raise_irql(u8 new_irql, u8 *old_irql)
{
	*old_irql = ke_raise_irql_slow(new_irql);
}

/* A kernel option observes local_bh_disable() and local_bh_enable(), so they must be called. */
#define KE_SOFTIRQS_ARE_TRACED	(IS_ENABLED(CONFIG_TRACE_IRQFLAGS) ||		\
				 IS_ENABLED(CONFIG_TRACE_PREEMPT_TOGGLE) ||	\
				 IS_ENABLED(CONFIG_DEBUG_PREEMPT))

#ifdef CONFIG_PREEMPT_RT

static __always_inline void ke_enter_dispatch_level(u32 extra_disable_count)
{
	preempt_disable();
	__preempt_count_add(extra_disable_count * __KE_DISPATCH_COUNT);
}

static __always_inline void ke_leave_dispatch_level(u32 extra_disable_count)
{
	__preempt_count_sub(extra_disable_count * __KE_DISPATCH_COUNT);
	preempt_enable();
}

#else

/* @extra_disable_count: number of additional times that softirqs are disabled */
static __always_inline void ke_enter_dispatch_level(u32 extra_disable_count)
{
	if (KE_SOFTIRQS_ARE_TRACED) {
		local_bh_disable();
		__preempt_count_add(extra_disable_count * SOFTIRQ_DISABLE_OFFSET);
		return;
	}
	__preempt_count_add((extra_disable_count + 1) * SOFTIRQ_DISABLE_OFFSET);
	barrier();
}

/*
 * Lower from DISPATCH_LEVEL: local_bh_enable(), but inline unless softirqs or a reschedule are
 * pending. A softirq that is raised before the count drops is seen by the test below; one that is
 * raised later runs at the end of its interrupt. On x86, should_resched(0) is true if a reschedule
 * is due, because the count holds that bit inverted.
 */
static __always_inline void ke_leave_dispatch_level(u32 extra_disable_count)
{
	if (KE_SOFTIRQS_ARE_TRACED) {
		__preempt_count_sub(extra_disable_count * SOFTIRQ_DISABLE_OFFSET);
		local_bh_enable();
		return;
	}
	barrier();
	__preempt_count_sub((extra_disable_count + 1) * SOFTIRQ_DISABLE_OFFSET);
	/* Keep the compiler from moving the following loads up. */
	barrier();
	if (unlikely(local_softirq_pending() || should_resched(0))) {
		local_bh_disable();
		local_bh_enable();
	}
}

#endif

/* With PREEMPT_RT a softirq must raise before it calls an ...AtDpcLevel function. */
static __always_inline void __ke_assert_dispatch_level(void)
{
	lockdep_assert_preemption_disabled();
	if (!KE_SOFTIRQS_ARE_RAISED)
		WARN_ONCE(preemptible(), "an ...AtDpcLevel function at IRQL %u: a softirq raises with PREEMPT_RT\n",
			  ke_get_current_irql());
}

/**
 * ke_lower_irql() - NT's KeLowerIrql
 * @new_irql: the IRQL that a raising function returned
 *
 * If @new_irql is higher than the current IRQL, or lower than that of the context (softirq, hard
 * interrupt): warns once and changes nothing.
 *
 * Context: any; may sleep if the IRQL is lowered to APC_LEVEL and the task was not at APC_LEVEL
 * before it raised the IRQL.
 */
static __always_inline void ke_lower_irql(u8 new_irql)
{
	/*
	 * @new_irql lies in the bits below __KE_IRQL_MIN, which are 0 in __ke_raised(). One
	 * comparison of the combined value therefore tests the present state and the new IRQL.
	 */
	u32 state_and_irql = __ke_raised() | new_irql;

	static_assert(PASSIVE_LEVEL == 0 && HIGH_LEVEL < __KE_IRQL_MIN);
	/*
	 * __KE_DISPATCH with IRQL 0: a task that raised from PASSIVE_LEVEL to DISPATCH_LEVEL, or
	 * has lowered to it. Higher levels, and tasks that raised from APC_LEVEL, have softirqs
	 * disabled once more and take the slow path.
	 */
	if (likely(state_and_irql == __KE_DISPATCH))
		ke_leave_dispatch_level(0);
	else if (state_and_irql != (__KE_DISPATCH | DISPATCH_LEVEL))
		ke_lower_irql_slow(state_and_irql);
}

#endif /* _NTKLOG_IRQL_H */
