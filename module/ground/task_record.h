/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_RECORD_H
#define _NTKLOG_GROUND_TASK_RECORD_H

/*
 * The record of a task: its NT state (APC_LEVEL, critical and guarded regions), and slots for NT's
 * resources and Linux' sleeping locks. The records are in a table (task_table.h), and each CPU
 * caches at most one of them (thread.h):
 *
 *	ntklog_current                    struct ntklog_task
 *	  cached_task                       task, critical_region_depth, ...
 *	  record -------------------------> next_resource_slot ----------+
 *	                                                                 v
 *	                                    resource_slots[]  unused  A  free  free  ...
 *	                                    next_sleeping_slot ------+
 *	                                                             v
 *	                                    sleeping_slots[] unused B C free ... sentinel
 *
 * Both arrays are stacks with holes: the release of another lock than the topmost leaves a hole,
 * which may be used again when the top is at the end of the array.
 */

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* Number of slots in each array. */
#define NTKLOG_TASK_SLOT_COUNT	8

/**
 * struct ntklog_resource_slot - one of NT's resources that a task owns
 * @lock: address of the resource; NULL if the slot is free
 * @acquire_time: start of the ownership, in cycles
 * @wait_time: duration of the wait, in cycles
 * @acquire_cpu: CPU on which the ownership began
 * @max_recursion_depth: highest number of acquisitions owned at the same time
 * @contention_count: contention count of the resource at the acquisition
 * @filled_by_softirq: a softirq filled the slot. A softirq lowers next_resource_slot past such
 *	slots only
 * @reserved: padding to NT's 0x40 bytes
 *
 * The task fills the slot and then publishes it with smp_store_release() of @lock. The task frees
 * it by clearing @lock. Another task that found the slot with smp_load_acquire() of @lock, and that
 * prevents the owner from releasing the resource meanwhile, may free it too.
 */
struct ntklog_resource_slot {
	const void *lock;
	u64 acquire_time;
	u64 wait_time;
	u32 acquire_cpu;
	u32 max_recursion_depth;
	u32 contention_count;
	u32 filled_by_softirq;
	u32 reserved[6];
};

#ifdef CONFIG_64BIT
static_assert(sizeof(struct ntklog_resource_slot) == 0x40);
#endif

/* Time that a task had no CPU, in cycles: ready to run (preempted, or woken up), or blocked. */
struct ntklog_off_cpu_times {
	u64 ready_cycles;
	u64 blocked_cycles;
};

/**
 * struct ntklog_sleeping_slot - one of Linux' sleeping locks that a task holds or waits for
 * @lock: address of the lock; NULL if the slot is free
 * @acquire_time: start of the hold, in cycles; while the task waits, start of the wait
 * @acquire_time_halves: @acquire_time as two words, the low one first
 * @wait_time: duration of the wait, in cycles; valid if @action has NTKLOG_SLEEPING_WAITED
 * @caller: return address of the lock function
 * @state: @action and @contention_count as one word
 * @action: lock class, access mode and NTKLOG_SLEEPING_* state bits
 * @contention_count: number of waits for the lock that began while the task held it
 * @off_cpu_before: ntklog_task::off_cpu at or soon after @acquire_time
 * @off_cpu_of_wait: time without a CPU during the wait; valid if @wait_time is valid
 * @last_ready_duration_of_wait: the part of @off_cpu_of_wait.ready_cycles before the task last got
 *	a CPU
 * @handled_timeouts: number of timeouts of the current wait that have been handled
 * @wait_sequence: changes when a wait begins or ends, which changes several members of a slot that
 *	is in use. Written by the task with preemption off; linux/held_locks.c copies the slot
 *	between two equal values. Accessed by raw functions only, because it has no lockdep map
 *
 * The task fills the slot and then publishes it with smp_store_release() of @lock. The task frees
 * it by clearing @lock. Others may free it as well, such as a task that releases the lock on behalf
 * of the owner. Where two parties compete, each does a cmpxchg() or an xchg() of @lock, and the one
 * that succeeds counts the slot. Waiters increment @contention_count. The periodic check for long
 * waits increments @handled_timeouts.
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
			u32 contention_count;
		};
	};
	struct ntklog_off_cpu_times off_cpu_before;
	struct ntklog_off_cpu_times off_cpu_of_wait;
	u64 last_ready_duration_of_wait;
	u32 handled_timeouts;
	seqcount_t wait_sequence;
};

#ifdef CONFIG_64BIT
/* An acquisition without a wait fills a part that is not longer than a cache line. */
static_assert(offsetofend(struct ntklog_sleeping_slot, off_cpu_before) <= L1_CACHE_BYTES);
#endif

