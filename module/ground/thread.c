// SPDX-License-Identifier: GPL-2.0-only
/* See thread.h. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/hashtable.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include "../compat.h"
#include "thread.h"
#include "tracepoint.h"

/*
 * Rooms at hand; below half of them more are made. While each thread that takes a lock gets one, a
 * burst of new ones finds more.
 */
#define NTKLOG_SPARE_THREADS		128
#define NTKLOG_MORE_SPARE_THREADS	1024

/* Times that one who must not wait for ever looks whether ntklog_threads_lock is free. */
#define NTKLOG_LOCK_TRIES		10000

static struct kmem_cache *ntklog_thread_cache;

/*
 * Guards the table against other writers, and the spare ones. Taken when a thread gets its
 * room and when it exits, never to find one.
 */
static DEFINE_RAW_SPINLOCK(ntklog_threads_lock);
static DEFINE_HASHTABLE(ntklog_threads, 10);
static u32 ntklog_threads_in_use;
static HLIST_HEAD(ntklog_spare_threads);
static u32 ntklog_spare_count;
/* Written with the lock held; read without by who asks how many are to be at hand. */
static bool ntklog_task_records_pinned;

/* The room of nobody, which a processor remembers that knows of none. */
static struct ntklog_task ntklog_dummy_record = {
	.next_sleeping_slot = &ntklog_dummy_record.sleeping_slots[1],
};

DEFINE_PER_CPU_ALIGNED(struct ntklog_current, ntklog_current);
EXPORT_PER_CPU_SYMBOL_GPL(ntklog_current);

static u32 ntklog_spare_target(void)
{
	return READ_ONCE(ntklog_task_records_pinned) ? NTKLOG_MORE_SPARE_THREADS :
						       NTKLOG_SPARE_THREADS;
}

/* Whether the room is now a spare one: there may be enough of them. */
static bool ntklog_put_spare(struct ntklog_task *thread)
{
	unsigned long flags;
	bool put;

	raw_spin_lock_irqsave(&ntklog_threads_lock, flags);
	put = ntklog_spare_count < NTKLOG_SPARE_THREADS || ntklog_task_records_pinned;
	if (put) {
		hlist_add_head(&thread->node, &ntklog_spare_threads);
		WRITE_ONCE(ntklog_spare_count, ntklog_spare_count + 1);
	}
	raw_spin_unlock_irqrestore(&ntklog_threads_lock, flags);
	return put;
}

/* Called with ntklog_threads_lock held. */
static struct ntklog_task *ntklog_alloc_first_spare(void)
{
	struct ntklog_task *thread;

	thread = hlist_entry_safe(ntklog_spare_threads.first, struct ntklog_task, node);
	if (thread) {
		hlist_del(&thread->node);
		WRITE_ONCE(ntklog_spare_count, ntklog_spare_count - 1);
	}
	return thread;
}

/**
 * ntklog_make_spare_threads() - have rooms at hand
 *
 * Context: thread; may sleep.
 */
void ntklog_make_spare_threads(void)
{
	struct ntklog_task *thread;

	while (READ_ONCE(ntklog_spare_count) < ntklog_spare_target()) {
		thread = kmem_cache_zalloc(ntklog_thread_cache, GFP_KERNEL);
		/* The next who takes a spare one asks again. */
		if (!thread)
			return;
		if (!ntklog_put_spare(thread))
			kmem_cache_free(ntklog_thread_cache, thread);
	}
}

/**
 * ntklog_pin_task_records() - from now on a room stays one, and its memory that of a room
 *
 * Context: thread. One at a time.
 */
void ntklog_pin_task_records(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ntklog_threads_lock, flags);
	WRITE_ONCE(ntklog_task_records_pinned, true);
	raw_spin_unlock_irqrestore(&ntklog_threads_lock, flags);
	/* What is being freed now has been forgotten by all processors. */
	rcu_barrier();
}

/**
 * ntklog_unpin_task_records() - undo ntklog_pin_task_records()
 *
 * Context: thread; nobody is in what relies on it. One at a time.
 */
