// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux' own locks that sleep: what is not most acquisitions and releases. See sleeping_lock.h.
 *
 * What is called from the hooks takes no lock that sleeps, wakes nobody and prints nothing: it
 * runs within functions of such locks. It may take raw spin locks, for a thread's first slot.
 */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "../address.h"
#include "../compat.h"
#include "resource.h"
#include "sleeping_lock.h"

DEFINE_PER_CPU_ALIGNED(struct ntklog_sleeping_cpu, ntklog_sleeping_cpu);
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(ntklog_sleeping_cpu);

/* Those that classes had when they were switched off, and of those what was waited for. */
static atomic64_t ntklog_dropped_sleeping_slots, ntklog_dropped_sleeping_waits;

static u32 ntklog_class_of(u32 action)
{
	return action & WMI_RESOURCE_ACTION_CLASS;
}

/* The clocks of two processors may not agree, and some begin anew after a sleep. */
static u64 ntklog_cycles_since(u64 start, u64 unknown)
{
	u64 cycles = ntklog_cycles() - start;

	return (s64)cycles < 0 ? unknown : cycles;
}

static u64 ntklog_sleeping_wait_time(const struct ntklog_sleeping_slot *slot, u32 action)
{
	return action & NTKLOG_SLEEPING_HAS_WAITED ? ntklog_read_word(slot->wait_time) : 0;
}

/*
 * The last acquired comes first. Acquire; pairs with the release of who names the lock: what is
 * looked at in another's room is of that lock. @thread may be NULL.
 */
static struct ntklog_sleeping_slot *
ntklog_find_sleeping_slot(struct ntklog_thread *thread, const void *lock, u32 class)
{
	int i;

	if (!thread)
		return NULL;
	for (i = NTKLOG_THREAD_SLOTS; i; i--) {
		struct ntklog_sleeping_slot *slot = &thread->sleeping_slots[i];

		/* Acquire; see above. */
		if (smp_load_acquire(&slot->lock) == lock &&
		    (!class || ntklog_class_of(READ_ONCE(slot->action)) == class))
			return slot;
	}
	return NULL;
}

/* Of the current thread's. What is free now is so for who comes next. */
static void ntklog_lower_next_slot(struct ntklog_thread *thread)
{
	struct ntklog_sleeping_slot *next = thread->next_sleeping_slot;

	/* What is late has none, and stays so. */
	while (!thread->late && next > &thread->sleeping_slots[1] && !READ_ONCE(next[-1].lock))
		next--;
	WRITE_ONCE(thread->next_sleeping_slot, next);
}

/* Of the current thread's, which has been cleared. */
static void ntklog_close_own_slot(struct ntklog_thread *thread, struct ntklog_sleeping_slot *slot)
{
	/* Who releases the one above comes here too, and not by the short way. */
	if (slot != thread->next_sleeping_slot - 1 && READ_ONCE(slot[1].lock) &&
	    slot < &thread->sleeping_slots[NTKLOG_THREAD_SLOTS])
		/* It may be taken away at this moment: that stays noted. */
		atomic_or(NTKLOG_SLEEPING_OVER_HOLE, (atomic_t *)&slot[1].action);
	ntklog_lower_next_slot(thread);
}

/* Is there another slot of the same lock above it, shared too? */
static bool ntklog_is_shared_again(const struct ntklog_sleeping_slot *slot,
				   const struct ntklog_sleeping_slot *end)
{
	const struct ntklog_sleeping_slot *newer;

	for (newer = slot + 1; newer < end; newer++)
		if (READ_ONCE(newer->lock) == READ_ONCE(slot->lock) &&
		    !(READ_ONCE(newer->action) & NTKLOG_SLEEPING_IS_EXCLUSIVE))
			return true;
	return false;
}

/* Nobody is a reader for so long, in milliseconds; but it may have been released by another. */
#define NTKLOG_LOST_AFTER	60000

static bool ntklog_is_shared_for_ever(struct ntklog_sleeping_slot *slot, u32 action)
{
	return !(action & NTKLOG_SLEEPING_WAITING) &&
	       (s64)(ntklog_cycles() - slot->acquire_time) >
	       (s64)ntklog_cycles_of_ms(NTKLOG_LOST_AFTER);
}

