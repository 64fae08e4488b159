/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_KIND_H
#define _NTKLOG_LINUX_KIND_H

/*
 * A kind of lock, and what its two files share. The functions in those two are what a thread of
 * the kernel executes instead of Linux' own, in any context that takes locks: threads, softirqs,
 * interrupts, NMIs, the idle loop, with the run queue's lock owned. They are not traced; they,
 * and what they call, take no other lock, wake nobody and print nothing.
 */

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "../perf/spin_lock.h"
#include "../perf/spin_lock_sampled.h"
#include "redirect.h"

/* What is found by name, and not exported, is not called by a pointer where those are checked. */
#if defined(CONFIG_DEBUG_SPINLOCK) && (defined(CONFIG_X86_KERNEL_IBT) || \
	defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI))
#define NTKLOG_DO_RAW_IS_GUARDED
#endif

/* What the locks' functions are made of is only the kernel's own if nothing else is in them. */
#if defined(NTKLOG_CAN_REDIRECT) && defined(CONFIG_X86_64) && !defined(CONFIG_PREEMPT_RT) && \
	!defined(NTKLOG_DO_RAW_IS_GUARDED) && \
	!defined(CONFIG_GENERIC_LOCKBREAK) && defined(CONFIG_QUEUED_SPINLOCKS) && \
	defined(CONFIG_UNINLINE_SPIN_UNLOCK)
#define NTKLOG_LINUX_LOCKS
#endif

/**
 * struct ntklog_linux_functions - the functions of a kind
 * @hooks: those
 * @count: of them
 * @variant: what they are, or were last, redirected to; written as @hooks
 */
struct ntklog_linux_functions {
	struct ntklog_hook *hooks;
	size_t count;
	enum ntklog_hook_variant variant;
};

/**
 * ntklog_is_stuck() - ftrace has switched itself off: are some functions redirected for good?
 * @functions: a kind's
 *
 * Context: as ntklog_attach().
 * Return: whether they are.
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

/* How many of them this kernel has. */
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

/* Cycles of one test of a lock by who waits for it; measured at load, then constant. */
extern u32 ntklog_linux_test_cycles;

/*
 * sparse counts who owns a lock by what the caller is told of the kernel's function; ours is
 * told nothing: what it acquires for its caller, and releases, is not its own.
 */
#define ntklog_sparse_release(_lock)	__release(_lock)
#define ntklog_released_for_caller(_lock) __acquire(_lock)

/* Linux does not count a waiter's tests: how many there is time for, and one. */
static __always_inline u32 ntklog_linux_spins(const struct ntklog_spin_lock_wait_start *query)
{
	u32 wait = ntklog_read_time().low - query->time.low;

	return max(wait / ntklog_linux_test_cycles, 1U);
}

static __always_inline void
ntklog_linux_waited(const void *lock, u8 acquire_mode,
		    const struct ntklog_spin_lock_wait_start *query)
{
	ntklog_log_contended_spin_lock(lock, acquire_mode, ntklog_linux_spins(query), query);
}

static __always_inline void
ntklog_sampled_waited(const void *lock, u8 acquire_mode,
		      const struct ntklog_spin_lock_wait_start *query)
{
	ntklog_sample_contended_spin_lock(lock, acquire_mode, ntklog_linux_spins(query), query);
}

#endif /* _NTKLOG_LINUX_KIND_H */
