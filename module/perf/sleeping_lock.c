// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slow paths of the tracking of Linux' sleeping locks; see sleeping_lock.h for the fast paths.
 *
 * The hooks run inside the kernel's lock functions. The functions that they call must not take a
 * sleeping lock, wake up a task or print.
 */

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/seqlock.h>

#include "../ground/address.h"
#include "../ground/task_needs.h"
#include "../ground/task_table.h"
#include "block_stack.h"
#include "off_cpu.h"
#include "resource_event.h"
#include "resource_parameters.h"
#include "sleeping_lock.h"

DEFINE_PER_CPU_ALIGNED(struct ntklog_sleeping_lock_cpu, ntklog_sleeping_lock_cpu);

static u64 ntklog_get_sleeping_wait_time(const struct ntklog_sleeping_slot *slot, u32 action)
{
	return action & NTKLOG_SLEEPING_WAITED ? ntklog_read_u64(slot->wait_time) : 0;
}

static void ntklog_fill_sleeping_slot(const struct ntklog_task *record,
				      struct ntklog_sleeping_slot *slot, const void *lock,
				      unsigned long caller, u32 action)
{
	ntklog_write_u64(slot->acquire_time, ntklog_read_cycles());
	slot->off_cpu_before = record->off_cpu;
	WRITE_ONCE(slot->caller, caller);
	ntklog_write_u64(slot->state, action);
	/* Pairs with the same acquires as the store in ntklog_track_sleeping_acquire(). */
	smp_store_release(&slot->lock, lock);
}

static bool ntklog_slot_is_reacquired(const struct ntklog_sleeping_slot *slot, u32 action)
{
	return slot && action & READ_ONCE(slot->action) & NTKLOG_SLEEPING_EXCLUSIVE_BIT;
}

/*
 * Restart @slot for a new acquisition of the lock that it already holds exclusively: the release of
 * the earlier acquisition was missed. Returns false if another task is freeing the slot.
 */
static bool ntklog_refill_sleeping_slot(const struct ntklog_task *record,
					struct ntklog_sleeping_slot *slot, const void *lock,
					unsigned long caller, u32 action)
{
	if (cmpxchg(&slot->lock, lock, NULL) != lock)
		return false;
	this_cpu_inc(ntklog_sleeping_lock_cpu.releases_missed);
	action |= READ_ONCE(slot->action) & NTKLOG_SLEEPING_ABOVE_HOLE;
	ntklog_fill_sleeping_slot(record, slot, lock, caller, action);
	return true;
}

/**
 * ntklog_track_sleeping_acquire_slow() - slow path of ntklog_track_sleeping_acquire()
 * @lock: address of the lock
 * @caller: return address of the lock function
 * @action: class of the lock, and NTKLOG_SLEEPING_EXCLUSIVE or _SHARED
 *
 * Context: any. Outside of task context the acquisition is counted and not tracked.
 */
void ntklog_track_sleeping_acquire_slow(const void *lock, unsigned long caller, u32 action)
{
	struct ntklog_task *record;
	struct ntklog_sleeping_slot *slot;
	bool is_reclaimed;

	if (!in_task()) {
		this_cpu_inc(ntklog_sleeping_lock_cpu.untrackable_operations);
		return;
	}
	this_cpu_inc(ntklog_sleeping_lock_cpu.acquire_attempts);
	/* Keeps @record valid: task records are freed after an RCU grace period. */
	preempt_disable_notrace();
	record = ntklog_find_current_record();
	/* Nothing might free a new record of an exiting task. */
	if (!record && !(current->flags & PF_EXITING))
		record = ntklog_get_or_insert_current_record();
	if (!record || record->exit_is_missed)
		goto untracked;
	slot = ntklog_find_sleeping_slot(record, lock, ntklog_get_action_class(action));
	if (ntklog_slot_is_reacquired(slot, action)) {
		/* A repeated request for a ww_mutex may fail: keep the slot of the first one. */
		if (ntklog_get_action_class(action) == NTKLOG_SLEEPING_CLASS(WW_MUTEX)) {
			this_cpu_inc(ntklog_sleeping_lock_cpu.releases_missed);
			goto out;
		}
		if (ntklog_refill_sleeping_slot(record, slot, lock, caller, action))
			goto out;
	}
	slot = ntklog_alloc_sleeping_slot(record, &is_reclaimed);
	if (is_reclaimed)
		this_cpu_inc(ntklog_sleeping_lock_cpu.releases_missed);
	if (slot) {
		ntklog_fill_sleeping_slot(record, slot, lock, caller, action);
		goto out;
	}
untracked:
	this_cpu_inc(ntklog_sleeping_lock_cpu.untracked_count);
out:
	preempt_enable_notrace();
}

