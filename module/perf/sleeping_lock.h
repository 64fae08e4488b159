/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SLEEPING_LOCK_H
#define _NTKLOG_PERF_SLEEPING_LOCK_H

/*
 * Tracking and sampling of Linux' sleeping locks. Of a percpu_rw_semaphore only writers and the
 * waits of readers are tracked. The rules and the event are those of NT's executive resources.
 *
 * An acquire hook runs at the entry of the lock function, before the task has the lock, except that
 * of a trylock, which runs after success. The slot is taken before it is known whether the task
 * will wait, and freed if the task gives up. A release hook runs before the lock is released.
 *
 * The slots of a task form a stack with holes, because most locks are released in the reverse order
 * of their acquisition: see sleeping_slots.c. The task itself fills its slots, and it may be
 * preempted meanwhile. An interrupt handler never changes a slot. Another task may free a slot: one
 * that releases the lock on behalf of the owner, or one that disables the lock class, after the
 * last hook of the class has returned. Both set slot->lock to NULL with cmpxchg(), so that one
 * party frees the slot and counts it.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../ground/clock.h"
#include "../ground/task_record.h"
#include "../ground/thread.h"
#include "record_limit.h"
#include "release_count.h"
#include "sleeping_slots.h"
#include "this_cpu.h"

struct task_struct;

/**
 * struct ntklog_sleeping_lock_cpu - per-CPU counters of Linux' sleeping locks
 * @release_count: releases that found their slot, and ended waits of percpu_rw_semaphore readers
 * @acquire_attempts: calls of an acquire hook that are not counted in @untrackable_operations, and
 *	waits of percpu_rw_semaphore readers
 * @untracked_count: acquisitions that got no slot
 * @waits_given_up: acquisitions that ended without the lock after a wait
 * @releases_missed: acquisitions that are not counted as released
 * @unmatched_count: releases that found no slot
 * @untrackable_operations: operations in interrupt context, and successful calls of
 *	down_read_trylock() with interrupts off, none of which is tracked
 * @waits_begun: waits that began
 * @waits_ended: waits that ended with the lock acquired
 * @blocker_limit: limit of the records that no other rule would write
 *
 * Each CPU writes only its own counters, by single instructions or with interrupts off; for
 * @release_count of an offline CPU see release_count.h. Other CPUs may read stale values.
 *
 * When no lock operation is in progress, the sums over all CPUs satisfy acquire_attempts =
 * number of releases + untracked_count + waits_given_up + releases_missed + slots in use + dropped
 * slots.
 */
struct ntklog_sleeping_lock_cpu {
	struct ntklog_release_count release_count;
	u64 acquire_attempts;
	u64 untracked_count;
	u64 waits_given_up;
	u64 releases_missed;
	u64 unmatched_count;
	u64 untrackable_operations;
	u64 waits_begun;
	u64 waits_ended;
	struct ntklog_record_limit blocker_limit;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_sleeping_lock_cpu, ntklog_sleeping_lock_cpu);

/**
 * struct ntklog_sleeping_slot_totals - slots of all tasks
 * @held_slots: slots of held locks
 * @waiting_slots: slots of locks that a task waits for
 * @dropped_slots: slots dropped in use, because the task exited or the class was disabled
 * @dropped_waiting_slots: dropped slots whose task was waiting
 */
struct ntklog_sleeping_slot_totals {
	u64 held_slots;
	u64 waiting_slots;
	u64 dropped_slots;
	u64 dropped_waiting_slots;
};

typedef const struct task_struct *(*ntklog_owner_func_t)(const void *lock);

void ntklog_track_sleeping_acquire_slow(const void *lock, unsigned long caller, u32 action);
void ntklog_track_sleeping_release_slow(const void *lock, u32 action, ntklog_owner_func_t get_owner,
					bool has_waiters, bool is_counted);
u32 ntklog_begin_sleeping_wait(const void *lock);
void ntklog_end_sleeping_wait(const void *lock, int err);
void ntklog_count_sleeping_contention(const void *lock, u32 class,
				      const struct task_struct *owner);
