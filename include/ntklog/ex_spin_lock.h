/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_SPIN_LOCK_H
#define _NTKLOG_EX_SPIN_LOCK_H

/*
 * NT's executive spin locks: any number of shared owners, or one exclusive owner. The lock is a
 * word of 32 bits:
 *
 *	bit 31		an exclusive owner
 *	bit 30		a waiter for exclusive ownership; new shared requests wait too
 *	bits 0-29	number of shared owners
 *
 * All changes are atomic:
 * - A shared request adds 1 while bits 31 and 30 are clear.
 * - An exclusive request changes 0, or bit 30 alone, to bit 31 alone.
 * - An exclusive waiter sets bit 30, and sets it again after another waiter has acquired the lock
 *   and so cleared it.
 * - The only shared owner may change its 1 to bit 31.
 * - A release subtracts 1, or clears bit 31.
 *
 * While bit 30 is set, a waiter exists that will clear it.
 */

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/types.h>
#include <ntklog/irql.h>
#include <ntklog/spin_lock.h>

#define EX_SPIN_LOCK_EXCLUSIVE		BIT(31)
#define EX_SPIN_LOCK_EXCLUSIVE_WAITER	BIT(30)
#define EX_SPIN_LOCK_SHARED_COUNT	(EX_SPIN_LOCK_EXCLUSIVE_WAITER - 1)

/**
 * struct ex_spin_lock - NT's EX_SPIN_LOCK
 * @value: the word; 0 if free
 * @dep_map: lockdep map; not part of NT's word
 *
 * As in NT, a lock in zeroed memory is free. With lockdep, locks that are not static must be
 * initialised with ex_initialize_spin_lock().
 */
struct ex_spin_lock {
	atomic_t value;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

static inline void __ex_initialize_spin_lock(struct ex_spin_lock *spin_lock,
					     const char *name,
					     struct lock_class_key *key)
{
	atomic_set(&spin_lock->value, 0);
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	lockdep_init_map_wait(&spin_lock->dep_map, name, key, 0, LD_WAIT_SPIN);
#endif
}

/**
 * ex_initialize_spin_lock() - initialise an executive spin lock
 * @spin_lock: the lock, which is free afterwards
 *
 * Each use of this macro is a lockdep class of its own.
 *
 * Context: any.
 */
#define ex_initialize_spin_lock(spin_lock)				\
do {									\
	static struct lock_class_key __key;				\
									\
	__ex_initialize_spin_lock((spin_lock), #spin_lock, &__key);	\
} while (0)

void ex_wait_for_spin_lock_shared(struct ex_spin_lock *spin_lock);
void ex_wait_for_spin_lock_exclusive(struct ex_spin_lock *spin_lock);
void ex_release_spin_lock_shared_traced(struct ex_spin_lock *spin_lock);
void ex_release_spin_lock_exclusive_traced(struct ex_spin_lock *spin_lock);
void ex_warn_spin_lock_not_owned(struct ex_spin_lock *spin_lock, bool shared);
bool ex_try_acquire_spin_lock_shared_at_dpc_level(struct ex_spin_lock *spin_lock);
bool ex_try_acquire_spin_lock_exclusive_at_dpc_level(struct ex_spin_lock *spin_lock);
bool ex_try_convert_shared_spin_lock_exclusive(struct ex_spin_lock *spin_lock);

/* The word is read first, so that it is not written while the request cannot succeed. */
static __always_inline bool
__ex_acquire_spin_lock_shared_fast(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);

	/* Pairs with the releases of exclusive owners. */
	return likely(!(value & ~EX_SPIN_LOCK_SHARED_COUNT)) &&
		atomic_try_cmpxchg_acquire(&spin_lock->value, &value, value + 1);
}

static __always_inline bool
__ex_acquire_spin_lock_exclusive_fast(struct ex_spin_lock *spin_lock)
{
	int value = 0;

	/* Pairs with the releases of all owners. */
	return atomic_try_cmpxchg_acquire(&spin_lock->value, &value,
					  EX_SPIN_LOCK_EXCLUSIVE);
}

/**
 * ex_acquire_spin_lock_shared_at_dpc_level() - NT's ExAcquireSpinLockSharedAtDpcLevel
 * @spin_lock: the lock
 *
 * Spins until the lock is acquired. Shared ownership is not recursive: a second request may wait
 * for an exclusive waiter, which waits for the release of the first.
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 */
static __always_inline void
ex_acquire_spin_lock_shared_at_dpc_level(struct ex_spin_lock *spin_lock)
{
	__ke_assert_dispatch_level();
	lock_acquire_shared(&spin_lock->dep_map, 0, 0, NULL, _THIS_IP_);
	if (unlikely(!__ex_acquire_spin_lock_shared_fast(spin_lock)))
		ex_wait_for_spin_lock_shared(spin_lock);
	else if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
}

/**
 * ex_acquire_spin_lock_exclusive_at_dpc_level() - NT's ExAcquireSpinLockExclusiveAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 */
static __always_inline void
ex_acquire_spin_lock_exclusive_at_dpc_level(struct ex_spin_lock *spin_lock)
{
	__ke_assert_dispatch_level();
	lock_acquire_exclusive(&spin_lock->dep_map, 0, 0, NULL, _THIS_IP_);
	if (unlikely(!__ex_acquire_spin_lock_exclusive_fast(spin_lock)))
		ex_wait_for_spin_lock_exclusive(spin_lock);
	else if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
}

/* Release shared ownership. Returns false after a warning if the lock has no shared owner. */
static __always_inline bool
__ex_release_spin_lock_shared(struct ex_spin_lock *spin_lock)
{
	__ke_prefetch_to_write(&spin_lock->value);
	/* The number of shared owners may change, but not to 0 while the caller is one. */
	if (unlikely(!(data_race(spin_lock->value.counter) &
		       EX_SPIN_LOCK_SHARED_COUNT))) {
		ex_warn_spin_lock_not_owned(spin_lock, true);
		return false;
	}
	lock_release(&spin_lock->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key))
		ex_release_spin_lock_shared_traced(spin_lock);
	else
		/* Pairs with the acquire of an exclusive owner. */
		atomic_dec_return_release(&spin_lock->value);
	return true;
}