/* Called with preemption off. */
static bool ntklog_count_and_sample_release(u64 wait_time, u32 contention_delta, bool is_counted)
{
	if (!is_counted)
		(void)ntklog_count_down_release(ntklog_sleeping_lock_cpu.release_count);
	return ntklog_sample_release(&this_cpu_ptr(&ntklog_sleeping_lock_cpu)->release_count,
				     wait_time, contention_delta);
}

static bool ntklog_admit_sleeping_blocker(void)
{
	unsigned long flags;
	bool is_below_limit;

	local_irq_save(flags);
	is_below_limit = ntklog_admit_record(this_cpu_ptr(&ntklog_sleeping_lock_cpu.blocker_limit));
	local_irq_restore(flags);
	return is_below_limit;
}

/* The release of a reader has no hook, because it is inlined: only the wait is recorded. */
static bool ntklog_action_is_percpu_reader(u32 action)
{
	return ntklog_get_action_class(action) == NTKLOG_SLEEPING_CLASS(PERCPU_RWSEM) &&
	       !(action & NTKLOG_SLEEPING_EXCLUSIVE_BIT);
}

static u32 ntklog_make_release_action(u32 action)
{
	return NTKLOG_SLEEPING_LINUX_BIT | ntklog_get_action_class(action) |
		((action & NTKLOG_SLEEPING_EXCLUSIVE_BIT) ?
		 WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE & ~WMI_RESOURCE_ACTION_CLASS :
		 WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED & ~WMI_RESOURCE_ACTION_CLASS);
}

/*
 * @snapshot: copy of the slot. @rule: 0, or WMI_RESOURCE_ACTION_LINUX_BLOCKER. Called with
 * preemption off, so that RCU keeps @task and @task_record valid.
 */
static void ntklog_log_sleeping_release(struct task_struct *task,
					const struct ntklog_task *task_record,
					const struct ntklog_sleeping_slot *snapshot,
					const void *lock, u32 rule)
{
	const struct ntklog_off_cpu_times off_cpu_now = ntklog_get_off_cpu_times(task_record);
	const struct ntklog_off_cpu_times off_cpu_of_hold =
		ntklog_subtract_off_cpu_times(&off_cpu_now, &snapshot->off_cpu_before);
	const struct wmi_resource64 record = {
		.acquire_time = snapshot->acquire_time,
		.hold_time = ntklog_action_is_percpu_reader(snapshot->action) ? 0 :
			     ntklog_cycles_since(snapshot->acquire_time, 0),
		.wait_time = ntklog_get_sleeping_wait_time(snapshot, snapshot->action),
		.max_recursion_depth = 1,
		.thread_id = task_pid_nr(task),
		.resource = ntklog_get_displayed_address((unsigned long)lock),
		.action = ntklog_make_release_action(snapshot->action) | rule,
		.contention_delta = snapshot->contention_count,
	};
	struct ntklog_caller caller = {
		.caller = snapshot->caller,
		.hold_ready = off_cpu_of_hold.ready_cycles,
		.hold_blocked = off_cpu_of_hold.blocked_cycles,
	};
	struct ntklog_block_stack block_stack;
	bool has_block_stack;

	if (snapshot->action & NTKLOG_SLEEPING_WAITED) {
		caller.wait_ready = snapshot->off_cpu_of_wait.ready_cycles;
		caller.wait_last_ready = snapshot->last_ready_duration_of_wait;
		caller.wait_blocked = snapshot->off_cpu_of_wait.blocked_cycles;
	}
	has_block_stack = off_cpu_of_hold.blocked_cycles &&
			  ntklog_get_longest_block_stack(task, snapshot->acquire_time,
							 &block_stack);
	ntklog_write_sleeping_event(&record, lock, &caller, has_block_stack ? &block_stack : NULL);
}

