/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COMPAT_H
#define _NTKLOG_COMPAT_H

/* Differences between kernel versions. */

#include <linux/version.h>

/* Remaining time slice of a task of the fair scheduler, in nanoseconds. */
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

#define ntklog_exit_probe_has_group_dead()						\
	__builtin_types_compatible_p(typeof(check_trace_callback_type_sched_process_exit), \
				     void (void (*)(void *, struct task_struct *, bool)))

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define timer_destroy_on_stack(timer)	destroy_timer_on_stack(timer)
#endif

/* Parameters of relay's subbuf_start() that describe the previous sub-buffer. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define NTKLOG_RELAY_PREVIOUS	void *prev_subbuf
#else
#define NTKLOG_RELAY_PREVIOUS	void *prev_subbuf, size_t prev_padding
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define system_percpu_wq		system_wq
#endif

/* stack_trace_save_tsk() is exported. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define NTKLOG_HAS_STACKS_OF_TASKS
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 1, 0)
#define ntklog_semaphore_has_waiters(_semaphore)	READ_ONCE((_semaphore)->first_waiter)
#else
#define ntklog_semaphore_has_waiters(_semaphore)	(!list_empty(&(_semaphore)->wait_list))
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define NTKLOG_IRQ_STAT_IS_ARRAY
#endif

/* For assembler: per-CPU variables with the current task and the preemption count. */
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

/* Earlier x86 headers have no macro; the variable itself is the operand. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define __my_cpu_var(variable)		(variable)
#endif

/* Unregistering keeps the filter. In 6.1 register_ftrace_direct() is a different function. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define ntklog_register_direct(_ops, _address)	register_ftrace_direct(_ops, _address)
#define ntklog_unregister_direct(_ops, _address) unregister_ftrace_direct(_ops, _address, false)
#else
#define ntklog_register_direct(_ops, _address)	register_ftrace_direct_multi(_ops, _address)
#define ntklog_unregister_direct(_ops, _address) unregister_ftrace_direct_multi(_ops, _address)
#endif

/* For assembler: tell objtool that the function _name needs no ENDBR. */
#ifdef ANNOTATE_NOENDBR_SYM
#define ntklog_annotate_no_endbr(_name)	ASM_ANNOTATE_LABEL(_name, ANNOTYPE_NOENDBR) "\n"
#elif defined(CONFIG_OBJTOOL)
#define ntklog_annotate_no_endbr(_name)					\
	".pushsection .discard.noendbr\n	.quad " _name "\n.popsection\n"
#else
#define ntklog_annotate_no_endbr(_name)	""
#endif

/* The kernel's version in place of Windows' build number, in TRACE_LOGFILE_HEADER. */
#define NTKLOG_SYSTEM_BUILD	LINUX_VERSION_CODE

#endif /* _NTKLOG_COMPAT_H */
