/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KE_THREAD_H
#define _NTKLOG_KE_THREAD_H

/*
 * What NT keeps in its threads and Linux has no room for in its own: a table of the
 * threads for which there is something to keep.
 */

#include <linux/list.h>
#include <linux/types.h>

struct task_struct;

/**
 * struct ke_thread - what is kept of a thread
 * @node: in the table
 * @thread: the thread; referenced, so that no later one can be taken for it
 * @critical_regions: entered and not left
 * @guarded_regions: entered and not left
 * @apc_level: it is at APC_LEVEL, or was when it raised from there
 *
 * The thread itself writes the last three; an interrupt on top of it may read them.
 */
struct ke_thread {
	struct hlist_node node;
	struct task_struct *thread;
	u32 critical_regions;
	u32 guarded_regions;
	bool apc_level;
};

struct ke_thread *ke_find_thread(void);
struct ke_thread *ke_get_thread(void);
void ke_put_thread(struct ke_thread *thread);
void ke_thread_exit(void);

#endif /* _NTKLOG_KE_THREAD_H */