/*
 * Claim the slot of another task, on whose behalf the lock is released. The owner may begin to wait
 * concurrently: the cmpxchg() on slot->action decides which of the two comes first.
 */
static bool ntklog_claim_owner_slot(struct ntklog_sleeping_slot *slot)
{
	u32 action = READ_ONCE(slot->action);

	return !(action & (NTKLOG_SLEEPING_WAITING | NTKLOG_SLEEPING_CLAIMED)) &&
	       try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_CLAIMED);
}

/**
 * ntklog_track_sleeping_release_slow() - slow path of ntklog_track_sleeping_release()
 * @lock: address of the lock
 * @action: class of the lock, and NTKLOG_SLEEPING_EXCLUSIVE or _SHARED
 * @get_owner: returns the owner of the lock; NULL if the lock does not record its owner
 * @has_waiters: the word of the lock shows that a task waits or spins for it
 * @is_counted: the fast path has found the slot and counted the release
 *
 * Context: any. Outside of task context the release is counted and not tracked.
 */
void ntklog_track_sleeping_release_slow(const void *lock, u32 action, ntklog_owner_func_t get_owner,
					bool has_waiters, bool is_counted)
{
	const u32 class = ntklog_get_action_class(action);
	const struct task_struct *slot_task = current;
	struct ntklog_sleeping_slot *slot, *claimed_slot = NULL;
	struct ntklog_sleeping_slot snapshot;
	struct ntklog_task *record;
	struct task_struct *task;

	if (!in_task()) {
		this_cpu_inc(ntklog_sleeping_lock_cpu.untrackable_operations);
		return;
	}
	preempt_disable_notrace();
	record = ntklog_find_current_record();
	slot = ntklog_find_sleeping_slot(record, lock, class);
	if (!slot && get_owner) {
		slot_task = get_owner(lock);
		record = slot_task && slot_task != current ?
			 ntklog_find_task_record(slot_task) : NULL;
		slot = ntklog_find_sleeping_slot(record, lock, class);
		slot = slot && ntklog_claim_owner_slot(slot) ? slot : NULL;
		claimed_slot = slot;
	}
	/* NULL if the lock has no slot, or if the task has exited, which drops its slots. */
	task = slot ? READ_ONCE(record->task) : NULL;
	if (task) {
		/* A waiter may increment contention_count concurrently; either value will do. */
		snapshot = data_race(*slot);
	}
	if (!task || cmpxchg(&slot->lock, lock, NULL) != lock) {
		/* The slot may belong to another lock by now: undo the claim. */
		if (claimed_slot)
			atomic_andnot(NTKLOG_SLEEPING_CLAIMED, (atomic_t *)&claimed_slot->action);
		this_cpu_inc(ntklog_sleeping_lock_cpu.unmatched_count);
		goto out;
	}
	if (ntklog_count_and_sample_release(ntklog_get_sleeping_wait_time(&snapshot,
									  snapshot.action),
					    snapshot.contention_count, is_counted))
		ntklog_log_sleeping_release(task, record, &snapshot, lock, 0);
	else if (has_waiters && ntklog_admit_sleeping_blocker())
		ntklog_log_sleeping_release(task, record, &snapshot, lock,
					    WMI_RESOURCE_ACTION_LINUX_BLOCKER);
	if (task == current)
		ntklog_repair_slot_stack(record, slot);
out:
	preempt_enable_notrace();
}

