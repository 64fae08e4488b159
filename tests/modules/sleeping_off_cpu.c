// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holders and waiters of mutexes that have no CPU. See sleeping_off_cpu.h.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/printk.h>
#include <linux/sched.h>

#include "sleeping_off_cpu.h"
#include "sleeping_waiters.h"

/* Milliseconds for which a holder sleeps, or a thread of a higher priority runs. */
#define OFF_CPU_MS	150

#define HOG_CPU		0
#define OTHER_CPU	1

static DEFINE_MUTEX(blocked_mutex);
static DEFINE_MUTEX(preempted_mutex);
static DEFINE_MUTEX(late_mutex);

/* A real-time thread that occupies HOG_CPU. */
static struct {
	struct completion may_begin, ended;
	bool runs, may_end;
} hog;

static int hog_thread(void *unused)
{
	u64 start;

	sched_set_fifo(current);
	wait_for_completion(&hog.may_begin);
	WRITE_ONCE(hog.runs, true);
	start = get_cycles();
	mdelay(OFF_CPU_MS);
	pr_info("cycles %llu\n", (u64)get_cycles() - start);
	while (!READ_ONCE(hog.may_end))
		cpu_relax();
	complete(&hog.ended);
	return 0;
}

/* @may_end: false if another CPU will set hog.may_end */
static void start_hog(bool may_end)
{
	struct task_struct *task;

	init_completion(&hog.may_begin);
	init_completion(&hog.ended);
	hog.runs = false;
	hog.may_end = may_end;
	task = kthread_create(hog_thread, NULL, "hog");
	if (IS_ERR(task)) {
		print_wrong("hog", PTR_ERR(task));
		complete(&hog.ended);
		return;
	}
	kthread_bind(task, HOG_CPU);
	wake_up_process(task);
	/* Let it begin to wait. */
	msleep(40);
}

static void let_hog_run(void)
{
	complete(&hog.may_begin);
	while (!READ_ONCE(hog.runs))
		cond_resched();
}

static void sleep_with_waiter(void *waiter)
{
	start_waiter(waiter);
	msleep(OFF_CPU_MS);
}

static void be_preempted(void *waiter)
{
	start_waiter(waiter);
	let_hog_run();
}

static void take_with_waiter(const char *name, struct mutex *mutex, unsigned int cpu,
			     void (*while_held)(void *))
{
	struct method method = *find_method("mutex");
	struct waiter waiter = { .method = &method, .is_bound = cpu != HOG_CPU };
	int err = set_cpus_allowed_ptr(current, cpumask_of(cpu));

	if (err)
		print_wrong("set_cpus_allowed_ptr", err);
	method.lock = mutex;
	pr_info("held %s 0x%lx\n", name, (unsigned long)mutex);
	take(&method, false, 1, while_held, &waiter);
	if (!hog.may_end) {
		/* The waiter is woken up, and has no CPU. */
		mdelay(OFF_CPU_MS);
		WRITE_ONCE(hog.may_end, true);
	}
	wait_for_completion(&waiter.ended);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/*
 * Hold a mutex and sleep, while a thread waits. Hold another on the CPU on which a thread of a
 * higher priority then runs. Release a third one, while such a thread occupies the CPU of the
 * waiter.
 */
void hold_off_cpu(void)
{
	hog.may_end = true;
	take_with_waiter("blocked_mutex", &blocked_mutex, HOG_CPU, sleep_with_waiter);
	start_hog(true);
	take_with_waiter("preempted_mutex", &preempted_mutex, HOG_CPU, be_preempted);
	wait_for_completion(&hog.ended);
	if (!cpu_online(OTHER_CPU))
		return;
	start_hog(false);
	take_with_waiter("late_mutex", &late_mutex, OTHER_CPU, be_preempted);
	wait_for_completion(&hog.ended);
}