/* Release exclusive ownership. Returns false after a warning if the lock has no exclusive owner. */
static __always_inline bool
__ex_release_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	__ke_prefetch_to_write(&spin_lock->value);
	/*
	 * While the lock is held exclusively, the word is bit 31 alone or bits 31 and 30, because
	 * other CPUs change only bit 30. As signed numbers both are negative, and bits 31 and 30
	 * are the greater one. Without bit 31 the word is 0 or positive, so one comparison
	 * suffices.
	 */
	if (unlikely(data_race(spin_lock->value.counter) >
		     (int)(EX_SPIN_LOCK_EXCLUSIVE | EX_SPIN_LOCK_EXCLUSIVE_WAITER))) {
		ex_warn_spin_lock_not_owned(spin_lock, false);
		return false;
	}
	lock_release(&spin_lock->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key))
		ex_release_spin_lock_exclusive_traced(spin_lock);
	else
		/* Pairs with the acquires of the next owners. */
		atomic_sub_return_release(EX_SPIN_LOCK_EXCLUSIVE, &spin_lock->value);
	return true;
}

/**
 * ex_release_spin_lock_shared_from_dpc_level() - NT's ExReleaseSpinLockSharedFromDpcLevel
 * @spin_lock: a lock that the caller holds shared
 *
 * If the lock has no shared owner: warns once and changes nothing.
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 */
static __always_inline void
ex_release_spin_lock_shared_from_dpc_level(struct ex_spin_lock *spin_lock)
{
	__ex_release_spin_lock_shared(spin_lock);
}

/**
 * ex_release_spin_lock_exclusive_from_dpc_level() - NT's ExReleaseSpinLockExclusiveFromDpcLevel
 * @spin_lock: a lock that the caller holds exclusively
 *
 * If the lock has no exclusive owner: warns once and changes nothing.
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 */
static __always_inline void
ex_release_spin_lock_exclusive_from_dpc_level(struct ex_spin_lock *spin_lock)
{
	__ex_release_spin_lock_exclusive(spin_lock);
}

/**
 * ex_acquire_spin_lock_shared() - NT's ExAcquireSpinLockShared
 * @spin_lock: the lock
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: the old IRQL.
 */
static __always_inline u8
ex_acquire_spin_lock_shared(struct ex_spin_lock *spin_lock)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ex_acquire_spin_lock_shared_at_dpc_level(spin_lock);
	return old_irql;
}

/**
 * ex_acquire_spin_lock_exclusive() - NT's ExAcquireSpinLockExclusive
 * @spin_lock: the lock
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: the old IRQL.
 */
static __always_inline u8
ex_acquire_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ex_acquire_spin_lock_exclusive_at_dpc_level(spin_lock);
	return old_irql;
}

/**
 * ex_release_spin_lock_shared() - NT's ExReleaseSpinLockShared
 * @spin_lock: a lock that the caller holds shared
 * @old_irql: IRQL that the acquiring function returned
 *
 * If the lock has no shared owner: warns once and changes nothing.
 *
 * Context: the IRQL at which the lock is held.
 */
static __always_inline void
ex_release_spin_lock_shared(struct ex_spin_lock *spin_lock, u8 old_irql)
{
	if (likely(__ex_release_spin_lock_shared(spin_lock)))
		ke_lower_irql(old_irql);
}

/**
 * ex_release_spin_lock_exclusive() - NT's ExReleaseSpinLockExclusive
 * @spin_lock: a lock that the caller holds exclusively
 * @old_irql: IRQL that the acquiring function returned
 *
 * If the lock has no exclusive owner: warns once and changes nothing.
 *
 * Context: the IRQL at which the lock is held.
 */
static __always_inline void
ex_release_spin_lock_exclusive(struct ex_spin_lock *spin_lock, u8 old_irql)
{
	if (likely(__ex_release_spin_lock_exclusive(spin_lock)))
		ke_lower_irql(old_irql);
}

#endif /* _NTKLOG_EX_SPIN_LOCK_H */
