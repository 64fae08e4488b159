/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SLEEPING_SLOTS_H
#define _NTKLOG_PERF_SLEEPING_SLOTS_H

/* The slots of a task's sleeping locks. For sleeping_lock.c. */

#include <linux/types.h>

struct ntklog_sleeping_slot;
struct ntklog_task;

struct ntklog_sleeping_slot *
ntklog_find_sleeping_slot(struct ntklog_task *record, const void *lock, u32 class);
void ntklog_repair_slot_stack(struct ntklog_task *record, struct ntklog_sleeping_slot *slot);
struct ntklog_sleeping_slot *ntklog_alloc_sleeping_slot(struct ntklog_task *record);

#endif /* _NTKLOG_PERF_SLEEPING_SLOTS_H */
