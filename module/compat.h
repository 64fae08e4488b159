/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COMPAT_H
#define _NTKLOG_COMPAT_H

/*
 * Every difference between the kernels that ntklog builds for: 6.1, 6.12 and 7.3, whose
 * headers have been seen, also those of 7.2. In which version between 6.13 and 7.1 something
 * has changed is known from reading alone: so it is of all that names one of these. What differs
 * between architectures is where it matters: see ground/clock.h and perf/interrupt_count.h.
 */

#include <linux/export.h>
#include <linux/version.h>

/* NTKLOG_KUNIT: KUnit is a module that was built beside the kernel, see Kbuild. */
#ifdef NTKLOG_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol) EXPORT_SYMBOL_GPL(symbol)
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#include <kunit/visibility.h>
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#if IS_ENABLED(CONFIG_KUNIT) || defined(NTKLOG_KUNIT)
#define EXPORT_PER_CPU_SYMBOL_IF_KUNIT(symbol) EXPORT_PER_CPU_SYMBOL_GPL(symbol)
#else
#define EXPORT_PER_CPU_SYMBOL_IF_KUNIT(symbol)
#endif

/*
 * Nanoseconds that are left of a thread's time slice, where the scheduler keeps a
 * slice with the thread, which it does since EEVDF; before, 0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define ntklog_fair_slice(thread)					\
	((s64)(thread)->se.slice - (s64)((thread)->se.sum_exec_runtime -	\
					 (thread)->se.prev_sum_exec_runtime))
#else
#define ntklog_fair_slice(thread)	0
#endif

#define ntklog_remaining_slice(thread)					\
	((thread)->policy == SCHED_RR ? (s64)(thread)->rt.time_slice * TICK_NSEC : \
	 (thread)->prio >= MAX_RT_PRIO ? (s64)ntklog_fair_slice(thread) : 0)

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define hrtimer_setup(_timer, _function, _clock, _mode)			\
do {									\
	struct hrtimer *__timer = (_timer);				\
									\
	hrtimer_init(__timer, _clock, _mode);				\
	__timer->function = (_function);				\
} while (0)
#endif

/* Does sched_process_exit tell whether the whole group is dead? Newer kernels' does. */
#define ntklog_exit_tells_group_dead()						\
	__builtin_types_compatible_p(typeof(check_trace_callback_type_sched_process_exit), \
				     void (void (*)(void *, struct task_struct *, bool)))

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_destroy_on_stack(timer)	destroy_timer_on_stack(timer)
#endif

/* Of relay's subbuf_start(): what it tells of the sub-buffer before. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define NTKLOG_RELAY_PREVIOUS	void *prev_subbuf
#else
#define NTKLOG_RELAY_PREVIOUS	void *prev_subbuf, size_t prev_padding
#endif

/* 7.3 warns at run time of who uses the old name. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_percpu_wq		system_wq
#endif

/* x86 counts its own interrupts in an array, not in a member for each. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define NTKLOG_IRQ_STAT_IS_ARRAY
#endif

/* For assembler: this processor's thread, and its count of reasons not to be preempted. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define NTKLOG_CURRENT			"pcpu_hot"
#define NTKLOG_PREEMPT_COUNT		"pcpu_hot+8"
#define ntklog_check_current()						\
	static_assert(offsetof(struct pcpu_hot, current_task) == 0 &&	\
		      offsetof(struct pcpu_hot, preempt_count) == 8)
#else
#define NTKLOG_CURRENT			"current_task"
#define NTKLOG_PREEMPT_COUNT		"__preempt_count"
#define ntklog_check_current()		static_assert(true)
#endif

/* Before, x86's own macros named the variable itself. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define __my_cpu_var(variable)		(variable)
#endif

/*
 * A direct call for each function of a struct ftrace_ops. Not freed with it: what its filter
 * was. 6.1's register_ftrace_direct() is another function.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define ntklog_register_direct(_ops, _address)	register_ftrace_direct(_ops, _address)
#define ntklog_unregister_direct(_ops, _address) unregister_ftrace_direct(_ops, _address, false)
#else
#define ntklog_register_direct(_ops, _address)	register_ftrace_direct_multi(_ops, _address)
#define ntklog_unregister_direct(_ops, _address) unregister_ftrace_direct_multi(_ops, _address)
#endif

/* For assembler: objtool is told that the function of this name needs no ENDBR. */
#ifdef ANNOTATE_NOENDBR_SYM
#define ntklog_annotate_no_endbr(_name)	ASM_ANNOTATE_LABEL(_name, ANNOTYPE_NOENDBR) "\n"
#elif defined(CONFIG_OBJTOOL)
#define ntklog_annotate_no_endbr(_name)					\
	".pushsection .discard.noendbr\n	.quad " _name "\n.popsection\n"
#else
#define ntklog_annotate_no_endbr(_name)	""
#endif

/* What TRACE_LOGFILE_HEADER calls the build number of the system. */
#define NTKLOG_SYSTEM_BUILD	LINUX_VERSION_CODE

#endif /* _NTKLOG_COMPAT_H */
