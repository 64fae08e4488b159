// SPDX-License-Identifier: GPL-2.0-only
/* Slow paths of NT's executive spin locks. <ntklog/ex_spin_lock.h> says who changes the word. */

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/processor.h>
#include <ntklog/ex_spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../ground/address.h"
#include "../perf/spin_lock.h"

/* Returns how often the word was tested while the lock had an exclusive owner or waiter. */
static u32 ex_spin_for_spin_lock_shared(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);
	u32 spin_count = 0;

	do {
		while (value & ~EX_SPIN_LOCK_SHARED_COUNT) {
			cpu_relax();
			spin_count++;
			value = atomic_read(&spin_lock->value);
		}
		/* Pairs with the releases of exclusive owners. */
	} while (!atomic_try_cmpxchg_acquire(&spin_lock->value, &value, value + 1));
	return spin_count;
}

/* Returns how often the lock was tested, at least 1. */
static u32 ex_spin_for_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	u32 spin_count = 0;
	int value;

	for (;;) {
		cpu_relax();
		spin_count++;
		value = atomic_read(&spin_lock->value);
		if (!(value & ~EX_SPIN_LOCK_EXCLUSIVE_WAITER)) {
			/* This clears the waiter bit. Other exclusive waiters will set it again. */
			if (atomic_try_cmpxchg_acquire(&spin_lock->value, &value,
						       EX_SPIN_LOCK_EXCLUSIVE))
				return spin_count;
		} else if (!(value & EX_SPIN_LOCK_EXCLUSIVE_WAITER)) {
			/* Relaxed: the bit only keeps new shared requests away. */
			atomic_cmpxchg_relaxed(&spin_lock->value, value,
					       value | EX_SPIN_LOCK_EXCLUSIVE_WAITER);
		}
	}
}

static noinline void ex_wait_for_spin_lock_shared_traced(struct ex_spin_lock *spin_lock)
{
	struct ntklog_spin_lock_wait_start wait_start;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&wait_start);
	spin_count = ex_spin_for_spin_lock_shared(spin_lock);
	if (spin_count)
		ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_EXECUTIVE_SHARED,
					       spin_count, &wait_start);
	else
		ntklog_log_spin_lock_acquire(spin_lock);
}

/**
 * ex_wait_for_spin_lock_shared() - wait for shared ownership
 * @spin_lock: the lock
 *
 * If only other shared requests changed the word, the acquisition counts as uncontended.
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
void ex_wait_for_spin_lock_shared(struct ex_spin_lock *spin_lock)
{
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ex_wait_for_spin_lock_shared_traced(spin_lock);
	else
		ex_spin_for_spin_lock_shared(spin_lock);
}
EXPORT_SYMBOL_GPL(ex_wait_for_spin_lock_shared);

static noinline void ex_wait_for_spin_lock_exclusive_traced(struct ex_spin_lock *spin_lock)
{
	struct ntklog_spin_lock_wait_start wait_start;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&wait_start);
	spin_count = ex_spin_for_spin_lock_exclusive(spin_lock);
	ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE,
				       spin_count, &wait_start);
}

/**
 * ex_wait_for_spin_lock_exclusive() - wait for exclusive ownership
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
void ex_wait_for_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ex_wait_for_spin_lock_exclusive_traced(spin_lock);
	else
		ex_spin_for_spin_lock_exclusive(spin_lock);
}
EXPORT_SYMBOL_GPL(ex_wait_for_spin_lock_exclusive);

static notrace noinline void
ex_release_spin_lock_shared_traced_slow(struct ex_spin_lock *spin_lock, unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	/* Pairs with the acquire of an exclusive owner. */
	atomic_dec_return_release(&spin_lock->value);
	ntklog_track_spin_lock_release_slow(spin_lock, WMI_SPINLOCK_EXECUTIVE_SHARED, time.low,
					    time.high, caller);
}

/**
 * ex_release_spin_lock_shared_traced() - release a shared lock while tracking is on
 * @spin_lock: the lock
 *
 * The event's caller is the return address of this function.
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
notrace noinline void ex_release_spin_lock_shared_traced(struct ex_spin_lock *spin_lock)
{
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low)))
		ex_release_spin_lock_shared_traced_slow(spin_lock, _RET_IP_);
	else
		/* Pairs with the acquire of an exclusive owner. */
		atomic_dec_return_release(&spin_lock->value);
}
EXPORT_SYMBOL_GPL(ex_release_spin_lock_shared_traced);

