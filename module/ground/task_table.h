/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_TABLE_H
#define _NTKLOG_GROUND_TASK_TABLE_H

/* The records of all tasks: the hash table, and the spare records. */

#include <linux/bits.h>
#include <linux/types.h>

#include "task_record.h"

/* Reasons why records are needed: see task_needs.h. */
#define NTKLOG_NEEDED_BY_MODULES	BIT(0)
#define NTKLOG_NEEDED_BY_HOOKS		BIT(1)

extern unsigned int ntklog_task_needs;

typedef void (*ntklog_visit_record_t)(struct ntklog_task *record, void *data);

struct ntklog_task *ntklog_find_task_record(const struct task_struct *task);
void ntklog_visit_task_records(ntklog_visit_record_t visit, void *data);
void ntklog_wait_for_insertions(void);
u32 ntklog_count_task_records(void);
u32 ntklog_count_spare_task_records(void);

struct ntklog_task *ntklog_insert_spare_task_record(void);
struct ntklog_task *ntklog_alloc_detached_task_record(void);
void ntklog_free_detached_task_record(struct ntklog_task *record);
void ntklog_insert_task_record(struct ntklog_task *record);
bool ntklog_unlink_task_record(struct ntklog_task *record);
void ntklog_free_unlinked_record(struct ntklog_task *record);
void ntklog_free_current_record(struct ntklog_task *record);
void ntklog_free_blocked_task_records(void);

void ntklog_make_spare_task_records(void);
void ntklog_free_excess_task_records(void);
int ntklog_alloc_task_table(void);
void ntklog_free_task_table(void);

#endif /* _NTKLOG_GROUND_TASK_TABLE_H */
