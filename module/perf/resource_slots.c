// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slots of the threads. They are taken from entries made beforehand, since the
 * tracking may not allocate, and go back when their thread exits.
 */

#include <linux/export.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../compat.h"
#include "resource.h"
#include "resource_slots.h"

#define PERF_RESOURCE_BUCKET_BITS	8

/* Entries at hand while tracking is on; below half of them more are made. */
#define PERF_RESOURCE_SPARES		128

static struct perf_resource_bucket
perf_resource_buckets[1 << PERF_RESOURCE_BUCKET_BITS];
static struct kmem_cache *perf_resource_thread_cache;
static atomic_t perf_resource_threads = ATOMIC_INIT(0);

/*
 * Of the tracking; a slot with another one's number is free. Written by who turns the
 * tracking on, one at a time; read by the hooks with a bucket's lock held, which orders
 * the slots but not this: see perf_forget_resource_slots().
 */
static u32 perf_resource_sequence;

/* Guards the two below. Taken with a bucket's lock held. */
static DEFINE_RAW_SPINLOCK(perf_spare_lock);
static HLIST_HEAD(perf_spare_threads);
static u32 perf_spare_count;

static void perf_make_spares(struct work_struct *work);
static DECLARE_WORK(perf_spare_work, perf_make_spares);

/* Whether the entry is now a spare one: there may be enough of them. */
static bool perf_put_spare(struct perf_resource_thread *thread)
{
	unsigned long flags;
	bool put;

	raw_spin_lock_irqsave(&perf_spare_lock, flags);
	put = perf_spare_count < PERF_RESOURCE_SPARES;
	if (put) {
		hlist_add_head(&thread->node, &perf_spare_threads);
		WRITE_ONCE(perf_spare_count, perf_spare_count + 1);
	}
	raw_spin_unlock_irqrestore(&perf_spare_lock, flags);
	return put;
}

static void perf_make_spares(struct work_struct *work)
{
	struct perf_resource_thread *thread;

	while (READ_ONCE(perf_spare_count) < PERF_RESOURCE_SPARES) {
		thread = kmem_cache_alloc(perf_resource_thread_cache, GFP_KERNEL);
		/* The next who takes a spare one asks again. */
		if (!thread)
			return;
		if (!perf_put_spare(thread))
			kmem_cache_free(perf_resource_thread_cache, thread);
	}
}

/* Called with interrupts off. */
static struct perf_resource_thread *perf_take_spare(void)
{
	struct perf_resource_thread *thread;

	raw_spin_lock(&perf_spare_lock);
	thread = hlist_entry_safe(perf_spare_threads.first,
				  struct perf_resource_thread, node);
	if (thread) {
		hlist_del(&thread->node);
		WRITE_ONCE(perf_spare_count, perf_spare_count - 1);
	}
	raw_spin_unlock(&perf_spare_lock);
	if (READ_ONCE(perf_spare_count) < PERF_RESOURCE_SPARES / 2)
		schedule_work(&perf_spare_work);
	return thread;
}

/**
 * perf_resource_bucket() - where the slots of a thread are
 * @thread: which
 *
 * Context: any.
 * Return: its bucket.
 */
struct perf_resource_bucket *perf_resource_bucket(unsigned long thread)
{
	return &perf_resource_buckets[hash_long(thread, PERF_RESOURCE_BUCKET_BITS)];
}

/**
 * perf_find_resource_thread() - find the slots of a thread
 * @bucket: of the thread
 * @thread: which
 *
 * Context: the bucket's lock held.
 * Return: them, or NULL: it has none.
 */
struct perf_resource_thread *
perf_find_resource_thread(struct perf_resource_bucket *bucket, unsigned long thread)
{
	struct perf_resource_thread *found;

	hlist_for_each_entry(found, &bucket->threads, node)
		if (found->thread == thread)
			return found;
	return NULL;
}

/**
 * perf_make_resource_thread() - the current thread's slots, taken into use if it has none
 * @bucket: of the current thread
 *
 * Context: the bucket's lock held.
 * Return: them, or NULL: without a spare entry, and for a thread that has been told
 * to exit, whose slots may be freed already.
 */
struct perf_resource_thread *
perf_make_resource_thread(struct perf_resource_bucket *bucket)
{
	struct perf_resource_thread *made =
		perf_find_resource_thread(bucket, (unsigned long)current);

	if (made || current->flags & PF_EXITING)
		return made;
	made = perf_take_spare();
	if (!made)
		return NULL;
	memset(made, 0, sizeof(*made));
	made->thread = (unsigned long)current;
	made->thread_id = task_pid_nr(current);
	hlist_add_head(&made->node, &bucket->threads);
	atomic_inc(&perf_resource_threads);
	return made;
}

static bool perf_slot_is_free(const struct perf_resource_slot *slot)
{
	return slot->state == PERF_RESOURCE_FREE ||
		slot->sequence != READ_ONCE(perf_resource_sequence);
}

/**
 * perf_find_resource_slot() - find the slot of a resource
 * @thread: whose; may be NULL
 * @resource: which
 * @action: of its class
 *
 * Context: the lock of the thread's bucket held.
 * Return: it, or NULL: nothing is known.
 */