void ntklog_unpin_task_records(void)
{
	struct ntklog_task *thread;
	unsigned long flags;

	do {
		raw_spin_lock_irqsave(&ntklog_threads_lock, flags);
		WRITE_ONCE(ntklog_task_records_pinned, false);
		thread = ntklog_spare_count > NTKLOG_SPARE_THREADS ? ntklog_alloc_first_spare() :
								     NULL;
		raw_spin_unlock_irqrestore(&ntklog_threads_lock, flags);
		if (thread)
			kmem_cache_free(ntklog_thread_cache, thread);
	} while (thread);
}

static void ntklog_spare_work_run(struct work_struct *work)
{
	ntklog_make_spare_threads();
}

static DECLARE_WORK(ntklog_spare_work, ntklog_spare_work_run);

/* Who takes a room may own whatever a wake-up needs: an interrupt of its own does it. */
static void ntklog_spare_irq_work_run(struct irq_work *work)
{
	schedule_work(&ntklog_spare_work);
}

static DEFINE_IRQ_WORK(ntklog_spare_irq_work, ntklog_spare_irq_work_run);

static void ntklog_ask_for_spare(void)
{
	if (READ_ONCE(ntklog_spare_count) < ntklog_spare_target() / 2)
		irq_work_queue(&ntklog_spare_irq_work);
}

static struct ntklog_task *ntklog_alloc_spare(void)
{
	struct ntklog_task *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&ntklog_threads_lock, flags);
	thread = ntklog_alloc_first_spare();
	raw_spin_unlock_irqrestore(&ntklog_threads_lock, flags);
	ntklog_ask_for_spare();
	return thread;
}

/*
 * Called with preemption off or in an RCU read-side section, which ntklog_free_task_record()
 * waits for.
 */
static struct ntklog_task *ntklog_lookup_task_record(const struct task_struct *task)
{
	struct ntklog_task *thread;

	hash_for_each_possible_rcu(ntklog_threads, thread, node, (unsigned long)task)
		if (thread->task == task)
			return thread;
	return NULL;
}

/*
 * The current thread's room, for this processor to remember. Called with interrupts off: no
 * interrupt sees one word of it without the others, and the thread stays here.
 *
 * Only a thread itself makes a processor remember it. So once it has made them all forget,
 * none does, until it comes here again; interrupts on top of it do not.
 */
static void ntklog_cache_record(struct ntklog_task *thread)
{
	if (!in_task())
		return;
	__set_bit(smp_processor_id(), thread->cpus);
	__this_cpu_write(ntklog_current.room, thread);
	/* An NMI must not take the room of who was here before for this one's. */
	barrier();
	__this_cpu_write(ntklog_current.thread, current);
	if (!thread->apc_level)
		__this_cpu_write(ntklog_current.passive, current);
}

/*
 * By the thread itself. Other threads may at the same time make their processors remember
 * them. @but: the thread's own processor, which forgets only that it is passive; -1: none.
 */
static void ntklog_uncache_record(struct ntklog_task *thread, int but)
{
	int cpu;

	for_each_set_bit(cpu, thread->cpus, nr_cpu_ids) {
		struct ntklog_current *here = per_cpu_ptr(&ntklog_current, cpu);

		(void)cmpxchg(&here->passive, thread->task, NULL);
		if (cpu == but)
			continue;
		(void)cmpxchg(&here->thread, thread->task, NULL);
		(void)cmpxchg(&here->room, thread, &ntklog_dummy_record);
		__clear_bit(cpu, thread->cpus);
	}
}

/* Called with interrupts off and ntklog_threads_lock held, for one that is not in the table. */
static void ntklog_insert_thread_locked(struct ntklog_task *thread, bool late)
{
	memset_after(thread, 0, next_sleeping_slot);
	memset(thread->cpus, 0, BITS_TO_LONGS(nr_cpu_ids) * sizeof(*thread->cpus));
	WRITE_ONCE(thread->next_sleeping_slot, &thread->sleeping_slots[1]);
	thread->task = current;
	thread->next_slot = &thread->slots[1];
	thread->sleeping_slots[1 + NTKLOG_THREAD_SLOTS].lock = thread;
	thread->late = late;
	if (late) {
		get_task_struct(current);
		/* It goes without regard to these. */
		thread->next_sleeping_slot = &thread->sleeping_slots[1 + NTKLOG_THREAD_SLOTS];
	}
	hash_add_rcu(ntklog_threads, &thread->node, (unsigned long)current);
	WRITE_ONCE(ntklog_threads_in_use, ntklog_threads_in_use + 1);
}

