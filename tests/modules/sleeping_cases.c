// SPDX-License-Identifier: GPL-2.0-only

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/lock.h>

#include "sleeping_cases.h"
#include "sleeping_waiters.h"

static DECLARE_RWSEM(rwsem_released_by_thread);
static DECLARE_RWSEM(rwsem_released_by_interrupt);

/* ntklog has eight slots for a task, so it writes no events for the last two mutexes. */
void take_ten(void)
{
	static struct mutex ten[10];
	static struct lock_class_key keys[10];
	u64 time[10][4];
	int i;

	for (i = 0; i < 10; i++) {
		__mutex_init(&ten[i], "ten", &keys[i]);
		time[i][0] = get_cycles();
		mutex_lock(&ten[i]);
		time[i][1] = get_cycles();
	}
	for (i = 0; i < 10; i++) {
		time[i][2] = get_cycles();
		mutex_unlock(&ten[i]);
		time[i][3] = get_cycles();
		if (i < 8)
			print_truth("one_of_ten", &ten[i], EXCLUSIVE(MUTEX), false, 0, time[i]);
		else
			pr_info("none one_of_ten 0x%lx\n", (unsigned long)&ten[i]);
	}
}

void read_twice(void)
{
	u64 time[2][4];
	int i;

	for (i = 0; i < 2; i++) {
		time[i][0] = get_cycles();
		if (i)
			down_read_nested(&a_rwsem, SINGLE_DEPTH_NESTING);
		else
			down_read(&a_rwsem);
		time[i][1] = get_cycles();
	}
	for (i = 1; i >= 0; i--) {
		time[i][2] = get_cycles();
		up_read(&a_rwsem);
		time[i][3] = get_cycles();
		print_truth("read_twice", &a_rwsem, SHARED(RWSEM), false, 0, time[i]);
	}
}

static struct tracepoint *contention_begin, *contention_end;

static void find_contention_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "contention_begin"))
		contention_begin = tracepoint;
	else if (!strcmp(tracepoint->name, "contention_end"))
		contention_end = tracepoint;
}

/* Call the probes of contention_begin or contention_end. 6.1 exports neither tracepoint. */
static void call_probes(struct tracepoint *tracepoint, void *lock, int value)
{
	struct tracepoint_func *probe;

	preempt_disable();
	for (probe = rcu_dereference_raw(tracepoint->funcs); probe && probe->func; probe++)
		((void (*)(void *, void *, int))probe->func)(probe->data, lock, value);
	preempt_enable();
}

/*
 * With CONFIG_DEBUG_LOCK_ALLOC, mutex_lock() fires these tracepoints even if the mutex is free. The
 * event must show no wait.
 */
void fire_contention_without_a_wait(void)
{
	u64 time[4];
	long owner;

	for_each_kernel_tracepoint(find_contention_tracepoint, NULL);
	if (!contention_begin || !contention_end) {
		print_wrong("contention without a wait", -ENOENT);
		return;
	}
	time[0] = get_cycles();
	mutex_lock(&a_mutex);
	owner = atomic_long_xchg(&a_mutex.owner, 0);
	call_probes(contention_begin, &a_mutex, LCB_F_MUTEX | LCB_F_SPIN);
	atomic_long_set(&a_mutex.owner, owner);
	call_probes(contention_end, &a_mutex, 0);
	time[1] = get_cycles();
	spin_for(hold);
	time[2] = get_cycles();
	mutex_unlock(&a_mutex);
	time[3] = get_cycles();
	print_truth("without_a_wait", &a_mutex, EXCLUSIVE(MUTEX), false, 0, time);
}

/* The second call with one context fails, and must not change the event. */
void take_with_context(void)
{
	struct ww_acquire_ctx context;
	u64 time[4];
	int result;

	ww_acquire_init(&context, &ww_class);
	time[0] = get_cycles();
	result = ww_mutex_lock(&a_ww_mutex, &context);
	time[1] = get_cycles();
	if (result)
		print_wrong("ww_mutex_context", result);
	result = ww_mutex_lock(&a_ww_mutex, &context);
	if (result != -EALREADY)
		print_wrong("ww_mutex_context again", result);
	time[2] = get_cycles();
	ww_mutex_unlock(&a_ww_mutex);
	time[3] = get_cycles();
	ww_acquire_fini(&context);
	print_truth("ww_mutex_context", &a_ww_mutex, EXCLUSIVE(WW_MUTEX), false, 0, time);
}

static int releasing_thread(void *data)
{
	struct waiter *waiter = data;

	waiter->method->release(waiter->method->lock);
	complete(&waiter->ended);
	return 0;
}

void release_by_another_thread(void)
{
	struct waiter waiter = { .method = find_method("semaphore") };
	u64 time[4];

	init_completion(&waiter.ended);
	time[0] = get_cycles();
	down(&a_semaphore);
	time[1] = get_cycles();
	time[2] = time[1];
	if (IS_ERR(kthread_run(releasing_thread, &waiter, "another")))
		print_wrong("semaphore by another", -ENOMEM);
	else
		wait_for_completion(&waiter.ended);
	time[3] = get_cycles();
	print_truth("by_another", &a_semaphore, EXCLUSIVE(SEMAPHORE), false, 0, time);
	take(find_method("semaphore"), false, 0, NULL, NULL);
}

static int reads_releasing_thread(void *data)
{
	struct waiter *waiter = data;
	int i;

	for (i = 0; i < 8; i++)
		up_read(&rwsem_released_by_thread);
	complete(&waiter->ended);
	return 0;
}

/* The task's slots stay in use when another thread releases. A mutex must still get a slot. */
void read_for_another_thread(void)
{
	struct waiter waiter = { };
	int i;

	init_completion(&waiter.ended);
	for (i = 0; i < 8; i++)
		down_read(&rwsem_released_by_thread);
	if (IS_ERR(kthread_run(reads_releasing_thread, &waiter, "another")))
		print_wrong("read for another", -ENOMEM);
	else
		wait_for_completion(&waiter.ended);
	pr_info("none read_for_another 0x%lx\n", (unsigned long)&rwsem_released_by_thread);
	take(find_method("mutex"), false, 0, NULL, NULL);
}

static void release_in_interrupt(struct irq_work *work)
{
	up_read(&rwsem_released_by_interrupt);
}

/* The rwsem must not use up the task's eight slots: a mutex must still get one. */
void read_with_interrupts_off(void)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(release_in_interrupt);
	int i;

	for (i = 0; i < 9; i++) {
		local_irq_disable();
		if (down_read_trylock(&rwsem_released_by_interrupt))
			irq_work_queue(&work);
		else
			print_wrong("read with interrupts off", i);
		local_irq_enable();
		irq_work_sync(&work);
	}
	pr_info("none read_for_interrupt 0x%lx\n", (unsigned long)&rwsem_released_by_interrupt);
	take(find_method("mutex"), false, 0, NULL, NULL);
}