/*
 * What readers acquire another thread may release, whom nobody knows as such, and what has no word
 * for its owner: then its slot stays. So where there is no free one, the older of two of the same
 * lock that are shared, one that has been so for ever, or the oldest of such a lock. NULL: there
 * is none.
 */
static struct ntklog_sleeping_slot *ntklog_take_lost_slot(struct ntklog_thread *thread)
{
	struct ntklog_sleeping_slot *end = &thread->sleeping_slots[1 + NTKLOG_THREAD_SLOTS];
	struct ntklog_sleeping_slot *slot;

	for (slot = &thread->sleeping_slots[1]; slot < end; slot++) {
		const void *lock = READ_ONCE(slot->lock);
		u32 action = READ_ONCE(slot->action);
		u32 class = ntklog_class_of(action);
		bool is_lost;

		if (action & NTKLOG_SLEEPING_IS_EXCLUSIVE)
			is_lost = (class == NTKLOG_SLEEPING_CLASS(SEMAPHORE) ||
				   class == NTKLOG_SLEEPING_CLASS(PERCPU_RWSEM)) &&
				  !(action & NTKLOG_SLEEPING_WAITING);
		else
			is_lost = ntklog_is_shared_again(slot, end) ||
				  ntklog_is_shared_for_ever(slot, action);
		if (!lock || !is_lost || cmpxchg(&slot->lock, lock, NULL) != lock)
			continue;
		this_cpu_inc(ntklog_sleeping_cpu.again);
		return slot;
	}
	return NULL;
}

static struct ntklog_sleeping_slot *ntklog_take_sleeping_slot(struct ntklog_thread *thread)
{
	struct ntklog_sleeping_slot *end = &thread->sleeping_slots[1 + NTKLOG_THREAD_SLOTS];
	struct ntklog_sleeping_slot *slot;

	ntklog_lower_next_slot(thread);
	slot = thread->next_sleeping_slot;
	/*
	 * It may be taken: what comes between two instructions of a hook, with interrupts off,
	 * lowers it below the slot that is being filled.
	 */
	if (slot < end && !READ_ONCE(slot->lock)) {
		WRITE_ONCE(thread->next_sleeping_slot, slot + 1);
		return slot;
	}
	for (slot = &thread->sleeping_slots[1]; slot < end; slot++)
		if (!READ_ONCE(slot->lock))
			return slot;
	return ntklog_take_lost_slot(thread);
}

/*
 * Does the thread own the lock already, by what is known? Of a lock with one owner that is a
 * release that has not been seen, and what is known begins anew, in a slot that is free then; but
 * for a ww_mutex, which may be asked for by who owns it, and says so without a word to us.
 */
static bool ntklog_is_acquired_again(struct ntklog_sleeping_slot *slot, const void *lock,
				     u32 action)
{
	if (!slot || !(action & READ_ONCE(slot->action) & NTKLOG_SLEEPING_IS_EXCLUSIVE))
		return false;
	/* Else it is being released at this moment, by another thread, which counts that. */
	if (ntklog_class_of(action) != NTKLOG_SLEEPING_CLASS(WW_MUTEX) &&
	    cmpxchg(&slot->lock, lock, NULL) != lock)
		return false;
	this_cpu_inc(ntklog_sleeping_cpu.again);
	return true;
}

static void ntklog_fill_sleeping_slot(struct ntklog_sleeping_slot *slot, const void *lock,
				      unsigned long caller, u32 action)
{
	ntklog_write_word(slot->acquire_time, ntklog_cycles());
	WRITE_ONCE(slot->caller, caller);
	ntklog_write_word(slot->state, action);
	/* Release; as in ntklog_track_sleeping_acquire(). */
	smp_store_release(&slot->lock, lock);
}

/**
 * ntklog_acquire_sleeping_slowly() - ntklog_track_sleeping_acquire(), whatever there is
 * @lock: as there
 * @caller: likewise
 * @action: likewise
 *
 * Context: as there.
 */
