// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntklog_torture: a stress test of NT's locks, in the manner of Linux' locktorture.
 *
 * Threads, softirqs and hard interrupts acquire and release a few locks. The test ends after
 * `duration` seconds, or at rmmod, and prints one line:
 *
 *	ntklog_torture: End of test: SUCCESS: ...
 *	ntklog_torture: End of test: FAILURE: reason
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "torture_common.h"
#include "torture_locks.h"
#include "torture_resource.h"
#include "torture_spin_lock.h"

#define torture_param(type, name, init, help)	\
	static type name = init;		\
	module_param(name, type, 0444);		\
	MODULE_PARM_DESC(name, help)

torture_param(int, threads, -1, "threads that acquire locks; -1: two for each CPU");
torture_param(int, softirqs, 1, "softirq timers on each CPU");
torture_param(int, hardirqs, 1, "hard interrupt timers on each CPU");
torture_param(int, interval_us, 500, "mean time between two expiries of a timer");
torture_param(int, locks, 6, "number of locks, 1 to 16");
torture_param(int, nest, 4, "maximum locks that a thread holds, 1 to the number of locks");
torture_param(int, hold_us, 5, "maximum delay while a nest of locks is held; 0: none");
torture_param(int, stall_ms, 0, "sleep of one thread, once, with a resource held; 0: none");
torture_param(bool, out_of_order, true, "release a third of the nests in random order");
torture_param(int, duration, 10, "seconds until the test ends; 0: at rmmod");
torture_param(int, seed, 1, "seed of the random numbers");

static char *torture_type = "in_stack_queued";
module_param(torture_type, charp, 0444);
MODULE_PARM_DESC(torture_type,
		 "lock type: in_stack_queued, queued, spin, ex, ex_exclusive, resource");

/* The type of spin lock under test; NULL for resources. Set once, at load. */
static const struct torture_ops *torture_ops;

/* Protects torture_ended, because the work item and rmmod may end the test concurrently. */
static DEFINE_MUTEX(torture_end_mutex);
static bool torture_ended;

static u64 torture_stop_and_check(char *text, size_t size)
{
	if (torture_ops) {
		torture_stop_spin_locks();
		return torture_check_spin_locks(text, size);
	}
	torture_stop_resources();
	return torture_check_resources(text, size);
}

static void torture_end(void)
{
	const char *first_failure;
	u64 acquisitions;
	char text[240];
	int failure_count;

	mutex_lock(&torture_end_mutex);
	if (torture_ended)
		goto out;
	torture_ended = true;
	acquisitions = torture_stop_and_check(text, sizeof(text));
	if (!acquisitions)
		torture_fail("no lock was acquired");
	failure_count = torture_get_failures(&first_failure);
	if (failure_count)
		pr_alert("End of test: FAILURE: %s: %s (%d failures)\n",
			 torture_type, first_failure, failure_count);
	else
		pr_alert("End of test: SUCCESS: %s: %llu acquisitions, %s\n",
			 torture_type, acquisitions, text);
out:
	mutex_unlock(&torture_end_mutex);
}

static void torture_end_work(struct work_struct *work)
{
	torture_end();
}

static DECLARE_DELAYED_WORK(torture_work, torture_end_work);

static int __init torture_check_parameters(void)
{
	int user_count;

	torture_ops = torture_find_type(torture_type);
	if (!torture_ops && strcmp(torture_type, "resource")) {
		pr_err("torture_type=%s is unknown\n", torture_type);
		return -EINVAL;
	}
	if (threads == -1)
		threads = 2 * num_online_cpus();
	user_count = threads + (softirqs + hardirqs) * (int)num_online_cpus();
	if (threads < 0 || softirqs < 0 || hardirqs < 0 || softirqs > 16 || hardirqs > 16 ||
	    threads > TORTURE_USERS_MAX || user_count < 1 || user_count > TORTURE_USERS_MAX) {
		pr_err("threads=%d softirqs=%d hardirqs=%d are not 1 to %d users\n",
		       threads, softirqs, hardirqs, TORTURE_USERS_MAX);
		return -EINVAL;
	}
	if (locks < 1 || locks > TORTURE_LOCKS_MAX || nest < 1 || nest > locks) {
		pr_err("locks=%d is not 1 to %d, or nest=%d is not 1 to locks\n",
		       locks, TORTURE_LOCKS_MAX, nest);
		return -EINVAL;
	}
	if (hold_us < 0 || hold_us > 1000 || interval_us < 10 ||
	    interval_us > 1000000 || duration < 0 || duration > 86400) {
		pr_err("hold_us=%d is not 0 to 1000, interval_us=%d not 10 to 1000000, or duration=%d not 0 to 86400\n",
		       hold_us, interval_us, duration);
		return -EINVAL;
	}
	if (stall_ms < 0 || stall_ms > 60000) {
		pr_err("stall_ms=%d is not 0 to 60000\n", stall_ms);
		return -EINVAL;
	}
	return 0;
}

static int __init torture_start(void)
{
	const struct torture_parameters parameters = {
		.threads = threads,
		.softirqs = softirqs,
		.hardirqs = hardirqs,
		.interval_us = interval_us,
		.lock_count = locks,
		.nest = nest,
		.hold_us = hold_us,
		.stall_ms = stall_ms,
		.out_of_order = out_of_order,
		.seed = seed,
	};
	int err;

	cpus_read_lock();
	if (torture_ops)
		err = torture_start_spin_locks(&parameters, torture_ops);
	else
		err = torture_start_resources(&parameters);
	cpus_read_unlock();
	return err;
}

static int __init torture_init(void)
{
	int err;

	err = torture_check_parameters();
	if (err)
		return err;
	pr_alert("Start of test: torture_type=%s threads=%d softirqs=%d hardirqs=%d interval_us=%d locks=%d nest=%d hold_us=%d out_of_order=%d duration=%d seed=%d\n",
		 torture_type, threads, softirqs, hardirqs, interval_us, locks,
		 nest, hold_us, out_of_order, duration, seed);
	err = torture_start();
	if (err)
		return err;
	if (duration)
		schedule_delayed_work(&torture_work, duration * HZ);
	return 0;
}

static void __exit torture_exit(void)
{
	cancel_delayed_work_sync(&torture_work);
	torture_end();
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Torture test of ntklog's locks");
MODULE_LICENSE("GPL");
