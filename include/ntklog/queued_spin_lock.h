/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_QUEUED_SPIN_LOCK_H
#define _NTKLOG_QUEUED_SPIN_LOCK_H

/*
 * NT's in-stack queued spin locks. The lock is acquired in the order of requests, and each waiter
 * spins on its own word. The locks are similar to MCS locks, but the waiter's flag is a bit in the
 * address of the lock, so a queue entry also names its lock.
 *
 * States of an entry, in { Next, Lock }:
 *
 *	{ NULL, lock }			free, before the acquisition and after the release
 *	{ any, lock | WAIT }		waiting; the predecessor will clear WAIT
 *	{ NULL or entry, lock | OWNER }	holding; Next is the successor
 *
 * The lock word is 0 when free, else the address of the last entry.
 *
 * A release spins if a successor is in the lock word but not yet in the holder's Next. The
 * successor may have been interrupted between the two stores. A lock that hard interrupts acquire
 * must therefore, as in NT, be released before locks that are acquired with interrupts on.
 * Otherwise: CPU 0 holds lock A and spins in the release of B until the successor on CPU 1 sets
 * Next; CPU 1 has been interrupted before it sets Next, and its interrupt handler spins on A;
 * deadlock.
 *
 * Writers of each word, and its ordering (Documentation/dev/nt-locks.rst has the proof):
 *
 *	lock word	acquirers (xchg, or cmpxchg from 0 for a try) and the holder (cmpxchg to
 *			0); the operations order themselves
 *	own Next	the CPU itself before the xchg; then the successor, once, with
 *			smp_store_release(); then the CPU itself, when it hands the lock over
 *	own Lock	the CPU itself until its address is in the predecessor's Next; then the
 *			predecessor, once, with smp_store_release(); then the CPU itself
 */

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <ntklog/irql.h>
#include <ntklog/spin_lock.h>

#define LOCK_QUEUE_WAIT		0x01UL
#define LOCK_QUEUE_OWNER	0x02UL
#define LOCK_QUEUE_BITS		(LOCK_QUEUE_WAIT | LOCK_QUEUE_OWNER)

/**
 * struct kspin_lock_queue - NT's KSPIN_LOCK_QUEUE
 * @next: entry of the next waiter; NULL if there is none yet
 * @lock: address of the lock, and LOCK_QUEUE_* bits
 */
struct kspin_lock_queue {
	struct kspin_lock_queue *next;
	unsigned long lock;
};

/**
 * struct klock_queue_handle - NT's KLOCK_QUEUE_HANDLE
 * @lock_queue: entry in the queue of the lock
 * @old_irql: IRQL before the acquisition; written only by the raising functions
 *
 * Declare a handle as __aligned(16), so that its entry does not straddle two cache lines. The type
 * itself is not aligned, because its size must be NT's.
 */
struct klock_queue_handle {
	struct kspin_lock_queue lock_queue;
	u8 old_irql;
};

#ifdef CONFIG_64BIT
static_assert(sizeof(struct kspin_lock_queue) == 0x10);
static_assert(sizeof(struct klock_queue_handle) == 0x18);
static_assert(offsetof(struct klock_queue_handle, old_irql) == 0x10);
#endif

void ke_wait_for_lock_ownership(struct kspin_lock_queue *queue,
				struct kspin_lock_queue *tail);
void ke_hand_over_queued_spin_lock(struct kspin_lock_queue *queue);
void ke_release_queued_spin_lock_traced(struct kspin_lock_queue *queue,
					struct kspin_lock *spin_lock);
void ke_warn_queued_spin_lock_not_owned(struct kspin_lock_queue *queue);

/* Inline, so that an uncontended acquisition calls no function while spin locks are not counted. */
static __always_inline void
__ke_acquire_queued_spin_lock(struct kspin_lock_queue *queue)
{
	struct kspin_lock *spin_lock = (struct kspin_lock *)queue->lock;
	struct kspin_lock_queue *tail;

	spin_acquire(&spin_lock->dep_map, 0, 0, _THIS_IP_);
	/*
	 * Fully ordered. As a release, it publishes Next == NULL to the successor, which gets the
	 * address of this entry from the word. As an acquire, it pairs with try_cmpxchg_release()
	 * of the CPU that freed the lock.
	 */
	tail = (struct kspin_lock_queue *)xchg(&spin_lock->word,
					       (unsigned long)queue);
	if (unlikely(tail)) {
		ke_wait_for_lock_ownership(queue, tail);
		return;
	}
	WRITE_ONCE(queue->lock, (unsigned long)spin_lock | LOCK_QUEUE_OWNER);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
}

