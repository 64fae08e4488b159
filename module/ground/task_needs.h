/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_NEEDS_H
#define _NTKLOG_GROUND_TASK_NEEDS_H

/*
 * Records of tasks are needed while a module that uses symbols of ntklog is loaded, and while
 * Linux' sleeping locks are hooked. A probe of sched_process_exit is registered then, which frees
 * the record of an exiting task. When records are no longer needed, those without NT state are
 * freed, except records that their task frees itself (ntklog_task::exit_is_missed). If none is
 * left, the probe is unregistered.
 */

int ntklog_pin_task_records(void);
void ntklog_unpin_task_records(void);
void ntklog_keep_task_records(void);

int ntklog_task_records_init(void);
void ntklog_task_records_exit(void);

#endif /* _NTKLOG_GROUND_TASK_NEEDS_H */
