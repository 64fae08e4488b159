// SPDX-License-Identifier: GPL-2.0-only

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "sleeping_waiters.h"

static int waiter_thread(void *data)
{
	struct waiter *waiter = data;

	allow_signal(SIGKILL);
	complete(&waiter->begins);
	if (waiter->wait_fails)
		waiter->result = waiter->method->acquire(waiter->method->lock);
	else
		take(waiter->method, true, 0, NULL, NULL);
	flush_signals(current);
	complete(&waiter->ended);
	return 0;
}

static void start_waiter(void *data)
{
	struct waiter *waiter = data;
	struct task_struct *task;

	init_completion(&waiter->begins);
	init_completion(&waiter->ended);
	task = kthread_create(waiter_thread, waiter, "waiter");
	if (IS_ERR(task)) {
		print_wrong(waiter->method->name, PTR_ERR(task));
		complete(&waiter->ended);
		return;
	}
	waiter->task = task;
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&waiter->begins);
	/* The owner sleeps too, so the waiter does not spin for long. */
	do {
		msleep(40);
	} while (task_is_running(task));
	put_task_struct(task);
}

static void start_waiters(void *data)
{
	struct waiter *waiter;

	for (waiter = data; waiter->method; waiter++)
		start_waiter(waiter);
}

void take_contended(const char *owner, const char *name, int count)
{
	struct waiter waiters[4] = { };
	int i, contentions = count;

	for (i = 0; i < count; i++)
		waiters[i].method = find_method(name);
	/* ntklog does not count waiters in the slot of an owner of these locks. */
	if (find_method(owner)->lock == &a_semaphore || find_method(owner)->lock == &a_percpu_rwsem)
		contentions = 0;
	take(find_method(owner), false, contentions, start_waiters, waiters);
	for (i = 0; i < count; i++)
		wait_for_completion(&waiters[i].ended);
}

static int percpu_reader_thread(void *data)
{
	struct waiter *waiter = data;
	u64 time[4];

	pr_info("reader 0x%lx\n", (unsigned long)percpu_reader_thread);
	complete(&waiter->begins);
	time[0] = get_cycles();
	percpu_down_read(&a_percpu_rwsem);
	time[1] = get_cycles();
	time[2] = time[0];
	time[3] = time[1];
	spin_for(hold);
	percpu_up_read(&a_percpu_rwsem);
	print_truth("percpu_read", &a_percpu_rwsem, SHARED(PERCPU_RWSEM), true, 0, time);
	complete(&waiter->ended);
	return 0;
}

static void start_percpu_reader(void *data)
{
	struct waiter *reader = data;
	struct task_struct *task;

	init_completion(&reader->begins);
	init_completion(&reader->ended);
	task = kthread_run(percpu_reader_thread, reader, "percpu_reader");
	if (IS_ERR(task)) {
		print_wrong("percpu_read", -ENOMEM);
		complete(&reader->ended);
		return;
	}
	wait_for_completion(&reader->begins);
	/* The reader cannot end as long as the writer has the lock. */
	do {
		msleep(80);
	} while (task_is_running(task));
}

void read_percpu_while_written(void)
{
	struct waiter reader = { };

	take(find_method("percpu_rwsem"), false, 0, start_percpu_reader, &reader);
	wait_for_completion(&reader.ended);
	percpu_down_read(&a_percpu_rwsem);
	percpu_up_read(&a_percpu_rwsem);
}

/* ContentionCount stays 0 for a semaphore, so only the blocker rule writes the release. */
static void block_two_by_semaphore(void)
{
	struct method method = *find_method("semaphore");
	struct waiter waiters[3] = {
		{ .method = find_method("semaphore") }, { .method = find_method("semaphore") },
	};

	method.action |= WMI_RESOURCE_ACTION_LINUX_BLOCKER;
	take(&method, false, 0, start_waiters, waiters);
	wait_for_completion(&waiters[0].ended);
	wait_for_completion(&waiters[1].ended);
}

static DECLARE_COMPLETION(last_reader_has_lock);
static DECLARE_COMPLETION(last_may_release);

static void hold_until_told(void *unused)
{
	complete(&last_reader_has_lock);
	wait_for_completion(&last_may_release);
}

/* An rwsem records the last of its readers as owner, so both waiters count for that one. */
static int last_reader_thread(void *data)
{
	struct waiter *waiter = data;

	take(waiter->method, false, 2, hold_until_told, NULL);
	complete(&waiter->ended);
	return 0;
}

static void start_last_reader_and_writers(void *data)
{
	struct waiter *last = data;

	init_completion(&last->ended);
	if (IS_ERR(kthread_run(last_reader_thread, last, "last_reader"))) {
		print_wrong("last reader", -ENOMEM);
		complete(&last->ended);
		return;
	}
	wait_for_completion(&last_reader_has_lock);
	start_waiters(last + 1);
}

