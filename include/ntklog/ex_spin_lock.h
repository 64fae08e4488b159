/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_SPIN_LOCK_H
#define _NTKLOG_EX_SPIN_LOCK_H

/*
 * NT's executive spin locks: any number of shared owners, or one exclusive, in a
 * word of 32 bits:
 *
 *	bit 31		an exclusive owner
 *	bit 30		somebody waits to be that; new shared requests wait too
 *	the rest	shared owners
 *
 * Who changes the word, always atomically: a shared request from n to n + 1 while
 * neither bit is set; an exclusive request from 0, or bit 30 alone, to bit 31
 * alone; a waiter for exclusive, who sets bit 30 and sets it again if another one
 * was quicker; owners, who take back what they put in. So while bit 30 is set,
 * somebody is there who will take it away.
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
 * @value: the word; 0 when free
 * @dep_map: lockdep's view of the lock; no part of NT's word
 *
 * As NT's, it needs no initialisation but zero, if it is static; lockdep wants
 * ex_initialize_spin_lock() for others.
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
 * ex_initialize_spin_lock() - make an executive spin lock, whatever it held before
 * @spin_lock: the lock; free afterwards
 *
 * Context: any. Lockdep gets a class for each place that calls this.
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
void ex_release_spin_lock_not_owned(struct ex_spin_lock *spin_lock, bool shared);
bool ex_try_acquire_spin_lock_shared_at_dpc_level(struct ex_spin_lock *spin_lock);
bool ex_try_acquire_spin_lock_exclusive_at_dpc_level(struct ex_spin_lock *spin_lock);
bool ex_try_convert_shared_spin_lock_exclusive(struct ex_spin_lock *spin_lock);

/* One attempt at what nobody contends for; the word is read first. */
static __always_inline bool
__ex_acquire_spin_lock_shared_fast(struct ex_spin_lock *spin_lock)
{
	int value = atomic_read(&spin_lock->value);

	/* Acquire; pairs with the releases of exclusive owners. */
	return likely(!(value & ~EX_SPIN_LOCK_SHARED_COUNT)) &&
		atomic_try_cmpxchg_acquire(&spin_lock->value, &value, value + 1);
}

static __always_inline bool
__ex_acquire_spin_lock_exclusive_fast(struct ex_spin_lock *spin_lock)
{
	int value = 0;

	/* Acquire; pairs with the releases of all owners. */
	return atomic_try_cmpxchg_acquire(&spin_lock->value, &value,
					  EX_SPIN_LOCK_EXCLUSIVE);
}

/**
 * ex_acquire_spin_lock_shared_at_dpc_level() - NT's
 *	ExAcquireSpinLockSharedAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is left alone. Spins until the lock is
 * owned. Not recursive: a second request waits behind whoever waits for
 * exclusive, who waits for the first.
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
 * ex_acquire_spin_lock_exclusive_at_dpc_level() - NT's
 *	ExAcquireSpinLockExclusiveAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is left alone. Spins until the lock is
 * owned.
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

/* Whether there was a shared owner, as there must be. */
static __always_inline bool
__ex_release_spin_lock_shared(struct ex_spin_lock *spin_lock)
{
	/* Once for the check and the atomic. */
	__ke_prefetch_to_write(&spin_lock->value);
	/* While the caller is one of them their number may change, but not to 0. */
	if (unlikely(!(data_race(spin_lock->value.counter) &
		       EX_SPIN_LOCK_SHARED_COUNT))) {
		ex_release_spin_lock_not_owned(spin_lock, true);
		return false;
	}
	lock_release(&spin_lock->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key))
		ex_release_spin_lock_shared_traced(spin_lock);
	else
		/* Release; pairs with the acquire of an exclusive owner. */
		atomic_dec_return_release(&spin_lock->value);
	return true;
}

/* Whether there was an exclusive owner, as there must be. */
static __always_inline bool
__ex_release_spin_lock_exclusive(struct ex_spin_lock *spin_lock)
{
	/* Once for the check and the atomic. */
	__ke_prefetch_to_write(&spin_lock->value);
	/* Others change bit 30 alone, with which the word is at its greatest. */
	if (unlikely(data_race(spin_lock->value.counter) >
		     (int)(EX_SPIN_LOCK_EXCLUSIVE | EX_SPIN_LOCK_EXCLUSIVE_WAITER))) {
		ex_release_spin_lock_not_owned(spin_lock, false);
		return false;
	}
	lock_release(&spin_lock->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key))
		ex_release_spin_lock_exclusive_traced(spin_lock);
	else
		/* Release; pairs with the acquires of all who come next. */
		atomic_sub_return_release(EX_SPIN_LOCK_EXCLUSIVE, &spin_lock->value);
	return true;
}

/**
 * ex_release_spin_lock_shared_from_dpc_level() - NT's
 *	ExReleaseSpinLockSharedFromDpcLevel
 * @spin_lock: a lock that the caller owns shared
 *
 * Context: as the acquiring function. The IRQL is left alone. Without a shared
 * owner: a warning, no change.
 */
static __always_inline void
ex_release_spin_lock_shared_from_dpc_level(struct ex_spin_lock *spin_lock)
{
	__ex_release_spin_lock_shared(spin_lock);
}

/**
 * ex_release_spin_lock_exclusive_from_dpc_level() - NT's
 *	ExReleaseSpinLockExclusiveFromDpcLevel
 * @spin_lock: a lock that the caller owns exclusively
 *
 * Context: as the acquiring function. The IRQL is left alone. Without an
 * exclusive owner: a warning, no change.
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
 * Context: IRQL <= DISPATCH_LEVEL. Raises to DISPATCH_LEVEL. Spins until the
 * lock is owned.
 * Return: the IRQL before.
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
 * Context: IRQL <= DISPATCH_LEVEL. Raises to DISPATCH_LEVEL. Spins until the
 * lock is owned.
 * Return: the IRQL before.
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
 * @spin_lock: a lock that the caller owns shared
 * @old_irql: what the acquiring function returned
 *
 * Context: the IRQL at which the lock is owned. Releases, then lowers the IRQL.
 * Without a shared owner: a warning, no change.
 */
static __always_inline void
ex_release_spin_lock_shared(struct ex_spin_lock *spin_lock, u8 old_irql)
{
	if (likely(__ex_release_spin_lock_shared(spin_lock)))
		ke_lower_irql(old_irql);
}

/**
 * ex_release_spin_lock_exclusive() - NT's ExReleaseSpinLockExclusive
 * @spin_lock: a lock that the caller owns exclusively
 * @old_irql: what the acquiring function returned
 *
 * Context: the IRQL at which the lock is owned. Releases, then lowers the IRQL.
 * Without an exclusive owner: a warning, no change.
 */
static __always_inline void
ex_release_spin_lock_exclusive(struct ex_spin_lock *spin_lock, u8 old_irql)
{
	if (likely(__ex_release_spin_lock_exclusive(spin_lock)))
		ke_lower_irql(old_irql);
}

#endif /* _NTKLOG_EX_SPIN_LOCK_H */
