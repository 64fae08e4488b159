/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SPIN_LOCK_H
#define _NTKLOG_SPIN_LOCK_H

/* What all of NT's spin locks share: the lock word, and whether to trace. */

#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/types.h>

/**
 * struct kspin_lock - NT's KSPIN_LOCK
 * @word: 0 when free. While owned as a queued spin lock, the address of the
 *	struct kspin_lock_queue at the tail of the queue. Written only by
 *	atomic operations: exchanged by whoever acquires, compare-exchanged to
 *	0 by the owner.
 * @dep_map: lockdep's view of the lock; no part of NT's word
 */
struct kspin_lock {
	unsigned long word;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

/* On while spin locks are counted or tracked; flipped by module/perf. */
DECLARE_STATIC_KEY_FALSE(perf_spin_lock_key);

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

#endif /* _NTKLOG_SPIN_LOCK_H */
