/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_TABLE_H
#define _NTKLOG_GROUND_TASK_TABLE_H

/*
 * The records of all tasks: the hash table, the spare records, and when records are needed at all.
 *
 * Records are needed while a module that uses NT's locks is loaded, and while Linux' sleeping locks
 * are hooked. Only then a probe of sched_process_exit is registered, which frees the record of an
 * exiting task. When records are no longer needed, all records without NT state are freed and the
 * probe is unregistered.
 */

#include <linux/types.h>

#include "task_record.h"

typedef void (*ntklog_thread_func_t)(struct ntklog_task *thread, void *data);

struct ntklog_task *ntklog_find_thread_of(const struct task_struct *task);
void ntklog_visit_task_records(ntklog_thread_func_t call, void *data);
u32 ntklog_thread_count(void);
u32 ntklog_spare_task_record_count(void);
u64 ntklog_sleeping_slots_dropped_at_exit(void);

struct ntklog_task *ntklog_insert_spare_task_record(void);
struct ntklog_task *ntklog_alloc_detached_task_record(void);
void ntklog_free_detached_task_record(struct ntklog_task *record);
void ntklog_insert_task_record(struct ntklog_task *record);
void ntklog_free_task_record(struct ntklog_task *record);

void ntklog_make_spare_threads(void);
int ntklog_pin_task_records(void);
void ntklog_unpin_task_records(void);

int ntklog_threads_init(void);
void ntklog_threads_exit(void);

#endif /* _NTKLOG_GROUND_TASK_TABLE_H */
