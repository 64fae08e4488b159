// SPDX-License-Identifier: GPL-2.0-only
/* See thread.h. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "thread.h"

static DEFINE_HASHTABLE(ke_threads, 6);
static DEFINE_RAW_SPINLOCK(ke_threads_lock);

/**
 * ke_find_thread() - what is kept of the current thread
 *
 * Context: any.
 * Return: it, or NULL if there is nothing. Nobody but the thread removes it.
 */
struct ke_thread *ke_find_thread(void)
{
	struct ke_thread *thread, *found = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&ke_threads_lock, flags);
	hash_for_each_possible(ke_threads, thread, node, (unsigned long)current) {
		if (thread->thread == current) {
			found = thread;
			break;
		}
	}
	raw_spin_unlock_irqrestore(&ke_threads_lock, flags);
	return found;
}

/**
 * ke_get_thread() - what is kept of the current thread, and shall be
 *
 * Context: thread; may sleep.
 * Return: it, for the caller to change.
 */
struct ke_thread *ke_get_thread(void)
{
	struct ke_thread *thread = ke_find_thread();
	unsigned long flags;

	if (thread)
		return thread;
	/* NT's functions cannot fail, and below DISPATCH_LEVEL one may wait. */
	thread = kzalloc(sizeof(*thread), GFP_KERNEL | __GFP_NOFAIL);
	thread->thread = get_task_struct(current);
	raw_spin_lock_irqsave(&ke_threads_lock, flags);
	hash_add(ke_threads, &thread->node, (unsigned long)current);
	raw_spin_unlock_irqrestore(&ke_threads_lock, flags);
	return thread;
}

/**
 * ke_put_thread() - forget the current thread if there is nothing to keep
 * @thread: what is kept of it, after a change
 *
 * Context: thread.
 */
void ke_put_thread(struct ke_thread *thread)
{
	unsigned long flags;

	if (thread->apc_level || thread->critical_regions || thread->guarded_regions)
		return;
	raw_spin_lock_irqsave(&ke_threads_lock, flags);
	hash_del(&thread->node);
	raw_spin_unlock_irqrestore(&ke_threads_lock, flags);
	put_task_struct(thread->thread);
	kfree(thread);
}

/**
 * ke_thread_exit() - forget the threads that ended with something kept
 *
 * Context: unload, when no user of the module is left.
 */
void ke_thread_exit(void)
{
	struct ke_thread *thread;
	struct hlist_node *next;
	unsigned int bucket;

	hash_for_each_safe(ke_threads, bucket, next, thread, node) {
		if (thread->apc_level)
			pr_warn("thread %d was left at APC_LEVEL\n",
				task_pid_nr(thread->thread));
		if (thread->critical_regions)
			pr_warn("thread %d was left in a critical region\n",
				task_pid_nr(thread->thread));
		if (thread->guarded_regions)
			pr_warn("thread %d was left in a guarded region\n",
				task_pid_nr(thread->thread));
		hash_del(&thread->node);
		put_task_struct(thread->thread);
		kfree(thread);
	}
}
