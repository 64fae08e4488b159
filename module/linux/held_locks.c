// SPDX-License-Identifier: GPL-2.0-only
/* The visit of the slots takes no lock, so it also works while tasks are blocked. */

#include <linux/irqflags.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/uaccess.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/identity.h>

#include "../etw/event.h"
#include "../etw/group_mask.h"
#include "../etw/run.h"
#include "../etw/session.h"
#include "../ground/address.h"
#include "../ground/identity.h"
#include "../ground/task_table.h"
#include "../perf/off_cpu.h"
#include "../perf/resource_event.h"
#include "../perf/sleeping_lock.h"
#include "held_locks.h"

/*
 * The slot of a writer that spins for an rwsem does not tell that the task waits: test the owner.
 * Another task may free the lock meanwhile, so the read may fault.
 */
static bool ntklog_task_spins_for_rwsem(const struct rw_semaphore *rwsem, u32 action,
					const struct task_struct *task)
{
#ifdef CONFIG_PREEMPT_RT
	return false;
#else
	/* The low three bits are flags. */
	unsigned long owner;

	return ntklog_get_action_class(action) == NTKLOG_SLEEPING_CLASS(RWSEM) &&
	       action & NTKLOG_SLEEPING_EXCLUSIVE_BIT &&
	       !get_kernel_nofault(owner, (unsigned long *)&rwsem->owner) &&
	       (owner & ~7UL) != (unsigned long)task;
#endif
}

/*
 * Returns false if the slot is free, or if it is freed or filled anew, or if its wait begins or
 * ends, during the copy.
 */
static bool ntklog_copy_slot(const struct ntklog_task *record,
			     const struct ntklog_sleeping_slot *slot,
			     const struct task_struct *task, struct ntklog_held_lock *held_lock)
{
	struct ntklog_off_cpu_times off_cpu_before, off_cpu_now;
	unsigned int wait_sequence;

	/* Pairs with the smp_store_release() that publishes slot->lock. */
	held_lock->lock = smp_load_acquire(&slot->lock);
	if (!held_lock->lock)
		return false;
	/*
	 * This and the test below pair with the raw_write_seqcount_begin() and _end() around the
	 * changes of a slot in ntklog_begin_sleeping_wait() and ntklog_finish_slot_wait().
	 */
	wait_sequence = raw_seqcount_begin(&slot->wait_sequence);
	held_lock->action = READ_ONCE(slot->action);
	held_lock->since = ntklog_read_u64(slot->acquire_time);
	held_lock->wait_time = held_lock->action & NTKLOG_SLEEPING_WAITED ?
			       ntklog_read_u64(slot->wait_time) : 0;
	held_lock->caller = READ_ONCE(slot->caller);
	held_lock->contention_count = READ_ONCE(slot->contention_count);
	off_cpu_before.ready_cycles = ntklog_read_u64(slot->off_cpu_before.ready_cycles);
	off_cpu_before.blocked_cycles = ntklog_read_u64(slot->off_cpu_before.blocked_cycles);
	/*
	 * The task may have copied its counters to off_cpu_before a moment ago. Read the counters
	 * after the copy, so that they are not less. Pairs with the last smp_wmb() in
	 * ntklog_end_off_cpu().
	 */
	smp_rmb();
	off_cpu_now = ntklog_get_off_cpu_times(record);
	/*
	 * The task may have freed and filled the slot during the reads: test the lock and the time
	 * after them. Pairs with the cmpxchg() that frees the slot.
	 */
	smp_rmb();
	/*
	 * The same lock may be in the slot again, with another time. Pairs with the
	 * smp_store_release() that publishes slot->lock.
	 */
	if (smp_load_acquire(&slot->lock) != held_lock->lock ||
	    ntklog_read_u64(slot->acquire_time) != held_lock->since ||
	    read_seqcount_retry(&slot->wait_sequence, wait_sequence))
		return false;
	held_lock->off_cpu = ntklog_subtract_off_cpu_times(&off_cpu_now, &off_cpu_before);
	held_lock->is_waiting = held_lock->action & NTKLOG_SLEEPING_WAITING ||
				ntklog_task_spins_for_rwsem(held_lock->lock, held_lock->action,
							    task);
	return true;
}

struct ntklog_held_visitor {
	ntklog_held_visitor_t visitor;
	void *data;
};

