// SPDX-License-Identifier: GPL-2.0-only

#include <linux/atomic.h>
#include <linux/compiler.h>

#include "../ground/clock.h"
#include "../ground/task_record.h"
#include "sleeping_slots.h"

/**
 * ntklog_find_sleeping_slot() - find the topmost slot of a lock
 * @record: record of any task; may be NULL
 * @lock: address of the lock
 * @class: class of the lock; 0 matches every class
 *
 * Context: preemption off, so that RCU keeps the record valid.
 * Return: the slot, or NULL if there is none.
 */
struct ntklog_sleeping_slot *
ntklog_find_sleeping_slot(struct ntklog_task *record, const void *lock, u32 class)
{
	int i;

	if (!record)
		return NULL;
	for (i = NTKLOG_TASK_SLOT_COUNT; i; i--) {
		struct ntklog_sleeping_slot *slot = &record->sleeping_slots[i];

		/* Pairs with the releases in ntklog_fill_sleeping_slot() and the fast path. */
		if (smp_load_acquire(&slot->lock) == lock &&
		    (!class || ntklog_get_action_class(READ_ONCE(slot->action)) == class))
			return slot;
	}
	return NULL;
}

static void ntklog_lower_next_slot(struct ntklog_task *record)
{
	struct ntklog_sleeping_slot *next = record->next_sleeping_slot;

	/* A record with exit_is_missed keeps the pointer at the sentinel, to track no lock. */
	while (!record->exit_is_missed && next > &record->sleeping_slots[1] &&
	       !READ_ONCE(next[-1].lock))
		next--;
	WRITE_ONCE(record->next_sleeping_slot, next);
}

/**
 * ntklog_repair_slot_stack() - repair the slot stack of the current task
 * @record: record of the task
 * @slot: slot that has been freed
 *
 * Context: task; preemption off.
 */
void ntklog_repair_slot_stack(struct ntklog_task *record, struct ntklog_sleeping_slot *slot)
{
	/* Let the release of the slot above lower next_sleeping_slot past this hole. */
	if (slot != record->next_sleeping_slot - 1 && READ_ONCE(slot[1].lock) &&
	    slot < &record->sleeping_slots[NTKLOG_TASK_SLOT_COUNT])
		/* Atomic, because another task may set NTKLOG_SLEEPING_CLAIMED concurrently. */
		atomic_or(NTKLOG_SLEEPING_ABOVE_HOLE, (atomic_t *)&slot[1].action);
	ntklog_lower_next_slot(record);
}

static bool ntklog_has_shared_slot_above(const struct ntklog_sleeping_slot *slot,
					 const struct ntklog_sleeping_slot *end)
{
	const struct ntklog_sleeping_slot *newer;

	for (newer = slot + 1; newer < end; newer++)
		if (READ_ONCE(newer->lock) == READ_ONCE(slot->lock) &&
		    !(READ_ONCE(newer->action) & NTKLOG_SLEEPING_EXCLUSIVE_BIT))
			return true;
	return false;
}

/* An older shared hold counts as stale: another task has probably released the lock. */
#define NTKLOG_SLOT_STALE_AFTER_MS	60000

static bool ntklog_shared_slot_is_stale(struct ntklog_sleeping_slot *slot, u32 action)
{
	return !(action & NTKLOG_SLEEPING_WAITING) &&
	       (s64)(ntklog_read_cycles() - slot->acquire_time) >
	       (s64)ntklog_ms_to_cycles(NTKLOG_SLOT_STALE_AFTER_MS);
}

/*
 * Reclaim a slot of @record that is probably stale. Called when no slot was free. A slot
 * becomes stale if another task releases a lock that does not record its owner.
 */
static struct ntklog_sleeping_slot *ntklog_reclaim_stale_slot(struct ntklog_task *record)
{
	struct ntklog_sleeping_slot *end = &record->sleeping_slots[1 + NTKLOG_TASK_SLOT_COUNT];
	struct ntklog_sleeping_slot *slot;

	for (slot = &record->sleeping_slots[1]; slot < end; slot++) {
		const void *lock = READ_ONCE(slot->lock);
		u32 action = READ_ONCE(slot->action);
		u32 class = ntklog_get_action_class(action);
		bool is_stale;

		if (action & NTKLOG_SLEEPING_EXCLUSIVE_BIT)
			is_stale = (class == NTKLOG_SLEEPING_CLASS(SEMAPHORE) ||
				    class == NTKLOG_SLEEPING_CLASS(PERCPU_RWSEM)) &&
				  !(action & NTKLOG_SLEEPING_WAITING);
		else
			is_stale = ntklog_has_shared_slot_above(slot, end) ||
				  ntklog_shared_slot_is_stale(slot, action);
		if (!lock || !is_stale || cmpxchg(&slot->lock, lock, NULL) != lock)
			continue;
		return slot;
	}
	return NULL;
}

/**
 * ntklog_alloc_sleeping_slot() - allocate a slot of the current task
 * @record: record of the task
 * @is_reclaimed: set to true if the slot was in use, but probably stale; otherwise to false
 *
 * Context: task; preemption off.
 * Return: the slot, or NULL if all are in use.
 */
struct ntklog_sleeping_slot *ntklog_alloc_sleeping_slot(struct ntklog_task *record,
							bool *is_reclaimed)
{
	struct ntklog_sleeping_slot *end = &record->sleeping_slots[1 + NTKLOG_TASK_SLOT_COUNT];
	struct ntklog_sleeping_slot *slot;

	*is_reclaimed = false;
	ntklog_lower_next_slot(record);
	slot = record->next_sleeping_slot;
	/* In use if this hook has interrupted the fast path before that raised the pointer. */
	if (slot < end && !READ_ONCE(slot->lock)) {
		WRITE_ONCE(record->next_sleeping_slot, slot + 1);
		return slot;
	}
	for (slot = &record->sleeping_slots[1]; slot < end; slot++)
		if (!READ_ONCE(slot->lock))
			return slot;
	slot = ntklog_reclaim_stale_slot(record);
	*is_reclaimed = slot;
	return slot;
}
