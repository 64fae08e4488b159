/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_IRQL_H
#define _NTKLOG_IRQL_H

/*
 * NT's interrupt request levels on Linux.
 *
 * An IRQL is not stored where Linux knows it already: a thread is at
 * DISPATCH_LEVEL when softirqs are disabled on its processor, a softirq runs at
 * DISPATCH_LEVEL and a hard interrupt at DIRQL_LEVEL. Only what Linux has no
 * notion of is kept: the levels above DISPATCH_LEVEL (per processor, with
 * interrupts off, since x86 Linux has no priority masking) and APC_LEVEL (per
 * thread). So Linux' own local_bh_disable() and spin_lock_bh() raise the IRQL
 * that ke_get_current_irql() tells, which is the truth.
 *
 * With PREEMPT_RT softirqs are run by threads that can be preempted, and local_bh_disable() leaves
 * preemption on. So DISPATCH_LEVEL is preempt_disable() there: no softirq runs meanwhile, for its
 * thread does not. A softirq is at PASSIVE_LEVEL until it raises.
 *
 * Raising above PASSIVE_LEVEL from a thread that has turned interrupts off by
 * Linux' means follows the rule of spin_lock_bh(): do not.
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
#define DIRQL_LEVEL	3	/* the least level of a device's interrupt */
#define SYNCH_LEVEL	12
#define CLOCK_LEVEL	13
#define IPI_LEVEL	14
#define HIGH_LEVEL	15

/*
 * What raises the IRQL of a context, and how much of it raising from PASSIVE_LEVEL to
 * DISPATCH_LEVEL adds; both shifted so that an IRQL fits below. Do softirqs run at
 * DISPATCH_LEVEL?
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
 * struct ntklog_current - which thread a processor remembers
 * @passive: one that, wherever it is now, is not at APC_LEVEL, nor was when it raised; NULL:
 *	none
 * @thread: the last that looked for what is kept of it; NULL: none
 * @room: what is kept of the last that looked; of nobody: one of nobody's
 *
 * Threads are compared, never followed. Written by a thread for itself, when it is on the
 * processor. Before it is at APC_LEVEL it makes all processors forget that it was not, and
 * at its end that it was there. So what one of them remembers of a thread is true on any.
 */
struct ntklog_current {
	const struct task_struct *passive;
	const struct task_struct *thread;
	struct ntklog_task *room;
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
void ke_lower_irql_slow(u32 state);

/* If not, it may all the same not be at APC_LEVEL: this processor does not remember it. */
static __always_inline bool __ke_thread_is_passive(void)
{
	return likely(this_cpu_read(ntklog_current.passive) == current);
}

/**
 * ke_raise_irql_to_dpc_level() - NT's KeRaiseIrqlToDpcLevel
 *
 * Context: thread at any IRQL <= DISPATCH_LEVEL with interrupts on, softirq.
 * Return: the IRQL before. From above DISPATCH_LEVEL: a warning, no change.
 */
static __always_inline u8 ke_raise_irql_to_dpc_level(void)
{
	if (unlikely(__ke_raised()) || !__ke_thread_is_passive())
		return ke_raise_irql_slow(DISPATCH_LEVEL);
	if (KE_SOFTIRQS_ARE_RAISED)
		local_bh_disable();
	else
		preempt_disable();
	return PASSIVE_LEVEL;
}

/**
 * ke_raise_irql() - NT's KeRaiseIrql
 * @new_irql: the IRQL to raise to, not below the present one
 * @old_irql: where the present one is stored
 *
 * Context: any; raising to APC_LEVEL may sleep.
 * A lower @new_irql: a warning, the IRQL unchanged, *@old_irql the present one.
 */
static inline void ke_raise_irql(u8 new_irql, u8 *old_irql)
{
	*old_irql = ke_raise_irql_slow(new_irql);
}

/* What has to see that softirqs are disabled and enabled, by the functions that tell it. */
#define KE_SOFTIRQS_ARE_TRACED	(IS_ENABLED(CONFIG_TRACE_IRQFLAGS) ||		\
				 IS_ENABLED(CONFIG_TRACE_PREEMPT_TOGGLE) ||	\
				 IS_ENABLED(CONFIG_DEBUG_PREEMPT))