/* Release a lock. Returns false after a warning if the entry does not hold the lock. */
static __always_inline bool
__ke_release_queued_spin_lock(struct kspin_lock_queue *queue)
{
	unsigned long spin_lock = queue->lock ^ LOCK_QUEUE_OWNER;
	unsigned long word = (unsigned long)queue;

	if (unlikely(spin_lock & LOCK_QUEUE_BITS)) {
		ke_warn_queued_spin_lock_not_owned(queue);
		return false;
	}
	/* Without lockdep spin_release() expands to nothing, and dep_map does not exist. */
	spin_release(&((struct kspin_lock *)spin_lock)->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key)) {
		ke_release_queued_spin_lock_traced(queue, (struct kspin_lock *)spin_lock);
		return true;
	}

	WRITE_ONCE(queue->lock, spin_lock);
	/*
	 * The release publishes the critical section. Pairs with the xchg() of the next acquirer.
	 * If Next is set, or the exchange fails because a successor exists,
	 * ke_hand_over_queued_spin_lock() passes the lock on.
	 */
	if (unlikely(READ_ONCE(queue->next) ||
		     !try_cmpxchg_release(&((struct kspin_lock *)spin_lock)->word,
					  &word, 0)))
		ke_hand_over_queued_spin_lock(queue);
	return true;
}

/**
 * ke_acquire_in_stack_queued_spin_lock_at_dpc_level() - NT's
 *	KeAcquireInStackQueuedSpinLockAtDpcLevel
 * @spin_lock: the lock
 * @lock_handle: memory for the queue entry; must not be accessed until the lock is released
 *
 * Spins until the lock is acquired. A lock that hard interrupts also acquire must be acquired with
 * interrupts off everywhere else. Does not write @lock_handle->old_irql.
 *
 * Context: IRQL >= DISPATCH_LEVEL, which is not changed; or at least preemption off.
 */
static __always_inline void
ke_acquire_in_stack_queued_spin_lock_at_dpc_level(struct kspin_lock *spin_lock,
						  struct klock_queue_handle *lock_handle)
{
	__ke_assert_dispatch_level();
	lock_handle->lock_queue.next = NULL;
	lock_handle->lock_queue.lock = (unsigned long)spin_lock;
	__ke_acquire_queued_spin_lock(&lock_handle->lock_queue);
}

/**
 * ke_release_in_stack_queued_spin_lock_from_dpc_level() - NT's
 *	KeReleaseInStackQueuedSpinLockFromDpcLevel
 * @lock_handle: handle of the acquisition; may be reused afterwards
 *
 * If the handle holds no lock: warns once and changes nothing.
 *
 * Context: as for ke_acquire_in_stack_queued_spin_lock_at_dpc_level().
 */
static __always_inline void
ke_release_in_stack_queued_spin_lock_from_dpc_level(struct klock_queue_handle *lock_handle)
{
	__ke_release_queued_spin_lock(&lock_handle->lock_queue);
}

/**
 * ke_acquire_in_stack_queued_spin_lock() - NT's KeAcquireInStackQueuedSpinLock
 * @spin_lock: the lock
 * @lock_handle: memory for the queue entry; must not be accessed until the lock is released
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
static __always_inline void
ke_acquire_in_stack_queued_spin_lock(struct kspin_lock *spin_lock,
				     struct klock_queue_handle *lock_handle)
{
	lock_handle->old_irql = ke_raise_irql_to_dpc_level();
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(spin_lock, lock_handle);
}

/**
 * ke_acquire_in_stack_queued_spin_lock_raise_to_synch() - NT's
 *	KeAcquireInStackQueuedSpinLockRaiseToSynch
 * @spin_lock: the lock
 * @lock_handle: memory for the queue entry; must not be accessed until the lock is released
 *
 * SYNCH_LEVEL turns interrupts off.
 *
 * Context: IRQL <= SYNCH_LEVEL, also in hard interrupts.
 */
static __always_inline void
ke_acquire_in_stack_queued_spin_lock_raise_to_synch(struct kspin_lock *spin_lock,
						    struct klock_queue_handle *lock_handle)
{
	lock_handle->old_irql = ke_raise_irql_to_synch_level();
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(spin_lock, lock_handle);
}

