// SPDX-License-Identifier: GPL-2.0-only
/* As kernel/locking/qspinlock.c without paravirtualization. Each CPU has one entry in the queue. */

#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "contestant.h"

/* Number of reads in which the pending waiter may become the owner. */
#define PENDING_LOOPS		512

struct mcs_spinlock {
	struct mcs_spinlock *next;
	u32 locked;
};

static DEFINE_PER_CPU_ALIGNED(struct mcs_spinlock, queue_entry);

/* Returns the word as it was before. As in Linux, the tail is read after the operation. */
static __always_inline u32 fetch_set_pending(struct qspinlock *lock)
{
	bool was_set;

	asm volatile("lock; btsl %2, %1" : "=@ccc" (was_set), "+m" (lock->val.counter)
		     : "I" (_Q_PENDING_OFFSET) : "memory");
	return (atomic_read(&lock->val) & ~_Q_PENDING_MASK) | (was_set ? _Q_PENDING_VAL : 0);
}

static __always_inline void wait_in_queue(struct qspinlock *lock)
{
	struct mcs_spinlock *entry = this_cpu_ptr(&queue_entry), *next = NULL;
	u16 tail = smp_processor_id() + 1, before;
	int val;

	barrier();
	entry->locked = 0;
	entry->next = NULL;
	if (queued_spin_trylock(lock))
		return;
	barrier();
	before = xchg(&lock->tail, tail);
	if (before) {
		WRITE_ONCE(per_cpu_ptr(&queue_entry, before - 1)->next, entry);
		smp_cond_load_acquire(&entry->locked, VAL);
		next = READ_ONCE(entry->next);
		if (next)
			prefetchw(next);
	}
	/* This entry is the first: wait until there is neither an owner nor a pending waiter. */
	val = smp_cond_load_acquire(&lock->val.counter, !(VAL & _Q_LOCKED_PENDING_MASK));
	if ((u32)val >> _Q_TAIL_OFFSET == tail &&
	    atomic_try_cmpxchg_acquire(&lock->val, &val, _Q_LOCKED_VAL))
		return;
	WRITE_ONCE(lock->locked, _Q_LOCKED_VAL);
	if (!next)
		next = smp_cond_load_acquire(&entry->next, VAL);
	/* Make @next the first waiter. Pairs with smp_cond_load_acquire() of @next's CPU above. */
	smp_store_release(&next->locked, 1);
}

/**
 * queued_spin_lock_slowpath() - wait for a queued spin lock and acquire it
 * @lock: the lock
 * @val: the word, as the fast path has found it
 *
 * Context: preemption off, as an entry of the queue belongs to a CPU.
 */
noinline void queued_spin_lock_slowpath(struct qspinlock *lock, u32 val)
{
	int loops = PENDING_LOOPS;

	while (val == _Q_PENDING_VAL && loops--) {
		cpu_relax();
		val = atomic_read(&lock->val);
	}
	if (!(val & ~_Q_LOCKED_MASK)) {
		val = fetch_set_pending(lock);
		if (!(val & ~_Q_LOCKED_MASK)) {
			if (val & _Q_LOCKED_MASK)
				smp_cond_load_acquire(&lock->locked, !VAL);
			WRITE_ONCE(lock->locked_pending, _Q_LOCKED_VAL);
			return;
		}
		/* Another CPU has set pending or the tail: clear pending if this CPU has set it. */
		if (!(val & _Q_PENDING_MASK))
			WRITE_ONCE(lock->pending, 0);
	}
	wait_in_queue(lock);
}

#define QSPIN	((struct qspinlock *)lock)
NATIVE_CONTESTANT(qspin, atomic_set(&QSPIN->val, 0), (void)0,
		  queued_spin_lock(QSPIN), queued_spin_unlock(QSPIN))

const struct native_contestant native_qspinlock[] = {
	NATIVE_ENTRY(qspin, "qspinlock"),
	{ }
};