void ntklog_acquire_sleeping_slowly(const void *lock, unsigned long caller, u32 action)
{
	struct ntklog_thread *thread;
	struct ntklog_sleeping_slot *slot;

	if (!in_task()) {
		this_cpu_inc(ntklog_sleeping_cpu.in_interrupts);
		return;
	}
	this_cpu_inc(ntklog_sleeping_cpu.acquired);
	/* Rooms come and go by RCU. */
	preempt_disable_notrace();
	thread = ntklog_find_thread();
	/* Whose end has been told, or will be in a moment, gets none. */
	if (!thread && !(current->flags & PF_EXITING))
		thread = ntklog_take_thread();
	if (!thread || thread->late)
		goto untracked;
	slot = ntklog_find_sleeping_slot(thread, lock, ntklog_class_of(action));
	if (ntklog_is_acquired_again(slot, lock, action)) {
		if (ntklog_class_of(action) != NTKLOG_SLEEPING_CLASS(WW_MUTEX))
			ntklog_fill_sleeping_slot(slot, lock, caller, action |
						  (READ_ONCE(slot->action) &
						   NTKLOG_SLEEPING_OVER_HOLE));
		goto out;
	}
	slot = ntklog_take_sleeping_slot(thread);
	if (slot) {
		ntklog_fill_sleeping_slot(slot, lock, caller, action);
		goto out;
	}
untracked:
	this_cpu_inc(ntklog_sleeping_cpu.untracked);
out:
	preempt_enable_notrace();
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_acquire_sleeping_slowly);

/*
 * Preemption is off. @counted: what called has counted it. Returns the release's number on this
 * processor, more or less; @multiple: it is the one that is sampled for that.
 */
static u64 ntklog_count_sleeping_release(bool counted, bool *multiple)
{
	struct ntklog_release_count *count;
	unsigned long flags;
	u64 released;

	local_irq_save(flags);
	count = &this_cpu_ptr(&ntklog_sleeping_cpu)->releases;
	if (!counted)
		(void)ntklog_count_down_release(ntklog_sleeping_cpu.releases);
	released = ntklog_releases(count);
	*multiple = ntklog_release_is_multiple(count);
	local_irq_restore(flags);
	return released;
}

/* NT's rules for resources. */
static bool ntklog_sleeping_lock_is_sampled(u64 wait_time, u32 contentions, bool counted)
{
	u32 contention_rate = READ_ONCE(ntklog_resource_words.contention_sampling_rate), rest;
	bool multiple;
	u64 released = ntklog_count_sleeping_release(counted, &multiple);

	div_u64_rem(released, contention_rate, &rest);
	if (wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN && !rest)
		return true;
	return multiple || (contentions && contentions % contention_rate == 0);
}

static u32 ntklog_released_action(u32 action)
{
	return NTKLOG_SLEEPING_ANY_CLASS | ntklog_class_of(action) |
		((action & NTKLOG_SLEEPING_IS_EXCLUSIVE) ?
		 WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE & ~WMI_RESOURCE_ACTION_CLASS :
		 WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED & ~WMI_RESOURCE_ACTION_CLASS);
}

/* Preemption is off: RCU keeps the thread. */
static void ntklog_log_sleeping_release(struct task_struct *task,
					const struct ntklog_sleeping_slot *was, const void *lock)
{
	const struct wmi_resource64 record = {
		.acquire_time = was->acquire_time,
		.hold_time = ntklog_cycles_since(was->acquire_time, 0),
		.wait_time = ntklog_sleeping_wait_time(was, was->action),
		.max_recursion_depth = 1,
		.thread_id = task_pid_nr(task),
		.resource = ntklog_address((unsigned long)lock),
		.action = ntklog_released_action(was->action),
		.contention_delta = was->contentions,
	};

	ntklog_write_sleeping_lock(&record, lock, was->caller);
}

/*
 * Another thread's, in whose place the lock is released. Who waits for it does not own it, and may
 * begin to at this moment: then he is the first to say so in @action, or never waits by what is
 * known. Returns whether it may be cleared now.
 */
static bool ntklog_take_owners_slot(struct ntklog_sleeping_slot *slot)
{
	u32 action = READ_ONCE(slot->action);

	return !(action & (NTKLOG_SLEEPING_WAITING | NTKLOG_SLEEPING_TAKEN_AWAY)) &&
	       try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_TAKEN_AWAY);
}

