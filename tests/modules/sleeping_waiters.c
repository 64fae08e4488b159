// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread holds a lock while other threads wait for it. See sleeping_waiters.h.
 */

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

static int wait_for_it(void *data)
{
	struct waiter *waiter = data;

	allow_signal(SIGKILL);
	complete(&waiter->begins);
	if (waiter->gives_up)
		waiter->result = waiter->way->acquire(waiter->way->lock);
	else
		take(waiter->way, true, 0, NULL, NULL);
	flush_signals(current);
	complete(&waiter->ended);
	return 0;
}

void start_waiter(void *data)
{
	struct waiter *waiter = data;
	struct task_struct *task;

	init_completion(&waiter->begins);
	init_completion(&waiter->ended);
	task = kthread_create(wait_for_it, waiter, "waiter");
	if (IS_ERR(task)) {
		differs(waiter->way->name, PTR_ERR(task));
		complete(&waiter->ended);
		return;
	}
	waiter->task = task;
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&waiter->begins);
	/* The waiter sleeps, because the owner is not running; or it has given up. */
	do {
		msleep(40);
	} while (task_is_running(task));
	put_task_struct(task);
}

static void start_waiters(void *data)
{
	struct waiter *waiter;

	for (waiter = data; waiter->way; waiter++)
		start_waiter(waiter);
}

/* Hold a lock by the functions of @owner while @count threads wait by those of @name. */
void take_contended(const char *owner, const char *name, int count)
{
	struct waiter waiters[4] = { };
	int i, contentions = count;

	for (i = 0; i < count; i++)
		waiters[i].way = way_of(name);
	/* These locks do not record their owner, so its waiters cannot be counted. */
	if (way_of(owner)->lock == &a_semaphore || way_of(owner)->lock == &a_percpu_rwsem)
		contentions = 0;
	take(way_of(owner), false, contentions, start_waiters, waiters);
	for (i = 0; i < count; i++)
		wait_for_completion(&waiters[i].ended);
}

/* Two tasks wait for a semaphore, of which NT's rules do not know. */
static void block_two_by_semaphore(void)
{
	struct way way = *way_of("semaphore");
	struct waiter waiters[3] = {
		{ .way = way_of("semaphore") }, { .way = way_of("semaphore") },
	};

	way.action |= WMI_RESOURCE_ACTION_LINUX_BLOCKER;
	take(&way, false, 0, start_waiters, waiters);
	wait_for_completion(&waiters[0].ended);
	wait_for_completion(&waiters[1].ended);
}

static DECLARE_COMPLETION(last_reads);
static DECLARE_COMPLETION(last_may_release);

static void wait_to_release(void *unused)
{
	complete(&last_reads);
	wait_for_completion(&last_may_release);
}

/* The rwsem records its last reader, to which NT's rules ascribe both waiters. */
static int read_last(void *data)
{
	struct waiter *waiter = data;

	take(waiter->way, false, 2, wait_to_release, NULL);
	complete(&waiter->ended);
	return 0;
}

static void start_last_reader_and_writers(void *data)
{
	struct waiter *last = data;

	init_completion(&last->ended);
	if (IS_ERR(kthread_run(read_last, last, "last_reader"))) {
		differs("last reader", -ENOMEM);
		complete(&last->ended);
		return;
	}
	wait_for_completion(&last_reads);
	start_waiters(last + 1);
}

/* Two writers wait for two readers. The first of these has no sign of it but the lock's word. */
static void block_two_by_readers(void)
{
	/* With lockdep too large for the stack. The last one ends the list. */
	static struct waiter waiters[4];
	struct way way = *way_of("read");
	int i;

	for (i = 0; i < 3; i++)
		waiters[i].way = way_of(i ? "write" : "read");
	way.action |= WMI_RESOURCE_ACTION_LINUX_BLOCKER;
	take(&way, false, 0, start_last_reader_and_writers, waiters);
	complete(&last_may_release);
	for (i = 0; i < 3; i++)
		wait_for_completion(&waiters[i].ended);
}

/*
 * Hold a lock of each kind while two tasks wait for it, and then without a waiter, which writes
 * nothing at a great release rate.
 */
