/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SPIN_LOCK_H
#define _NTKLOG_SPIN_LOCK_H

/*
 * NT's ordinary spin locks. The lock is one word, which is 1 while held. Waiters read the word
 * until it is 0 and then try to set it; they acquire the lock in no particular order. A queued spin
 * lock (queued_spin_lock.h) is the same word with another meaning.
 */

#include <linux/bitops.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/prefetch.h>
#include <linux/types.h>
#include <ntklog/irql.h>

/**
 * struct kspin_lock - NT's KSPIN_LOCK
 * @word: 0 if free. Held as an ordinary spin lock: 1; acquirers set bit 0 atomically, the holder
 *	stores 0. Held as a queued spin lock: address of the struct kspin_lock_queue at the tail of
 *	the queue; acquirers exchange it, a try compare-exchanges it from 0, and the holder
 *	compare-exchanges it to 0
 * @dep_map: lockdep map; not part of NT's word
 */
struct kspin_lock {
	unsigned long word;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/*
 * Enabled while acquisitions are counted (ntklog_spin_lock_key) and while holds are tracked
 * (ntklog_spin_lock_tracking_key).
 */
DECLARE_STATIC_KEY_FALSE(ntklog_spin_lock_key);
DECLARE_STATIC_KEY_FALSE(ntklog_spin_lock_tracking_key);

/**
 * ke_initialize_spin_lock_class() - initialise a spin lock with a given lockdep class
 * @spin_lock: the lock
 * @name: name of the class
 * @key: the class; a static object
 *
 * For locks that are initialised by the same line of code and nest in each other, such as the
 * elements of an array. ke_initialize_spin_lock() is for all other locks.
 *
 * Context: any.
 */
static inline void ke_initialize_spin_lock_class(struct kspin_lock *spin_lock,
						 const char *name,
						 struct lock_class_key *key)
{
	spin_lock->word = 0;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	lockdep_init_map_wait(&spin_lock->dep_map, name, key, 0, LD_WAIT_SPIN);
#endif
}

/**
 * ke_initialize_spin_lock() - NT's KeInitializeSpinLock
 * @spin_lock: the lock, which is free afterwards
 *
 * Each use of this macro is a lockdep class of its own.
 *
 * Context: any.
 */
#define ke_initialize_spin_lock(spin_lock)				\
do {									\
	static struct lock_class_key __key;				\
									\
	ke_initialize_spin_lock_class((spin_lock), #spin_lock, &__key);	\
} while (0)

void ntklog_log_spin_lock_acquire(const void *lock);
void ke_wait_for_spin_lock(struct kspin_lock *spin_lock);
void ke_release_spin_lock_traced(struct kspin_lock *spin_lock);
void ke_warn_spin_lock_not_owned(struct kspin_lock *spin_lock);

/**
 * ke_test_spin_lock() - NT's KeTestSpinLock
 * @spin_lock: the lock
 *
 * Context: any. The answer may be stale when it is returned.
 * Return: true if the lock is free.
 */
static inline bool ke_test_spin_lock(const struct kspin_lock *spin_lock)
{
	return !READ_ONCE(spin_lock->word);
}

/**
 * ke_acquire_spin_lock_at_dpc_level() - NT's KeAcquireSpinLockAtDpcLevel
 * @spin_lock: the lock
 *
 * Spins until the lock is acquired. A lock that hard interrupts also acquire must be acquired with
 * interrupts off everywhere else.
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 */
static __always_inline void
ke_acquire_spin_lock_at_dpc_level(struct kspin_lock *spin_lock)
{
	__ke_assert_dispatch_level();
	spin_acquire(&spin_lock->dep_map, 0, 0, _THIS_IP_);
	/* Pairs with smp_store_release() in __ke_release_spin_lock(). */
	if (unlikely(test_and_set_bit_lock(0, &spin_lock->word)))
		ke_wait_for_spin_lock(spin_lock);
	else if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
}

/**
 * ke_try_to_acquire_spin_lock_at_dpc_level() - NT's KeTryToAcquireSpinLockAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 * Return: true if the caller holds the lock now; false if the lock was held already.
 */
static __always_inline bool
ke_try_to_acquire_spin_lock_at_dpc_level(struct kspin_lock *spin_lock)
{
	__ke_assert_dispatch_level();
	if (!ke_test_spin_lock(spin_lock) || test_and_set_bit_lock(0, &spin_lock->word))
		return false;
	spin_acquire(&spin_lock->dep_map, 0, 1, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
	return true;
}

/*
 * Prefetch the cache line of a word that is about to be written. Not prefetchw(): in 6.1 its
 * alternative is not relocated if the operand is relative to the instruction pointer, as that of a
 * static lock is. Requires a CPU that has PREFETCHW or ignores it.
 */
static __always_inline void __ke_prefetch_to_write(const void *word)
{
#ifdef CONFIG_X86_64
	asm volatile("prefetchw %0" : : "m" (*(const char *)word));
#else
	prefetchw(word);
#endif
}

/* Release a lock. Returns false after a warning if the lock is not held. */
static __always_inline bool __ke_release_spin_lock(struct kspin_lock *spin_lock)
{
	/* Waiters' reads may have made the cache line shared, and the test would do that, too. */
	__ke_prefetch_to_write(&spin_lock->word);
	/*
	 * The word of a held lock does not change: waiters only set bit 0, which is set already. A
	 * plain read lets the compiler compare the word in memory.
	 */
	if (unlikely(data_race(spin_lock->word) != 1)) {
		ke_warn_spin_lock_not_owned(spin_lock);
		return false;
	}
	spin_release(&spin_lock->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key))
		ke_release_spin_lock_traced(spin_lock);
	else
		/* Pairs with test_and_set_bit_lock() of the next holder. */
		smp_store_release(&spin_lock->word, 0);
	return true;
}

/**
 * ke_release_spin_lock_from_dpc_level() - NT's KeReleaseSpinLockFromDpcLevel
 * @spin_lock: a lock that the caller holds
 *
 * If the lock is not held as an ordinary spin lock: warns once and changes nothing.
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed.
 */
static __always_inline void
ke_release_spin_lock_from_dpc_level(struct kspin_lock *spin_lock)
{
	__ke_release_spin_lock(spin_lock);
}

/**
 * ke_acquire_spin_lock_raise_to_dpc() - NT's KeAcquireSpinLockRaiseToDpc
 * @spin_lock: the lock
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: the old IRQL.
 */
static __always_inline u8
ke_acquire_spin_lock_raise_to_dpc(struct kspin_lock *spin_lock)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ke_acquire_spin_lock_at_dpc_level(spin_lock);
	return old_irql;
}

/**
 * ke_acquire_spin_lock() - NT's KeAcquireSpinLock
 * @spin_lock: the lock
 * @old_irql: set to the old IRQL
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
static __always_inline void ke_acquire_spin_lock(struct kspin_lock *spin_lock,
						 u8 *old_irql)
{
	*old_irql = ke_acquire_spin_lock_raise_to_dpc(spin_lock);
}

/**
 * ke_acquire_spin_lock_raise_to_synch() - NT's KeAcquireSpinLockRaiseToSynch
 * @spin_lock: the lock
 *
 * SYNCH_LEVEL turns interrupts off.
 *
 * Context: IRQL <= SYNCH_LEVEL, also in hard interrupts.
 * Return: the old IRQL.
 */
static __always_inline u8
ke_acquire_spin_lock_raise_to_synch(struct kspin_lock *spin_lock)
{
	u8 old_irql = ke_raise_irql_to_synch_level();

	ke_acquire_spin_lock_at_dpc_level(spin_lock);
	return old_irql;
}

/**
 * ke_release_spin_lock() - NT's KeReleaseSpinLock
 * @spin_lock: a lock that the caller holds
 * @old_irql: IRQL that the acquiring function returned
 *
 * If the lock is not held as an ordinary spin lock: warns once and changes nothing.
 *
 * Context: the IRQL at which the lock is held.
 */
static __always_inline void ke_release_spin_lock(struct kspin_lock *spin_lock,
						 u8 old_irql)
{
	if (likely(__ke_release_spin_lock(spin_lock)))
		ke_lower_irql(old_irql);
}

#endif /* _NTKLOG_SPIN_LOCK_H */
