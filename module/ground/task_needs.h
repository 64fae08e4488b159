/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_NEEDS_H
#define _NTKLOG_GROUND_TASK_NEEDS_H

/*
 * Records of tasks are needed while Linux' sleeping locks are hooked, and while a module uses
 * symbols of ntklog, even if it found them by symbol_get(). A probe of sched_process_exit then
 * frees the records of exiting tasks. It stays registered as long as records are left.
 */

int ntklog_pin_task_records(void);
void ntklog_unpin_task_records(void);
void ntklog_keep_task_records(void);

int ntklog_task_records_init(void);
void ntklog_task_records_exit(void);

#endif /* _NTKLOG_GROUND_TASK_NEEDS_H */
