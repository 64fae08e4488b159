// SPDX-License-Identifier: GPL-2.0-only
/* Slow paths of NT's queued spin locks. <ntklog/queued_spin_lock.h> says who writes which word. */

#include <linux/bug.h>
#include <linux/export.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../ground/address.h"
#include "../perf/spin_lock.h"

static struct kspin_lock *ke_get_queued_spin_lock(const struct kspin_lock_queue *queue)
{
	return (struct kspin_lock *)(READ_ONCE(queue->lock) & ~LOCK_QUEUE_BITS);
}

/* Returns how often the word was tested. */
static u32 ke_spin_for_lock_ownership(struct kspin_lock_queue *queue,
				      struct kspin_lock_queue *tail)
{
	u32 spin_count = 0;

	/* Until tail->next is set, only this CPU writes queue->lock. */
	WRITE_ONCE(queue->lock, queue->lock | LOCK_QUEUE_WAIT);
	/*
	 * Store WAIT before the predecessor can clear it. Pairs with smp_cond_load_acquire() in
	 * ke_hand_over_queued_spin_lock().
	 */
	smp_store_release(&tail->next, queue);

	do {
		cpu_relax();
		spin_count++;
	} while (READ_ONCE(queue->lock) & LOCK_QUEUE_WAIT);

	/* Pairs with smp_store_release() in ke_hand_over_queued_spin_lock(). */
	smp_acquire__after_ctrl_dep();
	return spin_count;
}

static noinline void ke_wait_for_lock_ownership_traced(struct kspin_lock_queue *queue,
						       struct kspin_lock_queue *tail)
{
	struct kspin_lock *spin_lock = (struct kspin_lock *)queue->lock;
	struct ntklog_spin_lock_wait_start wait_start;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&wait_start);
	spin_count = ke_spin_for_lock_ownership(queue, tail);
	ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_QUEUED, spin_count, &wait_start);
}

/**
 * ke_wait_for_lock_ownership() - join the queue and wait for the lock
 * @queue: the caller's entry, already in the lock word
 * @tail: the entry that was in the lock word before
 *
 * Context: IRQL >= DISPATCH_LEVEL.
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
 * ke_hand_over_queued_spin_lock() - pass a lock to the next waiter
 * @queue: the holder's entry, LOCK_QUEUE_OWNER cleared
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
void ke_hand_over_queued_spin_lock(struct kspin_lock_queue *queue)
{
	unsigned long spin_lock = queue->lock;
	struct kspin_lock_queue *next;

	/*
	 * Order the successor's store of WAIT before the store that clears it. Pairs with
	 * smp_store_release() in ke_spin_for_lock_ownership().
	 */
	next = smp_cond_load_acquire(&queue->next, VAL);
	/* Lets the caller reuse the entry. The successor has written the member already. */
	WRITE_ONCE(queue->next, NULL);
	/*
	 * One store clears WAIT and sets OWNER. Pairs with smp_acquire__after_ctrl_dep() in
	 * ke_spin_for_lock_ownership().
	 */
	smp_store_release(&next->lock, spin_lock | LOCK_QUEUE_OWNER);
}
EXPORT_SYMBOL_GPL(ke_hand_over_queued_spin_lock);

static __always_inline void ke_unlock_queued_spin_lock(struct kspin_lock_queue *queue,
						       struct kspin_lock *spin_lock)
{
	unsigned long word = (unsigned long)queue;

	WRITE_ONCE(queue->lock, (unsigned long)spin_lock);
	if (unlikely(READ_ONCE(queue->next) || !try_cmpxchg_release(&spin_lock->word, &word, 0)))
		ke_hand_over_queued_spin_lock(queue);
}

static notrace noinline void ke_release_queued_spin_lock_traced_slow(struct kspin_lock_queue *queue,
								     struct kspin_lock *spin_lock,
								     u8 mode, unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	ke_unlock_queued_spin_lock(queue, spin_lock);
	ntklog_track_spin_lock_release_slow(spin_lock, mode, time.low, time.high, caller);
}

/* The slow path decides whether the release is one of the blockers that are written. */
static notrace noinline void ke_release_contended_queued_spin_lock(struct kspin_lock_queue *queue,
								   struct kspin_lock *spin_lock,
								   unsigned long caller)
{
	if (READ_ONCE(ntklog_spin_lock_blocker_rate) ||
	    !ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low))
		ke_release_queued_spin_lock_traced_slow(queue, spin_lock, WMI_SPINLOCK_QUEUED |
							PERF_SPIN_LOCK_LEAVES_WAITER, caller);
	else
		ke_unlock_queued_spin_lock(queue, spin_lock);
}

/**
 * ke_release_queued_spin_lock_traced() - release a lock while tracking is on
 * @queue: the holder's entry
 * @spin_lock: the lock
 *
 * The event's caller is the return address of this function.
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
notrace noinline void ke_release_queued_spin_lock_traced(struct kspin_lock_queue *queue,
							 struct kspin_lock *spin_lock)
{
	unsigned long word = (unsigned long)queue;

	/* A waiter that has not yet set queue->next does not count. */
	if (unlikely(READ_ONCE(queue->next))) {
		ke_release_contended_queued_spin_lock(queue, spin_lock, _RET_IP_);
		return;
	}
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low))) {
		ke_release_queued_spin_lock_traced_slow(queue, spin_lock, WMI_SPINLOCK_QUEUED,
							_RET_IP_);
		return;
	}
	/* queue->next was NULL. If a waiter has joined the queue since, the exchange fails. */
	WRITE_ONCE(queue->lock, (unsigned long)spin_lock);
	if (unlikely(!try_cmpxchg_release(&spin_lock->word, &word, 0)))
		ke_hand_over_queued_spin_lock(queue);
}
EXPORT_SYMBOL_GPL(ke_release_queued_spin_lock_traced);

/**
 * ke_warn_queued_spin_lock_not_owned() - warn once about a release of a lock that is not held
 * @queue: entry without LOCK_QUEUE_OWNER, or with LOCK_QUEUE_WAIT
 *
 * Context: any.
 */
void ke_warn_queued_spin_lock_not_owned(struct kspin_lock_queue *queue)
{
	WARN_ONCE(1, "KeReleaseQueuedSpinLock: %llx does not own lock %llx (bits %lx, Next %llx)\n",
		  ntklog_get_displayed_address((unsigned long)queue),
		  ntklog_get_displayed_address((unsigned long)ke_get_queued_spin_lock(queue)),
		  READ_ONCE(queue->lock) & LOCK_QUEUE_BITS,
		  ntklog_get_displayed_address((unsigned long)READ_ONCE(queue->next)));
}
EXPORT_SYMBOL_GPL(ke_warn_queued_spin_lock_not_owned);
