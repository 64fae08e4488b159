// SPDX-License-Identifier: GPL-2.0-only

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "task_cache.h"
#include "task_needs.h"
#include "task_table.h"
#include "thread.h"

/* Slow path of ntklog_find_current_record(). */
struct ntklog_task *ntklog_find_current_record_slow(void)
{
	struct ntklog_task *record;
	unsigned long flags;

	local_irq_save(flags);
	record = ntklog_find_task_record(current);
	if (record)
		ntklog_cache_task_record(record);
	local_irq_restore(flags);
	return record;
}

/**
 * ntklog_get_or_insert_current_record() - find the current task's record, or give it a spare one
 *
 * Allocates no memory and wakes up no task.
 *
 * Context: task or softirq, whatever locks are held.
 * Return: the record; NULL if the task has none and cannot get one.
 */
struct ntklog_task *ntklog_get_or_insert_current_record(void)
{
	struct ntklog_task *record;
	unsigned long flags;

	local_irq_save(flags);
	record = ntklog_find_task_record(current);
	if (!record && !(current->flags & PF_EXITING))
		record = ntklog_insert_spare_task_record();
	if (record)
		ntklog_cache_task_record(record);
	local_irq_restore(flags);
	return record;
}

/* Returns NULL if no record can be allocated without reclaim. */
static struct ntklog_task *ntklog_try_to_insert_detached_record(void)
{
	struct ntklog_task *detached = ntklog_alloc_detached_task_record();
	struct ntklog_task *record;
	unsigned long flags;

	if (!detached)
		return NULL;
	local_irq_save(flags);
	/* A softirq may have given this task a record meanwhile. */
	record = ntklog_find_task_record(current);
	if (!record) {
		record = detached;
		detached = NULL;
		ntklog_insert_task_record(record);
	}
	ntklog_cache_task_record(record);
	local_irq_restore(flags);
	if (detached)
		ntklog_free_detached_task_record(detached);
	return record;
}

/**
 * ntklog_get_or_alloc_current_record() - find or create the record of the current task
 *
 * For NT's functions that cannot fail. The caller may write pages out: this function starts no
 * I/O to get memory, but waits until others have reclaimed some.
 *
 * Context: task; may sleep.
 * Return: the record. When the caller has removed NT state, it must call
 * ntklog_put_current_record().
 */
struct ntklog_task *ntklog_get_or_alloc_current_record(void)
{
	struct ntklog_task *record;

	if (unlikely(!(READ_ONCE(ntklog_task_needs) & NTKLOG_NEEDED_BY_MODULES)))
		ntklog_keep_task_records();
	record = ntklog_find_current_record();
	while (unlikely(!record)) {
		record = ntklog_try_to_insert_detached_record();
		if (!record)
			schedule_timeout_uninterruptible(1);
	}
	return record;
}

/* Slow path of ntklog_put_current_record(). */
void ntklog_put_current_record_slow(struct ntklog_task *record)
{
	if (!ntklog_record_has_nt_state(record))
		ntklog_free_current_record(record);
}

/**
 * ntklog_set_apc_level() - set whether the current task is at APC_LEVEL
 * @record: record of the current task
 * @is_at_apc_level: true if the task is at APC_LEVEL from now on
 *
 * Context: task.
 */
void ntklog_set_apc_level(struct ntklog_task *record, bool is_at_apc_level)
{
	unsigned long flags;

	WRITE_ONCE(record->is_at_apc_level, is_at_apc_level);
	preempt_disable();
	if (is_at_apc_level)
		ntklog_uncache_task_record(record, smp_processor_id());
	local_irq_save(flags);
	ntklog_cache_task_record(record);
	local_irq_restore(flags);
	preempt_enable();
}

/**
 * ntklog_is_at_apc_level() - test whether the current task is at APC_LEVEL
 *
 * Gives the task a spare record, if there is one, so that the CPU caches the answer.
 *
 * Context: task, whatever locks are held.
 * Return: true if it is, or was when it raised the IRQL above APC_LEVEL.
 */
bool ntklog_is_at_apc_level(void)
{
	struct ntklog_task *record = NULL;
	bool is_at_apc_level;

	preempt_disable();
	if (ntklog_current_is_cached())
		record = __this_cpu_read(ntklog_current.record);
	/*
	 * Look up the record also if it is cached and says that the task is not at APC_LEVEL: the
	 * lookup sets ntklog_current.passive_task, which was cleared when the task entered
	 * APC_LEVEL.
	 */
	if (!record || !record->is_at_apc_level)
		record = ntklog_get_or_insert_current_record();
	is_at_apc_level = record && record->is_at_apc_level;
	preempt_enable();
	return is_at_apc_level;
}