void hold_before_waiters(void)
{
	static const char *const others[] = {
		"mutex", "write", "rt_mutex", "percpu_rwsem", "ww_mutex",
	};
	size_t i;

	block_two_by_semaphore();
	block_two_by_readers();
	for (i = 0; i < ARRAY_SIZE(others); i++)
		take_contended(others[i], others[i], 2);
	/* A writer of a percpu_rwsem always waits, for a grace period, and so is always written. */
	for (i = 0; i < way_count; i++)
		if (ways[i].lock != &a_percpu_rwsem && !ways[i].acquire(ways[i].lock))
			ways[i].release(ways[i].lock);
}

static void start_and_end_waiter(void *data)
{
	struct waiter *waiter = data;

	start_waiter(waiter);
	/* The wait for the semaphore times out by itself. */
	if (waiter->way != way_of("semaphore_timeout"))
		send_sig(SIGKILL, waiter->task, 1);
	wait_for_completion(&waiter->ended);
	if (!waiter->result)
		differs(waiter->way->name, waiter->result);
}

/* A wait that ends without the lock, by a signal or a timeout. */
void give_up(const char *owner, const char *name)
{
	struct waiter waiter = { .way = way_of(name), .gives_up = true };

	take(way_of(owner), false, way_of(owner)->lock != &a_semaphore, start_and_end_waiter,
	     &waiter);
}

/* A failed trylock is no acquisition. */
static int try_in_vain(void *data)
{
	struct waiter *waiter = data;

	if (!waiter->way->acquire(waiter->way->lock))
		differs(waiter->way->name, 0);
	complete(&waiter->ended);
	return 0;
}

static void start_in_vain(void *data)
{
	struct waiter *waiter = data;

	init_completion(&waiter->ended);
	if (IS_ERR(kthread_run(try_in_vain, waiter, "in_vain")))
		differs(waiter->way->name, -ENOMEM);
	else
		wait_for_completion(&waiter->ended);
}

void take_while_tried(const char *owner, const char *name)
{
	struct waiter waiter = { .way = way_of(name) };

	take(way_of(owner), false, 0, start_in_vain, &waiter);
}

static void hold_long(void *data)
{
	struct waiter *waiter = data;

	start_waiter(waiter);
	msleep(waiter->hold_ms);
	pr_info("long %s 0x%lx 0x%x %d\n", waiter->way->name, (unsigned long)waiter->way->lock,
		(waiter->way->action & WMI_RESOURCE_ACTION_CLASS) |
		(waiter->way->action & 0x20 ? 0x224 : 0x244), task_pid_nr(waiter->task));
}

void wait_long(const char *owner, const char *name, unsigned int ms)
{
	struct waiter waiter = { .way = way_of(name), .hold_ms = ms };

	take(way_of(owner), false, way_of(owner)->lock != &a_percpu_rwsem, hold_long, &waiter);
	wait_for_completion(&waiter.ended);
}

/* One thread holds a lock of each kind; another thread waits for each of them. */
static const char *const blocked[] = {
	"mutex", "read", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex",
};

static struct waiter blocked_waiters[ARRAY_SIZE(blocked)];
static DECLARE_COMPLETION(all_owned);
static DECLARE_COMPLETION(let_go);
static DECLARE_COMPLETION(all_released);

static const struct way *owned_while_blocked(size_t i)
{
	return strcmp(blocked[i], "read") ? way_of(blocked[i]) : way_of("write");
}

static int own_all(void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		if (owned_while_blocked(i)->acquire(owned_while_blocked(i)->lock))
			differs(blocked[i], 0);
	complete(&all_owned);
	wait_for_completion(&let_go);
	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		owned_while_blocked(i)->release(owned_while_blocked(i)->lock);
	complete(&all_released);
	return 0;
}

int block_all(void)
{
	size_t i;

	if (IS_ERR(kthread_run(own_all, NULL, "owner")))
		return -ENOMEM;
	wait_for_completion(&all_owned);
	for (i = 0; i < ARRAY_SIZE(blocked); i++) {
		blocked_waiters[i].way = way_of(blocked[i]);
		start_waiter(&blocked_waiters[i]);
	}
	return 0;
}

void unblock_all(void)
{
	size_t i;

	complete(&let_go);
	wait_for_completion(&all_released);
	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		wait_for_completion(&blocked_waiters[i].ended);
}