/**
 * ke_release_in_stack_queued_spin_lock() - NT's KeReleaseInStackQueuedSpinLock
 * @lock_handle: handle of the acquisition; may be reused afterwards
 *
 * If the handle holds no lock: warns once and changes nothing.
 *
 * Context: the IRQL at which the lock is held.
 */
static __always_inline void
ke_release_in_stack_queued_spin_lock(struct klock_queue_handle *lock_handle)
{
	if (likely(__ke_release_queued_spin_lock(&lock_handle->lock_queue)))
		ke_lower_irql(lock_handle->old_irql);
}

/**
 * ke_acquire_in_stack_queued_spin_lock_for_dpc() - NT's KeAcquireInStackQueuedSpinLockForDpc
 * @spin_lock: the lock
 * @lock_handle: memory for the queue entry; must not be accessed until the lock is released
 *
 * In a softirq without PREEMPT_RT the IRQL is not changed. Otherwise it is raised to
 * DISPATCH_LEVEL.
 *
 * Context: softirq, or task at IRQL <= DISPATCH_LEVEL.
 */
static __always_inline void
ke_acquire_in_stack_queued_spin_lock_for_dpc(struct kspin_lock *spin_lock,
					     struct klock_queue_handle *lock_handle)
{
	if (KE_SOFTIRQS_ARE_RAISED && in_serving_softirq())
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(spin_lock,
								  lock_handle);
	else
		ke_acquire_in_stack_queued_spin_lock(spin_lock, lock_handle);
}

/**
 * ke_release_in_stack_queued_spin_lock_for_dpc() - NT's KeReleaseInStackQueuedSpinLockForDpc
 * @lock_handle: handle that was given to ke_acquire_in_stack_queued_spin_lock_for_dpc()
 *
 * Context: the context of the acquisition.
 */
static __always_inline void
ke_release_in_stack_queued_spin_lock_for_dpc(struct klock_queue_handle *lock_handle)
{
	if (KE_SOFTIRQS_ARE_RAISED && in_serving_softirq())
		ke_release_in_stack_queued_spin_lock_from_dpc_level(lock_handle);
	else
		ke_release_in_stack_queued_spin_lock(lock_handle);
}

/*
 * NT's KSPIN_LOCK_QUEUE_NUMBER: queued spin locks that are identified by a number. Each CPU has a
 * queue entry for each lock, so the caller needs no handle. Each lock may be used for any purpose.
 */
enum kspin_lock_queue_number {
	LOCK_QUEUE_VACB_LOCK = 0x04,
	LOCK_QUEUE_MASTER_LOCK = 0x05,
	LOCK_QUEUE_NON_PAGED_POOL_LOCK = 0x06,
	LOCK_QUEUE_IO_CANCEL_LOCK = 0x07,
	LOCK_QUEUE_WORK_QUEUE_LOCK = 0x08,
	LOCK_QUEUE_IO_VPB_LOCK = 0x09,
	LOCK_QUEUE_IO_DATABASE_LOCK = 0x0A,
	LOCK_QUEUE_IO_COMPLETION_LOCK = 0x0B,
	LOCK_QUEUE_NTFS_STRUCT_LOCK = 0x0C,
	LOCK_QUEUE_AFD_WORK_QUEUE_LOCK = 0x0D,
	LOCK_QUEUE_BCB_LOCK = 0x0E,
	LOCK_QUEUE_MM_NON_PAGED_POOL_LOCK = 0x0F,
	LOCK_QUEUE_MAXIMUM_LOCK = 0x11,
};

/*
 * Entries of a CPU. Only one caller at a time uses an entry, from raising the IRQL until the
 * release has returned. No entry straddles two cache lines.
 */
struct ke_lock_queues {
	struct kspin_lock_queue queue[LOCK_QUEUE_MAXIMUM_LOCK];
};

extern struct ke_lock_queues __percpu *ke_lock_queues;

void ke_warn_no_such_queued_spin_lock(const char *function, unsigned int number);
bool ke_try_to_acquire_queued_spin_lock_entry(struct kspin_lock_queue *queue);

static __always_inline struct kspin_lock_queue *
__ke_lock_queue(unsigned int number)
{
	return &this_cpu_ptr(ke_lock_queues)->queue[number];
}

static __always_inline bool
__ke_lock_queue_number_is_valid(const char *function, unsigned int number)
{
	if (likely(number < LOCK_QUEUE_MAXIMUM_LOCK))
		return true;
	ke_warn_no_such_queued_spin_lock(function, number);
	return false;
}

