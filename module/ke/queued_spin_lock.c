// SPDX-License-Identifier: GPL-2.0-only
/*
 * The out-of-line half of NT's in-stack queued spin locks: waiting, handing
 * over, and both with tracing. include/ntklog/queued_spin_lock.h has the
 * uncontended half and says who may write which word.
 */

#include <linux/bug.h>
#include <linux/export.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../address.h"
#include "../perf/spin_lock.h"

static struct kspin_lock *ke_queued_spin_lock(const struct kspin_lock_queue *queue)
{
	return (struct kspin_lock *)(READ_ONCE(queue->lock) & ~LOCK_QUEUE_BITS);
}

/* Join the queue and wait at one's own entry: returns the tests of it, at least 1. */
static u32 ke_spin_for_lock_ownership(struct kspin_lock_queue *queue,
				      struct kspin_lock_queue *tail)
{
	u32 spin_count = 0;

	/* Nobody but us writes our Lock until our address is in tail->next. */
	WRITE_ONCE(queue->lock, queue->lock | LOCK_QUEUE_WAIT);
	/*
	 * Release: WAIT is there before the predecessor clears it. Pairs with
	 * smp_cond_load_acquire() in ke_hand_over_queued_spin_lock().
	 */
	smp_store_release(&tail->next, queue);

	do {
		cpu_relax();
		spin_count++;
	} while (READ_ONCE(queue->lock) & LOCK_QUEUE_WAIT);

	/*
	 * The critical section comes after the test that ended the loop. Pairs
	 * with the smp_store_release() in ke_hand_over_queued_spin_lock().
	 */
	smp_acquire__after_ctrl_dep();
	return spin_count;
}

static noinline void ke_wait_for_lock_ownership_traced(struct kspin_lock_queue *queue,
						       struct kspin_lock_queue *tail)
{
	struct kspin_lock *spin_lock = (struct kspin_lock *)queue->lock;
	struct ntklog_spin_lock_wait_start query;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&query);
	spin_count = ke_spin_for_lock_ownership(queue, tail);
	ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_QUEUED, spin_count, &query);
}

/**
 * ke_wait_for_lock_ownership() - join the queue and wait at its own entry
 * @queue: the caller's entry, already in the lock word
 * @tail: the entry that was in the lock word before
 *
 * Context: IRQL >= DISPATCH_LEVEL. Returns as the owner; the wait has been counted or tracked.
 */
void ke_wait_for_lock_ownership(struct kspin_lock_queue *queue,
				struct kspin_lock_queue *tail)
{
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ke_wait_for_lock_ownership_traced(queue, tail);
	else
		ke_spin_for_lock_ownership(queue, tail);
}
EXPORT_SYMBOL_GPL(ke_wait_for_lock_ownership);

/**
 * ke_hand_over_queued_spin_lock() - let a lock go that somebody waits for
 * @queue: the owner's entry, LOCK_QUEUE_OWNER cleared
 *
 * Context: IRQL >= DISPATCH_LEVEL. Spins while the successor is half-way in:
 * in the lock word, but its address not yet in our Next.
 */
void ke_hand_over_queued_spin_lock(struct kspin_lock_queue *queue)
{
	unsigned long spin_lock = queue->lock;
	struct kspin_lock_queue *next;

	/*
	 * Acquire: the successor's WAIT is stored before we overwrite it.
	 * Pairs with smp_store_release() in ke_spin_for_lock_ownership().
	 */
	next = smp_cond_load_acquire(&queue->next, VAL);
	/*
	 * NT's entry can be used again as it is. Before the hand-over, for
	 * nobody writes our Next any more: its one writer has been read.
	 */
	WRITE_ONCE(queue->next, NULL);
	/*
	 * Clears WAIT and sets OWNER in one store; the successor's entry holds
	 * the address of the same lock. Release: what we did as the owner is
	 * visible to it. Pairs with smp_acquire__after_ctrl_dep() in
	 * ke_spin_for_lock_ownership().
	 */
	smp_store_release(&next->lock, spin_lock | LOCK_QUEUE_OWNER);
}
EXPORT_SYMBOL_GPL(ke_hand_over_queued_spin_lock);