/* Called with interrupts off, for a thread that is not in the table. */
static void ntklog_insert_thread(struct ntklog_task *thread, bool late)
{
	raw_spin_lock(&ntklog_threads_lock);
	ntklog_insert_thread_locked(thread, late);
	raw_spin_unlock(&ntklog_threads_lock);
}

/*
 * As ntklog_insert_thread(), of a spare one; NULL: there is none, or it is not to be had now. Who
 * takes a room from within a function of a lock may be called by what the owner of
 * ntklog_threads_lock calls: a tracepoint's probe, what prints a report. He gets none then.
 */
static struct ntklog_task *ntklog_insert_spare(void)
{
	struct ntklog_task *thread = NULL;
	int tries = NTKLOG_LOCK_TRIES;

	while (READ_ONCE(ntklog_spare_count) && tries--) {
		if (raw_spin_trylock(&ntklog_threads_lock))
			goto locked;
		cpu_relax();
	}
	goto out;

locked:
	thread = ntklog_alloc_first_spare();
	if (thread)
		ntklog_insert_thread_locked(thread, false);
	raw_spin_unlock(&ntklog_threads_lock);
out:
	ntklog_ask_for_spare();
	return thread;
}

static void ntklog_free_thread(struct rcu_head *rcu)
{
	struct ntklog_task *thread = container_of(rcu, struct ntklog_task, rcu);

	if (!ntklog_put_spare(thread))
		kmem_cache_free(ntklog_thread_cache, thread);
}

/* What threads still owned, or seemed to, when they exited. */
static atomic64_t ntklog_sleeping_slots_dropped_count;

static void ntklog_drop_sleeping_slots(struct ntklog_task *thread)
{
	int i;

	for (i = 1; i <= NTKLOG_THREAD_SLOTS; i++)
		if (xchg(&thread->sleeping_slots[i].lock, NULL))
			atomic64_inc(&ntklog_sleeping_slots_dropped_count);
}

/* By the thread itself, which looks for no room meanwhile. */
static void ntklog_free_task_record(struct ntklog_task *thread)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ntklog_threads_lock, flags);
	hash_del_rcu(&thread->node);
	WRITE_ONCE(ntklog_threads_in_use, ntklog_threads_in_use - 1);
	raw_spin_unlock_irqrestore(&ntklog_threads_lock, flags);
	ntklog_uncache_record(thread, -1);
	ntklog_drop_sleeping_slots(thread);
	if (thread->late)
		put_task_struct(thread->task);
	WRITE_ONCE(thread->task, NULL);
	call_rcu(&thread->rcu, ntklog_free_thread);
}

/**
 * ntklog_find_thread_slow() - the current thread's room, which this processor may not
 *	remember
 *
 * Context: any.
 * Return: it, or NULL: it has none.
 */
struct ntklog_task *ntklog_find_thread_slow(void)
{
	struct ntklog_task *thread;
	unsigned long flags;

	local_irq_save(flags);
	thread = ntklog_lookup_task_record(current);
	if (thread)
		ntklog_cache_record(thread);
	local_irq_restore(flags);
	return thread;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_find_thread_slow);

/**
 * ntklog_alloc_task_record() - the current thread's room, which it gets if it has none
 *
 * Context: thread or softirq, whatever is owned: nothing is allocated, nobody woken.
 * Return: it, or NULL: without a spare one, and for a thread that has been told to exit,
 * whose end may have been told already.
 */
struct ntklog_task *ntklog_alloc_task_record(void)
{
	struct ntklog_task *thread;
	unsigned long flags;

	local_irq_save(flags);
	thread = ntklog_lookup_task_record(current);
	if (!thread && !(current->flags & PF_EXITING))
		thread = ntklog_insert_spare();
	if (thread)
		ntklog_cache_record(thread);
	local_irq_restore(flags);
	return thread;
}

/* With none at hand, from memory that need not be reclaimed first. NULL: there is none. */
static struct ntklog_task *ntklog_try_to_get_thread(void)
{
	struct ntklog_task *spare = ntklog_alloc_spare();
	struct ntklog_task *thread;
	unsigned long flags;

