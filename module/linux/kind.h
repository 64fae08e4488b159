/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_KIND_H
#define _NTKLOG_LINUX_KIND_H

/*
 * The lock functions of a kind of Linux' locks. Their replacements run in every context that takes
 * locks: tasks, softirqs, interrupts, NMIs and the idle loop, also with the lock of a run queue
 * held. So neither they nor the functions of this module that they call may be traced, wait for
 * another lock without limit, wake up a task or print.
 */

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "../perf/spin_lock.h"
#include "../perf/spin_lock_sampled.h"
#include "redirect.h"

/* With IBT or CFI the kernel would refuse the indirect calls of do_raw.c. */
#if defined(CONFIG_DEBUG_SPINLOCK) && (defined(CONFIG_X86_KERNEL_IBT) || \
	defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI))
#define NTKLOG_CANNOT_CALL_DO_RAW
#endif

/* Defined if the configuration allows to redirect the functions of locks that spin. */
#if defined(NTKLOG_CAN_REDIRECT) && defined(CONFIG_X86_64) && !defined(CONFIG_PREEMPT_RT) && \
	!defined(NTKLOG_CANNOT_CALL_DO_RAW) && \
	!defined(CONFIG_GENERIC_LOCKBREAK) && defined(CONFIG_QUEUED_SPINLOCKS) && \
	defined(CONFIG_UNINLINE_SPIN_UNLOCK)
#define NTKLOG_CAN_REDIRECT_SPINNING
#endif

/* The lock functions of a kind. @variant is written with ntklog_linux_mutex held. */
struct ntklog_lock_functions {
	struct ntklog_hook *hooks;
	size_t hook_count;
	enum ntklog_hook_variant variant;
};

/**
 * ntklog_functions_are_stuck() - test whether ftrace has failed to restore a function of a kind
 * @functions: functions of the kind
 *
 * Context: task. Callers are serialized with the attachment and detachment of the kind.
 * Return: true if a function stays redirected or hooked until reboot.
 */
static inline bool ntklog_functions_are_stuck(const struct ntklog_lock_functions *functions)
{
#ifdef NTKLOG_CAN_REDIRECT
	size_t i;

	for (i = 0; i < functions->hook_count; i++)
		if (functions->hooks[i].stuck)
			return true;
#endif
	return false;
}

static inline size_t ntklog_count_hookable_functions(const struct ntklog_lock_functions *functions)
{
#ifdef NTKLOG_CAN_REDIRECT
	return ntklog_count_targets(functions->hooks, functions->hook_count);
#else
	return 0;
#endif
}

extern struct ntklog_lock_functions ntklog_linux_spin_lock_functions;
extern struct ntklog_lock_functions ntklog_linux_rw_lock_functions;

/* Cycles in which a waiter tests the word of a lock once; constant after load. */
extern u32 ntklog_cycles_per_spin;

/* For sparse: a replacement acquires and releases for its caller. */
#define ntklog_sparse_release(_lock)	__release(_lock)
#define ntklog_sparse_acquire(_lock) __acquire(_lock)

/* Linux does not count the tests of a waiter. Estimate them from the duration of the wait. */
static __always_inline u32
ntklog_estimate_spin_count(const struct ntklog_spin_lock_wait_start *wait_start)
{
	u32 wait_cycles = ntklog_read_time().low - wait_start->time.low;

	return max(wait_cycles / ntklog_cycles_per_spin, 1U);
}

static __always_inline void
ntklog_track_linux_wait(const void *lock, u8 acquire_mode,
			const struct ntklog_spin_lock_wait_start *wait_start)
{
	ntklog_log_contended_spin_lock(lock, acquire_mode, ntklog_estimate_spin_count(wait_start),
				       wait_start);
}

static __always_inline void
ntklog_sample_linux_wait(const void *lock, u8 acquire_mode,
			 const struct ntklog_spin_lock_wait_start *wait_start)
{
	ntklog_sample_contended_spin_lock(lock, acquire_mode,
					  ntklog_estimate_spin_count(wait_start), wait_start);
}

#endif /* _NTKLOG_LINUX_KIND_H */
