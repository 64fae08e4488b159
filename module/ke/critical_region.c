// SPDX-License-Identifier: GPL-2.0-only
/* NT's critical and guarded regions. Linux has no APCs: the regions of a task are only counted. */

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <ntklog/irql.h>

#include "../ground/thread.h"

/**
 * ke_enter_critical_region() - NT's KeEnterCriticalRegion
 *
 * Context: task at IRQL <= APC_LEVEL; may sleep.
 */
void ke_enter_critical_region(void)
{
	struct ntklog_task *record = ntklog_get_or_alloc_current_record();

	WRITE_ONCE(record->critical_region_depth, record->critical_region_depth + 1);
}
EXPORT_SYMBOL_GPL(ke_enter_critical_region);

/**
 * ke_leave_critical_region() - NT's KeLeaveCriticalRegion
 *
 * Outside a critical region: warns once and changes nothing.
 *
 * Context: task.
 */
void ke_leave_critical_region(void)
{
	struct ntklog_task *record = ntklog_find_current_record();

	if (WARN_ONCE(!record || !record->critical_region_depth,
		      "KeLeaveCriticalRegion: thread %d is in none\n",
		      task_pid_nr(current)))
		return;
	WRITE_ONCE(record->critical_region_depth, record->critical_region_depth - 1);
	ntklog_put_current_record(record);
}
EXPORT_SYMBOL_GPL(ke_leave_critical_region);

/**
 * ke_enter_guarded_region() - NT's KeEnterGuardedRegion
 *
 * Context: task at IRQL <= APC_LEVEL; may sleep.
 */
void ke_enter_guarded_region(void)
{
	struct ntklog_task *record = ntklog_get_or_alloc_current_record();

	WRITE_ONCE(record->guarded_region_depth, record->guarded_region_depth + 1);
}
EXPORT_SYMBOL_GPL(ke_enter_guarded_region);

/**
 * ke_leave_guarded_region() - NT's KeLeaveGuardedRegion
 *
 * Outside a guarded region: warns once and changes nothing.
 *
 * Context: task.
 */
void ke_leave_guarded_region(void)
{
	struct ntklog_task *record = ntklog_find_current_record();

	if (WARN_ONCE(!record || !record->guarded_region_depth,
		      "KeLeaveGuardedRegion: thread %d is in none\n",
		      task_pid_nr(current)))
		return;
	WRITE_ONCE(record->guarded_region_depth, record->guarded_region_depth - 1);
	ntklog_put_current_record(record);
}
EXPORT_SYMBOL_GPL(ke_leave_guarded_region);

/**
 * ke_are_apcs_disabled() - NT's KeAreApcsDisabled
 *
 * Context: any; in an interrupt, the answer is for the interrupted task.
 * Return: true if the task is in a critical or guarded region. As in NT, the IRQL has no influence.
 */
bool ke_are_apcs_disabled(void)
{
	const struct ntklog_task *record = ntklog_find_current_record();

	return record && (READ_ONCE(record->critical_region_depth) ||
			  READ_ONCE(record->guarded_region_depth));
}
EXPORT_SYMBOL_GPL(ke_are_apcs_disabled);

/**
 * ke_are_all_apcs_disabled() - NT's KeAreAllApcsDisabled
 *
 * Context: any but NMI.
 * Return: true if the task is in a guarded region, or the IRQL is at least APC_LEVEL.
 */
bool ke_are_all_apcs_disabled(void)
{
	const struct ntklog_task *record;

	if (ke_get_current_irql() >= APC_LEVEL)
		return true;
	record = ntklog_find_current_record();
	return record && READ_ONCE(record->guarded_region_depth);
}
EXPORT_SYMBOL_GPL(ke_are_all_apcs_disabled);
