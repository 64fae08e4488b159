// SPDX-License-Identifier: GPL-2.0-only
/* See resource_slots.h. */

#include <linux/rcupdate.h>

#include "resource_slots.h"

/* Even: nothing is tracked. Never 0, which a room begins with. */
u32 ntklog_resource_sequence = 2;

/* @thread may be NULL. */
static bool ntklog_slots_are_in_use(const struct ntklog_task *thread)
{
	/* Acquire; pairs with the release in ntklog_alloc_resource_slots(). */
	return thread && smp_load_acquire(&thread->sequence) ==
			 READ_ONCE(ntklog_resource_sequence);
}

/**
 * ntklog_find_slots() - the room of a thread, if slots are in use there
 * @thread: thread or owner pointer; only compared
 *
 * Context: preemption off, to the end of which the room is that thread's.
 * Return: it or NULL.
 */
struct ntklog_task *ntklog_find_slots(unsigned long thread)
{
	struct ntklog_task *found =
		ntklog_find_thread_of((const struct task_struct *)thread);

	return ntklog_slots_are_in_use(found) ? found : NULL;
}

/**
 * ntklog_alloc_resource_slots() - the current thread's room, with slots in use from now on
 *
 * Context: preemption off.
 * Return: it; NULL: without a spare one, for a thread that has been told to exit, and
 * when nothing is tracked.
 */
struct ntklog_task *ntklog_alloc_resource_slots(void)
{
	u32 sequence = READ_ONCE(ntklog_resource_sequence);
	struct ntklog_task *thread;
	int i;

	if (!(sequence & 1))
		return NULL;
	thread = ntklog_find_thread() ?: ntklog_alloc_task_record();

	/* What is late goes without regard to slots. */
	if (!thread || thread->late)
		return NULL;
	if (ntklog_slots_are_in_use(thread))
		return thread;
	for (i = 1; i <= NTKLOG_THREAD_SLOTS; i++) {
		WRITE_ONCE(thread->slots[i].lock, NULL);
		WRITE_ONCE(thread->slots[i].of_softirq, false);
	}
	WRITE_ONCE(thread->next_slot, &thread->slots[1]);
	/* Release; pairs with the acquire in ntklog_slots_are_in_use(). */
	smp_store_release(&thread->sequence, sequence);
	return thread;
}

/**
 * ntklog_find_slot() - the slot of a lock
 * @thread: a room; may be NULL
 * @lock: which. If the room is not the current thread's, its inner lock is held
 *
 * Context: preemption off.
 * Return: it or NULL: nothing is known.
 */
struct ntklog_resource_slot *ntklog_find_slot(struct ntklog_task *thread, const void *lock)
{
	struct ntklog_resource_slot *last;
	int i;

	if (!thread)
		return NULL;
	last = READ_ONCE(thread->next_slot) - 1;
	/* Acquire; pairs with the release in ntklog_fill_resource_slot(). */
	if (last != thread->slots && smp_load_acquire(&last->lock) == lock)
		return last;
	for (i = NTKLOG_THREAD_SLOTS; i; i--) {
		/* As above. */
		if (smp_load_acquire(&thread->slots[i].lock) == lock)
			return &thread->slots[i];
	}
	return NULL;
}

/**
 * ntklog_alloc_resource_slot() - take a slot
 * @thread: the current thread's room
 * @lock: for which
 *
 * Context: preemption off.
 * Return: it, to be filled and then named; NULL: all are taken.
 */
struct ntklog_resource_slot *ntklog_alloc_resource_slot(struct ntklog_task *thread,
							const void *lock)
{
	struct ntklog_resource_slot *slot = READ_ONCE(thread->next_slot);
	struct ntklog_resource_slot *end = &thread->slots[1 + NTKLOG_THREAD_SLOTS];

	if (slot < end) {
		WRITE_ONCE(thread->next_slot, slot + 1);
		/* A softirq takes the next one. */
		barrier();
		WRITE_ONCE(slot->of_softirq, !in_task());
		return slot;
	}
	/* To a softirq, one that the thread is about to fill looks free. */
	if (!in_task())
		return NULL;
	for (slot = &thread->slots[1]; slot < end; slot++) {
		/* Acquire; pairs with the release in ntklog_free_slot(). */
		const void *other = smp_load_acquire(&slot->lock);

		/* This lock's: then one of its releases has not been seen. */
		if (!other || other == lock) {
			WRITE_ONCE(slot->of_softirq, false);
			return slot;
		}
	}
	return NULL;
}

/**
 * ntklog_free_slot() - a slot is free again
 * @thread: the room
 * @slot: in it, from ntklog_find_slot(); it has been read
 *
 * Context: as ntklog_find_slot().
 */
void ntklog_free_slot(struct ntklog_task *thread, struct ntklog_resource_slot *slot)
{
	/* Release; pairs with the acquires in ntklog_alloc_resource_slot() and below. */
	smp_store_release(&slot->lock, NULL);
	if (thread->task != current)
		return;
	barrier();
	/*
	 * With those below that went before. To a softirq, what the thread is filling looks
	 * free: of those it gives back what a softirq took.
	 */
	if (slot == READ_ONCE(thread->next_slot) - 1) {
		WRITE_ONCE(slot->of_softirq, false);
		WRITE_ONCE(thread->next_slot, slot);
	}
	slot = READ_ONCE(thread->next_slot);
	while (slot > &thread->slots[1]) {
		/* Acquire; pairs with the release above, of who took it away. */
		if (smp_load_acquire(&slot[-1].lock) ||
		    (!in_task() && !READ_ONCE(slot[-1].of_softirq)))
			break;
		slot--;
		WRITE_ONCE(slot->of_softirq, false);
		barrier();
		WRITE_ONCE(thread->next_slot, slot);
	}
}

/**
 * ntklog_start_resource_slots() - track from now on
 *
 * The slots of an earlier time have another number, and are free.
 *
 * Context: thread; one at a time; ntklog_resource_key is on everywhere, so that all
 * operations come to the hooks: what is acquired is also seen released.
 */
void ntklog_start_resource_slots(void)
{
	ntklog_make_spare_threads();
	WRITE_ONCE(ntklog_resource_sequence, ntklog_resource_sequence + 1);
}

/**
 * ntklog_stop_resource_slots() - track no more
 *
 * Context: thread; one at a time; ntklog_resource_key is still on. When it returns, no hook,
 * which has preemption off, has a slot in hand.
 */
void ntklog_stop_resource_slots(void)
{
	WRITE_ONCE(ntklog_resource_sequence, ntklog_resource_sequence + 1);
	synchronize_rcu();
}
