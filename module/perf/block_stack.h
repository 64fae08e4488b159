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

bool ntklog_blocks_have_stacks(void);
void ntklog_alloc_block_stacks(void);
void ntklog_request_block_stacks(void);
void ntklog_free_block_stacks(void);
void ntklog_begin_block(const struct ntklog_task *record, u64 now);
void ntklog_end_block(const struct task_struct *task, u64 since, u64 blocked_cycles);
bool ntklog_get_longest_block(const struct task_struct *task, u64 acquire_time,
			      struct ntklog_block_stack *block);

#endif /* _NTKLOG_PERF_BLOCK_STACK_H */