#ifdef CONFIG_PREEMPT_RT

static __always_inline void ke_enter_dispatch_level(u32 more)
{
	preempt_disable();
	__preempt_count_add(more * __KE_DISPATCH_COUNT);
}

static __always_inline void ke_leave_dispatch_level(u32 more)
{
	__preempt_count_sub(more * __KE_DISPATCH_COUNT);
	preempt_enable();
}

#else

/* From below DISPATCH_LEVEL to there. @more: how often to disable softirqs besides. */
static __always_inline void ke_enter_dispatch_level(u32 more)
{
	if (KE_SOFTIRQS_ARE_TRACED) {
		local_bh_disable();
		__preempt_count_add(more * SOFTIRQ_DISABLE_OFFSET);
		return;
	}
	__preempt_count_add((more + 1) * SOFTIRQ_DISABLE_OFFSET);
	barrier();
}

/*
 * From DISPATCH_LEVEL to below: local_bh_enable() without its call, unless it has
 * something to do. In this order: an interrupt that comes before softirqs are
 * enabled leaves them pending, which is seen here; one that comes after runs them
 * itself. The count is 0 where a reschedule is due, since x86 keeps that bit in it,
 * inverted. @more: how often they are disabled besides.
 */
static __always_inline void ke_leave_dispatch_level(u32 more)
{
	if (KE_SOFTIRQS_ARE_TRACED) {
		__preempt_count_sub(more * SOFTIRQ_DISABLE_OFFSET);
		local_bh_enable();
		return;
	}
	barrier();
	__preempt_count_sub((more + 1) * SOFTIRQ_DISABLE_OFFSET);
	/* What is read next may be a plain load, for the compiler to move up. */
	barrier();
	if (unlikely(local_softirq_pending() || should_resched(0))) {
		local_bh_disable();
		local_bh_enable();
	}
}

#endif

/*
 * NT's ...AtDpcLevel functions leave the IRQL alone, which is to be there. With PREEMPT_RT a
 * softirq has to raise, or to use ...ForDpc.
 */
static __always_inline void __ke_assert_dispatch_level(void)
{
	lockdep_assert_preemption_disabled();
	if (!KE_SOFTIRQS_ARE_RAISED)
		WARN_ONCE(preemptible(), "an ...AtDpcLevel function at IRQL %u: a softirq raises with PREEMPT_RT\n",
			  ke_get_current_irql());
}

/**
 * ke_lower_irql() - NT's KeLowerIrql
 * @new_irql: the IRQL to lower to, as a raising function returned it
 *
 * Context: any; lowering to APC_LEVEL from above may sleep if the thread was
 * not at APC_LEVEL before it raised.
 * A higher @new_irql, or one below what the context (softirq, hard interrupt)
 * gives: a warning, the IRQL unchanged.
 */
static __always_inline void ke_lower_irql(u8 new_irql)
{
	/* One comparison for both: an IRQL has no bit of the counts. */
	u32 state = __ke_raised() | new_irql;

	static_assert(PASSIVE_LEVEL == 0 && HIGH_LEVEL < __KE_IRQL_MIN);
	/*
	 * Once disabled and not serving: a thread that raised from PASSIVE_LEVEL
	 * to DISPATCH_LEVEL, or has lowered to there. ke_raise_irql_slow() disables
	 * once more for higher levels, and for a thread that comes from APC_LEVEL,
	 * so that they do not pass for it.
	 */
	if (likely(state == __KE_DISPATCH))
		ke_leave_dispatch_level(0);
	else if (state != (__KE_DISPATCH | DISPATCH_LEVEL))
		ke_lower_irql_slow(state);
}

#endif /* _NTKLOG_IRQL_H */
