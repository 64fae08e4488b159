/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SLEEPING_WAITERS_H
#define _SLEEPING_WAITERS_H

/*
 * A thread holds a lock while other threads wait for it, give up, or try it in vain.
 */

#include <linux/completion.h>
#include <linux/types.h>

#include "sleeping_functions.h"

struct task_struct;

/* A thread that waits for a lock held by another one. */
struct waiter {
	const struct way *way;
	struct completion begins;
	struct completion ended;
	struct task_struct *task;
	int result;
	bool gives_up;
	unsigned int hold_ms;
};

void start_waiter(void *data);
void take_contended(const char *owner, const char *name, int count);
void hold_before_waiters(void);
void give_up(const char *owner, const char *name);
void take_while_tried(const char *owner, const char *name);
void wait_long(const char *owner, const char *name, unsigned int ms);

int block_all(void);
void unblock_all(void);

#endif /* _SLEEPING_WAITERS_H */
