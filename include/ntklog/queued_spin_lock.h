/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_QUEUED_SPIN_LOCK_H
#define _NTKLOG_QUEUED_SPIN_LOCK_H

/*
 * NT's in-stack queued spin locks: ownership passes in the order of asking, and
 * each waiter spins on its own word. A cousin of the MCS lock (Mellor-Crummey
 * and Scott, 1991); NT's differs in that the waiter's flag is a bit in the
 * address of the lock, so that the queue entry also tells which lock it is for.
 *
 * States of an entry, as a debugger sees them in { Next, Lock }:
 *
 *	{ NULL, lock }			free, before and after
 *	{ any, lock | WAIT }		waiting; the predecessor will clear WAIT
 *	{ NULL or entry, lock | OWNER }	owning; Next is who comes after
 *
 * and of the lock word: 0 when free, else the address of the last entry.
 *
 * A release waits for a successor that is half-way in: in the lock word, its
 * address not yet in our Next. That one may have been interrupted just there.
 * So, as in NT, whoever owns a lock that hard interrupts use releases it before
 * locks that are acquired with interrupts on; else the interrupt waits for the
 * owner, and the owner for what was interrupted.
 *
 * Who writes what, and what orders it (Documentation/design.rst argues it):
 *
 *	lock word	acquirers (xchg) and the owner (cmpxchg); fully ordered
 *			by themselves, release and acquire is what is needed
 *	own Next	self before the xchg and after the release; in between
 *			the successor, once, with smp_store_release()
 *	own Lock	self, until its address is in the predecessor's Next;
 *			then the predecessor, once, with smp_store_release();
 *			then self
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
 * @next: the entry that is handed ownership on release, NULL if none yet
 * @lock: address of the lock and LOCK_QUEUE_* bits
 */
struct kspin_lock_queue {
	struct kspin_lock_queue *next;
	unsigned long lock;
};

/**
 * struct klock_queue_handle - NT's KLOCK_QUEUE_HANDLE
 * @lock_queue: the entry in the queue of the lock
 * @old_irql: IRQL to return to; written only by the raising functions
 *
 * Where an entry lies across two cache lines, both are fetched for a hand-over.
 * gcc aligns a handle that is a variable by itself; clang does not, and nobody
 * one that is a member: declare that as __aligned(16). The type is not, for then
 * its size, and that of what contains one, would not be NT's.
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
void ke_release_queued_spin_lock_not_owned(struct kspin_lock_queue *queue);

/*
 * The two halves of the lock, for an entry that names it. Inline, so that with
 * tracing off neither calls anything when nobody contends.
 */
