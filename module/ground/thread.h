/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_THREAD_H
#define _NTKLOG_GROUND_THREAD_H

/*
 * What NT keeps in its threads and Linux has no room for in its own. A thread gets a room
 * when there is first something to keep, and has it until it exits.
 *
 * Rooms are in a hash table. Each processor remembers whom it looked up last, so that
 * finding one's own is three instructions until somebody else has looked his up there. Who
 * looks needs no lock: rooms are freed by RCU.
 *
 * Nothing here allocates on behalf of who asks in a way that could wait for memory to be
 * reclaimed: file systems ask while they write pages out. Rooms are made beforehand.
 */

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <ntklog/irql.h>

#include "word.h"

/* NT's: locks that sleep, tracked for each thread. */
#define NTKLOG_THREAD_SLOTS	8

/**
 * struct ntklog_resource_slot - what is known of one lock that a thread owns
 * @lock: which; NULL: free, or about to be filled
 * @acquire_time: when ownership began, cycles
 * @wait_time: cycles
 * @processor: where ownership began
 * @max_recursion_depth: the most acquisitions owned at once
 * @contention_count: of the lock, at the acquisition
 * @of_softirq: a softirq took it, which alone may give it back; 0 from next_slot on
 * @reserved: up to NT's 0x40 bytes
 *
 * The thread itself fills it, and then names the lock, with release. It is free when the
 * thread clears @lock; or when another one does, with release, that has found it with acquire
 * and keeps the thread from letting the lock go meanwhile.
 */
struct ntklog_resource_slot {
	const void *lock;
	u64 acquire_time;
	u64 wait_time;
	u32 processor;
	u32 max_recursion_depth;
	u32 contention_count;
	u32 of_softirq;
	u32 reserved[6];
};

#ifdef CONFIG_64BIT
static_assert(sizeof(struct ntklog_resource_slot) == 0x40);
#endif

/**
 * struct ntklog_sleeping_slot - one of Linux' sleeping locks that a task holds or waits for
 * @lock: address of the lock; NULL if the slot is free
 * @acquire_time: start of the hold, in cycles; while the task waits, start of the wait
 * @acquire_time_halves: @acquire_time as two words, the low one first
 * @wait_time: duration of the wait, in cycles; valid if @action has NTKLOG_SLEEPING_WAITED
 * @caller: return address of the lock function
 * @state: @action and @contentions as one word
 * @action: lock class, access mode and NTKLOG_SLEEPING_* state bits
 * @contentions: number of waits for the lock that began while the task held it
 * @timeouts: number of timeouts of the current wait that have been handled
 *
 * The task fills the slot and then publishes it with smp_store_release() of @lock. The task frees
 * it by clearing @lock. Two other parties may free it as well: a task that releases the lock on
 * behalf of the owner, and the thread that disables the class. Where two parties compete, each does
 * a cmpxchg() of @lock from the address that it expects, and the one that succeeds counts the slot.
 * Waiters increment @contentions. The periodic check for long waits increments @timeouts.
 */
struct ntklog_sleeping_slot {
	const void *lock;
	union {
		u64 acquire_time;
		u32 acquire_time_halves[2];
	};
	u64 wait_time;
	unsigned long caller;
	union {
		u64 state;
		struct {
			u32 action;
			u32 contentions;
		};
	};
	u32 timeouts;
};

