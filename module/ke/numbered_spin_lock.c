// SPDX-License-Identifier: GPL-2.0-only

#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/percpu.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../perf/spin_lock.h"
#include "numbered_spin_lock.h"

static struct kspin_lock ke_numbered_locks[LOCK_QUEUE_MAXIMUM_LOCK];
static struct lock_class_key ke_numbered_lock_keys[LOCK_QUEUE_MAXIMUM_LOCK];

struct ke_lock_queues __percpu *ke_lock_queues __ro_after_init;
EXPORT_SYMBOL_GPL(ke_lock_queues);

/**
 * ke_try_to_acquire_queued_spin_lock_entry() - acquire a lock if it is free
 * @queue: entry that names the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 * Return: true if the caller now holds the lock; false if the lock is held, and nothing is counted.
 */
bool ke_try_to_acquire_queued_spin_lock_entry(struct kspin_lock_queue *queue)
{
	struct kspin_lock *spin_lock = (struct kspin_lock *)queue->lock;
	unsigned long word = 0;

	/* The CPU already holds the lock by this entry, or waits for it: a bug of the caller. */
	if ((unsigned long)spin_lock & LOCK_QUEUE_BITS)
		return false;
	/* Fully ordered, like the xchg() of __ke_acquire_queued_spin_lock(). */
	if (!ke_test_spin_lock(spin_lock) ||
	    !try_cmpxchg(&spin_lock->word, &word, (unsigned long)queue))
		return false;
	WRITE_ONCE(queue->lock, (unsigned long)spin_lock | LOCK_QUEUE_OWNER);
	spin_acquire(&spin_lock->dep_map, 0, 1, _RET_IP_);
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ntklog_log_spin_lock_acquire(spin_lock);
	return true;
}
EXPORT_SYMBOL_GPL(ke_try_to_acquire_queued_spin_lock_entry);

/**
 * ke_warn_no_such_queued_spin_lock() - warn once about a number that names no lock
 * @function: NT's name of the function that got the number
 * @number: the number
 *
 * Context: any.
 */
void ke_warn_no_such_queued_spin_lock(const char *function, unsigned int number)
{
	WARN_ONCE(1, "%s: no queued spin lock has the number 0x%x\n", function, number);
}
EXPORT_SYMBOL_GPL(ke_warn_no_such_queued_spin_lock);

/**
 * ke_numbered_spin_lock_init() - initialise the numbered locks and their entries
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int __init ke_numbered_spin_lock_init(void)
{
	int number, cpu;

	ke_lock_queues = __alloc_percpu(sizeof(*ke_lock_queues), SMP_CACHE_BYTES);
	if (!ke_lock_queues)
		return -ENOMEM;
	for (number = 0; number < LOCK_QUEUE_MAXIMUM_LOCK; number++) {
		ke_initialize_spin_lock_class(&ke_numbered_locks[number],
					      "ke_numbered_lock",
					      &ke_numbered_lock_keys[number]);
		for_each_possible_cpu(cpu)
			per_cpu_ptr(ke_lock_queues, cpu)->queue[number].lock =
				(unsigned long)&ke_numbered_locks[number];
	}
	return 0;
}

/**
 * ke_numbered_spin_lock_exit() - free the entries of the numbered locks
 *
 * Context: module unload, or a load that failed; no lock is held.
 */
void ke_numbered_spin_lock_exit(void)
{
	free_percpu(ke_lock_queues);
}
