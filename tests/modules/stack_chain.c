// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_chain: acquire locks of each kind below a known chain of functions, and print them:
 *
 *	stack_chain: lock NAME ADDRESS THREAD
 *
 * All locks but "resource" and "other" are held for at least `hold` cycles, so that their releases
 * are written. chain_a() calls chain_b(), which calls chain_c(), which calls take_NAME(), which
 * acquires NAME. "deep" is acquired below DEPTH + 1 calls of deeper(). "hardirq" and "softirq" are
 * acquired in an interrupt of a function that chain_c() calls. "other" is acquired by one thread
 * and released by another, which is THREAD. "sleep" is no lock (ADDRESS is 0): the CPU switches
 * away from THREAD in sleep_there().
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timex.h>
#include <linux/workqueue.h>
#include <ntklog/eresource.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#define DEPTH	100

static unsigned int hold = 1500000;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "minimum cycles for which each lock is held");

static void spin_for_hold(void)
{
	cycles_t start = get_cycles();

	while (get_cycles() - start < hold)
		cpu_relax();
}

static void print_lock(const char *name, const void *lock)
{
	pr_info("lock %s 0x%lx %d\n", name, (unsigned long)lock, task_pid_nr(current));
}

/* The barrier after the call prevents a tail call, which would leave no frame of the caller. */
#define CALL(_call)		\
do {				\
	_call;			\
	barrier();		\
} while (0)

#define DEFINE_TAKE(_name, _define, _acquire, _release)	\
static noinline void take_##_name(void)			\
{							\
	_define;					\
							\
	CALL(_acquire);					\
	spin_for_hold();					\
	CALL(_release);					\
	print_lock(#_name, &lock);				\
}

DEFINE_TAKE(spin, static DEFINE_SPINLOCK(lock), spin_lock(&lock), spin_unlock(&lock))
DEFINE_TAKE(irq, static DEFINE_SPINLOCK(lock), spin_lock_irq(&lock), spin_unlock_irq(&lock))
DEFINE_TAKE(read, static DEFINE_RWLOCK(lock), read_lock(&lock), read_unlock(&lock))
DEFINE_TAKE(write, static DEFINE_RWLOCK(lock), write_lock_bh(&lock), write_unlock_bh(&lock))
DEFINE_TAKE(deep, static DEFINE_SPINLOCK(lock), spin_lock(&lock), spin_unlock(&lock))
DEFINE_TAKE(hardirq, static DEFINE_SPINLOCK(lock), spin_lock(&lock), spin_unlock(&lock))
DEFINE_TAKE(softirq, static DEFINE_SPINLOCK(lock), spin_lock(&lock), spin_unlock(&lock))
DEFINE_TAKE(mutex, static DEFINE_MUTEX(lock), mutex_lock(&lock), mutex_unlock(&lock))
DEFINE_TAKE(rwsem, static DECLARE_RWSEM(lock), down_read(&lock), up_read(&lock))

static noinline void take_queued(void)
{
	static struct kspin_lock lock;
	struct klock_queue_handle handle;

	ke_initialize_spin_lock(&lock);
	CALL(ke_acquire_in_stack_queued_spin_lock(&lock, &handle));
	spin_for_hold();
	CALL(ke_release_in_stack_queued_spin_lock(&handle));
	print_lock("queued", &lock);
}

static noinline void take_resource(void)
{
	static struct eresource lock;

	if (ex_initialize_resource_lite(&lock))
		return;
	CALL(ex_enter_critical_region_and_acquire_resource_exclusive(&lock));
	CALL(ex_release_resource_and_leave_critical_region(&lock));
	print_lock("resource", &lock);
	ex_delete_resource_lite(&lock);
}

static noinline void sleep_there(void)
{
	CALL(msleep(20));
	pr_info("lock sleep 0x0 %d\n", task_pid_nr(current));
}

static noinline void chain_c(void (*take)(void))
{
	CALL(take());
}

static noinline void chain_b(void (*take)(void))
{
	CALL(chain_c(take));
}

static noinline void chain_a(void (*take)(void))
{
	CALL(chain_b(take));
}

static noinline void deeper(unsigned int depth)
{
	if (depth)
		CALL(deeper(depth - 1));
	else
		CALL(take_deep());
}

static void take_in_hardirq(void *unused)
{
	CALL(take_hardirq());
}

static noinline void interrupted(void)
{
	CALL(smp_call_function_single(raw_smp_processor_id(), take_in_hardirq, NULL, true));
}

static void take_in_softirq(struct tasklet_struct *unused)
{
	CALL(take_softirq());
}

static DECLARE_TASKLET(softirq_tasklet, take_in_softirq);

static noinline void interrupted_softly(void)
{
	local_bh_disable();
	tasklet_schedule(&softirq_tasklet);
	/* The softirq runs here. */
	CALL(local_bh_enable());
	tasklet_kill(&softirq_tasklet);
}

static DEFINE_MUTEX(lock_for_other_thread);

static void release_in_worker(struct work_struct *work)
{
	mutex_unlock(&lock_for_other_thread);
	print_lock("other", &lock_for_other_thread);
}

static int __init stack_chain_init(void)
{
	static void (* const takers[])(void) = {
		take_spin, take_irq, take_read, take_write, take_mutex, take_rwsem, take_queued,
		take_resource, sleep_there, interrupted, interrupted_softly,
	};
	DECLARE_WORK(work, release_in_worker);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(takers); i++)
		CALL(chain_a(takers[i]));
	CALL(deeper(DEPTH));
	mutex_lock(&lock_for_other_thread);
	schedule_work(&work);
	flush_work(&work);
	return 0;
}

static void __exit stack_chain_exit(void)
{
}

module_init(stack_chain_init);
module_exit(stack_chain_exit);

MODULE_DESCRIPTION("Acquires locks below known chains of functions");
MODULE_LICENSE("GPL");