/**
 * ntklog_begin_sleeping_wait() - record that the current task starts to wait for a lock
 * @lock: address of the lock
 *
 * The tracepoint contention_begin may fire more than once for one wait. Only the first call counts.
 *
 * Context: task, whatever locks it holds.
 * Return: the class of the lock; 0 if this call has begun no wait.
 */
u32 ntklog_begin_sleeping_wait(const void *lock)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_task *record;
	u32 action, class = 0;

	preempt_disable_notrace();
	record = ntklog_find_current_record();
	slot = ntklog_find_sleeping_slot(record, lock, 0);
	action = slot ? READ_ONCE(slot->action) : NTKLOG_SLEEPING_CLAIMED;
	if (action & (NTKLOG_SLEEPING_WAITING | NTKLOG_SLEEPING_CLAIMED))
		goto out;
	/* The begin and the end pair with those of the copy in ntklog_copy_slot(). */
	raw_write_seqcount_begin(&slot->wait_sequence);
	/* Let the wait begin where the optimistic spinning of the task began. */
	ntklog_write_u64(slot->acquire_time, slot->acquire_time -
			  ntklog_get_sleeping_wait_time(slot, action));
	if (action & NTKLOG_SLEEPING_WAITED)
		slot->off_cpu_before = ntklog_subtract_off_cpu_times(&slot->off_cpu_before,
								     &slot->off_cpu_of_wait);
	WRITE_ONCE(slot->handled_timeouts, 0);
	if (try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_WAITING)) {
		class = ntklog_get_action_class(action);
		WRITE_ONCE(record->is_waiting, true);
		this_cpu_inc(ntklog_sleeping_lock_cpu.waits_begun);
	}
	raw_write_seqcount_end(&slot->wait_sequence);
out:
	preempt_enable_notrace();
	return class;
}

/* Returns false if another party has claimed the slot since; it has counted the wait, if any. */
static bool ntklog_finish_slot_wait(const struct ntklog_task *record,
				    struct ntklog_sleeping_slot *slot, u32 action)
{
	/*
	 * Read the clock once for both fields: ntklog_begin_sleeping_wait() may subtract wait_time
	 * from acquire_time to get the start of the wait.
	 */
	u64 wait_end = ntklog_read_cycles();
	s64 waited_cycles = wait_end - slot->acquire_time;
	bool is_finished;

	/* As in ntklog_begin_sleeping_wait(). */
	raw_write_seqcount_begin(&slot->wait_sequence);
	slot->off_cpu_of_wait =
		ntklog_subtract_off_cpu_times(&record->off_cpu, &slot->off_cpu_before);
	slot->last_ready_duration_of_wait = slot->off_cpu_of_wait.ready_cycles ?
					    record->last_ready_duration : 0;
	slot->off_cpu_before = record->off_cpu;
	ntklog_write_u64(slot->wait_time,
			 max_t(s64, waited_cycles, WMI_RESOURCE_WAIT_TIME_UNKNOWN));
	ntklog_write_u64(slot->acquire_time, wait_end);
	is_finished = try_cmpxchg(&slot->action, &action, (action & ~NTKLOG_SLEEPING_WAITING) |
							  NTKLOG_SLEEPING_WAITED);
	raw_write_seqcount_end(&slot->wait_sequence);
	return is_finished;
}

static void ntklog_end_percpu_reader_wait(struct ntklog_task *record,
					  struct ntklog_sleeping_slot *slot, const void *lock)
{
	const struct ntklog_sleeping_slot snapshot = *slot;

	if (cmpxchg(&slot->lock, lock, NULL) != lock)
		return;
	if (ntklog_count_and_sample_release(ntklog_get_sleeping_wait_time(&snapshot,
									  snapshot.action),
					    0, false))
		ntklog_log_sleeping_release(current, record, &snapshot, lock, 0);
	ntklog_repair_slot_stack(record, slot);
}

/**
 * ntklog_end_sleeping_wait() - record that the current task has stopped waiting for a lock
 * @lock: address of the lock
 * @err: 0 if the task has acquired the lock, else the error with which it gives up
 *
 * Context: task, whatever locks it holds.
 */