/**
 * ke_acquire_queued_spin_lock() - NT's KeAcquireQueuedSpinLock
 * @number: number of the lock
 *
 * If no lock has this number: warns once and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: the old IRQL.
 */
static __always_inline u8 ke_acquire_queued_spin_lock(unsigned int number)
{
	u8 old_irql;

	if (!__ke_lock_queue_number_is_valid("KeAcquireQueuedSpinLock", number))
		return ke_get_current_irql();
	old_irql = ke_raise_irql_to_dpc_level();
	__ke_acquire_queued_spin_lock(__ke_lock_queue(number));
	return old_irql;
}

/**
 * ke_acquire_queued_spin_lock_raise_to_synch() - NT's KeAcquireQueuedSpinLockRaiseToSynch
 * @number: number of the lock
 *
 * If no lock has this number: warns once and changes nothing.
 *
 * Context: IRQL <= SYNCH_LEVEL.
 * Return: the old IRQL.
 */
static __always_inline u8
ke_acquire_queued_spin_lock_raise_to_synch(unsigned int number)
{
	u8 old_irql;

	if (!__ke_lock_queue_number_is_valid("KeAcquireQueuedSpinLockRaiseToSynch", number))
		return ke_get_current_irql();
	old_irql = ke_raise_irql_to_synch_level();
	__ke_acquire_queued_spin_lock(__ke_lock_queue(number));
	return old_irql;
}

static __always_inline bool
__ke_try_to_acquire_queued_spin_lock(const char *function, unsigned int number,
				     u8 (*raise)(void), u8 *old_irql)
{
	u8 irql;

	if (!__ke_lock_queue_number_is_valid(function, number))
		return false;
	irql = raise();
	if (!ke_try_to_acquire_queued_spin_lock_entry(__ke_lock_queue(number))) {
		ke_lower_irql(irql);
		return false;
	}
	*old_irql = irql;
	return true;
}

/**
 * ke_try_to_acquire_queued_spin_lock() - NT's KeTryToAcquireQueuedSpinLock
 * @number: number of the lock
 * @old_irql: set to the old IRQL if the lock is acquired
 *
 * If no lock has this number: warns once.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: true if the lock is acquired and the IRQL raised to DISPATCH_LEVEL; false if the lock was
 * held or does not exist, and nothing is changed or counted.
 */
static __always_inline bool
ke_try_to_acquire_queued_spin_lock(unsigned int number, u8 *old_irql)
{
	return __ke_try_to_acquire_queued_spin_lock("KeTryToAcquireQueuedSpinLock", number,
						    ke_raise_irql_to_dpc_level, old_irql);
}

/**
 * ke_try_to_acquire_queued_spin_lock_raise_to_synch() - NT's
 *	KeTryToAcquireQueuedSpinLockRaiseToSynch
 * @number: number of the lock
 * @old_irql: set to the old IRQL if the lock is acquired
 *
 * If no lock has this number: warns once.
 *
 * Context: IRQL <= SYNCH_LEVEL.
 * Return: true if the lock is acquired and the IRQL raised to SYNCH_LEVEL; false if the lock was
 * held or does not exist, and nothing is changed or counted.
 */
static __always_inline bool
ke_try_to_acquire_queued_spin_lock_raise_to_synch(unsigned int number,
						  u8 *old_irql)
{
	return __ke_try_to_acquire_queued_spin_lock("KeTryToAcquireQueuedSpinLockRaiseToSynch",
						    number, ke_raise_irql_to_synch_level,
						    old_irql);
}

/**
 * ke_release_queued_spin_lock() - NT's KeReleaseQueuedSpinLock
 * @number: number of the lock
 * @old_irql: IRQL that the acquiring function returned
 *
 * If no lock has this number, or this CPU does not hold it: warns once and changes nothing.
 *
 * Context: the IRQL at which the lock is held, on the same CPU.
 */
static __always_inline void ke_release_queued_spin_lock(unsigned int number,
							u8 old_irql)
{
	if (__ke_lock_queue_number_is_valid("KeReleaseQueuedSpinLock", number) &&
	    likely(__ke_release_queued_spin_lock(__ke_lock_queue(number))))
		ke_lower_irql(old_irql);
}

#endif /* _NTKLOG_QUEUED_SPIN_LOCK_H */