static void ntklog_visit_record_slots(struct ntklog_task *record, void *data)
{
	struct ntklog_held_lock locks[NTKLOG_TASK_SLOT_COUNT];
	/* RCU keeps the task valid. NULL if the task has exited. */
	struct task_struct *task = READ_ONCE(record->task);
	const struct ntklog_held_visitor *visit = data;
	size_t count = 0;
	int i;

	for (i = 1; task && i <= NTKLOG_TASK_SLOT_COUNT; i++)
		count += ntklog_copy_slot(record, &record->sleeping_slots[i], task, &locks[count]);
	if (count)
		visit->visitor(task, locks, count, visit->data);
}

/**
 * ntklog_visit_held_locks() - call a function for each task that has slots of sleeping locks
 * @visitor: the function; must not sleep. RCU keeps the task that it gets valid
 * @data: last argument of @visitor
 *
 * Context: task. A lock that is acquired or released concurrently may be left out.
 */
void ntklog_visit_held_locks(ntklog_held_visitor_t visitor, void *data)
{
	struct ntklog_held_visitor visit = { .visitor = visitor, .data = data };

	ntklog_visit_task_records(ntklog_visit_record_slots, &visit);
}

struct ntklog_held_listing {
	struct etw_session *session;
	u64 time;
};

static u32 ntklog_make_open_hold_action(const struct ntklog_held_lock *held_lock)
{
	bool is_exclusive = held_lock->action & NTKLOG_SLEEPING_EXCLUSIVE_BIT;
	u32 state;

	if (held_lock->is_waiting)
		state = is_exclusive ? NTKLOG_OPEN_WAITS_EXCLUSIVE : NTKLOG_OPEN_WAITS_SHARED;
	else
		state = is_exclusive ? NTKLOG_OPEN_HELD_EXCLUSIVE : NTKLOG_OPEN_HELD_SHARED;
	return NTKLOG_SLEEPING_LINUX_BIT | ntklog_get_action_class(held_lock->action) | state;
}

static void ntklog_log_held_lock(const struct ntklog_held_listing *listing,
				 struct task_struct *task, const struct ntklog_held_lock *held_lock)
{
	const struct ntklog_open_hold event = {
		.list_time = listing->time,
		.lock = ntklog_get_displayed_address((unsigned long)held_lock->lock),
		.since = held_lock->since,
		.wait_time = held_lock->is_waiting ? 0 : held_lock->wait_time,
		.caller = ntklog_get_displayed_address(held_lock->caller),
		.thread_id = task_pid_nr(task),
		.action = ntklog_make_open_hold_action(held_lock),
		.contentions = held_lock->contention_count,
		.ready = held_lock->off_cpu.ready_cycles,
		.blocked = held_lock->off_cpu.blocked_cycles,
	};
	unsigned long flags;

	/* Record the identity before the event, because it is valid from its own time on. */
	local_irq_save(flags);
	ntklog_record_identity((unsigned long)held_lock->lock, held_lock->caller,
			       NTKLOG_IDENTITY_OF_CLASS(event.action));
	local_irq_restore(flags);
	etw_log_session_event(listing->session, NTKLOG_LOG_TYPE_OPEN_HOLD, NTKLOG_OPEN_HOLD_VERSION,
			      &event, sizeof(event));
}

static void ntklog_log_held_locks(struct task_struct *task, const struct ntklog_held_lock *locks,
				  size_t count, void *data)
{
	const struct ntklog_held_listing *listing = data;
	size_t i;

	/* Leave out the locks of the task that stops the session or takes the snapshot. */
	if (task == current)
		return;
	for (i = 0; i < count; i++) {
		u32 group = ntklog_get_action_group(locks[i].action);

		if (etw_group_mask_test(&listing->session->run->observed_groups, group))
			ntklog_log_held_lock(listing, task, &locks[i]);
	}
}

/**
 * ntklog_list_held_locks() - log the sleeping locks that tasks hold or wait for
 * @session: a started session. It gets the locks of the event groups that it observes
 *
 * Context: task; etw_mutex held.
 */
void ntklog_list_held_locks(struct etw_session *session)
{
	struct ntklog_held_listing listing = { .session = session, .time = ntklog_read_cycles() };
	const struct ntklog_open_hold list_event = {
		.list_time = listing.time,
		.action = NTKLOG_OPEN_LIST,
	};

	etw_log_session_event(session, NTKLOG_LOG_TYPE_OPEN_HOLD, NTKLOG_OPEN_HOLD_VERSION,
			      &list_event, sizeof(list_event));
	ntklog_visit_held_locks(ntklog_log_held_locks, &listing);
}