void ntklog_end_sleeping_wait(const void *lock, int err)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_task *record;
	u32 action;

	preempt_disable_notrace();
	record = ntklog_find_current_record();
	slot = ntklog_find_sleeping_slot(record, lock, 0);
	action = slot ? READ_ONCE(slot->action) : 0;
	if (!(action & NTKLOG_SLEEPING_WAITING))
		goto out;
	WRITE_ONCE(record->is_waiting, false);
	if (action & NTKLOG_SLEEPING_CLAIMED)
		goto out;
	if (!err) {
		if (!ntklog_finish_slot_wait(record, slot, action))
			goto out;
		this_cpu_inc(ntklog_sleeping_lock_cpu.waits_ended);
		if (ntklog_action_is_percpu_reader(action))
			ntklog_end_percpu_reader_wait(record, slot, lock);
	} else if (try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_CLAIMED) &&
		   cmpxchg(&slot->lock, lock, NULL) == lock) {
		this_cpu_inc(ntklog_sleeping_lock_cpu.waits_given_up);
		ntklog_repair_slot_stack(record, slot);
	}
out:
	preempt_enable_notrace();
}

/**
 * ntklog_end_optimistic_spin() - record that optimistic spinning for a lock has ended
 * @lock: address of the lock
 * @class: class of the lock
 *
 * If the task goes on to sleep, ntklog_begin_sleeping_wait() adds the time spun to the wait.
 *
 * Context: task, whatever locks it holds.
 */
void ntklog_end_optimistic_spin(const void *lock, u32 class)
{
	struct ntklog_task *record;
	struct ntklog_sleeping_slot *slot;
	u32 action;

	preempt_disable_notrace();
	record = ntklog_find_current_record();
	slot = ntklog_find_sleeping_slot(record, lock, class);
	action = slot ? READ_ONCE(slot->action) : NTKLOG_SLEEPING_WAITED;
	if (!(action & (NTKLOG_SLEEPING_WAITING | NTKLOG_SLEEPING_WAITED)))
		ntklog_finish_slot_wait(record, slot, action);
	preempt_enable_notrace();
}

/**
 * ntklog_count_sleeping_contention() - count a wait of the current task in the slot of the owner
 * @lock: address of the lock
 * @class: class of the lock
 * @owner: the task that held the lock when the caller read its word; only compared
 *
 * No lock serializes this function with the owner, which may take the slot for another lock: the
 * contention is then counted for the wrong lock.
 *
 * Context: task, whatever locks it holds.
 */
void ntklog_count_sleeping_contention(const void *lock, u32 class, const struct task_struct *owner)
{
	struct ntklog_sleeping_slot *slot;

	preempt_disable_notrace();
	slot = ntklog_find_sleeping_slot(ntklog_find_task_record(owner), lock, class);
	if (slot && !(READ_ONCE(slot->action) & NTKLOG_SLEEPING_WAITING))
		atomic_inc((atomic_t *)&slot->contention_count);
	preempt_enable_notrace();
}

/**
 * ntklog_track_downgrade() - note in its slot that a lock has been downgraded to shared
 * @lock: address of a lock of the current task
 * @class: class of the lock
 *
 * The time of the hold goes on.
 *
 * Context: task.
 */
void ntklog_track_downgrade(const void *lock, u32 class)
{
	struct ntklog_sleeping_slot *slot;
	u32 action;

	preempt_disable_notrace();
	slot = ntklog_find_sleeping_slot(ntklog_find_current_record(), lock, class);
	if (slot) {
		action = READ_ONCE(slot->action);
		/* Loop, because another task may set NTKLOG_SLEEPING_CLAIMED concurrently. */
		while (!try_cmpxchg(&slot->action, &action,
				    (action & ~NTKLOG_SLEEPING_EXCLUSIVE) | NTKLOG_SLEEPING_SHARED))
			;
	}
	preempt_enable_notrace();
}
