/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SLEEPING_LOCK_H
#define _NTKLOG_PERF_SLEEPING_LOCK_H

/*
 * Tracking and sampling of Linux' own locks that sleep, as NT's of executive resources: for who
 * observes them (the hooks), the files (counters) and the tracepoint. Of a lock perf knows the
 * address and the class, and how to ask for its owner.
 *
 * A hook comes when a function that acquires is entered, so that nothing of ours is on the stack
 * of a thread that sleeps: the thread has a slot from then on, in which is noted when it waits,
 * and from which the slot is taken if it gives up. A hook of a release comes before the release.
 *
 * A thread's slots are a stack, more or less: most locks are released in the reverse order of
 * their acquisition. The thread alone fills them, wherever it is preempted; interrupts leave them
 * alone. Another thread only clears the lock of one, of a lock that it releases in the owner's
 * place, so that the owner does not release it at the same time; and who switches a class off
 * clears those of the class when none of its hooks comes any more.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../ground/clock.h"
#include "../ground/thread.h"
#include "release_count.h"
#include "this_cpu.h"

struct task_struct;

/* How a lock is acquired: the low half of an action, with the class of the lock in the high one. */
#define NTKLOG_SLEEPING_EXCLUSIVE	(WMI_RESOURCE_ACTION_ACQUIRE_EXCLUSIVE & \
					 ~WMI_RESOURCE_ACTION_CLASS)
#define NTKLOG_SLEEPING_SHARED		(WMI_RESOURCE_ACTION_ACQUIRE_SHARED & \
					 ~WMI_RESOURCE_ACTION_CLASS)
/* The bit that tells one from the other. */
#define NTKLOG_SLEEPING_IS_EXCLUSIVE	(NTKLOG_SLEEPING_EXCLUSIVE & ~NTKLOG_SLEEPING_SHARED)

/*
 * What else is noted in a slot's action. With any of them its release is not what most are:
 * the thread waits for the lock; it has; what was acquired before has been released; who says so
 * is about to clear it, and has counted its wait.
 */
#define NTKLOG_SLEEPING_WAITING		0x4000
#define NTKLOG_SLEEPING_HAS_WAITED	0x8000
#define NTKLOG_SLEEPING_OVER_HOLE	0x2000
#define NTKLOG_SLEEPING_TAKEN_AWAY	0x1000

/* Classes count from 1 in the lower half of the high half. */
#define NTKLOG_SLEEPING_CLASSES		6

/*
 * A class as it is noted: without the top bit, which all have. So an action is a constant of 31
 * bits, and one instruction makes a slot's state of it.
 */
#define NTKLOG_SLEEPING_ANY_CLASS	0x80000000
#define NTKLOG_SLEEPING_CLASS(_name)	(WMI_RESOURCE_CLASS_LINUX_##_name &	\
					 ~NTKLOG_SLEEPING_ANY_CLASS)

static_assert(WMI_RESOURCE_CLASS_LINUX_MUTEX == 0x80010000);
static_assert(WMI_RESOURCE_CLASS_LINUX_WW_MUTEX == 0x80000000 + (NTKLOG_SLEEPING_CLASSES << 16));
static_assert(PERF_LINUX_WW_MUTEX == (PERF_LINUX_MUTEX << (NTKLOG_SLEEPING_CLASSES - 1) |
				      0xA0000000));

/**
 * struct ntklog_sleeping_cpu - what a processor counts of Linux' own locks that sleep
 * @releases: counted down
 * @acquired: begun, whatever came of it
 * @untracked: of those, that found eight slots taken, or no room for the thread
 * @given_up: of those, that ended without the lock, after a wait
 * @again: of those, that found the lock in a slot of the thread's own: it owns it already, or a
 *	release has not been seen
 * @unmatched: releases that found no slot
 * @in_interrupts: operations of interrupts, which are left out
 * @waits: begun
 * @waited: ended with the lock
 *
 * Written by its own processor only, by single instructions or with interrupts off; read by any.
 */
struct ntklog_sleeping_cpu {
	struct ntklog_release_count releases;
	u64 acquired;
	u64 untracked;
	u64 given_up;
	u64 again;
	u64 unmatched;
	u64 in_interrupts;
	u64 waits;
	u64 waited;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_sleeping_cpu, ntklog_sleeping_cpu);

/**
 * struct ntklog_sleeping_sum - what is known of all threads
 * @owned: slots of locks that are owned
 * @waiting: that are waited for
 * @forgotten: that were in use when their thread exited or their class was switched off
 * @forgotten_waits: of those, that were waited for
 */