/**
 * struct ntklog_task - the record of one task
 * @next_sleeping_slot: first free slot at the top of @sleeping_slots. It points into the array in
 *	the dummy record as well, so that the fast path may follow it before it compares @task. The
 *	first member, so that one memset_after() clears the others
 * @task: the task that the record belongs to; NULL in the dummy record and in an unlinked record
 * @off_cpu: time without a CPU, up to when the task last got one; only differences have a meaning
 * @next_resource_slot: first free slot at the top of @resource_slots
 * @sequence: ntklog_resource_sequence when @resource_slots was cleared; other values make
 *	@resource_slots invalid
 * @critical_region_depth: critical regions that the task has entered and not left
 * @guarded_region_depth: guarded regions that the task has entered and not left
 * @is_at_apc_level: the task is at APC_LEVEL, or was when it raised the IRQL above it
 * @exit_is_missed: no exit probe frees the record: the task was exiting already when the record was
 *	created, or the probe was not registered. The task itself frees the record as soon as it has
 *	no NT state. Until then it holds a reference to the task, and tracks no sleeping lock
 * @is_waiting: hint that the task waits for the lock of one of @sleeping_slots
 * @is_blocked: the task has lost its CPU because it waits; valid if @off_cpu_since is not 0
 * @off_cpu_since: when the task lost its CPU, in cycles; 0: not counted, or the task has a CPU
 * @ns_queued_before: time that the task had spent in run queues by @off_cpu_since, in nanoseconds
 * @last_ready_duration: how much @off_cpu.ready_cycles has grown when the task last got a CPU
 * @node: in the table or in a list of spare records
 * @rcu: frees the record
 * @resource_slots: NT's resources that the task owns. The first is unused, so that
 *	next_resource_slot[-1] exists
 * @sleeping_slots: Linux' sleeping locks that the task holds or waits for. The first is unused, as
 *	in @resource_slots, and the last is a sentinel that is always in use
 * @cpus: bitmap of the CPUs that may have the record in ntklog_current; nr_cpu_ids bits
 *
 * The task itself writes its record, and so do softirqs that run on top of it (@resource_slots).
 * Other tasks free slots, and change @contention_count, @handled_timeouts and
 * NTKLOG_SLEEPING_CLAIMED of sleeping slots.
 * @task and @exit_is_missed do not change while the record is in the table. The members from
 * @is_blocked to @last_ready_duration, and @off_cpu, are written by the CPU that switches the task,
 * with the lock of its run queue held: see perf/off_cpu.c, which clears @off_cpu_since while no
 * probe of sched_switch is registered. The task finds them stable while it runs; other tasks read
 * them with ntklog_get_off_cpu_times().
 */
struct ntklog_task {
	struct ntklog_sleeping_slot *next_sleeping_slot;
	struct task_struct *task;
	struct ntklog_off_cpu_times off_cpu;
	struct ntklog_resource_slot *next_resource_slot;
	u32 sequence;
	u32 critical_region_depth;
	u32 guarded_region_depth;
	bool is_at_apc_level;
	bool exit_is_missed;
	bool is_waiting;
	bool is_blocked;
	u64 off_cpu_since;
	u64 ns_queued_before;
	u64 last_ready_duration;
	struct hlist_node node;
	struct rcu_head rcu;
	struct ntklog_resource_slot resource_slots[1 + NTKLOG_TASK_SLOT_COUNT];
	struct ntklog_sleeping_slot sleeping_slots[1 + NTKLOG_TASK_SLOT_COUNT + 1];
	unsigned long cpus[];
};

void ntklog_init_task_record(struct ntklog_task *record, bool exit_is_missed);
bool ntklog_record_has_nt_state(const struct ntklog_task *record);
bool ntklog_record_is_unused(const struct ntklog_task *record);
void ntklog_drop_sleeping_slots(struct ntklog_task *record);
u64 ntklog_count_sleeping_slots_dropped_at_exit(void);

#endif /* _NTKLOG_GROUND_TASK_RECORD_H */
