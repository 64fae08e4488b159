/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SPIN_LOCK_H
#define _NTKLOG_SPIN_LOCK_H

/*
 * NT's ordinary spin locks: one word, 1 while owned. Waiters read it until it is
 * free and then try again, in no order. Queued spin locks use the same word.
 */

#include <linux/bitops.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/prefetch.h>
#include <linux/types.h>
#include <ntklog/irql.h>

/**
 * struct kspin_lock - NT's KSPIN_LOCK
 * @word: 0 when free. While owned as an ordinary spin lock, 1: bit 0 is set
 *	atomically by whoever acquires, the word cleared by the owner. While
 *	owned as a queued spin lock, the address of the struct kspin_lock_queue
 *	at the tail of the queue: exchanged by whoever acquires,
 *	compare-exchanged to 0 by the owner.
 * @dep_map: lockdep's view of the lock; no part of NT's word
 */
struct kspin_lock {
	unsigned long word;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/*
 * On while spin locks are counted or tracked, and while they are tracked; flipped by
 * module/perf. Acquisitions are counted, releases are not: they look at the second.
 */
DECLARE_STATIC_KEY_FALSE(ntklog_spin_lock_key);
DECLARE_STATIC_KEY_FALSE(ntklog_spin_lock_tracking_key);

/**
 * ke_initialize_spin_lock_class() - KeInitializeSpinLock with a class of choice
 * @spin_lock: the lock, whatever it held before
 * @name: name of the class, for lockdep
 * @key: the class; a static object
 *
 * For locks that are made in one place and nest in each other, as those of an
 * array do. Everybody else uses ke_initialize_spin_lock().
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
 * @spin_lock: the lock, whatever it held before; freed of any owner
 *
 * Context: any. Lockdep gets a class for each place that calls this.
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
void ke_release_spin_lock_not_owned(struct kspin_lock *spin_lock);

/**
 * ke_test_spin_lock() - NT's KeTestSpinLock
 * @spin_lock: the lock
 *
 * Context: any.
 * Return: whether it is free at this moment.
 */
static inline bool ke_test_spin_lock(const struct kspin_lock *spin_lock)
{
	return !READ_ONCE(spin_lock->word);
}

/**
 * ke_acquire_spin_lock_at_dpc_level() - NT's KeAcquireSpinLockAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is left alone. A lock that hard
 * interrupts use too is acquired with interrupts off everywhere else. Spins
 * until the lock is owned.
 */
static __always_inline void
ke_acquire_spin_lock_at_dpc_level(struct kspin_lock *spin_lock)
{
	__ke_assert_dispatch_level();
	spin_acquire(&spin_lock->dep_map, 0, 0, _THIS_IP_);
	/* Acquire; pairs with smp_store_release() of the release. */
	if (unlikely(test_and_set_bit_lock(0, &spin_lock->word)))
		ke_wait_for_spin_lock(spin_lock);
	else if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
}

/**
 * ke_try_to_acquire_spin_lock_at_dpc_level() - NT's
 *	KeTryToAcquireSpinLockAtDpcLevel
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is left alone.
 * Return: true if the lock is owned now; false at once, and nothing changed, if
 * somebody else owns it.
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
 * The line of a word that is about to be written. Not prefetchw(): that is an alternative,
 * whose operand 6.1 does not relocate where it is relative to the instruction, as a static
 * lock's is.
 * Windows too, since 8.1, asks for a processor that knows the instruction or ignores it.
 */
static __always_inline void __ke_prefetch_to_write(const void *word)
{
#ifdef CONFIG_X86_64
	asm volatile("prefetchw %0" : : "m" (*(const char *)word));
#else
	prefetchw(word);
#endif
}

/* Whether the lock was owned, as it must be. */
static __always_inline bool __ke_release_spin_lock(struct kspin_lock *spin_lock)
{
	/*
	 * A waiter's reading has made the line shared. To check first and then to
	 * store would be to fetch it twice.
	 */
	__ke_prefetch_to_write(&spin_lock->word);
	/*
	 * Of an owner's word nobody changes the value: waiters set the bit that is
	 * set. Who is not the owner gets some value that the word has had. A plain
	 * read can be compared where it is, which makes up for the prefetch.
	 */
	if (unlikely(data_race(spin_lock->word) != 1)) {
		ke_release_spin_lock_not_owned(spin_lock);
		return false;
	}
	spin_release(&spin_lock->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key))
		ke_release_spin_lock_traced(spin_lock);
	else
		/* Pairs with test_and_set_bit_lock() of whoever is next. */
		smp_store_release(&spin_lock->word, 0);
	return true;
}

/**
 * ke_release_spin_lock_from_dpc_level() - NT's KeReleaseSpinLockFromDpcLevel
 * @spin_lock: a lock that the caller owns
 *
 * Context: as the acquiring function. The IRQL is left alone. A lock that is not
 * owned as an ordinary one: a warning, no change.
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
 * Context: IRQL <= DISPATCH_LEVEL. Raises to DISPATCH_LEVEL. Spins until the
 * lock is owned.
 * Return: the IRQL before.
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
 * @old_irql: where the IRQL before is stored
 *
 * Context: as ke_acquire_spin_lock_raise_to_dpc().
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
 * Context: IRQL <= SYNCH_LEVEL, hard interrupts included. Raises to SYNCH_LEVEL
 * (interrupts off). Spins until the lock is owned.
 * Return: the IRQL before.
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
 * @spin_lock: a lock that the caller owns
 * @old_irql: what the acquiring function returned
 *
 * Context: the IRQL at which the lock is owned. Releases, then lowers the IRQL.
 * A lock that is not owned as an ordinary one: a warning, no change.
 */
static __always_inline void ke_release_spin_lock(struct kspin_lock *spin_lock,
						 u8 old_irql)
{
	if (likely(__ke_release_spin_lock(spin_lock)))
		ke_lower_irql(old_irql);
}

#endif /* _NTKLOG_SPIN_LOCK_H */
