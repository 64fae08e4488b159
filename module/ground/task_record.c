// SPDX-License-Identifier: GPL-2.0-only

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "task_record.h"

/* Slots that were in use when their task exited. */
static atomic64_t ntklog_sleeping_slots_dropped_count;

/**
 * ntklog_init_task_record() - make a record the current task's
 * @record: record that belongs to no task
 * @exit_is_missed: no exit probe frees the record
 *
 * Context: preemption off. The caller inserts the record into the table.
 */
void ntklog_init_task_record(struct ntklog_task *record, bool exit_is_missed)
{
	memset_after(record, 0, next_sleeping_slot);
	memset(record->cpus, 0, BITS_TO_LONGS(nr_cpu_ids) * sizeof(*record->cpus));
	WRITE_ONCE(record->next_sleeping_slot, &record->sleeping_slots[1]);
	record->task = current;
	record->next_resource_slot = &record->resource_slots[1];
	record->sleeping_slots[1 + NTKLOG_TASK_SLOT_COUNT].lock = record;
	record->exit_is_missed = exit_is_missed;
	if (exit_is_missed) {
		get_task_struct(current);
		/* The task frees this record regardless of its slots, so no lock may get a slot. */
		record->next_sleeping_slot = &record->sleeping_slots[1 + NTKLOG_TASK_SLOT_COUNT];
	}
}

/**
 * ntklog_record_has_nt_state() - test whether a task is at APC_LEVEL or in a region
 * @record: record of the task
 *
 * Context: any. The value may be stale when it is returned, unless the task cannot run.
 * Return: true if the task is at APC_LEVEL, or in a critical or guarded region.
 */
bool ntklog_record_has_nt_state(const struct ntklog_task *record)
{
	return READ_ONCE(record->is_at_apc_level) || READ_ONCE(record->critical_region_depth) ||
	       READ_ONCE(record->guarded_region_depth);
}

/**
 * ntklog_record_is_unused() - test whether a record holds nothing that its task needs
 * @record: record of the task
 *
 * A slot whose resource is not tracked any more also counts as used.
 *
 * Context: any. The value may be stale when it is returned, unless the task cannot run.
 * Return: true if the task has no NT state and no slot, no time without a CPU is being counted, and
 * the task need not free the record itself (@exit_is_missed).
 */
bool ntklog_record_is_unused(const struct ntklog_task *record)
{
	int i;

	if (record->exit_is_missed || ntklog_record_has_nt_state(record) ||
	    READ_ONCE(record->off_cpu_since))
		return false;
	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++)
		if (READ_ONCE(record->resource_slots[i].lock) ||
		    READ_ONCE(record->sleeping_slots[i].lock))
			return false;
	return true;
}

/**
 * ntklog_drop_sleeping_slots() - free and count the slots of sleeping locks in an unlinked record
 * @record: the record, whose task cannot look it up any more
 *
 * Context: any.
 */
void ntklog_drop_sleeping_slots(struct ntklog_task *record)
{
	int i;

	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++)
		if (xchg(&record->sleeping_slots[i].lock, NULL))
			atomic64_inc(&ntklog_sleeping_slots_dropped_count);
}

/**
 * ntklog_count_sleeping_slots_dropped_at_exit() - return how many slots were in use at an exit
 *
 * Context: any.
 * Return: number of slots of Linux' sleeping locks since the module was loaded.
 */
u64 ntklog_count_sleeping_slots_dropped_at_exit(void)
{
	return atomic64_read(&ntklog_sleeping_slots_dropped_count);
}
