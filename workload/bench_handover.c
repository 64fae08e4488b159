// SPDX-License-Identifier: GPL-2.0-only

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/sort.h>
#include <linux/timex.h>
#include <ntklog/eresource.h>

#include "bench_handover.h"

static DECLARE_RWSEM(linux_rwsem);
static struct semaphore linux_semaphore;
static struct eresource resource;

static void acquire_rwsem(void)
{
	down_write(&linux_rwsem);
}

static void release_rwsem(void)
{
	up_write(&linux_rwsem);
}

static void acquire_semaphore(void)
{
	down(&linux_semaphore);
}

static void release_semaphore(void)
{
	up(&linux_semaphore);
}

static void acquire_eresource(void)
{
	ex_acquire_resource_exclusive_lite(&resource, true);
}

static void release_eresource(void)
{
	ex_release_resource_lite(&resource);
}

static const struct bench_sleeping_lock {
	const char *name;
	void (*acquire)(void);
	void (*release)(void);
} bench_sleeping_locks[] = {
	{ "rwsem", acquire_rwsem, release_rwsem },
	{ "semaphore", acquire_semaphore, release_semaphore },
	{ "resource", acquire_eresource, release_eresource },
};

#define BENCH_HANDOVERS	101

/*
 * @go: completed when the thread is to acquire the lock, or to end if @stop is set
 * @done: completed when the thread has released the lock
 * @acquire_time: TSC after the acquisition; published by @done
 * @stop: published by @go
 */
struct bench_waiter {
	const struct bench_sleeping_lock *lock;
	struct completion go, done;
	u64 acquire_time;
	bool stop;
};

static int bench_waiting_thread(void *data)
{
	struct bench_waiter *waiter = data;

	for (;;) {
		wait_for_completion(&waiter->go);
		if (waiter->stop)
			return 0;
		waiter->lock->acquire();
		waiter->acquire_time = get_cycles();
		waiter->lock->release();
		complete(&waiter->done);
	}
}

static int bench_compare_cycles(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Release a lock on the first CPU while a thread on the last CPU waits, and print the median. */
static int bench_measure_lock(const struct bench_sleeping_lock *lock, const char *state)
{
	struct bench_waiter waiter = { .lock = lock };
	static u64 cycles[BENCH_HANDOVERS];
	struct task_struct *task;
	u64 start;
	int i;

	init_completion(&waiter.go);
	init_completion(&waiter.done);
	task = kthread_create(bench_waiting_thread, &waiter, "ntklog_bench");
	if (IS_ERR(task))
		return PTR_ERR(task);
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	kthread_bind(task, cpumask_last(cpu_online_mask));
	wake_up_process(task);
	for (i = 0; i < BENCH_HANDOVERS; i++) {
		lock->acquire();
		complete(&waiter.go);
		usleep_range(1000, 1200);
		start = get_cycles();
		lock->release();
		wait_for_completion(&waiter.done);
		cycles[i] = waiter.acquire_time - start;
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	waiter.stop = true;
	complete(&waiter.go);
	kthread_stop(task);
	sort(cycles, BENCH_HANDOVERS, sizeof(cycles[0]), bench_compare_cycles, NULL);
	pr_info("handover %s %s %llu\n", state, lock->name,
		cycles[BENCH_HANDOVERS / 2]);
	return 0;
}

/**
 * bench_measure_handovers() - measure the handover of each sleeping lock
 * @state: name of the instrumentation's setting, for the output
 *
 * Context: task.
 * Return: 0 or a negative errno.
 */
int bench_measure_handovers(const char *state)
{
	int err = 0;
	size_t i;

	sema_init(&linux_semaphore, 1);
	ex_initialize_resource_lite(&resource);
	for (i = 0; i < ARRAY_SIZE(bench_sleeping_locks) && !err; i++)
		err = bench_measure_lock(&bench_sleeping_locks[i], state);
	ex_delete_resource_lite(&resource);
	return err;
}