/**
 * ntklog_release_sleeping_slowly() - ntklog_track_sleeping_release(), whatever there is
 * @lock: as there
 * @action: likewise
 * @owner: likewise
 * @counted: it has been, and has a slot
 *
 * Context: as there.
 */
void ntklog_release_sleeping_slowly(const void *lock, u32 action, ntklog_owner_func_t owner,
				    bool counted)
{
	const u32 class = ntklog_class_of(action);
	const struct task_struct *whose = current;
	struct ntklog_sleeping_slot *slot, *taken = NULL;
	struct ntklog_sleeping_slot was;
	struct ntklog_thread *thread;
	struct task_struct *task;

	if (!in_task()) {
		this_cpu_inc(ntklog_sleeping_cpu.in_interrupts);
		return;
	}
	preempt_disable_notrace();
	thread = ntklog_find_thread();
	slot = ntklog_find_sleeping_slot(thread, lock, class);
	if (!slot && owner) {
		whose = owner(lock);
		thread = whose && whose != current ? ntklog_find_thread_of(whose) : NULL;
		slot = ntklog_find_sleeping_slot(thread, lock, class);
		slot = slot && ntklog_take_owners_slot(slot) ? slot : NULL;
		taken = slot;
	}
	/* Of a thread that has exited meanwhile everything is forgotten. */
	task = slot ? READ_ONCE(thread->task) : NULL;
	if (task) {
		/* A waiter may count itself at this moment: it is counted, or it is not. */
		was = data_race(*slot);
	}
	if (!task || cmpxchg(&slot->lock, lock, NULL) != lock) {
		/* It may be another lock's by now. */
		if (taken)
			atomic_andnot(NTKLOG_SLEEPING_TAKEN_AWAY, (atomic_t *)&taken->action);
		this_cpu_inc(ntklog_sleeping_cpu.unmatched);
		goto out;
	}
	if (ntklog_sleeping_lock_is_sampled(ntklog_sleeping_wait_time(&was, was.action),
					    was.contentions, counted))
		ntklog_log_sleeping_release(task, &was, lock);
	if (task == current)
		ntklog_close_own_slot(thread, slot);
out:
	preempt_enable_notrace();
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_release_sleeping_slowly);

/**
 * ntklog_sleeping_wait_begins() - the current thread begins to wait for a lock
 * @lock: which
 *
 * Context: thread, whatever is owned; may come more than once for one wait.
 * Return: the lock's class; 0: it is not known that the thread acquires it, or that it waits is.
 */
u32 ntklog_sleeping_wait_begins(const void *lock)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_thread *thread;
	u32 action, class = 0;

	preempt_disable_notrace();
	thread = ntklog_find_thread();
	slot = ntklog_find_sleeping_slot(thread, lock, 0);
	action = slot ? READ_ONCE(slot->action) : NTKLOG_SLEEPING_TAKEN_AWAY;
	if (action & (NTKLOG_SLEEPING_WAITING | NTKLOG_SLEEPING_TAKEN_AWAY))
		goto out;
	/* What it has spun is part of it. */
	ntklog_write_word(slot->acquire_time, slot->acquire_time -
			  ntklog_sleeping_wait_time(slot, action));
	WRITE_ONCE(slot->timeouts, 0);
	if (try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_WAITING)) {
		class = ntklog_class_of(action);
		WRITE_ONCE(thread->is_waiting, true);
		this_cpu_inc(ntklog_sleeping_cpu.waits);
	}
out:
	preempt_enable_notrace();
	return class;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_sleeping_wait_begins);

/* Returns whether: or who has taken it away has counted the wait. @action: as it was read. */
static bool ntklog_has_waited(struct ntklog_sleeping_slot *slot, u32 action)
{
	/* One reading for both: who goes on to wait has their sum, and began when it began. */
	u64 now = ntklog_cycles();
	s64 waited = now - slot->acquire_time;

	ntklog_write_word(slot->wait_time, max_t(s64, waited, WMI_RESOURCE_WAIT_TIME_UNKNOWN));
	ntklog_write_word(slot->acquire_time, now);
	return try_cmpxchg(&slot->action, &action, (action & ~NTKLOG_SLEEPING_WAITING) |
						   NTKLOG_SLEEPING_HAS_WAITED);
}