	if (!spare)
		spare = kmem_cache_zalloc(ntklog_thread_cache, GFP_ATOMIC | __GFP_NOWARN);
	if (!spare)
		return NULL;
	local_irq_save(flags);
	/* A softirq may have taken one in this thread's name. */
	thread = ntklog_lookup_task_record(current);
	if (!thread) {
		thread = spare;
		spare = NULL;
		ntklog_insert_thread(thread, current->flags & PF_EXITING);
	}
	ntklog_cache_record(thread);
	local_irq_restore(flags);
	if (spare && !ntklog_put_spare(spare))
		kmem_cache_free(ntklog_thread_cache, spare);
	return thread;
}

/**
 * ntklog_get_or_alloc_task_record() - the current thread's room, to keep something in it
 *
 * To be put when less is kept. NT's functions that need it cannot fail. It does not reclaim
 * memory: the caller may be who writes pages out. If there is none to be had it waits for
 * others to reclaim some.
 *
 * Context: thread; may sleep.
 * Return: it.
 */
struct ntklog_task *ntklog_get_or_alloc_task_record(void)
{
	struct ntklog_task *thread = ntklog_find_thread();

	while (unlikely(!thread)) {
		thread = ntklog_try_to_get_thread();
		if (!thread)
			schedule_timeout_uninterruptible(1);
	}
	return thread;
}

/**
 * ntklog_free_late_task_record() - as ntklog_put_thread(), by a thread at its end
 * @thread: the current thread's room
 *
 * Context: thread.
 */
void ntklog_free_late_task_record(struct ntklog_task *thread)
{
	if (!thread->apc_level && !thread->critical_regions && !thread->guarded_regions)
		ntklog_free_task_record(thread);
}

/**
 * ntklog_find_thread_of() - any thread's room
 * @task: the thread; only compared
 *
 * Context: preemption off or an RCU read-side section, to the end of which the room is
 * that thread's.
 * Return: it, or NULL: it has none, or no such thread is there.
 */
struct ntklog_task *ntklog_find_thread_of(const struct task_struct *task)
{
	return ntklog_lookup_task_record(task);
}

/**
 * ntklog_set_apc_level() - the current thread is at APC_LEVEL from now on, or no more
 * @thread: its room
 * @apc_level: which
 *
 * Context: thread.
 */
void ntklog_set_apc_level(struct ntklog_task *thread, bool apc_level)
{
	unsigned long flags;

	WRITE_ONCE(thread->apc_level, apc_level);
	preempt_disable();
	if (apc_level)
		ntklog_uncache_record(thread, smp_processor_id());
	local_irq_save(flags);
	ntklog_cache_record(thread);
	local_irq_restore(flags);
	preempt_enable();
}

/**
 * ntklog_is_at_apc_level() - is the current thread at APC_LEVEL, or was when it raised?
 *
 * Who asks often gets a room for it, so that the processor remembers the answer.
 *
 * Context: thread, whatever is owned.
 */
bool ntklog_is_at_apc_level(void)
{
	struct ntklog_task *thread = NULL;
	bool apc_level;

	preempt_disable();
	if (ntklog_current_is_cached())
		thread = __this_cpu_read(ntklog_current.room);
	/* Remembered, but not that it is passive: it was not for a while. */
	if (!thread || !thread->apc_level)
		thread = ntklog_alloc_task_record();
	apc_level = thread && thread->apc_level;
	preempt_enable();
	return apc_level;
}

/**
 * ntklog_thread_count() - threads that have a room
 *
 * Context: any.
 * Return: how many.
 */
u32 ntklog_thread_count(void)
{
	return READ_ONCE(ntklog_threads_in_use);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_thread_count);

/**
 * ntklog_visit_task_records() - call for the room of each thread that has one
 * @call: what; it may not sleep
 * @data: for it
 *
 * Context: thread. Rooms that come or go meanwhile may be left out.
 */
void ntklog_visit_task_records(ntklog_thread_func_t call, void *data)
{
	struct ntklog_task *thread;
	unsigned int bucket;

	rcu_read_lock();
	hash_for_each_rcu(ntklog_threads, bucket, thread, node)
		call(thread, data);
	rcu_read_unlock();
}

/**
 * ntklog_sleeping_slots_dropped_at_exit() - what threads still owned when they exited
 *
 * Context: any.
 * Return: how many of Linux' own locks, so far.
 */