void ntklog_end_optimistic_spin(const void *lock, u32 class);
void ntklog_track_downgrade(const void *lock, u32 class);

int ntklog_enable_sleeping_class(u32 class);
void ntklog_disable_sleeping_class(u32 class);
struct ntklog_sleeping_slot_totals ntklog_count_sleeping_slots(void);
void ntklog_sleeping_locks_init(unsigned int first_timeout_ms, unsigned int next_timeout_ms);

/**
 * ntklog_track_sleeping_acquire() - record that the current task starts to acquire a lock
 * @lock: address of the lock
 * @caller: return address of the lock function
 * @action: class of the lock, and NTKLOG_SLEEPING_EXCLUSIVE or _SHARED; a compile-time constant
 *
 * Context: task, also preemptible.
 */
static __always_inline void ntklog_track_sleeping_acquire(const void *lock, unsigned long caller,
							  u32 action)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_task *record;
	struct ntklog_time now;

	record = this_cpu_read(ntklog_current.record);
	if (!ntklog_record_is_current(record))
		goto slow;
	slot = record->next_sleeping_slot;
	/* The entry behind the last slot is a sentinel whose lock is never NULL. */
	if (unlikely(READ_ONCE(slot->lock)))
		goto slow;
	this_cpu_inc(ntklog_sleeping_lock_cpu.acquire_attempts);
	now = ntklog_read_time();
	/* Other CPUs ignore the slot until slot->lock is set, so plain stores suffice. */
	slot->acquire_time_halves[0] = now.low;
	slot->acquire_time_halves[1] = now.high;
	/* If the task is preempted here, the switch to it changes the times: see off_cpu_before. */
	slot->off_cpu_before.ready_cycles = READ_ONCE(record->off_cpu.ready_cycles);
	slot->off_cpu_before.blocked_cycles = READ_ONCE(record->off_cpu.blocked_cycles);
	WRITE_ONCE(slot->caller, caller);
	ntklog_write_u64(slot->state, action);
	/*
	 * Publishes the slot. Pairs with smp_load_acquire() in ntklog_find_sleeping_slot(),
	 * ntklog_check_slot_timeouts() and ntklog_drop_class_slots().
	 */
	smp_store_release(&slot->lock, lock);
	/*
	 * Raise next_sleeping_slot after the slot is filled; the release lowers it before it frees
	 * the slot. Another hook may run in between on this task, for example for a print within
	 * the scheduler. That hook finds the slot in use.
	 */
	WRITE_ONCE(record->next_sleeping_slot, slot + 1);
	return;
slow:
	ntklog_track_sleeping_acquire_slow(lock, caller, action);
}

/**
 * ntklog_track_sleeping_release() - record that the current task is about to release a lock
 * @lock: address of the lock
 * @action: as for ntklog_track_sleeping_acquire()
 * @get_owner: returns the owner of the lock; NULL if the lock does not record its owner
 * @has_waiters: the word of the lock shows that a task waits or spins for it
 *
 * Context: task, also preemptible.
 */
static __always_inline void ntklog_track_sleeping_release(const void *lock, u32 action,
							  ntklog_owner_func_t get_owner,
							  bool has_waiters)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_task *record;
	bool is_counted = false;

	record = this_cpu_read(ntklog_current.record);
	if (!ntklog_record_is_current(record) || unlikely(has_waiters))
		goto slow;
	slot = record->next_sleeping_slot - 1;
	/* A waiter may increment slot->contention_count concurrently; either value will do. */
	if (unlikely(data_race(slot->lock != lock || slot->state != action)))
		goto slow;
	is_counted = true;
	if (unlikely(ntklog_count_down_release(ntklog_sleeping_lock_cpu.release_count)))
		goto slow;
	WRITE_ONCE(record->next_sleeping_slot, slot);
	WRITE_ONCE(slot->lock, NULL);
	return;
slow:
	ntklog_track_sleeping_release_slow(lock, action, get_owner, has_waiters, is_counted);
}

#endif /* _NTKLOG_PERF_SLEEPING_LOCK_H */
