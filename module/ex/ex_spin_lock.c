// SPDX-License-Identifier: GPL-2.0-only
/*
 * The out-of-line half of NT's executive spin locks: waiting, trying, converting,
 * and all with tracing. include/ntklog/ex_spin_lock.h has the rest, and says who
 * may change the word how.
 */

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/processor.h>
#include <ntklog/ex_spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../address.h"
#include "../perf/spin_lock.h"

/* Returns additional tests of the lock; 0 if only other shared requests were in the way. */
static u32 ex_spin_for_spin_lock_shared(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);
	u32 spin_count = 0;

	do {
		/* Read only, until neither an owner nor a waiter is exclusive. */
		while (value & ~EX_SPIN_LOCK_SHARED_COUNT) {
			cpu_relax();
			spin_count++;
			value = atomic_read(&spin_lock->value);
		}
		/* As __ex_acquire_spin_lock_shared_fast(). */
	} while (!atomic_try_cmpxchg_acquire(&spin_lock->value, &value, value + 1));
	return spin_count;
}

/* Returns additional tests of the lock, at least 1. */
static u32 ex_spin_for_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	u32 spin_count = 0;
	int value;

	for (;;) {
		cpu_relax();
		spin_count++;
		value = atomic_read(&spin_lock->value);
		if (!(value & ~EX_SPIN_LOCK_EXCLUSIVE_WAITER)) {
			/* Other waiters will set their bit again. */
			if (atomic_try_cmpxchg_acquire(&spin_lock->value, &value,
						       EX_SPIN_LOCK_EXCLUSIVE))
				return spin_count;
		} else if (!(value & EX_SPIN_LOCK_EXCLUSIVE_WAITER)) {
			/* Orders nothing: it only keeps shared requests away. */
			atomic_cmpxchg_relaxed(&spin_lock->value, value,
					       value | EX_SPIN_LOCK_EXCLUSIVE_WAITER);
		}
	}
}

static noinline void ex_wait_for_spin_lock_shared_traced(struct ex_spin_lock *spin_lock)
{
	struct ntklog_spin_lock_wait_start query;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&query);
	spin_count = ex_spin_for_spin_lock_shared(spin_lock);
	if (spin_count)
		ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_EXECUTIVE_SHARED,
					       spin_count, &query);
	else
		ntklog_log_spin_lock_acquire(spin_lock);
}

/**
 * ex_wait_for_spin_lock_shared() - wait to be a shared owner
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. Returns as a shared owner; the wait has been counted or
 * tracked.
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
	struct ntklog_spin_lock_wait_start query;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&query);
	spin_count = ex_spin_for_spin_lock_exclusive(spin_lock);
	ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE,
				       spin_count, &query);
}

/**
 * ex_wait_for_spin_lock_exclusive() - wait to be the exclusive owner
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. Returns as the owner; the wait has been counted or tracked.
 */
void ex_wait_for_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ex_wait_for_spin_lock_exclusive_traced(spin_lock);
	else
		ex_spin_for_spin_lock_exclusive(spin_lock);
}
EXPORT_SYMBOL_GPL(ex_wait_for_spin_lock_exclusive);

static notrace noinline void ex_release_sampled_spin_lock_shared(struct ex_spin_lock *spin_lock,
								 unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	/* As in __ex_release_spin_lock_shared(). */
	atomic_dec_return_release(&spin_lock->value);
	ntklog_track_spin_lock_release_slow(spin_lock, WMI_SPINLOCK_EXECUTIVE_SHARED, time.low,
					    time.high, caller);
}

/**
 * ex_release_spin_lock_shared_traced() - release, then maybe write an event
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. The event names the place that this function
 * returns to.
 */
notrace noinline void ex_release_spin_lock_shared_traced(struct ex_spin_lock *spin_lock)
{
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low)))
		ex_release_sampled_spin_lock_shared(spin_lock, _RET_IP_);
	else
		/* As in __ex_release_spin_lock_shared(). */
		atomic_dec_return_release(&spin_lock->value);
}
EXPORT_SYMBOL_GPL(ex_release_spin_lock_shared_traced);