u64 ntklog_sleeping_slots_dropped_at_exit(void)
{
	return atomic64_read(&ntklog_sleeping_slots_dropped_count);
}

static void ntklog_warn_leaked_region(const struct ntklog_task *thread)
{
	if (thread->apc_level)
		pr_warn_ratelimited("thread %d was left at APC_LEVEL\n",
				    task_pid_nr(thread->task));
	if (thread->critical_regions)
		pr_warn_ratelimited("thread %d was left in a critical region\n",
				    task_pid_nr(thread->task));
	if (thread->guarded_regions)
		pr_warn_ratelimited("thread %d was left in a guarded region\n",
				    task_pid_nr(thread->task));
}

/*
 * The current thread is at its end. It may still call us, when it closes its files: see
 * @late.
 */
static void ntklog_task_exit_probe(void *data, struct task_struct *task)
{
	struct ntklog_task *thread;

	if (!ntklog_thread_count())
		return;
	/* Since 7.x a probe may be preempted. One's own room stays until it is forgotten. */
	rcu_read_lock();
	thread = ntklog_lookup_task_record(task);
	rcu_read_unlock();
	if (!thread)
		return;
	ntklog_warn_leaked_region(thread);
	ntklog_free_task_record(thread);
}

/* What the tracepoint calls has to be of its own type where calls by pointer are checked. */
static void ntklog_thread_of_group_exits(void *data, struct task_struct *task, bool group_dead)
{
	ntklog_task_exit_probe(data, task);
}

static void *const ntklog_exit_probe = ntklog_exit_tells_group_dead() ?
	(void *)ntklog_thread_of_group_exits : (void *)ntklog_task_exit_probe;

static struct tracepoint *ntklog_exit_tracepoint;

/**
 * ntklog_threads_init() - be told when threads exit, and have rooms at hand
 *
 * Context: load.
 * Return: 0, -ENOMEM, -ENOENT if the kernel does not tell when a thread exits.
 */
int __init ntklog_threads_init(void)
{
	struct ntklog_task *thread;
	int cpu, err;

	/* A module's per-CPU data begin without relocations. */
	for_each_possible_cpu(cpu)
		per_cpu(ntklog_current.room, cpu) = &ntklog_dummy_record;
	ntklog_exit_tracepoint = ntklog_find_tracepoint("sched_process_exit");
	if (!ntklog_exit_tracepoint)
		return -ENOENT;
	ntklog_thread_cache = kmem_cache_create("ntklog_task",
						struct_size(thread, cpus,
							    BITS_TO_LONGS(nr_cpu_ids)),
						0, SLAB_HWCACHE_ALIGN, NULL);
	if (!ntklog_thread_cache)
		return -ENOMEM;
	err = tracepoint_probe_register(ntklog_exit_tracepoint, ntklog_exit_probe, NULL);
	if (err) {
		kmem_cache_destroy(ntklog_thread_cache);
		return err;
	}
	ntklog_make_spare_threads();
	return 0;
}

/**
 * ntklog_threads_exit() - free the rooms of all threads
 *
 * Context: unload, when no user of the module is left, or a load that failed after
 * ntklog_threads_init().
 */
void ntklog_threads_exit(void)
{
	struct ntklog_task *thread;
	struct hlist_node *next;
	unsigned int bucket;

	/* A thread in the table has not told its end: its task stays as long as this. */
	rcu_read_lock();
	hash_for_each_rcu(ntklog_threads, bucket, thread, node)
		ntklog_warn_leaked_region(thread);
	rcu_read_unlock();
	tracepoint_probe_unregister(ntklog_exit_tracepoint, ntklog_exit_probe, NULL);
	tracepoint_synchronize_unregister();
	irq_work_sync(&ntklog_spare_irq_work);
	cancel_work_sync(&ntklog_spare_work);
	/* ntklog_free_thread() has run for all. */
	rcu_barrier();
	hash_for_each_safe(ntklog_threads, bucket, next, thread, node) {
		if (thread->late)
			put_task_struct(thread->task);
		kmem_cache_free(ntklog_thread_cache, thread);
	}
	hlist_for_each_entry_safe(thread, next, &ntklog_spare_threads, node)
		kmem_cache_free(ntklog_thread_cache, thread);
	kmem_cache_destroy(ntklog_thread_cache);
}
