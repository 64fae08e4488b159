// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleeping_locks: acquire Linux' sleeping locks, and print the expected values of each release's
 * event:
 *
 *	sleeping_locks: truth NAME LOCK ACTION WAITED CONTENTIONS
 *				BEFORE ACQUIRED RELEASING AFTER THREAD
 *
 * BEFORE and ACQUIRED are clock times around the acquisition, RELEASING and AFTER around the
 * release. WAITED is 1 if another thread held the lock for at least `hold` cycles meanwhile.
 * CONTENTIONS is the number of threads that began to wait during the hold; 0 if the lock does not
 * record this owner. The event of percpu_read has no hold: RELEASING and AFTER repeat BEFORE and
 * ACQUIRED.
 *
 * `none`: no event is written for the lock. `reader`: address of the function that acquires the
 * lock of percpu_read. `long`: an event of a long wait of THREAD is written. `wrong`: a lock
 * function has returned an unexpected result or has changed the preempt count, or the test has
 * failed. That result, count or error is in place of WHAT:
 *
 *	sleeping_locks: none NAME LOCK
 *	sleeping_locks: reader ADDRESS
 *	sleeping_locks: long NAME LOCK ACTION THREAD
 *	sleeping_locks: wrong NAME WHAT
 */

#include <linux/module.h>
#include <linux/ww_mutex.h>

#include "sleeping_cases.h"
#include "sleeping_waiters.h"

static unsigned int long_ms;
module_param(long_ms, uint, 0444);
MODULE_PARM_DESC(long_ms, "duration of the long waits, milliseconds; 0, the default: none");

static bool blockers;
module_param(blockers, bool, 0444);
MODULE_PARM_DESC(blockers, "only hold locks with and without waiters, for a great release rate");

static bool block;
module_param(block, bool, 0444);
MODULE_PARM_DESC(block, "only have a thread wait for a lock of each kind until the module is unloaded");

static int __init sleeping_locks_init(void)
{
	size_t i;

	ww_mutex_init(&a_ww_mutex, &ww_class);
	if (block)
		return block_all();
	if (blockers) {
		hold_before_waiters();
		return 0;
	}
	for (i = 0; i < method_count; i++)
		take(&methods[i], false, 0, NULL, NULL);
	for (i = 1; i <= 3; i++)
		take_contended("mutex", "mutex", i);
	take_contended("mutex", "mutex_interruptible", 1);
	take_contended("write", "read", 2);
	take_contended("write", "write", 1);
	take_contended("semaphore", "semaphore", 2);
	take_contended("semaphore", "semaphore_interruptible", 1);
	take_contended("rt_mutex", "rt_mutex", 2);
	take_contended("percpu_rwsem", "percpu_rwsem", 1);
	read_percpu_while_written();
	take_contended("ww_mutex", "ww_mutex", 1);
	take_while_wait_fails("mutex", "mutex_interruptible");
	take_while_wait_fails("mutex", "mutex_killable");
	take_while_wait_fails("write", "read_interruptible");
	take_while_wait_fails("write", "read_killable");
	take_while_wait_fails("write", "write_killable");
	take_while_wait_fails("semaphore", "semaphore_interruptible");
	take_while_wait_fails("semaphore", "semaphore_killable");
	take_while_wait_fails("semaphore", "semaphore_timeout");
	take_while_wait_fails("rt_mutex", "rt_mutex_interruptible");
	take_while_wait_fails("ww_mutex", "ww_mutex_interruptible");
	take_while_tried("mutex", "mutex_try");
	take_while_tried("write", "read_try");
	take_while_tried("read", "write_try");
	take_while_tried("semaphore", "semaphore_try");
	take_while_tried("rt_mutex", "rt_mutex_try");
	take_while_tried("ww_mutex", "ww_mutex_try");
	take_ten();
	read_twice();
	fire_contention_without_a_wait();
	take_with_context();
	release_by_another_thread();
	read_with_interrupts_off();
	read_for_another_thread();
	if (!long_ms)
		return 0;
	wait_long("mutex", "mutex", long_ms);
	wait_long("write", "read", long_ms);
	wait_long("write", "write", long_ms);
	return 0;
}

static void __exit sleeping_locks_exit(void)
{
	if (block)
		unblock_all();
}

module_init(sleeping_locks_init);
module_exit(sleeping_locks_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Acquires Linux' sleeping locks and prints the expected events");
MODULE_LICENSE("GPL");
