/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SLEEPING_WAITERS_H
#define _SLEEPING_WAITERS_H

#include <linux/completion.h>
#include <linux/types.h>

#include "sleeping_functions.h"

struct task_struct;

/*
 * @method: NULL ends an array
 * @begins: completed by the thread before it acquires the lock
 * @ended: completed by the thread at its end
 * @task: the thread, as long as it runs
 * @result: the result of the acquire function if @wait_fails
 */
struct waiter {
	const struct method *method;
	struct completion begins;
	struct completion ended;
	struct task_struct *task;
	int result;
	bool wait_fails;
	unsigned int hold_ms;
};

void take_contended(const char *owner, const char *name, int count);
void read_percpu_while_written(void);
void hold_before_waiters(void);
void take_while_wait_fails(const char *owner, const char *name);
void take_while_tried(const char *owner, const char *name);
void wait_long(const char *owner, const char *name, unsigned int ms);

int block_all(void);
void unblock_all(void);

#endif /* _SLEEPING_WAITERS_H */
