// SPDX-License-Identifier: GPL-2.0-only

#include <linux/rcupdate.h>

#include "../ground/task_table.h"
#include "resource_slots.h"

/* Even: tracking is off. Not 0, the value in a new task record. */
u32 ntklog_resource_sequence = 2;

static bool ntklog_record_has_slots(const struct ntklog_task *record)
{
	/* Pairs with the release in ntklog_get_record_with_slots(). */
	return record && smp_load_acquire(&record->sequence) ==
			 READ_ONCE(ntklog_resource_sequence);
}

/**
 * ntklog_find_record_with_slots() - return a task's record if its slots are valid
 * @owner: address of the task, or an owner pointer; only compared
 *
 * Context: preemption off. The record stays valid until preemption is enabled.
 * Return: the record, or NULL.
 */
struct ntklog_task *ntklog_find_record_with_slots(unsigned long owner)
{
	struct ntklog_task *record =
		ntklog_find_task_record((const struct task_struct *)owner);

	return ntklog_record_has_slots(record) ? record : NULL;
}

/**
 * ntklog_get_record_with_slots() - return the current task's record, and make its slots valid
 *
 * Context: preemption off.
 * Return: the record. NULL if the task can have no slots, or if tracking is off.
 */
struct ntklog_task *ntklog_get_record_with_slots(void)
{
	u32 sequence = READ_ONCE(ntklog_resource_sequence);
	struct ntklog_task *record;
	int i;

	if (!(sequence & 1))
		return NULL;
	record = ntklog_find_current_record() ?: ntklog_get_or_insert_current_record();

	/* The probe of sched_process_exit, which frees the slots, may miss the exit of the task. */
	if (!record || record->exit_is_missed)
		return NULL;
	if (ntklog_record_has_slots(record))
		return record;
	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++) {
		WRITE_ONCE(record->resource_slots[i].lock, NULL);
		WRITE_ONCE(record->resource_slots[i].filled_by_softirq, false);
	}
	WRITE_ONCE(record->next_resource_slot, &record->resource_slots[1]);
	/* Publish the cleared slots. Pairs with the acquire in ntklog_record_has_slots(). */
	smp_store_release(&record->sequence, sequence);
	return record;
}

/**
 * ntklog_find_resource_slot() - find the slot of a resource
 * @record: a task record, or NULL. For another task the resource's inner lock is held
 * @lock: address of the resource
 *
 * Context: preemption off.
 * Return: the slot, or NULL if the resource has none.
 */
struct ntklog_resource_slot *ntklog_find_resource_slot(struct ntklog_task *record, const void *lock)
{
	struct ntklog_resource_slot *last;
	int i;

	if (!record)
		return NULL;
	last = READ_ONCE(record->next_resource_slot) - 1;
	/* Pairs with the release in ntklog_fill_resource_slot(). */
	if (last != record->resource_slots && smp_load_acquire(&last->lock) == lock)
		return last;
	for (i = NTKLOG_TASK_SLOT_COUNT; i; i--) {
		/* Pairs with the release in ntklog_fill_resource_slot(). */
		if (smp_load_acquire(&record->resource_slots[i].lock) == lock)
			return &record->resource_slots[i];
	}
	return NULL;
}

/**
 * ntklog_alloc_resource_slot() - take a slot of the current task
 * @record: the current task's record
 * @lock: address of the resource that the slot is for
 *
 * Context: preemption off.
 * Return: the slot, which the caller must fill; NULL if no slot can be taken.
 */
struct ntklog_resource_slot *ntklog_alloc_resource_slot(struct ntklog_task *record,
							const void *lock)
{
	struct ntklog_resource_slot *slot = READ_ONCE(record->next_resource_slot);
	struct ntklog_resource_slot *end = &record->resource_slots[1 + NTKLOG_TASK_SLOT_COUNT];

	if (slot < end) {
		WRITE_ONCE(record->next_resource_slot, slot + 1);
		/* A softirq that arrives from here on takes the slot above. */
		barrier();
		WRITE_ONCE(slot->filled_by_softirq, !in_task());
		return slot;
	}
	/*
	 * A softirq takes no slot below next_resource_slot, because it cannot tell a free slot from
	 * one that the interrupted task is filling.
	 */
	if (!in_task())
		return NULL;
	for (slot = &record->resource_slots[1]; slot < end; slot++) {
		/* Pairs with the release in ntklog_free_resource_slot(). */
		const void *other = smp_load_acquire(&slot->lock);

		/* A slot of the same resource is stale: its final release was not tracked. */
		if (!other || other == lock) {
			WRITE_ONCE(slot->filled_by_softirq, false);
			return slot;
		}
	}
	return NULL;
}

/**
 * ntklog_free_resource_slot() - free a slot
 * @record: the task record
 * @slot: a slot of @record, from ntklog_find_resource_slot()
 *
 * Context: as for ntklog_find_resource_slot().
 */
void ntklog_free_resource_slot(struct ntklog_task *record, struct ntklog_resource_slot *slot)
{
	/*
	 * Publish that the slot is free only after the caller has read the slot. Pairs with the
	 * acquires in ntklog_alloc_resource_slot() and at the end of this function.
	 */
	smp_store_release(&slot->lock, NULL);
	if (record->task != current)
		return;
	barrier();
	/*
	 * Lower next_resource_slot past this slot and the free slots below it. A softirq may only
	 * skip slots that softirqs have taken: a slot of the interrupted task may look free because
	 * the task is filling it.
	 */
	if (slot == READ_ONCE(record->next_resource_slot) - 1) {
		WRITE_ONCE(slot->filled_by_softirq, false);
		WRITE_ONCE(record->next_resource_slot, slot);
	}
	slot = READ_ONCE(record->next_resource_slot);
	while (slot > &record->resource_slots[1]) {
		/* Pairs with the release above, by another task that has freed this slot. */
		if (smp_load_acquire(&slot[-1].lock) ||
		    (!in_task() && !READ_ONCE(slot[-1].filled_by_softirq)))
			break;
		slot--;
		WRITE_ONCE(slot->filled_by_softirq, false);
		barrier();
		WRITE_ONCE(record->next_resource_slot, slot);
	}
}

/**
 * ntklog_start_resource_tracking() - start tracking
 *
 * Context: task; may sleep. Calls are serialised. ntklog_resource_key is on, on all CPUs.
 */
void ntklog_start_resource_tracking(void)
{
	ntklog_make_spare_task_records();
	WRITE_ONCE(ntklog_resource_sequence, ntklog_resource_sequence + 1);
}

/**
 * ntklog_stop_resource_tracking() - stop tracking
 *
 * When this function returns no hook uses a slot: hooks run with preemption off.
 *
 * Context: task; may sleep. Calls are serialised. ntklog_resource_key is still on.
 */
void ntklog_stop_resource_tracking(void)
{
	WRITE_ONCE(ntklog_resource_sequence, ntklog_resource_sequence + 1);
	synchronize_rcu();
}