/**
 * ntklog_sleeping_wait_ends() - the current thread has waited for a lock
 * @lock: which
 * @err: 0: it has it; else it has given up
 *
 * Context: as ntklog_sleeping_wait_begins().
 */
void ntklog_sleeping_wait_ends(const void *lock, int err)
{
	struct ntklog_sleeping_slot *slot;
	struct ntklog_thread *thread;
	u32 action;

	preempt_disable_notrace();
	thread = ntklog_find_thread();
	slot = ntklog_find_sleeping_slot(thread, lock, 0);
	action = slot ? READ_ONCE(slot->action) : 0;
	if (!(action & NTKLOG_SLEEPING_WAITING))
		goto out;
	WRITE_ONCE(thread->is_waiting, false);
	if (action & NTKLOG_SLEEPING_TAKEN_AWAY)
		goto out;
	if (!err) {
		if (ntklog_has_waited(slot, action))
			this_cpu_inc(ntklog_sleeping_cpu.waited);
	} else if (try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_TAKEN_AWAY) &&
		   cmpxchg(&slot->lock, lock, NULL) == lock) {
		this_cpu_inc(ntklog_sleeping_cpu.given_up);
		ntklog_close_own_slot(thread, slot);
	}
out:
	preempt_enable_notrace();
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_sleeping_wait_ends);

/**
 * ntklog_sleeping_lock_was_spun_for() - the current thread has waited for a lock without sleeping
 * @lock: which. That the thread has it now is not said: it may begin to wait for it
 * @class: of the lock
 *
 * Context: as ntklog_sleeping_wait_begins().
 */
void ntklog_sleeping_lock_was_spun_for(const void *lock, u32 class)
{
	struct ntklog_sleeping_slot *slot;
	u32 action;

	preempt_disable_notrace();
	slot = ntklog_find_sleeping_slot(ntklog_find_thread(), lock, class);
	action = slot ? READ_ONCE(slot->action) : NTKLOG_SLEEPING_HAS_WAITED;
	if (!(action & (NTKLOG_SLEEPING_WAITING | NTKLOG_SLEEPING_HAS_WAITED)))
		ntklog_has_waited(slot, action);
	preempt_enable_notrace();
}

/**
 * ntklog_note_sleeping_contention() - the current thread waits for a lock of another's
 * @lock: which
 * @class: of the lock
 * @owner: who owned it a moment ago; only compared
 *
 * The owner may release it at this moment, and acquire something else: then that has the
 * contention. No lock keeps him from it, for he takes none.
 *
 * Context: thread, whatever is owned.
 */
void ntklog_note_sleeping_contention(const void *lock, u32 class, const struct task_struct *owner)
{
	struct ntklog_sleeping_slot *slot;

	preempt_disable_notrace();
	slot = ntklog_find_sleeping_slot(ntklog_find_thread_of(owner), lock, class);
	if (slot && !(READ_ONCE(slot->action) & NTKLOG_SLEEPING_WAITING))
		atomic_inc((atomic_t *)&slot->contentions);
	preempt_enable_notrace();
}

/**
 * ntklog_share_sleeping_lock() - the current thread owns a lock from now on as others may
 * @lock: which
 * @class: of the lock
 *
 * Context: thread.
 */
void ntklog_share_sleeping_lock(const void *lock, u32 class)
{
	struct ntklog_sleeping_slot *slot;
	u32 action;

	preempt_disable_notrace();
	slot = ntklog_find_sleeping_slot(ntklog_find_thread(), lock, class);
	if (slot) {
		action = READ_ONCE(slot->action);
		/* It may be taken away at this moment: that stays noted. */
		while (!try_cmpxchg(&slot->action, &action,
				    (action & ~NTKLOG_SLEEPING_EXCLUSIVE) | NTKLOG_SLEEPING_SHARED))
			;
	}
	preempt_enable_notrace();
}

/* Set at load. */
static u64 ntklog_first_timeout_cycles, ntklog_next_timeout_cycles;
static unsigned long ntklog_look_jiffies;

