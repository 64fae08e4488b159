/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_THREAD_H
#define _NTKLOG_GROUND_THREAD_H

/*
 * The record of the current task: see task_record.h. Each CPU caches a record in ntklog_current.
 * While the current task is the cached one, its record is found without a search.
 *
 * File systems call these functions while they write pages out, so no function starts I/O to get
 * memory. Spare records are allocated in advance.
 */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <ntklog/irql.h>

#include "task_record.h"
#include "word.h"

struct ntklog_task *ntklog_find_current_record_slow(void);
struct ntklog_task *ntklog_get_or_insert_current_record(void);
struct ntklog_task *ntklog_get_or_alloc_current_record(void);
void ntklog_put_current_record_slow(struct ntklog_task *record);
bool ntklog_is_at_apc_level(void);
void ntklog_set_apc_level(struct ntklog_task *record, bool is_at_apc_level);

/**
 * ntklog_current_is_cached() - test whether this CPU has cached the record of the current task
 *
 * Context: preemption off. The record stays valid as long as preemption is off.
 * Return: true if ntklog_current.record is the record of the current task.
 */
static __always_inline bool ntklog_current_is_cached(void)
{
	return likely(__this_cpu_read(ntklog_current.cached_task) == current);
}

/**
 * ntklog_record_is_current() - test whether a record belongs to the current task
 * @record: a record that was read from ntklog_current
 *
 * Context: task, with preemption off. Also with preemption on after ntklog_pin_task_records(): the
 * task may then have migrated since it read ntklog_current, but @record still is a record, and
 * record->task still tells whose it is.
 * Return: true if it is the record of the current task.
 */
static __always_inline bool ntklog_record_is_current(const struct ntklog_task *record)
{
	return likely(READ_ONCE(record->task) == current);
}

/**
 * ntklog_find_current_record() - find the record of the current task
 *
 * Context: any.
 * Return: the record, or NULL if the task has none. It stays valid until the task exits, calls
 * ntklog_put_current_record(), or blocks without NT state and slots, or until records are no longer
 * needed.
 */
static __always_inline struct ntklog_task *ntklog_find_current_record(void)
{
	struct ntklog_task *record;

	preempt_disable();
	if (ntklog_current_is_cached())
		record = __this_cpu_read(ntklog_current.record);
	else
		record = ntklog_find_current_record_slow();
	preempt_enable();
	return record;
}

/**
 * ntklog_put_current_record() - free the current task's record if no exit probe frees it
 * @record: record of the current task. It is not freed before all NT state has been removed
 *
 * Context: task.
 */
static __always_inline void ntklog_put_current_record(struct ntklog_task *record)
{
	if (unlikely(record->exit_is_missed))
		ntklog_put_current_record_slow(record);
}

#endif /* _NTKLOG_GROUND_THREAD_H */
