/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_KIND_H
#define _NTKLOG_LINUX_KIND_H

/*
 * Declarations that spin_lock.c and rw_lock.c share. Their functions replace the kernel's lock
 * functions in every context that takes locks: tasks, softirqs, interrupts, NMIs and the idle loop,
 * also with the lock of a run queue held. They are not traced. Neither they nor the functions that
 * they call take another lock, wake up a task or print.
 */

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "../perf/spin_lock.h"
#include "../perf/spin_lock_sampled.h"
#include "redirect.h"

/* Functions that are not exported cannot be called through a pointer if such calls are checked. */
#if defined(CONFIG_DEBUG_SPINLOCK) && (defined(CONFIG_X86_KERNEL_IBT) || \
	defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI))
#define NTKLOG_DO_RAW_IS_GUARDED
#endif

/* Defined if the replacements do the same as the kernel's functions with this configuration. */
#if defined(NTKLOG_CAN_REDIRECT) && defined(CONFIG_X86_64) && !defined(CONFIG_PREEMPT_RT) && \
	!defined(NTKLOG_DO_RAW_IS_GUARDED) && \
	!defined(CONFIG_GENERIC_LOCKBREAK) && defined(CONFIG_QUEUED_SPINLOCKS) && \
	defined(CONFIG_UNINLINE_SPIN_UNLOCK)
#define NTKLOG_LINUX_LOCKS
#endif

/**
 * struct ntklog_linux_functions - the lock functions of a kind
 * @hooks: hooks of the functions
 * @count: number of elements in @hooks
 * @variant: set of replacements of the last attachment; written with ntklog_linux_mutex held
 */
struct ntklog_linux_functions {
	struct ntklog_hook *hooks;
	size_t count;
	enum ntklog_hook_variant variant;
};

/**
 * ntklog_is_stuck() - test whether ftrace has failed to restore a function of a kind
 * @functions: functions of the kind
 *
 * Context: task. Callers are serialized with ntklog_attach() and ntklog_detach().
 * Return: true if a function stays redirected or hooked until reboot.
 */
static inline bool ntklog_is_stuck(const struct ntklog_linux_functions *functions)
{
#ifdef NTKLOG_CAN_REDIRECT
	size_t i;

	for (i = 0; i < functions->count; i++)
		if (functions->hooks[i].stuck)
			return true;
#endif
	return false;
}

/* Return the number of functions of the kind that this kernel has. */
static inline size_t ntklog_function_count(const struct ntklog_linux_functions *functions)
{
#ifdef NTKLOG_CAN_REDIRECT
	return ntklog_count_targets(functions->hooks, functions->count);
#else
	return 0;
#endif
}

extern struct ntklog_linux_functions ntklog_linux_spin_lock_functions;
extern struct ntklog_linux_functions ntklog_linux_rw_lock_functions;

/* Cycles that a waiter needs to test the word of a lock once; measured at load, then constant. */
extern u32 ntklog_linux_test_cycles;

/*
 * sparse checks that a function releases the locks that it acquires. A replacement acquires and
 * releases for its caller: hide that from sparse.
 */
#define ntklog_sparse_release(_lock)	__release(_lock)
#define ntklog_released_for_caller(_lock) __acquire(_lock)

/*
 * Linux does not count how often a waiter tests the lock. Return the number of tests for which the
 * wait had time, at least 1.
 */
static __always_inline u32 ntklog_linux_spins(const struct ntklog_spin_lock_wait_start *wait_start)
{
	u32 wait = ntklog_read_time().low - wait_start->time.low;

	return max(wait / ntklog_linux_test_cycles, 1U);
}

static __always_inline void
ntklog_linux_waited(const void *lock, u8 acquire_mode,
		    const struct ntklog_spin_lock_wait_start *wait_start)
{
	ntklog_log_contended_spin_lock(lock, acquire_mode, ntklog_linux_spins(wait_start),
				       wait_start);
}

static __always_inline void
ntklog_sampled_waited(const void *lock, u8 acquire_mode,
		      const struct ntklog_spin_lock_wait_start *wait_start)
{
	ntklog_sample_contended_spin_lock(lock, acquire_mode, ntklog_linux_spins(wait_start),
					  wait_start);
}

#endif /* _NTKLOG_LINUX_KIND_H */