static __always_inline void
__ke_acquire_queued_spin_lock(struct kspin_lock_queue *queue)
{
	struct kspin_lock *spin_lock = (struct kspin_lock *)queue->lock;
	struct kspin_lock_queue *tail;

	spin_acquire(&spin_lock->dep_map, 0, 0, _THIS_IP_);
	/*
	 * Fully ordered. As release, it lets a successor that gets our address
	 * from the word see our Next as NULL. As acquire, it pairs with the
	 * try_cmpxchg_release() of the owner that freed the lock.
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

/* Whether the entry owned the lock, as it must. */
static __always_inline bool
__ke_release_queued_spin_lock(struct kspin_lock_queue *queue)
{
	unsigned long spin_lock = queue->lock ^ LOCK_QUEUE_OWNER;
	unsigned long word = (unsigned long)queue;

	if (unlikely(spin_lock & LOCK_QUEUE_BITS)) {
		ke_release_queued_spin_lock_not_owned(queue);
		return false;
	}
	/* Without lockdep this, and the map, are not there. */
	spin_release(&((struct kspin_lock *)spin_lock)->dep_map, _THIS_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_tracking_key)) {
		ke_release_queued_spin_lock_traced(queue, (struct kspin_lock *)spin_lock);
		return true;
	}

	WRITE_ONCE(queue->lock, spin_lock);
	/*
	 * Release: what the owner did is visible to whoever finds the word 0
	 * by the xchg() of an acquire. If it fails, or Next is set already,
	 * the successor is told in ke_hand_over_queued_spin_lock().
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
 * @lock_handle: the caller's, to be left alone until it has been released
 *
 * Context: IRQL >= DISPATCH_LEVEL, or at least preemption off. A lock that hard
 * interrupts use too is acquired with interrupts off everywhere else. The IRQL
 * and @lock_handle->old_irql are not touched. Spins until the lock is owned.
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
 * @lock_handle: as given to the function that acquired
 *
 * Context: as the acquiring function. The IRQL is not touched. @lock_handle may
 * be used again at once. A handle that owns nothing: a warning, no change.
 */
static __always_inline void
ke_release_in_stack_queued_spin_lock_from_dpc_level(struct klock_queue_handle *lock_handle)
{
	__ke_release_queued_spin_lock(&lock_handle->lock_queue);
}

/**
 * ke_acquire_in_stack_queued_spin_lock() - NT's KeAcquireInStackQueuedSpinLock
 * @spin_lock: the lock
 * @lock_handle: the caller's, to be left alone until it has been released
 *
 * Context: IRQL <= DISPATCH_LEVEL. Raises to DISPATCH_LEVEL and keeps the IRQL
 * before in @lock_handle->old_irql. Spins until the lock is owned.
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
 * @lock_handle: the caller's, to be left alone until it has been released
 *
 * Context: IRQL <= SYNCH_LEVEL, hard interrupts included. Raises to SYNCH_LEVEL
 * (interrupts off) and keeps the IRQL before in @lock_handle->old_irql.
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
 * @lock_handle: as given to the function that acquired
 *
 * Context: the IRQL at which the lock is owned. Releases, then lowers the IRQL
 * to @lock_handle->old_irql. @lock_handle may be used again at once. A handle
 * that owns nothing: a warning, no change.
 */
static __always_inline void
ke_release_in_stack_queued_spin_lock(struct klock_queue_handle *lock_handle)
{
	if (likely(__ke_release_queued_spin_lock(&lock_handle->lock_queue)))
		ke_lower_irql(lock_handle->old_irql);
}

/**
 * ke_acquire_in_stack_queued_spin_lock_for_dpc() - NT's
 *	KeAcquireInStackQueuedSpinLockForDpc
 * @spin_lock: the lock
 * @lock_handle: the caller's, to be left alone until it has been released
 *
 * Context: softirq, where it leaves the IRQL alone, or thread at IRQL <=
 * DISPATCH_LEVEL, where it raises: for code that may run as a threaded DPC. With
 * PREEMPT_RT all of them are such.
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
 * ke_release_in_stack_queued_spin_lock_for_dpc() - NT's
 *	KeReleaseInStackQueuedSpinLockForDpc
 * @lock_handle: as given to ke_acquire_in_stack_queued_spin_lock_for_dpc()
 *
 * Context: that of the acquisition.
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
 * NT's KSPIN_LOCK_QUEUE_NUMBER: the queued spin locks that have a number, and an
 * entry on each processor, so that no handle is needed. NT uses those with names
 * for what they say; the others are spare. Here all are for whoever wants them.
 * The last is how many there are, not a lock.
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
 * Each processor's own entries. One is used from raising the IRQL until the
 * release has returned, so by one at a time. None lies across two lines, which
 * would be fetched both for each hand-over.
 */
struct ke_lock_queues {
	struct kspin_lock_queue queue[LOCK_QUEUE_MAXIMUM_LOCK];
};

DECLARE_PER_CPU_ALIGNED(struct ke_lock_queues, ke_lock_queues);

void ke_queued_spin_lock_bad_number(unsigned int number);
bool ke_try_to_acquire_queued_spin_lock_entry(struct kspin_lock_queue *queue);

static __always_inline struct kspin_lock_queue *
__ke_lock_queue(unsigned int number)
{
	return &this_cpu_ptr(&ke_lock_queues)->queue[number];
}

static __always_inline bool __ke_lock_queue_number_ok(unsigned int number)
{
	if (likely(number < LOCK_QUEUE_MAXIMUM_LOCK))
		return true;
	ke_queued_spin_lock_bad_number(number);
	return false;
}

/**
 * ke_acquire_queued_spin_lock() - NT's KeAcquireQueuedSpinLock
 * @number: which lock
 *
 * Context: IRQL <= DISPATCH_LEVEL. Raises to DISPATCH_LEVEL. Spins until the
 * lock is owned.
 * Return: the IRQL before. A @number that is none: a warning, nothing acquired
 * or raised, the present IRQL.
 */
static __always_inline u8 ke_acquire_queued_spin_lock(unsigned int number)
{
	u8 old_irql;

	if (!__ke_lock_queue_number_ok(number))
		return ke_get_current_irql();
	old_irql = ke_raise_irql_to_dpc_level();
	__ke_acquire_queued_spin_lock(__ke_lock_queue(number));
	return old_irql;
}

/**
 * ke_acquire_queued_spin_lock_raise_to_synch() - NT's
 *	KeAcquireQueuedSpinLockRaiseToSynch
 * @number: which lock
 *
 * Context: IRQL <= SYNCH_LEVEL. Raises to SYNCH_LEVEL. Spins until the lock is
 * owned.
 * Return: as ke_acquire_queued_spin_lock().
 */
static __always_inline u8
ke_acquire_queued_spin_lock_raise_to_synch(unsigned int number)
{
	u8 old_irql;

	if (!__ke_lock_queue_number_ok(number))
		return ke_get_current_irql();
	old_irql = ke_raise_irql_to_synch_level();
	__ke_acquire_queued_spin_lock(__ke_lock_queue(number));
	return old_irql;
}

static __always_inline bool
__ke_try_to_acquire_queued_spin_lock(unsigned int number, u8 (*raise)(void),
				     u8 *old_irql)
{
	u8 irql;

	if (!__ke_lock_queue_number_ok(number))
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
 * @number: which lock
 * @old_irql: where the IRQL before is stored, if the lock is owned
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: true if the lock is owned and the IRQL raised to DISPATCH_LEVEL;
 * false, and nothing changed or counted, if somebody else owns it or, after a
 * warning, if @number is none.
 */
static __always_inline bool
ke_try_to_acquire_queued_spin_lock(unsigned int number, u8 *old_irql)
{
	return __ke_try_to_acquire_queued_spin_lock(number, ke_raise_irql_to_dpc_level,
						    old_irql);
}

/**
 * ke_try_to_acquire_queued_spin_lock_raise_to_synch() - NT's
 *	KeTryToAcquireQueuedSpinLockRaiseToSynch
 * @number: which lock
 * @old_irql: where the IRQL before is stored, if the lock is owned
 *
 * Context: IRQL <= SYNCH_LEVEL.
 * Return: as ke_try_to_acquire_queued_spin_lock(), with SYNCH_LEVEL.
 */
static __always_inline bool
ke_try_to_acquire_queued_spin_lock_raise_to_synch(unsigned int number,
						  u8 *old_irql)
{
	return __ke_try_to_acquire_queued_spin_lock(number, ke_raise_irql_to_synch_level,
						    old_irql);
}

/**
 * ke_release_queued_spin_lock() - NT's KeReleaseQueuedSpinLock
 * @number: which lock
 * @old_irql: what the acquiring function returned
 *
 * Context: the IRQL at which the lock is owned, the same processor. Releases,
 * then lowers the IRQL. A @number that is none, or a lock that the processor
 * does not own: a warning, no change.
 */
static __always_inline void ke_release_queued_spin_lock(unsigned int number,
							u8 old_irql)
{
	if (__ke_lock_queue_number_ok(number) &&
	    likely(__ke_release_queued_spin_lock(__ke_lock_queue(number))))
		ke_lower_irql(old_irql);
}

#endif /* _NTKLOG_QUEUED_SPIN_LOCK_H */
