// SPDX-License-Identifier: GPL-2.0-only
/*
 * linux_pairs: acquire and release Linux' locks a given number of times, and print the numbers and
 * the locks' addresses:
 *
 *	linux_pairs: pairs NAME LOCK COUNT
 *
 * "alone", "read" and "write" are held alone; "outer" is held around "inner", so that each is
 * every second acquisition; "long" is held for `hold` cycles. With queue=1 a CPU waits in the
 * queue of a spin lock, behind the CPU that waits for the owner, and of an rwlock:
 *
 *	linux_pairs: wait NAME LOCK CYCLES
 *
 * CYCLES is the time from just before the queued CPU's request to the release.
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
MODULE_PARM_DESC(pairs, "of each lock");

static unsigned int hold = 1500000;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "cycles that \"long\" is owned for at least");

static unsigned int long_pairs;
module_param(long_pairs, uint, 0444);
MODULE_PARM_DESC(long_pairs, "of \"long\"");

static bool queue;
module_param(queue, bool, 0444);
MODULE_PARM_DESC(queue, "wait in queues; takes processors 0, 1 and 2");

static void spend(cycles_t cycles)
{
	cycles_t start = get_cycles();

	while (get_cycles() - start < cycles)
		cpu_relax();
}

static void tell(const char *name, void *lock, unsigned int count)
{
	pr_info("pairs %s 0x%lx %u\n", name, (unsigned long)lock, count);
}

/* Enable interrupts from time to time; they acquire other locks. */
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
		spend(hold);
		raw_spin_unlock(&long_lock);
		cond_resched();
	}
	tell("alone", &alone, pairs);
	tell("outer", &outer, pairs);
	tell("inner", &inner, pairs);
	tell("read", &read, pairs);
	tell("write", &write, pairs);
	tell("long", &long_lock, long_pairs);
}

static DEFINE_RAW_SPINLOCK(queue_lock);
static DEFINE_RWLOCK(queue_rw_lock);
static atomic_t step;

static void reach(int wanted)
{
	while (atomic_read(&step) < wanted)
		cpu_relax();
}

/* The first waiter for a spin lock spins on the word, not in the queue. */
static int second_thread(void *unused)
{
	reach(1);
	preempt_disable();
	atomic_set(&step, 2);
	raw_spin_lock(&queue_lock);
	raw_spin_unlock(&queue_lock);
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static u64 asked;

static int third_thread(void *is_rw_lock)
{
	reach(2);
	preempt_disable();
	/* Let the second CPU wait first: this CPU then waits for the spin lock in the queue. */
	spend(hold);
	WRITE_ONCE(asked, get_cycles());
	atomic_set(&step, 3);
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

/* Hold a lock until the others are about to wait, and then long enough for them to wait. */
static void own_with_waiters(bool is_rw_lock)
{
	struct task_struct *second, *third;
	u64 released;

	atomic_set(&step, 0);
	second = start_on(1, second_thread, NULL);
	third = start_on(2, third_thread, (void *)is_rw_lock);
	if (!second || !third) {
		pr_info("wrong: no thread\n");
		return;
	}
	if (is_rw_lock)
		write_lock(&queue_rw_lock);
	else
		raw_spin_lock(&queue_lock);
	atomic_set(&step, 1);
	reach(3);
	mdelay(200);
	released = get_cycles();
	if (is_rw_lock)
		write_unlock(&queue_rw_lock);
	else
		raw_spin_unlock(&queue_lock);
	kthread_stop(second);
	kthread_stop(third);
	pr_info("wait %s 0x%lx %llu\n", is_rw_lock ? "queued_read" : "queued_spin",
		is_rw_lock ? (unsigned long)&queue_rw_lock : (unsigned long)&queue_lock,
		released - asked);
}

static long run(void *unused)
{
	take_all();
	if (queue) {
		/* Waiters have preemption disabled, so no CPU may come or go meanwhile. */
		cpus_read_lock();
		own_with_waiters(false);
		/* PREEMPT_RT's locks sleep. */
		if (!IS_ENABLED(CONFIG_PREEMPT_RT))
			own_with_waiters(true);
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

MODULE_DESCRIPTION("Takes Linux' locks so often as it is told");
MODULE_LICENSE("GPL");
