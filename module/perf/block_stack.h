/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_BLOCK_STACK_H
#define _NTKLOG_PERF_BLOCK_STACK_H

/*
 * Where a task that holds sleeping locks was blocked for longest, while a session logs stacks.
 * Nested holds share one longest block: the hold of an inner lock has no stack if an earlier block
 * of the outer hold was longer.
 */

#include <linux/types.h>
#include <uapi/ntklog/event.h>

#include "../ground/task_record.h"

bool ntklog_block_stacks_are_needed(void);
void ntklog_alloc_block_stacks(void);
void ntklog_queue_block_stacks_work(void);
void ntklog_free_block_stacks(void);
void ntklog_begin_blocked_period(const struct ntklog_task *record, u64 now);
void ntklog_end_blocked_period(const struct task_struct *task, u64 since, u64 blocked_cycles);
bool ntklog_get_longest_block_stack(const struct task_struct *task, u64 acquire_time,
				    struct ntklog_block_stack *block_stack);

#endif /* _NTKLOG_PERF_BLOCK_STACK_H */