struct perf_resource_slot *
perf_find_resource_slot(struct perf_resource_thread *thread, const void *resource,
			u32 action)
{
	int i;

	for (i = 0; thread && i < PERF_RESOURCE_SLOTS; i++) {
		struct perf_resource_slot *slot = &thread->slots[i];

		if (slot->resource == resource &&
		    slot->class == (action & WMI_RESOURCE_ACTION_CLASS) &&
		    !perf_slot_is_free(slot))
			return slot;
	}
	return NULL;
}

/**
 * perf_make_resource_slot() - find the slot of a resource, or take a free one for it
 * @thread: whose; may be NULL
 * @resource: which
 * @action: of its class
 *
 * Context: the lock of the thread's bucket held.
 * Return: it, or NULL: all are taken, which has been counted.
 */
struct perf_resource_slot *
perf_make_resource_slot(struct perf_resource_thread *thread, const void *resource,
			u32 action)
{
	struct perf_resource_slot *slot =
		perf_find_resource_slot(thread, resource, action);
	int i;

	for (i = 0; !slot && thread && i < PERF_RESOURCE_SLOTS; i++) {
		if (!perf_slot_is_free(&thread->slots[i]))
			continue;
		slot = &thread->slots[i];
		memset(slot, 0, sizeof(*slot));
		slot->resource = resource;
		slot->class = action & WMI_RESOURCE_ACTION_CLASS;
		slot->sequence = READ_ONCE(perf_resource_sequence);
	}
	if (!slot)
		this_cpu_inc(perf_resource_cpu.untracked);
	return slot;
}

/**
 * perf_forget_resource_slots() - the tracking begins anew
 *
 * A hook that has not yet seen it go off may still mark a slot with the new number:
 * of an acquisition that is true all the same.
 *
 * Context: thread; one at a time.
 */
void perf_forget_resource_slots(void)
{
	perf_make_spares(NULL);
	WRITE_ONCE(perf_resource_sequence, perf_resource_sequence + 1);
}

/* A thread is at its end: so are its slots. */
static void perf_resource_thread_exit(void *data, struct task_struct *task)
{
	struct perf_resource_bucket *bucket =
		perf_resource_bucket((unsigned long)task);
	struct perf_resource_thread *thread;
	unsigned long flags;

	if (!atomic_read(&perf_resource_threads))
		return;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	thread = perf_find_resource_thread(bucket, (unsigned long)task);
	if (thread)
		hlist_del(&thread->node);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	if (!thread)
		return;
	if (!perf_put_spare(thread))
		kmem_cache_free(perf_resource_thread_cache, thread);
	atomic_dec(&perf_resource_threads);
}

/**
 * perf_resource_thread_count() - threads that have slots
 *
 * Context: any.
 * Return: how many.
 */
u32 perf_resource_thread_count(void)
{
	return atomic_read(&perf_resource_threads);
}
EXPORT_SYMBOL_IF_KUNIT(perf_resource_thread_count);

static struct tracepoint *perf_exit_tracepoint;

static void __init perf_find_exit_tracepoint(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "sched_process_exit"))
		*(struct tracepoint **)found = tracepoint;
}

/**
 * perf_resource_slots_init() - be told when threads exit
 *
 * Context: load.
 * Return: 0, -ENOMEM, -ENOENT if the kernel does not tell when a thread exits.
 */
int __init perf_resource_slots_init(void)
{
	int err;
	int i;

	for (i = 0; i < ARRAY_SIZE(perf_resource_buckets); i++)
		raw_spin_lock_init(&perf_resource_buckets[i].lock);

	for_each_kernel_tracepoint(perf_find_exit_tracepoint, &perf_exit_tracepoint);
	if (!perf_exit_tracepoint)
		return -ENOENT;
	perf_resource_thread_cache = KMEM_CACHE(perf_resource_thread, 0);
	if (!perf_resource_thread_cache)
		return -ENOMEM;
	err = tracepoint_probe_register(perf_exit_tracepoint,
					perf_resource_thread_exit, NULL);
	if (err)
		kmem_cache_destroy(perf_resource_thread_cache);
	return err;
}

/**
 * perf_resource_slots_exit() - free the slots of all threads
 *
 * Context: unload, when no user of the module is left, or a load that failed after
 * perf_resource_slots_init().
 */
void perf_resource_slots_exit(void)
{
	struct perf_resource_thread *thread;
	struct hlist_node *next;
	int i;

	tracepoint_probe_unregister(perf_exit_tracepoint,
				    perf_resource_thread_exit, NULL);
	tracepoint_synchronize_unregister();
	cancel_work_sync(&perf_spare_work);
	for (i = 0; i < ARRAY_SIZE(perf_resource_buckets); i++)
		hlist_for_each_entry_safe(thread, next,
					  &perf_resource_buckets[i].threads, node)
			kmem_cache_free(perf_resource_thread_cache, thread);
	hlist_for_each_entry_safe(thread, next, &perf_spare_threads, node)
		kmem_cache_free(perf_resource_thread_cache, thread);
	kmem_cache_destroy(perf_resource_thread_cache);
}