/* How often the wait has timed out by now. */
static u32 ntklog_timeouts_of(u64 start)
{
	u64 waited = ntklog_cycles_since(start, 0);

	if (waited < ntklog_first_timeout_cycles)
		return 0;
	return 1 + div64_u64(waited - ntklog_first_timeout_cycles, ntklog_next_timeout_cycles);
}

static void ntklog_log_sleeping_timeout(struct task_struct *task, const void *lock,
					u32 action, u64 start, u32 timeouts, unsigned long caller)
{
	const struct wmi_resource64 record = {
		.hold_time = ntklog_cycles_since(start, 0),
		.wait_time = start,
		.max_recursion_depth = timeouts,
		.thread_id = task_pid_nr(task),
		.resource = ntklog_address((unsigned long)lock),
		.action = NTKLOG_SLEEPING_ANY_CLASS | ntklog_class_of(action) |
			  ((action & NTKLOG_SLEEPING_IS_EXCLUSIVE ?
			    WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE :
			    WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED) &
			   ~WMI_RESOURCE_ACTION_CLASS),
	};

	ntklog_write_sleeping_lock(&record, lock, caller);
}

static void ntklog_look_at_wait(const struct ntklog_thread *thread,
				struct ntklog_sleeping_slot *slot)
{
	u32 number = READ_ONCE(ntklog_resource_words.number_of_excessive_timeouts);
	/* Acquire; pairs with the release of who names it. */
	const void *lock = smp_load_acquire(&slot->lock);
	u32 action = READ_ONCE(slot->action);
	u64 start = ntklog_read_word(slot->acquire_time);
	unsigned long caller = READ_ONCE(slot->caller);
	/* RCU keeps it; NULL: it has exited. */
	struct task_struct *task = READ_ONCE(thread->task);
	u32 timeouts, now;

	if (!task || !lock || !(action & NTKLOG_SLEEPING_WAITING))
		return;
	now = ntklog_timeouts_of(start);
	for (timeouts = READ_ONCE(slot->timeouts); timeouts < now; timeouts++) {
		/* Another wait begins with 0. */
		if (cmpxchg(&slot->timeouts, timeouts, timeouts + 1) != timeouts)
			return;
		if (ntklog_read_word(slot->acquire_time) != start ||
		    READ_ONCE(slot->lock) != lock) {
			cmpxchg(&slot->timeouts, timeouts + 1, timeouts);
			return;
		}
		if ((timeouts + 1) % number == 0)
			ntklog_log_sleeping_timeout(task, lock, action, start, timeouts + 1,
						    caller);
	}
}

static void ntklog_look_at_waits(struct ntklog_thread *thread, void *unused)
{
	int i;

	/* Most do not. */
	if (!READ_ONCE(thread->is_waiting))
		return;
	for (i = 1; i <= NTKLOG_THREAD_SLOTS; i++)
		ntklog_look_at_wait(thread, &thread->sleeping_slots[i]);
}

/*
 * Who waits has no timer: it would be set up within the kernel's own functions, with their spin
 * locks owned. Somebody looks every now and then instead, while anything is watched.
 */
static void ntklog_look_for_long_waits(struct work_struct *work);
static DECLARE_DELAYED_WORK(ntklog_long_waits_work, ntklog_look_for_long_waits);

static void ntklog_look_for_long_waits(struct work_struct *work)
{
	ntklog_visit_threads(ntklog_look_at_waits, NULL);
	schedule_delayed_work(&ntklog_long_waits_work, ntklog_look_jiffies);
}

/* Bits by class; written by one at a time. */
static unsigned long ntklog_sleeping_classes;

static unsigned long ntklog_class_bit(u32 class)
{
	return BIT((class >> 16) & 0xF);
}

/**
 * ntklog_start_sleeping_locks() - before the first hook of a class comes
 * @class: NTKLOG_SLEEPING_CLASS()
 *
 * Context: thread; may sleep; one at a time.
 */
void ntklog_start_sleeping_locks(u32 class)
{
	if (!ntklog_sleeping_classes) {
		ntklog_keep_rooms();
		/* More than before: each thread that takes a lock gets one now. */
		ntklog_make_spare_threads();
		schedule_delayed_work(&ntklog_long_waits_work, ntklog_look_jiffies);
	}
	ntklog_sleeping_classes |= ntklog_class_bit(class);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_start_sleeping_locks);

