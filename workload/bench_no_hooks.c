// SPDX-License-Identifier: GPL-2.0-only
/* The in-stack queued spin lock without its hooks. */

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

/* The lock headers use this macro only for the hooks' static key. */
#undef static_branch_unlikely
#define static_branch_unlikely(key) false

#include <ntklog/queued_spin_lock.h>

#include "bench_no_hooks.h"

static struct kspin_lock lock;

/**
 * bench_no_hooks_at_dpc_level() - acquire and release at DISPATCH_LEVEL, without hooks
 * @times: number of pairs
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
void bench_no_hooks_at_dpc_level(unsigned int times)
{
	struct klock_queue_handle handle;

	while (times--) {
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock, &handle);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	}
}

/**
 * bench_no_hooks_raising() - acquire and release with raising of IRQL, without hooks
 * @times: number of pairs
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void bench_no_hooks_raising(unsigned int times)
{
	struct klock_queue_handle handle;

	while (times--) {
		ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
		ke_release_in_stack_queued_spin_lock(&handle);
	}
}
