/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_HELD_LOCKS_H
#define _NTKLOG_LINUX_HELD_LOCKS_H

#include <linux/types.h>

#include "../ground/task_record.h"

struct etw_session;
struct task_struct;

/* Copy of a slot. @since: start of the hold, or of the wait if @is_waiting. Times are in cycles. */
struct ntklog_held_lock {
	const void *lock;
	u64 since;
	u64 wait_time;
	unsigned long caller;
	u32 action;
	u32 contention_count;
	bool is_waiting;
	struct ntklog_off_cpu_times off_cpu;
};

typedef void (*ntklog_held_visitor_t)(struct task_struct *task,
				      const struct ntklog_held_lock *locks, size_t count,
				      void *data);

void ntklog_visit_held_locks(ntklog_held_visitor_t visitor, void *data);
void ntklog_list_held_locks(struct etw_session *session);

#endif /* _NTKLOG_LINUX_HELD_LOCKS_H */