struct ntklog_sleeping_sum {
	u64 owned;
	u64 waiting;
	u64 forgotten;
	u64 forgotten_waits;
};

typedef const struct task_struct *(*ntklog_owner_func_t)(const void *lock);

void ntklog_acquire_sleeping_slowly(const void *lock, unsigned long caller, u32 action);
void ntklog_release_sleeping_slowly(const void *lock, u32 action, ntklog_owner_func_t owner,
				    bool counted);
u32 ntklog_sleeping_wait_begins(const void *lock);
void ntklog_sleeping_wait_ends(const void *lock, int err);
void ntklog_note_sleeping_contention(const void *lock, u32 class,
				     const struct task_struct *owner);
void ntklog_sleeping_lock_was_spun_for(const void *lock, u32 class);
void ntklog_share_sleeping_lock(const void *lock, u32 class);

void ntklog_start_sleeping_locks(u32 class);
void ntklog_stop_sleeping_locks(u32 class);
struct ntklog_sleeping_sum ntklog_sum_sleeping_locks(void);
void ntklog_sleeping_locks_init(unsigned int first_timeout_ms, unsigned int next_timeout_ms);

/**
 * ntklog_sleeping_group() - the group of the events of a class
 * @action: an action of it, or the class
 *
 * Context: any.
 * Return: PERF_LINUX_*, one bit.
 */
static inline u32 ntklog_sleeping_group(u32 action)
{
	return (PERF_LINUX_MUTEX & ~0xA0000000) << (((action >> 16) & 0xF) - 1) | 0xA0000000;
}

/**
 * ntklog_track_sleeping_acquire() - the current thread begins to acquire a lock, or has it at once
 * @lock: which
 * @caller: who called the function that acquires
 * @action: the lock's class, and NTKLOG_SLEEPING_EXCLUSIVE or _SHARED; constant
 *
 * Context: thread.
 */
static __always_inline void ntklog_track_sleeping_acquire(const void *lock, unsigned long caller,
							  u32 action)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_thread *thread;
	struct ntklog_time now;

	thread = this_cpu_read(ntklog_here.room);
	if (!ntklog_is_own_room(thread))
		goto slowly;
	slot = thread->next_sleeping_slot;
	/* Behind the last one there is another, which is never free. */
	if (unlikely(READ_ONCE(slot->lock)))
		goto slowly;
	this_cpu_inc(ntklog_sleeping_cpu.acquired);
	now = ntklog_read_time();
	/* As the clock gives it: nobody else looks at it yet. */
	slot->acquire_time_halves[0] = now.low;
	slot->acquire_time_halves[1] = now.high;
	WRITE_ONCE(slot->caller, caller);
	ntklog_write_word(slot->state, action);
	/* Release; pairs with the acquires of those who look for it in another's room. */
	smp_store_release(&slot->lock, lock);
	/*
	 * After it, and in a release before the lock goes: what comes between, such as a print in
	 * the scheduler, finds the next slot taken, and leaves it and this word as they are.
	 */
	WRITE_ONCE(thread->next_sleeping_slot, slot + 1);
	return;
slowly:
	ntklog_acquire_sleeping_slowly(lock, caller, action);
}

/**
 * ntklog_track_sleeping_release() - the current thread is about to release a lock
 * @lock: which
 * @action: as for ntklog_track_sleeping_acquire()
 * @owner: tells whose the lock is, if it is not the current thread's; NULL: nobody knows
 *
 * Context: thread.
 */
static __always_inline void ntklog_track_sleeping_release(const void *lock, u32 action,
							  ntklog_owner_func_t owner)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_thread *thread;

	bool counted = false;

	thread = this_cpu_read(ntklog_here.room);
	if (!ntklog_is_own_room(thread))
		goto slowly;
	slot = thread->next_sleeping_slot - 1;
	/* A waiter may count itself at this moment: it is counted, or it is not. */
	if (unlikely(data_race(slot->lock != lock || slot->state != action)))
		goto slowly;
	counted = true;
	if (unlikely(ntklog_count_down_release(ntklog_sleeping_cpu.releases)))
		goto slowly;
	WRITE_ONCE(thread->next_sleeping_slot, slot);
	WRITE_ONCE(slot->lock, NULL);
	return;
slowly:
	ntklog_release_sleeping_slowly(lock, action, owner, counted);
}

#endif /* _NTKLOG_PERF_SLEEPING_LOCK_H */
