// SPDX-License-Identifier: GPL-2.0-only
/*
 * linux_pairs: acquire and release Linux' locks a given number of times, and print the numbers and
 * the locks' addresses:
 *
 *	linux_pairs: pairs NAME LOCK COUNT
 *
 * "alone", "read" and "write" are held alone; "outer" is held around "inner", so that each is
 * every second acquisition; "long" is held for `hold` cycles. With queue=1 CPU 2 also waits in the
 * queue of a spin lock, behind CPU 1, which spins on the lock word; and in the queue of an rwlock:
 *
 *	linux_pairs: wait NAME LOCK CYCLES
 *
 * CYCLES is the time from just before CPU 2's request to just before the owner's release.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timex.h>
#include <linux/workqueue.h>

static unsigned int pairs;
module_param(pairs, uint, 0444);
MODULE_PARM_DESC(pairs, "number of pairs of each lock but \"long\"");

static unsigned int hold = 1500000;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "minimum cycles for which \"long\" is held");

static unsigned int long_pairs;
module_param(long_pairs, uint, 0444);
MODULE_PARM_DESC(long_pairs, "number of pairs of \"long\"");

static bool queue;
module_param(queue, bool, 0444);
MODULE_PARM_DESC(queue, "wait in queues; occupies CPUs 0, 1 and 2");

static void spin_for(cycles_t cycles)
{
	cycles_t start = get_cycles();

	while (get_cycles() - start < cycles)
		cpu_relax();
}

static void print_pairs(const char *name, void *lock, unsigned int count)
{
	pr_info("pairs %s 0x%lx %u\n", name, (unsigned long)lock, count);
}

/* No interrupt handler's lock may come between "outer" and "inner". */
static void take_all(void)
{
	static DEFINE_RAW_SPINLOCK(alone);
	static DEFINE_RAW_SPINLOCK(outer);
	static DEFINE_RAW_SPINLOCK(inner);
	static DEFINE_RAW_SPINLOCK(long_lock);
	static DEFINE_RWLOCK(read);
	static DEFINE_RWLOCK(write);
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < pairs; i++) {
		raw_spin_lock(&alone);
		raw_spin_unlock(&alone);
		if (i % 1000 == 0)
			cond_resched();
	}
	for (i = 0; i < pairs; i++) {
		raw_spin_lock_irqsave(&outer, flags);
		raw_spin_lock(&inner);
		raw_spin_unlock(&inner);
		raw_spin_unlock_irqrestore(&outer, flags);
		if (i % 1000 == 0)
			cond_resched();
	}
	for (i = 0; i < pairs; i++) {
		read_lock(&read);
		read_unlock(&read);
		write_lock_bh(&write);
		write_unlock_bh(&write);
		if (i % 1000 == 0)
			cond_resched();
	}
	for (i = 0; i < long_pairs; i++) {
		raw_spin_lock(&long_lock);
		spin_for(hold);
		raw_spin_unlock(&long_lock);
		cond_resched();
	}
	print_pairs("alone", &alone, pairs);
	print_pairs("outer", &outer, pairs);
	print_pairs("inner", &inner, pairs);
	print_pairs("read", &read, pairs);
	print_pairs("write", &write, pairs);
	print_pairs("long", &long_lock, long_pairs);
}

static DEFINE_RAW_SPINLOCK(queue_lock);
static DEFINE_RWLOCK(queue_rw_lock);
static atomic_t wait_step;

static void wait_for_step(int least_step)
{
	while (atomic_read(&wait_step) < least_step)
		cpu_relax();
}

/* Run on CPU 1: the first waiter for a spin lock spins on the lock word, not in the queue. */
static int first_waiter_thread(void *unused)
{
	wait_for_step(1);
	preempt_disable();
	atomic_set(&wait_step, 2);
	raw_spin_lock(&queue_lock);
	raw_spin_unlock(&queue_lock);
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Written by CPU 2's thread, read by the owner afterwards. */
static u64 queued_request_time;

static int queued_waiter_thread(void *is_rw_lock)
{
	wait_for_step(2);
	preempt_disable();
	/* Let CPU 1 wait first: CPU 2 then waits for the spin lock in the queue. */
	spin_for(hold);
	WRITE_ONCE(queued_request_time, get_cycles());
	atomic_set(&wait_step, 3);
	if (is_rw_lock) {
		read_lock(&queue_rw_lock);
		read_unlock(&queue_rw_lock);
	} else {
		raw_spin_lock(&queue_lock);
		raw_spin_unlock(&queue_lock);
	}
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static struct task_struct *start_on(int cpu, int (*thread)(void *data), void *data)
{
	struct task_struct *task = kthread_create(thread, data, "linux_pairs");

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, cpu);
	wake_up_process(task);
	return task;
}

static void hold_while_queued(bool is_rw_lock)
{
	struct task_struct *first_waiter, *queued_waiter;
	u64 released;

	atomic_set(&wait_step, 0);
	first_waiter = start_on(1, first_waiter_thread, NULL);
	queued_waiter = start_on(2, queued_waiter_thread, (void *)is_rw_lock);
	if (!first_waiter || !queued_waiter) {
		pr_info("wrong: no thread\n");
		return;
	}
	if (is_rw_lock)
		write_lock(&queue_rw_lock);
	else
		raw_spin_lock(&queue_lock);
	atomic_set(&wait_step, 1);
	wait_for_step(3);
	mdelay(200);
	released = get_cycles();
	if (is_rw_lock)
		write_unlock(&queue_rw_lock);
	else
		raw_spin_unlock(&queue_lock);
	kthread_stop(first_waiter);
	kthread_stop(queued_waiter);
	pr_info("wait %s 0x%lx %llu\n", is_rw_lock ? "queued_read" : "queued_spin",
		is_rw_lock ? (unsigned long)&queue_rw_lock : (unsigned long)&queue_lock,
		released - queued_request_time);
}

static long run(void *unused)
{
	take_all();
	if (queue) {
		/*
		 * Owner and waiters wait for each other with preemption disabled. CPU hotplug would
		 * stop one of them: a deadlock.
		 */
		cpus_read_lock();
		hold_while_queued(false);
		/* With PREEMPT_RT, rwlocks sleep. */
		if (!IS_ENABLED(CONFIG_PREEMPT_RT))
			hold_while_queued(true);
		cpus_read_unlock();
	}
	return 0;
}

static int __init linux_pairs_init(void)
{
	return work_on_cpu(0, run, NULL);
}
module_init(linux_pairs_init);

static void __exit linux_pairs_exit(void)
{
}
module_exit(linux_pairs_exit);

MODULE_DESCRIPTION("Acquires and releases Linux' locks a given number of times");
MODULE_LICENSE("GPL");
