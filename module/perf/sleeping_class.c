// SPDX-License-Identifier: GPL-2.0-only
/* Classes of Linux' sleeping locks, sums of their slots, and waits that last too long. */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "../ground/address.h"
#include "../ground/task_needs.h"
#include "../ground/task_table.h"
#include "block_stack.h"
#include "off_cpu.h"
#include "resource_event.h"
#include "resource_parameters.h"
#include "sleeping_lock.h"

/* Slots that were in use when their class was disabled, and those of them with a waiting task. */
static atomic64_t ntklog_dropped_slot_count, ntklog_dropped_wait_count;

/* Written at module load. */
static u64 ntklog_first_timeout_cycles, ntklog_next_timeout_cycles;
static unsigned long ntklog_timeout_check_jiffies;

/* @start: start of the wait, in cycles. */
static u32 ntklog_count_timeouts(u64 start)
{
	u64 waited_cycles = ntklog_cycles_since(start, 0);

	if (waited_cycles < ntklog_first_timeout_cycles)
		return 0;
	return 1 + div64_u64(waited_cycles - ntklog_first_timeout_cycles,
			     ntklog_next_timeout_cycles);
}

static void ntklog_log_sleeping_timeout(struct task_struct *task, const void *lock, u32 action,
					u64 start, u32 timeout_count, unsigned long caller)
{
	const struct wmi_resource64 record = {
		.hold_time = ntklog_cycles_since(start, 0),
		.wait_time = start,
		.max_recursion_depth = timeout_count,
		.thread_id = task_pid_nr(task),
		.resource = ntklog_get_displayed_address((unsigned long)lock),
		.action = NTKLOG_SLEEPING_LINUX_BIT | ntklog_get_action_class(action) |
			  ((action & NTKLOG_SLEEPING_EXCLUSIVE_BIT ?
			    WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE :
			    WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED) &
			   ~WMI_RESOURCE_ACTION_CLASS),
	};

	ntklog_write_sleeping_event(&record, lock, &(struct ntklog_caller){ .caller = caller },
				    NULL);
}

static void ntklog_check_slot_timeouts(const struct ntklog_task *record,
				       struct ntklog_sleeping_slot *slot)
{
	u32 timeout_rate =
		READ_ONCE(ntklog_resource_parameter_values.number_of_excessive_timeouts);
	/* Pairs with the smp_store_release() that publishes slot->lock. */
	const void *lock = smp_load_acquire(&slot->lock);
	u32 action = READ_ONCE(slot->action);
	u64 start = ntklog_read_u64(slot->acquire_time);
	unsigned long caller = READ_ONCE(slot->caller);
	/* RCU keeps the task valid. NULL if the task has exited. */
	struct task_struct *task = READ_ONCE(record->task);
	u32 timeout_count, timeout_count_now;

	if (!task || !lock || !(action & NTKLOG_SLEEPING_WAITING))
		return;
	timeout_count_now = ntklog_count_timeouts(start);
	for (timeout_count = READ_ONCE(slot->handled_timeouts); timeout_count < timeout_count_now;
	     timeout_count++) {
		/*
		 * The cmpxchg() fails if the task has started another wait, which sets
		 * handled_timeouts to 0. If the old wait had no timeout either, the second check
		 * detects it.
		 */
		if (cmpxchg(&slot->handled_timeouts, timeout_count, timeout_count + 1) !=
		    timeout_count)
			return;
		if (ntklog_read_u64(slot->acquire_time) != start ||
		    READ_ONCE(slot->lock) != lock) {
			cmpxchg(&slot->handled_timeouts, timeout_count + 1, timeout_count);
			return;
		}
		if ((timeout_count + 1) % timeout_rate == 0)
			ntklog_log_sleeping_timeout(task, lock, action, start, timeout_count + 1,
						    caller);
	}
}

static void ntklog_check_task_timeouts(struct ntklog_task *record, void *unused)
{
	int i;

	/* Most tasks do not wait. This hint saves the loop for them. */
	if (!READ_ONCE(record->is_waiting))
		return;
	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++)
		ntklog_check_slot_timeouts(record, &record->sleeping_slots[i]);
}

/*
 * The waiting task cannot set up a timer itself, because the probe of contention_begin, which
 * records the wait, may run with the lock's internal spinlock held.
 */
static void ntklog_check_all_timeouts(struct work_struct *work);
static DECLARE_DELAYED_WORK(ntklog_timeout_check_work, ntklog_check_all_timeouts);

static void ntklog_check_all_timeouts(struct work_struct *work)
{
	ntklog_visit_task_records(ntklog_check_task_timeouts, NULL);
	ntklog_queue_block_stacks_work();
	schedule_delayed_work(&ntklog_timeout_check_work, ntklog_timeout_check_jiffies);
}

/* One bit for each enabled class. Changes are serialized. */
static unsigned long ntklog_enabled_class_bits;

static unsigned long ntklog_class_to_bit(u32 class)
{
	return BIT((class >> 16) & 0xF);
}