static notrace noinline
void ex_release_sampled_spin_lock_exclusive(struct ex_spin_lock *spin_lock, unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	/* As in __ex_release_spin_lock_exclusive(). */
	atomic_sub_return_release(EX_SPIN_LOCK_EXCLUSIVE, &spin_lock->value);
	ntklog_track_spin_lock_release_slow(spin_lock, WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE,
					    time.low, time.high, caller);
}

/**
 * ex_release_spin_lock_exclusive_traced() - release, then maybe write an event
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. The event names the place that this function
 * returns to.
 */
notrace noinline void ex_release_spin_lock_exclusive_traced(struct ex_spin_lock *spin_lock)
{
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low)))
		ex_release_sampled_spin_lock_exclusive(spin_lock, _RET_IP_);
	else
		/* As in __ex_release_spin_lock_exclusive(). */
		atomic_sub_return_release(EX_SPIN_LOCK_EXCLUSIVE, &spin_lock->value);
}
EXPORT_SYMBOL_GPL(ex_release_spin_lock_exclusive_traced);

/**
 * ex_try_acquire_spin_lock_shared_at_dpc_level() - NT's
 *	ExTryAcquireSpinLockSharedAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is left alone.
 * Return: true as a shared owner; false at once, and nothing changed or counted,
 * if there is an exclusive owner or somebody waits to be that.
 */
bool ex_try_acquire_spin_lock_shared_at_dpc_level(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);

	__ke_assert_dispatch_level();
	do {
		if (value & ~EX_SPIN_LOCK_SHARED_COUNT)
			return false;
		/* As __ex_acquire_spin_lock_shared_fast(). */
	} while (!atomic_try_cmpxchg_acquire(&spin_lock->value, &value, value + 1));
	lock_acquire_shared(&spin_lock->dep_map, 0, 1, NULL, _RET_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
	return true;
}
EXPORT_SYMBOL_GPL(ex_try_acquire_spin_lock_shared_at_dpc_level);

/**
 * ex_try_acquire_spin_lock_exclusive_at_dpc_level() - NT's
 *	ExTryAcquireSpinLockExclusiveAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is left alone.
 * Return: true as the exclusive owner; false at once, and nothing changed or
 * counted, if the lock is not free.
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
 * ex_try_convert_shared_spin_lock_exclusive() - NT's
 *	ExTryConvertSharedSpinLockExclusive
 * @spin_lock: a lock that the caller owns shared
 *
 * Context: the IRQL at which the lock is owned.
 * Return: true if the caller was the only shared owner and is now the exclusive
 * one, also before those who wait for that; false if it is a shared owner as
 * before. Without a shared owner: false after a warning.
 */
bool ex_try_convert_shared_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);

	if (!(value & EX_SPIN_LOCK_SHARED_COUNT)) {
		ex_release_spin_lock_not_owned(spin_lock, true);
		return false;
	}
	do {
		if ((value & EX_SPIN_LOCK_SHARED_COUNT) != 1)
			return false;
		/*
		 * From 1 to bit 31; bit 30 belongs to who waits. Acquire; pairs
		 * with the releases of the other shared owners.
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
 * ex_release_spin_lock_not_owned() - a release or a conversion that must not be
 * @spin_lock: a lock that is not owned so
 * @shared: how it was said to be owned
 *
 * Context: any. Warns once with the values; changes nothing.
 */
void ex_release_spin_lock_not_owned(struct ex_spin_lock *spin_lock, bool shared)
{
	WARN_ONCE(1, "ExReleaseSpinLock: lock %llx is not owned %s (%08x)\n",
		  ntklog_address((unsigned long)spin_lock), shared ? "shared" : "exclusive",
		  atomic_read(&spin_lock->value));
}
EXPORT_SYMBOL_GPL(ex_release_spin_lock_not_owned);
