// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks that are held in an unusual way. See sleeping_cases.h.
 */

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

static DECLARE_RWSEM(read_for_another);
static DECLARE_RWSEM(read_for_interrupt);

/* Hold ten mutexes, two of which get no slot; release them in the order of acquisition. */
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
			tell("one_of_ten", &ten[i], E(MUTEX), false, 0, time[i]);
		else
			pr_info("none one_of_ten 0x%lx\n", (unsigned long)&ten[i]);
	}
}

/* Read-lock an rwsem twice in one thread, and release it twice. */
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
		tell("read_twice", &a_rwsem, S(RWSEM), false, 0, time[i]);
	}
}

static struct tracepoint *contention_begin, *contention_end;

static void find_contention(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "contention_begin"))
		contention_begin = tracepoint;
	else if (!strcmp(tracepoint->name, "contention_end"))
		contention_end = tracepoint;
}

/* Fire contention_begin or contention_end, which 6.1 does not export. */
static void fire(struct tracepoint *tracepoint, void *lock, int value)
{
	struct tracepoint_func *probe;

	preempt_disable();
	for (probe = rcu_dereference_raw(tracepoint->funcs); probe && probe->func; probe++)
		((void (*)(void *, void *, int))probe->func)(probe->data, lock, value);
	preempt_enable();
}

/*
 * With CONFIG_DEBUG_LOCK_ALLOC, mutex_lock() fires contention_begin while the mutex is free, and
 * contention_end when it has acquired it. Do the same on every kernel.
 */
void fire_contention_without_a_wait(void)
{
	u64 time[4];
	long owner;

	for_each_kernel_tracepoint(find_contention, NULL);
	if (!contention_begin || !contention_end) {
		differs("contention without a wait", -ENOENT);
		return;
	}
	time[0] = get_cycles();
	mutex_lock(&a_mutex);
	owner = atomic_long_xchg(&a_mutex.owner, 0);
	fire(contention_begin, &a_mutex, LCB_F_MUTEX | LCB_F_SPIN);
	atomic_long_set(&a_mutex.owner, owner);
	fire(contention_end, &a_mutex, 0);
	time[1] = get_cycles();
	spend(hold);
	time[2] = get_cycles();
	mutex_unlock(&a_mutex);
	time[3] = get_cycles();
	tell("without_a_wait", &a_mutex, E(MUTEX), false, 0, time);
}

/* A second ww_mutex_lock() by the owner is refused and changes nothing. */
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
		differs("ww_mutex_context", result);
	result = ww_mutex_lock(&a_ww_mutex, &context);
	if (result != -EALREADY)
		differs("ww_mutex_context again", result);
	time[2] = get_cycles();
	ww_mutex_unlock(&a_ww_mutex);
	time[3] = get_cycles();
	ww_acquire_fini(&context);
	tell("ww_mutex_context", &a_ww_mutex, E(WW_MUTEX), false, 0, time);
}

static int release_for_another(void *data)
{
	struct waiter *waiter = data;

	waiter->way->release(waiter->way->lock);
	complete(&waiter->ended);
	return 0;
}

/* A semaphore may be released by any thread. */
void be_released_by_another(void)
{
	struct waiter waiter = { .way = way_of("semaphore") };
	u64 time[4];

	init_completion(&waiter.ended);
	time[0] = get_cycles();
	down(&a_semaphore);
	time[1] = get_cycles();
	time[2] = time[1];
	if (IS_ERR(kthread_run(release_for_another, &waiter, "another")))
		differs("semaphore by another", -ENOMEM);
	else
		wait_for_completion(&waiter.ended);
	time[3] = get_cycles();
	tell("by_another", &a_semaphore, E(SEMAPHORE), false, 0, time);
	take(way_of("semaphore"), false, 0, NULL, NULL);
}

/*
 * Read-lock an rwsem until all slots are in use, and let another thread release it. An rwsem does
 * not record its readers, so the slots stay in use. Another lock must still get a slot.
 */
static int release_reads(void *data)
{
	struct waiter *waiter = data;
	int i;

	for (i = 0; i < 8; i++)
		up_read(&read_for_another);
	complete(&waiter->ended);
	return 0;
}

void read_for_another_thread(void)
{
	struct waiter waiter = { };
	int i;

	init_completion(&waiter.ended);
	for (i = 0; i < 8; i++)
		down_read(&read_for_another);
	if (IS_ERR(kthread_run(release_reads, &waiter, "another")))
		differs("read for another", -ENOMEM);
	else
		wait_for_completion(&waiter.ended);
	pr_info("none read_for_another 0x%lx\n", (unsigned long)&read_for_another);
	take(way_of("mutex"), false, 0, NULL, NULL);
}

/* Release in an interrupt, as BPF does when it reads a task's memory. */
static void release_in_interrupt(struct irq_work *work)
{
	up_read(&read_for_interrupt);
}

void read_with_interrupts_off(void)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(release_in_interrupt);
	int i;

	for (i = 0; i < 9; i++) {
		local_irq_disable();
		if (down_read_trylock(&read_for_interrupt))
			irq_work_queue(&work);
		else
			differs("read with interrupts off", i);
		local_irq_enable();
		irq_work_sync(&work);
	}
	pr_info("none read_for_interrupt 0x%lx\n", (unsigned long)&read_for_interrupt);
	take(way_of("mutex"), false, 0, NULL, NULL);
}