/**
 * struct ntklog_task - what is kept of a thread
 * @next_sleeping_slot: as @next_slot, of @sleeping_slots; also of a room that is nobody's it is
 *	one of them: who remembers that room may look there before he asks whose it is. The first
 *	member, for the others to be cleared at once
 * @task: whose it is
 * @next_slot: from here on all slots are free; before it most are not
 * @sequence: of the tracking that the slots belong to
 * @critical_regions: entered and not left
 * @guarded_regions: entered and not left
 * @apc_level: it is at APC_LEVEL, or was when it raised from there
 * @late: taken when the thread was at its end already, whose end nobody will tell: it goes
 *	as soon as there is nothing to keep, and holds a reference to the thread until then
 * @node: in the table, or among the spare ones
 * @rcu: to be freed by
 * @slots: of what tracks NT's locks that sleep. The first is never used: so there always is one
 *	before @next_slot
 * @is_waiting: for one of Linux' own locks: a slot may say so
 * @sleeping_slots: of what tracks Linux' own; the first is never used here either, and the last
 *	seems to be always
 * @cpus: processors that may remember the room; as many bits as there are processors
 *
 * The thread itself writes these, and interrupts on top of it write @slots; others only
 * take slots away. @task and @late do not change while the room is in the table; @task of a room
 * that is nobody's is NULL.
 */
struct ntklog_task {
	struct ntklog_sleeping_slot *next_sleeping_slot;
	struct task_struct *task;
	struct ntklog_resource_slot *next_slot;
	u32 sequence;
	u32 critical_regions;
	u32 guarded_regions;
	bool apc_level;
	bool late;
	bool is_waiting;
	struct hlist_node node;
	struct rcu_head rcu;
	struct ntklog_resource_slot slots[1 + NTKLOG_THREAD_SLOTS];
	struct ntklog_sleeping_slot sleeping_slots[1 + NTKLOG_THREAD_SLOTS + 1];
	unsigned long cpus[];
};

typedef void (*ntklog_thread_func_t)(struct ntklog_task *thread, void *data);

struct ntklog_task *ntklog_find_thread_slow(void);
struct ntklog_task *ntklog_alloc_task_record(void);
bool ntklog_is_at_apc_level(void);
struct ntklog_task *ntklog_find_thread_of(const struct task_struct *task);
struct ntklog_task *ntklog_get_or_alloc_task_record(void);
void ntklog_free_late_task_record(struct ntklog_task *thread);
void ntklog_set_apc_level(struct ntklog_task *thread, bool apc_level);
void ntklog_make_spare_threads(void);
void ntklog_pin_task_records(void);
void ntklog_unpin_task_records(void);
u32 ntklog_thread_count(void);
void ntklog_visit_task_records(ntklog_thread_func_t call, void *data);
u64 ntklog_sleeping_slots_dropped_at_exit(void);

int ntklog_threads_init(void);
void ntklog_threads_exit(void);

/**
 * ntklog_current_is_cached() - does this processor remember the current thread?
 *
 * Context: preemption off. If so, ntklog_current.room is its room as long as that is: interrupts
 * leave the two as they are.
 */
static __always_inline bool ntklog_current_is_cached(void)
{
	return likely(__this_cpu_read(ntklog_current.thread) == current);
}

/**
 * ntklog_record_is_current() - is it the current thread's?
 * @room: what this processor remembers
 *
 * Context: thread, with preemption off; or with it on, after ntklog_pin_task_records(): whichever
 * processor's memory it was, a room is a room, and that of the thread that it says.
 */
static __always_inline bool ntklog_record_is_current(const struct ntklog_task *room)
{
	return likely(READ_ONCE(room->task) == current);
}

/**
 * ntklog_find_thread() - the current thread's room
 *
 * Context: any.
 * Return: it, or NULL: it has none. It stays until the thread exits, or puts it.
 */
static __always_inline struct ntklog_task *ntklog_find_thread(void)
{
	struct ntklog_task *thread;

	preempt_disable();
	if (ntklog_current_is_cached())
		thread = __this_cpu_read(ntklog_current.room);
	else
		thread = ntklog_find_thread_slow();
	preempt_enable();
	return thread;
}

/**
 * ntklog_put_thread() - less may be kept in it than before
 * @thread: the current thread's room
 *
 * Context: thread.
 */
static __always_inline void ntklog_put_thread(struct ntklog_task *thread)
{
	if (unlikely(thread->late))
		ntklog_free_late_task_record(thread);
}

#endif /* _NTKLOG_GROUND_THREAD_H */