/*
 * No hook of the class comes any more, but the wait for the lock may begin or end at this moment:
 * who is the first to say so in @action counts it. Returns whether the slot is one of the class.
 */
static bool ntklog_drop_slot(struct ntklog_sleeping_slot *slot, u32 class)
{
	u32 action = READ_ONCE(slot->action);

	do {
		if (ntklog_class_of(action) != class || action & NTKLOG_SLEEPING_TAKEN_AWAY)
			return false;
	} while (!try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_TAKEN_AWAY));
	if (action & NTKLOG_SLEEPING_WAITING)
		atomic64_inc(&ntklog_dropped_sleeping_waits);
	return true;
}

static void ntklog_drop_slots_of(struct ntklog_thread *thread, void *data)
{
	u32 class = *(u32 *)data;
	int i;

	for (i = 1; i <= NTKLOG_THREAD_SLOTS; i++) {
		struct ntklog_sleeping_slot *slot = &thread->sleeping_slots[i];

		/* Acquire; pairs with the release of who names it. */
		const void *lock = smp_load_acquire(&slot->lock);

		if (lock && ntklog_drop_slot(slot, class) &&
		    cmpxchg(&slot->lock, lock, NULL) == lock)
			atomic64_inc(&ntklog_dropped_sleeping_slots);
	}
}

/**
 * ntklog_stop_sleeping_locks() - no hook of a class comes any more
 * @class: as for ntklog_start_sleeping_locks()
 *
 * What is still owned is forgotten.
 *
 * Context: as there.
 */
void ntklog_stop_sleeping_locks(u32 class)
{
	ntklog_sleeping_classes &= ~ntklog_class_bit(class);
	ntklog_visit_threads(ntklog_drop_slots_of, &class);
	if (!ntklog_sleeping_classes) {
		cancel_delayed_work_sync(&ntklog_long_waits_work);
		ntklog_let_rooms_go();
	}
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_stop_sleeping_locks);

static void ntklog_add_to_sum(struct ntklog_thread *thread, void *data)
{
	struct ntklog_sleeping_sum *sum = data;
	int i;

	for (i = 1; i <= NTKLOG_THREAD_SLOTS; i++) {
		if (!READ_ONCE(thread->sleeping_slots[i].lock))
			continue;
		if (READ_ONCE(thread->sleeping_slots[i].action) & NTKLOG_SLEEPING_WAITING)
			sum->waiting++;
		else
			sum->owned++;
	}
}

/**
 * ntklog_sum_sleeping_locks() - what all threads own and wait for
 *
 * Context: thread.
 * Return: that, as it was at about this time.
 */
struct ntklog_sleeping_sum ntklog_sum_sleeping_locks(void)
{
	struct ntklog_sleeping_sum sum = {
		.forgotten = ntklog_sleeping_slots_forgotten() +
			     atomic64_read(&ntklog_dropped_sleeping_slots),
		.forgotten_waits = atomic64_read(&ntklog_dropped_sleeping_waits),
	};

	ntklog_visit_threads(ntklog_add_to_sum, &sum);
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_sum_sleeping_locks);

/**
 * ntklog_sleeping_locks_init() - be ready to track
 * @first_timeout_ms: after which a wait is excessive, milliseconds, as for resources
 * @next_timeout_ms: from then on, each of these
 *
 * Context: load, before anything is tracked.
 */
void __init ntklog_sleeping_locks_init(unsigned int first_timeout_ms,
				       unsigned int next_timeout_ms)
{
	int cpu;

	ntklog_first_timeout_cycles = ntklog_cycles_of_ms(first_timeout_ms);
	ntklog_next_timeout_cycles = ntklog_cycles_of_ms(next_timeout_ms);
	ntklog_look_jiffies = max(msecs_to_jiffies(min(first_timeout_ms, next_timeout_ms)) / 4,
				  1UL);
	for_each_possible_cpu(cpu)
		ntklog_begin_release_count(&per_cpu_ptr(&ntklog_sleeping_cpu, cpu)->releases, 0);
}
