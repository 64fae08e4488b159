// SPDX-License-Identifier: GPL-2.0-only
/*
 * linux_pairs: acquire and release Linux' locks a given number of times, and print the numbers and
 * the locks' addresses:
 *
 *	linux_pairs: pairs NAME LOCK COUNT
 *
 * "alone", "read" and "write" are held alone; "outer" is held around "inner", so that each is
 * every second acquisition; "long" is held for `hold` cycles. With queue=1 CPU 1 also waits for a
 * spin lock, "first_spin", alone; and CPUs 1 and 2 wait for a spin lock and for an rwlock. CPU 2
 * waits in the queue of the spin lock, behind CPU 1, which spins on the lock word; and for the spin
 * lock of the queue of the rwlock, which CPU 1 holds:
 *
 *	linux_pairs: wait NAME LOCK CYCLES
 *
 * CYCLES is the time from just before the last CPU's request to just before the owner's release.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
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

/**
 * struct contended_lock - a lock that other CPUs wait for while CPU 0 holds it
 * @name: name in the output
 * @spin_lock: the lock, if it is a spin lock
 * @rw_lock: the lock, if it is an rwlock: CPU 0 writes, the others read
 * @is_queued: CPU 2 waits behind CPU 1
 */
struct contended_lock {
	const char *name;
	raw_spinlock_t *spin_lock;
	rwlock_t *rw_lock;
	bool is_queued;
};

static DEFINE_RAW_SPINLOCK(first_lock);
static DEFINE_RAW_SPINLOCK(queue_lock);
static DEFINE_RWLOCK(queue_rw_lock);
static atomic_t wait_step;

/*
 * Cycle counter just before the last waiter's request. Written by its thread, read by the owner
 * afterwards.
 */
static u64 last_request_time;

static void wait_for_step(int least_step)
{
	while (atomic_read(&wait_step) < least_step)
		cpu_relax();
}

/* Inline, so that the thread's function is the caller of the lock functions. */
static __always_inline void wait_for_lock(const struct contended_lock *lock)
{
	if (lock->rw_lock) {
		read_lock(lock->rw_lock);
		read_unlock(lock->rw_lock);
	} else {
		raw_spin_lock(lock->spin_lock);
		raw_spin_unlock(lock->spin_lock);
	}
}

/*
 * Run on CPU 1: the first waiter for a spin lock spins on the lock word, not in the queue. The
 * first waiter for an rwlock holds the spin lock of the queue, for which the next one waits.
 */
static int first_waiter_thread(void *data)
{
	const struct contended_lock *lock = data;

	wait_for_step(1);
	preempt_disable();
	WRITE_ONCE(last_request_time, get_cycles());
	atomic_set(&wait_step, lock->is_queued ? 2 : 3);
	wait_for_lock(lock);
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Run on CPU 2. */
static int queued_waiter_thread(void *data)
{
	const struct contended_lock *lock = data;

	wait_for_step(2);
	preempt_disable();
	/* Let CPU 1 wait first: CPU 2 then waits in the queue. */
	spin_for(hold);
	WRITE_ONCE(last_request_time, get_cycles());
	atomic_set(&wait_step, 3);
	wait_for_lock(lock);
	preempt_enable();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static struct task_struct *start_thread_on(int cpu, int (*thread)(void *data),
					   const struct contended_lock *lock)
{
	struct task_struct *task = kthread_create(thread, (void *)lock, "linux_pairs");

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, cpu);
	wake_up_process(task);
	return task;
}

/*
 * Hold a lock until the last waiter is about to wait for it, and then for 500 ms: a host may stop
 * the waiter's virtual CPU for a while just before the request.
 */
static void hold_while_waited_for(const struct contended_lock *lock)
{
	struct task_struct *first_waiter, *queued_waiter = NULL;
	u64 released;

	atomic_set(&wait_step, 0);
	first_waiter = start_thread_on(1, first_waiter_thread, lock);
	if (lock->is_queued)
		queued_waiter = start_thread_on(2, queued_waiter_thread, lock);
	if (!first_waiter || (lock->is_queued && !queued_waiter)) {
		pr_info("wrong: no thread\n");
		return;
	}
	if (lock->rw_lock)
		write_lock(lock->rw_lock);
	else
		raw_spin_lock(lock->spin_lock);
	atomic_set(&wait_step, 1);
	wait_for_step(3);
	mdelay(500);
	released = get_cycles();
	if (lock->rw_lock)
		write_unlock(lock->rw_lock);
	else
		raw_spin_unlock(lock->spin_lock);
	kthread_stop(first_waiter);
	if (queued_waiter)
		kthread_stop(queued_waiter);
	pr_info("wait %s 0x%lx %llu\n", lock->name,
		lock->rw_lock ? (unsigned long)lock->rw_lock : (unsigned long)lock->spin_lock,
		released - last_request_time);
}

static const struct contended_lock contended_locks[] = {
	{ .name = "first_spin", .spin_lock = &first_lock },
	{ .name = "queued_spin", .spin_lock = &queue_lock, .is_queued = true },
	{ .name = "queued_read", .rw_lock = &queue_rw_lock, .is_queued = true },
};

static long take_and_contend(void *unused)
{
	size_t i;

	take_all();
	if (queue) {
		/*
		 * Owner and waiters wait for each other with preemption disabled. CPU hotplug would
		 * stop one of them: a deadlock.
		 */
		cpus_read_lock();
		for (i = 0; i < ARRAY_SIZE(contended_locks); i++)
			/* With PREEMPT_RT, rwlocks sleep. */
			if (!contended_locks[i].rw_lock || !IS_ENABLED(CONFIG_PREEMPT_RT))
				hold_while_waited_for(&contended_locks[i]);
		cpus_read_unlock();
	}
	return 0;
}

static int __init linux_pairs_init(void)
{
	return work_on_cpu(0, take_and_contend, NULL);
}
module_init(linux_pairs_init);

static void __exit linux_pairs_exit(void)
{
}
module_exit(linux_pairs_exit);

MODULE_DESCRIPTION("Acquires and releases Linux' locks a given number of times");
MODULE_LICENSE("GPL");