/* Two writers wait for two readers. The rwsem does not record the first reader as owner. */
static void block_two_by_readers(void)
{
	/* Static, because with lockdep it is too large for the stack. */
	static struct waiter waiters[4];
	struct method method = *find_method("read");
	int i;

	for (i = 0; i < 3; i++)
		waiters[i].method = find_method(i ? "write" : "read");
	method.action |= WMI_RESOURCE_ACTION_LINUX_BLOCKER;
	take(&method, false, 0, start_last_reader_and_writers, waiters);
	complete(&last_may_release);
	for (i = 0; i < 3; i++)
		wait_for_completion(&waiters[i].ended);
}

/* ntklog must not write the releases without a waiter if the release rate is great. */
void hold_before_waiters(void)
{
	static const char *const owner_methods[] = {
		"mutex", "write", "rt_mutex", "percpu_rwsem", "ww_mutex",
	};
	size_t i;

	block_two_by_semaphore();
	block_two_by_readers();
	for (i = 0; i < ARRAY_SIZE(owner_methods); i++)
		take_contended(owner_methods[i], owner_methods[i], 2);
	/*
	 * On kernels such as 6.1 percpu_down_write() fires contention_begin even if the lock is
	 * free. A wait makes the release be written.
	 */
	for (i = 0; i < method_count; i++)
		if (methods[i].lock != &a_percpu_rwsem && !methods[i].acquire(methods[i].lock))
			methods[i].release(methods[i].lock);
}

static void fail_wait(void *data)
{
	struct waiter *waiter = data;

	start_waiter(waiter);
	/* The wait for the semaphore times out by itself. */
	if (waiter->method != find_method("semaphore_timeout"))
		send_sig(SIGKILL, waiter->task, 1);
	wait_for_completion(&waiter->ended);
	if (!waiter->result)
		print_wrong(waiter->method->name, waiter->result);
}

void take_while_wait_fails(const char *owner, const char *name)
{
	struct waiter waiter = { .method = find_method(name), .wait_fails = true };

	take(find_method(owner), false, find_method(owner)->lock != &a_semaphore,
	     fail_wait, &waiter);
}

static int failing_trylock_thread(void *data)
{
	struct waiter *waiter = data;

	if (!waiter->method->acquire(waiter->method->lock))
		print_wrong(waiter->method->name, 0);
	complete(&waiter->ended);
	return 0;
}

static void run_failing_trylock(void *data)
{
	struct waiter *waiter = data;

	init_completion(&waiter->ended);
	if (IS_ERR(kthread_run(failing_trylock_thread, waiter, "in_vain")))
		print_wrong(waiter->method->name, -ENOMEM);
	else
		wait_for_completion(&waiter->ended);
}

/* A failed trylock must not count as a contention. */
void take_while_tried(const char *owner, const char *name)
{
	struct waiter waiter = { .method = find_method(name) };

	take(find_method(owner), false, 0, run_failing_trylock, &waiter);
}

static void hold_until_wait_is_long(void *data)
{
	struct waiter *waiter = data;

	start_waiter(waiter);
	msleep(waiter->hold_ms);
	pr_info("long %s 0x%lx 0x%x %d\n", waiter->method->name,
		(unsigned long)waiter->method->lock,
		(waiter->method->action & WMI_RESOURCE_ACTION_CLASS) |
		(waiter->method->action & 0x20 ? 0x224 : 0x244), task_pid_nr(waiter->task));
}

void wait_long(const char *owner, const char *name, unsigned int ms)
{
	struct waiter waiter = { .method = find_method(name), .hold_ms = ms };

	take(find_method(owner), false, find_method(owner)->lock != &a_percpu_rwsem,
	     hold_until_wait_is_long, &waiter);
	wait_for_completion(&waiter.ended);
}

/* The methods by which threads wait, until unload, for locks that one thread holds. */
static const char *const blocked_methods[] = {
	"mutex", "read", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex",
};

static struct waiter blocked_waiters[ARRAY_SIZE(blocked_methods)];
static DECLARE_COMPLETION(all_owned);
static DECLARE_COMPLETION(all_may_be_released);
static DECLARE_COMPLETION(all_released);

static const struct method *owner_method(size_t i)
{
	return strcmp(blocked_methods[i], "read") ? find_method(blocked_methods[i]) :
						    find_method("write");
}

static int own_all(void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked_methods); i++)
		if (owner_method(i)->acquire(owner_method(i)->lock))
			print_wrong(blocked_methods[i], 0);
	complete(&all_owned);
	wait_for_completion(&all_may_be_released);
	for (i = 0; i < ARRAY_SIZE(blocked_methods); i++)
		owner_method(i)->release(owner_method(i)->lock);
	complete(&all_released);
	return 0;
}

int block_all(void)
{
	size_t i;

	if (IS_ERR(kthread_run(own_all, NULL, "owner")))
		return -ENOMEM;
	wait_for_completion(&all_owned);
	for (i = 0; i < ARRAY_SIZE(blocked_methods); i++) {
		blocked_waiters[i].method = find_method(blocked_methods[i]);
		start_waiter(&blocked_waiters[i]);
	}
	return 0;
}

void unblock_all(void)
{
	size_t i;

	complete(&all_may_be_released);
	wait_for_completion(&all_released);
	for (i = 0; i < ARRAY_SIZE(blocked_methods); i++)
		wait_for_completion(&blocked_waiters[i].ended);
}