static notrace noinline void
ex_release_spin_lock_exclusive_traced_slow(struct ex_spin_lock *spin_lock, unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	/* Pairs with the acquires of the next owners. */
	atomic_sub_return_release(EX_SPIN_LOCK_EXCLUSIVE, &spin_lock->value);
	ntklog_track_spin_lock_release_slow(spin_lock, WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE,
					    time.low, time.high, caller);
}

/**
 * ex_release_spin_lock_exclusive_traced() - release an exclusive lock while tracking is on
 * @spin_lock: the lock
 *
 * The event's caller is the return address of this function.
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
notrace noinline void ex_release_spin_lock_exclusive_traced(struct ex_spin_lock *spin_lock)
{
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low)))
		ex_release_spin_lock_exclusive_traced_slow(spin_lock, _RET_IP_);
	else
		/* Pairs with the acquires of the next owners. */
		atomic_sub_return_release(EX_SPIN_LOCK_EXCLUSIVE, &spin_lock->value);
}
EXPORT_SYMBOL_GPL(ex_release_spin_lock_exclusive_traced);

/**
 * ex_try_acquire_spin_lock_shared_at_dpc_level() - NT's ExTryAcquireSpinLockSharedAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 * Return: true if the caller is a shared owner now; otherwise nothing is changed or counted.
 */
bool ex_try_acquire_spin_lock_shared_at_dpc_level(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);

	__ke_assert_dispatch_level();
	do {
		if (value & ~EX_SPIN_LOCK_SHARED_COUNT)
			return false;
		/* Pairs with the releases of exclusive owners. */
	} while (!atomic_try_cmpxchg_acquire(&spin_lock->value, &value, value + 1));
	lock_acquire_shared(&spin_lock->dep_map, 0, 1, NULL, _RET_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
	return true;
}
EXPORT_SYMBOL_GPL(ex_try_acquire_spin_lock_shared_at_dpc_level);

/**
 * ex_try_acquire_spin_lock_exclusive_at_dpc_level() - NT's ExTryAcquireSpinLockExclusiveAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 * Return: true if the caller is the exclusive owner now; otherwise nothing is changed or counted.
 */
bool ex_try_acquire_spin_lock_exclusive_at_dpc_level(struct ex_spin_lock *spin_lock)
{
	__ke_assert_dispatch_level();
	if (atomic_read(&spin_lock->value) ||
	    !__ex_acquire_spin_lock_exclusive_fast(spin_lock))
		return false;
	lock_acquire_exclusive(&spin_lock->dep_map, 0, 1, NULL, _RET_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
	return true;
}
EXPORT_SYMBOL_GPL(ex_try_acquire_spin_lock_exclusive_at_dpc_level);

/**
 * ex_try_convert_shared_spin_lock_exclusive() - NT's ExTryConvertSharedSpinLockExclusive
 * @spin_lock: a lock that the caller holds shared
 *
 * Overtakes waiters for exclusive ownership. Warns once if the lock is not held shared.
 *
 * Context: the IRQL at which the lock is held.
 * Return: true if the caller was the only shared owner and is the exclusive owner now.
 */
bool ex_try_convert_shared_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);

	if (!(value & EX_SPIN_LOCK_SHARED_COUNT)) {
		ex_warn_spin_lock_not_owned(spin_lock, true);
		return false;
	}
	do {
		if ((value & EX_SPIN_LOCK_SHARED_COUNT) != 1)
			return false;
		/*
		 * Keep bit 30, which belongs to a waiter. Pairs with the releases of the other
		 * shared owners.
		 */
	} while (!atomic_try_cmpxchg_acquire(&spin_lock->value, &value,
					     value - 1 + EX_SPIN_LOCK_EXCLUSIVE));
	lock_release(&spin_lock->dep_map, _RET_IP_);
	lock_acquire_exclusive(&spin_lock->dep_map, 0, 1, NULL, _RET_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_convert(spin_lock,
					     WMI_SPINLOCK_EXECUTIVE_CONVERTED);
	return true;
}
EXPORT_SYMBOL_GPL(ex_try_convert_shared_spin_lock_exclusive);

/**
 * ex_warn_spin_lock_not_owned() - warn once about a lock that is not held as it must be
 * @spin_lock: the lock
 * @shared: true if the lock must be held shared, false if exclusively
 *
 * Context: any.
 */
void ex_warn_spin_lock_not_owned(struct ex_spin_lock *spin_lock, bool shared)
{
	WARN_ONCE(1, "ExReleaseSpinLock: lock %llx is not owned %s (%08x)\n",
		  ntklog_get_displayed_address((unsigned long)spin_lock),
		  shared ? "shared" : "exclusive",
		  atomic_read(&spin_lock->value));
}
EXPORT_SYMBOL_GPL(ex_warn_spin_lock_not_owned);
