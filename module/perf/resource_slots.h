/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_SLOTS_H
#define _NTKLOG_PERF_RESOURCE_SLOTS_H

/*
 * Where the tracking keeps what it knows of each thread's resources: eight slots
 * per thread. NT has them in its thread object; here a hash finds them, since a
 * Linux task has no room.
 *
 * A thread is named by the address of its task, which is what the resources have;
 * it is never followed.
 */

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* NT's: slots of each thread. */
#define PERF_RESOURCE_SLOTS	8

/**
 * enum perf_resource_state - what a slot knows of its thread and its resource
 * @PERF_RESOURCE_FREE: nothing
 * @PERF_RESOURCE_WAITING: the thread waits
 * @PERF_RESOURCE_ACQUIRED: it owns the resource
 * @PERF_RESOURCE_REACQUIRED: it has acquired it again
 * @PERF_RESOURCE_RELEASED_ONCE: and has released one of its acquisitions
 */
enum perf_resource_state {
	PERF_RESOURCE_FREE,
	PERF_RESOURCE_WAITING,
	PERF_RESOURCE_ACQUIRED,
	PERF_RESOURCE_REACQUIRED,
	PERF_RESOURCE_RELEASED_ONCE,
};

/**
 * struct perf_resource_slot - what is known of one resource of a thread
 * @wait_time: while waiting, when that began; then how long it was, 0 for not at
 *	all, 1 for not known. TSC cycles
 * @acquire_time: when ownership began, TSC cycles; 2 for not known
 * @resource: which
 * @class: of the actions; the other half of which
 * @sequence: of the tracking; a slot of another one is free
 * @processor: where the wait, then the ownership, began
 * @state: enum perf_resource_state
 * @max_recursion_depth: the most acquisitions owned at once
 * @contention_count: of the resource, at the acquisition
 * @reserved: up to NT's 0x40 bytes
 */
struct perf_resource_slot {
	u64 wait_time;
	u64 acquire_time;
	const void *resource;
	u32 class;
	u32 sequence;
	u32 processor;
	u32 state;
	u32 max_recursion_depth;
	u32 contention_count;
	u64 reserved[2];
};

static_assert(sizeof(struct perf_resource_slot) == 0x40);

/**
 * struct perf_resource_thread - the slots of a thread
 * @node: in its bucket
 * @thread: whose slots
 * @thread_id: of it, for the records
 * @slots: what it owns or waits for
 *
 * All is written and read with the bucket's lock held.
 */
struct perf_resource_thread {
	struct hlist_node node;
	unsigned long thread;
	u32 thread_id;
	struct perf_resource_slot slots[PERF_RESOURCE_SLOTS];
};

/**
 * struct perf_resource_bucket - threads of one value of the hash
 * @lock: guards their slots too; taken with interrupts off
 * @threads: them
 */
struct perf_resource_bucket {
	raw_spinlock_t lock;
	struct hlist_head threads;
};

struct perf_resource_bucket *perf_resource_bucket(unsigned long thread);
struct perf_resource_thread *
perf_find_resource_thread(struct perf_resource_bucket *bucket, unsigned long thread);
struct perf_resource_thread *
perf_make_resource_thread(struct perf_resource_bucket *bucket);
struct perf_resource_slot *
perf_find_resource_slot(struct perf_resource_thread *thread, const void *resource,
			u32 action);
struct perf_resource_slot *
perf_make_resource_slot(struct perf_resource_thread *thread, const void *resource,
			u32 action);
void perf_forget_resource_slots(void);
u32 perf_resource_thread_count(void);

int perf_resource_slots_init(void);
void perf_resource_slots_exit(void);

#endif /* _NTKLOG_PERF_RESOURCE_SLOTS_H */
