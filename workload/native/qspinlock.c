// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lock that works like Linux' qspinlock, written for this comparison: a byte for the owner, a
 * byte for the first waiter, which spins on the word, and a queue of MCS entries for the other
 * waiters. As in Linux, an owner needs no entry, and a release is a store. Each CPU has one entry,
 * because the program has one context; Linux has four (task, softirq, hard interrupt, NMI).
 */

#include <linux/processor.h>

#include "contestant.h"

#define QSPIN_OWNED		0x1U
#define QSPIN_PENDING		0x100U
#define QSPIN_PENDING_BIT	8
#define QSPIN_TAIL		0xFFFF0000U
#define QSPIN_TAIL_SHIFT	16

/* Number of reads in which the pending waiter may become the owner. */
#define QSPIN_PATIENCE		512

union qspin_lock {
	u32 word;
	struct {
		u8 owned;
		u8 pending;
		u16 tail;	/* CPU of the last entry, plus 1 */
	};
	u16 owned_and_pending;
};

struct qspin_entry {
	struct qspin_entry *next;
	u32 is_first;
} __aligned(64);

static struct qspin_entry qspin_entries[SHIM_CPUS];

static bool qspin_try(union qspin_lock *lock)
{
	u32 word = 0;

	return try_cmpxchg(&lock->word, &word, QSPIN_OWNED);
}

static u32 qspin_set_pending(union qspin_lock *lock)
{
	bool was_set;

	asm volatile("lock; btsl %2, %1" : "=@ccc" (was_set), "+m" (lock->word)
		     : "I" (QSPIN_PENDING_BIT) : "memory");
	return (READ_ONCE(lock->word) & ~QSPIN_PENDING) | (was_set ? QSPIN_PENDING : 0);
}

static void qspin_queue(union qspin_lock *lock, int cpu)
{
	struct qspin_entry *entry = &qspin_entries[cpu], *next = NULL;
	u32 word, alone;
	u16 before;

	entry->next = NULL;
	entry->is_first = 0;
	barrier();
	if (!READ_ONCE(lock->word) && qspin_try(lock))
		return;
	before = xchg(&lock->tail, (u16)(cpu + 1));
	if (before) {
		WRITE_ONCE(qspin_entries[before - 1].next, entry);
		smp_cond_load_acquire(&entry->is_first, VAL);
		next = READ_ONCE(entry->next);
		if (next)
			prefetchw(next);
	}
	/* This entry is the first: wait until there is neither an owner nor a pending waiter. */
	word = smp_cond_load_acquire(&lock->word, !(VAL & ~QSPIN_TAIL));
	alone = (cpu + 1U) << QSPIN_TAIL_SHIFT;
	if (word == alone && try_cmpxchg(&lock->word, &alone, QSPIN_OWNED))
		return;
	WRITE_ONCE(lock->owned, 1);
	if (!next)
		next = smp_cond_load_acquire(&entry->next, VAL);
	/* Make @next the first waiter. Pairs with smp_cond_load_acquire() of @next's CPU above. */
	smp_store_release(&next->is_first, 1);
}

static noinline void qspin_wait(union qspin_lock *lock, int cpu)
{
	u32 word = READ_ONCE(lock->word);
	int patience = QSPIN_PATIENCE;

	while (word == QSPIN_PENDING && patience--) {
		cpu_relax();
		word = READ_ONCE(lock->word);
	}
	if (!(word & ~0xFFU)) {
		word = qspin_set_pending(lock);
		if (!(word & ~0xFFU)) {
			if (word)
				smp_cond_load_acquire(&lock->owned, !VAL);
			WRITE_ONCE(lock->owned_and_pending, QSPIN_OWNED);
			return;
		}
		/* Another CPU has set pending or the tail: clear pending if this CPU has set it. */
		if (!(word & QSPIN_PENDING))
			WRITE_ONCE(lock->pending, 0);
	}
	qspin_queue(lock, cpu);
}

static __always_inline void qspin_acquire(union qspin_lock *lock, int cpu)
{
	if (unlikely(!qspin_try(lock)))
		qspin_wait(lock, cpu);
}

static __always_inline void qspin_release(union qspin_lock *lock)
{
	/* Pairs with the acquire of the CPU that finds the byte, or the word, 0. */
	smp_store_release(&lock->owned, 0);
}

#define QSPIN	((union qspin_lock *)lock)
NATIVE_CONTESTANT(qspin, QSPIN->word = 0, (void)0,
		  qspin_acquire(QSPIN, thread), qspin_release(QSPIN))

const struct native_contestant native_qspinlock[] = {
	NATIVE_ENTRY(qspin, "qspinlock"),
	{ }
};