/* As __ke_release_queued_spin_lock(). */
static __always_inline void ke_unlock_queued_spin_lock(struct kspin_lock_queue *queue,
						       struct kspin_lock *spin_lock)
{
	unsigned long word = (unsigned long)queue;

	WRITE_ONCE(queue->lock, (unsigned long)spin_lock);
	if (unlikely(READ_ONCE(queue->next) || !try_cmpxchg_release(&spin_lock->word, &word, 0)))
		ke_hand_over_queued_spin_lock(queue);
}

static notrace noinline void ke_release_sampled_queued_spin_lock(struct kspin_lock_queue *queue,
								 struct kspin_lock *spin_lock,
								 u8 mode, unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	ke_unlock_queued_spin_lock(queue, spin_lock);
	ntklog_track_spin_lock_release_slow(spin_lock, mode, time.low, time.high, caller);
}

/* Somebody waits: whether that is what it is sampled for is told out of line. */
static notrace noinline void ke_release_queued_spin_lock_waited_for(struct kspin_lock_queue *queue,
								    struct kspin_lock *spin_lock,
								    unsigned long caller)
{
	if (READ_ONCE(ntklog_spin_lock_blocker_rate) ||
	    !ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low))
		ke_release_sampled_queued_spin_lock(queue, spin_lock, WMI_SPINLOCK_QUEUED |
						    PERF_SPIN_LOCK_LEAVES_WAITER, caller);
	else
		ke_unlock_queued_spin_lock(queue, spin_lock);
}

/**
 * ke_release_queued_spin_lock_traced() - release, then maybe write an event
 * @queue: the owner's entry
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. The same release as the inline one. The
 * event names the place that this function returns to.
 */
notrace noinline void ke_release_queued_spin_lock_traced(struct kspin_lock_queue *queue,
							 struct kspin_lock *spin_lock)
{
	unsigned long word = (unsigned long)queue;

	/*
	 * This look alone decides: who is still half-way in, or comes after it, is not one that
	 * was left waiting, however the release goes on.
	 */
	if (unlikely(READ_ONCE(queue->next))) {
		ke_release_queued_spin_lock_waited_for(queue, spin_lock, _RET_IP_);
		return;
	}
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low))) {
		ke_release_sampled_queued_spin_lock(queue, spin_lock, WMI_SPINLOCK_QUEUED,
						    _RET_IP_);
		return;
	}
	/* Next has been looked at: who has come since fails the exchange. */
	WRITE_ONCE(queue->lock, (unsigned long)spin_lock);
	if (unlikely(!try_cmpxchg_release(&spin_lock->word, &word, 0)))
		ke_hand_over_queued_spin_lock(queue);
}
EXPORT_SYMBOL_GPL(ke_release_queued_spin_lock_traced);

/**
 * ke_release_queued_spin_lock_not_owned() - a release that must not be
 * @queue: an entry without LOCK_QUEUE_OWNER, or still with LOCK_QUEUE_WAIT
 *
 * Context: any. Warns once with the values; changes nothing.
 */
void ke_release_queued_spin_lock_not_owned(struct kspin_lock_queue *queue)
{
	WARN_ONCE(1, "KeReleaseQueuedSpinLock: %llx does not own lock %llx (bits %lx, Next %llx)\n",
		  ntklog_address((unsigned long)queue),
		  ntklog_address((unsigned long)ke_queued_spin_lock(queue)),
		  READ_ONCE(queue->lock) & LOCK_QUEUE_BITS,
		  ntklog_address((unsigned long)READ_ONCE(queue->next)));
}
EXPORT_SYMBOL_GPL(ke_release_queued_spin_lock_not_owned);
