// SPDX-License-Identifier: GPL-2.0-only
/*
 * The in-stack queued spin lock's own code, compiled with its hooks taken out: what
 * the patched-out branches cost is the difference to this.
 */

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

/* The only key that the lock headers look at. */
#undef static_branch_unlikely
#define static_branch_unlikely(key) false

#include <ntklog/queued_spin_lock.h>

#include "bench_no_hooks.h"

static struct kspin_lock lock;

/**
 * bench_no_hooks_at_dpc_level() - the AtDpcLevel pair, without hooks
 * @times: how often
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
 * bench_no_hooks_raising() - the raising pair, without hooks
 * @times: how often
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