/**
 * ntklog_enable_sleeping_class() - enable tracking of a lock class
 * @class: NTKLOG_SLEEPING_CLASS() of the locks
 *
 * Must be called before the first hook of the class is attached.
 *
 * Context: task; may sleep. Callers are serialized.
 * Return: 0 or a negative errno.
 */
int ntklog_enable_sleeping_class(u32 class)
{
	int err;

	if (!ntklog_enabled_class_bits) {
		err = ntklog_pin_task_records();
		if (err)
			return err;
		err = ntklog_start_off_cpu_counting();
		if (err) {
			ntklog_unpin_task_records();
			return err;
		}
		schedule_delayed_work(&ntklog_timeout_check_work, ntklog_timeout_check_jiffies);
	}
	ntklog_enabled_class_bits |= ntklog_class_to_bit(class);
	return 0;
}

/*
 * The contention tracepoints still fire, so the task may begin or end a wait concurrently. The
 * cmpxchg() on slot->action decides whether the task or this function counts the wait.
 */
static bool ntklog_claim_class_slot(struct ntklog_sleeping_slot *slot, u32 class)
{
	u32 action = READ_ONCE(slot->action);

	do {
		if (ntklog_get_action_class(action) != class || action & NTKLOG_SLEEPING_CLAIMED)
			return false;
	} while (!try_cmpxchg(&slot->action, &action, action | NTKLOG_SLEEPING_CLAIMED));
	if (action & NTKLOG_SLEEPING_WAITING)
		atomic64_inc(&ntklog_dropped_wait_count);
	return true;
}

static void ntklog_drop_class_slots(struct ntklog_task *record, void *data)
{
	u32 class = *(u32 *)data;
	int i;

	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++) {
		struct ntklog_sleeping_slot *slot = &record->sleeping_slots[i];

		/* Pairs with the smp_store_release() that publishes slot->lock. */
		const void *lock = smp_load_acquire(&slot->lock);

		if (lock && ntklog_claim_class_slot(slot, class) &&
		    cmpxchg(&slot->lock, lock, NULL) == lock)
			atomic64_inc(&ntklog_dropped_slot_count);
	}
}

/**
 * ntklog_disable_sleeping_class() - disable tracking of a lock class
 * @class: NTKLOG_SLEEPING_CLASS() of the locks
 *
 * Must be called after the last hook of the class has returned. Drops the remaining slots.
 *
 * Context: task; may sleep. Callers are serialized.
 */
void ntklog_disable_sleeping_class(u32 class)
{
	ntklog_enabled_class_bits &= ~ntklog_class_to_bit(class);
	ntklog_visit_task_records(ntklog_drop_class_slots, &class);
	if (!ntklog_enabled_class_bits) {
		cancel_delayed_work_sync(&ntklog_timeout_check_work);
		ntklog_stop_off_cpu_counting();
		ntklog_unpin_task_records();
	}
}

static void ntklog_count_task_slots(struct ntklog_task *record, void *data)
{
	struct ntklog_sleeping_slot_totals *totals = data;
	int i;

	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++) {
		if (!READ_ONCE(record->sleeping_slots[i].lock))
			continue;
		if (READ_ONCE(record->sleeping_slots[i].action) & NTKLOG_SLEEPING_WAITING)
			totals->waiting_slots++;
		else
			totals->held_slots++;
	}
}

/**
 * ntklog_count_sleeping_slots() - count the slots of all tasks
 *
 * Context: task.
 * Return: the sums; tasks may change their slots while they are counted.
 */
struct ntklog_sleeping_slot_totals ntklog_count_sleeping_slots(void)
{
	struct ntklog_sleeping_slot_totals totals = {
		.dropped_slots = ntklog_count_sleeping_slots_dropped_at_exit() +
			     atomic64_read(&ntklog_dropped_slot_count),
		.dropped_waiting_slots = atomic64_read(&ntklog_dropped_wait_count),
	};

	ntklog_visit_task_records(ntklog_count_task_slots, &totals);
	return totals;
}

/**
 * ntklog_sleeping_locks_init() - set the limits of excessive waits and start the release countdowns
 * @first_timeout_ms: duration of a wait that counts as its first timeout, milliseconds
 * @next_timeout_ms: duration until each further timeout, milliseconds
 *
 * Context: module load, before any class is enabled.
 */
void __init ntklog_sleeping_locks_init(unsigned int first_timeout_ms,
				       unsigned int next_timeout_ms)
{
	int cpu;

	ntklog_first_timeout_cycles = ntklog_ms_to_cycles(first_timeout_ms);
	ntklog_next_timeout_cycles = ntklog_ms_to_cycles(next_timeout_ms);
	ntklog_timeout_check_jiffies =
		max(msecs_to_jiffies(min(first_timeout_ms, next_timeout_ms)) / 4, 1UL);
	for_each_possible_cpu(cpu)
		ntklog_restart_release_countdown(&per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu)
							  ->release_count,
						 0);
}
