// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a task that holds or waits for a sleeping lock has no CPU. While sleeping locks are
 * tracked, a probe of sched_switch adds this time to two counters in the task's record,
 * ntklog_task::off_cpu.
 *
 * The probe runs with the lock of the run queue held and interrupts off. It finds the record of the
 * old task in ntklog_current. It searches for the record of the new task only if an element of
 * ntklog_off_cpu_task_counts tells that a time without a CPU may end.
 *
 * The time in a run queue after a wake-up comes from the scheduler, so no wake-up needs a probe.
 * The time before another CPU puts the task into its run queue may count as blocked.
 */

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "../ground/clock.h"
#include "../ground/run_queue.h"
#include "../ground/task_cache.h"
#include "../ground/task_table.h"
#include "../ground/thread.h"
#include "block_stack.h"
#include "context_swap.h"
#include "off_cpu.h"

#define NTKLOG_OFF_CPU_HASH_BITS	10

/* Number of tasks whose off_cpu_since is set, by the hash of the task's address. */
static atomic_t ntklog_off_cpu_task_counts[1 << NTKLOG_OFF_CPU_HASH_BITS];

static atomic_t *ntklog_find_off_cpu_counter(const struct task_struct *task)
{
	return &ntklog_off_cpu_task_counts[hash_ptr(task, NTKLOG_OFF_CPU_HASH_BITS)];
}

static noinline void ntklog_begin_off_cpu(struct ntklog_task *record,
					  const struct task_struct *task, bool is_blocked)
{
	/*
	 * The record of an exiting task has been removed from the table, so ntklog_end_off_cpu()
	 * would not find it. A task whose exit the probe may miss may never get a CPU again.
	 */
	if (hlist_unhashed_lockless(&record->node) || record->exit_is_missed)
		return;
	WRITE_ONCE(record->is_blocked, is_blocked);
	ntklog_write_u64(record->ns_queued_before, ntklog_ns_in_run_queues(task));
	/* Publishes both. Pairs with the first smp_rmb() in ntklog_get_off_cpu_times(). */
	smp_wmb();
	ntklog_write_u64(record->off_cpu_since, ntklog_read_cycles());
	atomic_inc(ntklog_find_off_cpu_counter(task));
	if (is_blocked && ntklog_block_stacks_are_needed())
		ntklog_begin_blocked_period(record, record->off_cpu_since);
}

/* Return which part of a time without a CPU, in cycles, the blocked @task was in run queues. */
static u64 ntklog_get_ready_cycles(const struct task_struct *task, u64 ns_queued_before,
				   u64 off_cpu_cycles)
{
	s64 queued_ns = ntklog_ns_in_run_queues(task) - ns_queued_before;

	return min(off_cpu_cycles, ntklog_ns_to_cycles(max_t(s64, queued_ns, 0)));
}

static noinline void ntklog_end_off_cpu(const struct task_struct *task)
{
	struct ntklog_task *record = ntklog_find_task_record(task);
	u64 since, off_cpu_cycles, ready_cycles;

	/* The counter may be that of another task with the same hash. */
	if (!record || !record->off_cpu_since)
		return;
	since = record->off_cpu_since;
	off_cpu_cycles = ntklog_cycles_since(since, 0);
	ready_cycles = off_cpu_cycles;
	if (record->is_blocked)
		ready_cycles =
			ntklog_get_ready_cycles(task, record->ns_queued_before, off_cpu_cycles);
	ntklog_write_u64(record->off_cpu_since, 0);
	/* Pairs with the second smp_rmb() in ntklog_get_off_cpu_times(): off_cpu_since is 0. */
	smp_wmb();
	ntklog_write_u64(record->off_cpu.ready_cycles, record->off_cpu.ready_cycles + ready_cycles);
	ntklog_write_u64(record->off_cpu.blocked_cycles,
			 record->off_cpu.blocked_cycles + off_cpu_cycles - ready_cycles);
	/*
	 * The task copies the counters into slots as soon as it runs. Pairs with the first
	 * smp_rmb() in ntklog_copy_slot() of linux/held_locks.c.
	 */
	smp_wmb();
	record->last_ready_duration = ready_cycles;
	if (record->is_blocked && ntklog_block_stacks_are_needed())
		ntklog_end_blocked_period(task, since, off_cpu_cycles - ready_cycles);
	atomic_dec(ntklog_find_off_cpu_counter(task));
	ntklog_cache_task_record(record);
}

static void ntklog_off_cpu_probe(void *data, bool preempted, struct task_struct *old,
				 struct task_struct *new, unsigned int old_state)
{
	struct ntklog_task *record = __this_cpu_read(ntklog_current.record);

	/*
	 * A preempted task is included even without a slot, because it may be in the hook that
	 * takes one: it may have looked up its record in ntklog_current, but not raised
	 * next_sleeping_slot.
	 */
	if (__this_cpu_read(ntklog_current.cached_task) == old && READ_ONCE(record->task) == old &&
	    (preempted || READ_ONCE(record->next_sleeping_slot) != &record->sleeping_slots[1]))
		ntklog_begin_off_cpu(record, old, !preempted && old_state != TASK_RUNNING);
	if (unlikely(atomic_read(ntklog_find_off_cpu_counter(new))))
		ntklog_end_off_cpu(new);
}

/**
 * ntklog_get_off_cpu_times() - return how long a task has had no CPU, up to now
 * @record: record of any task
 *
 * The counters of a task without a CPU grow when the task gets a CPU. If the task is just getting a
 * CPU, its last time without a CPU may be missing in the result.
 *
 * A task that has been woken up, but has no CPU yet, counts as ready since then, if the scheduler
 * records this.
 *
 * Context: preemption off, so that RCU keeps the record and the task valid.
 * Return: ntklog_task::off_cpu, and the time since the task lost its CPU.
 */
struct ntklog_off_cpu_times ntklog_get_off_cpu_times(const struct ntklog_task *record)
{
	u64 since, off_cpu_cycles, ready_cycles, ns_queued_before;
	/* NULL if the task has exited. */
	const struct task_struct *task = READ_ONCE(record->task);
	struct ntklog_off_cpu_times sum;
	bool is_blocked;

	do {
		since = ntklog_read_u64(record->off_cpu_since);
		/*
		 * is_blocked and ns_queued_before belong to off_cpu_since. Pairs with the smp_wmb()
		 * in ntklog_begin_off_cpu().
		 */
		smp_rmb();
		is_blocked = READ_ONCE(record->is_blocked);
		ns_queued_before = ntklog_read_u64(record->ns_queued_before);
		off_cpu_cycles = since ? ntklog_cycles_since(since, 0) : 0;
		ready_cycles = off_cpu_cycles;
		if (is_blocked)
			ready_cycles = task && task_is_running(task) ?
					       ntklog_get_ready_cycles(task, ns_queued_before,
								       off_cpu_cycles) :
					       0;
		sum.ready_cycles = ntklog_read_u64(record->off_cpu.ready_cycles);
		sum.blocked_cycles = ntklog_read_u64(record->off_cpu.blocked_cycles);
		/*
		 * If a counter has grown meanwhile, off_cpu_since has changed. Pairs with the
		 * smp_wmb() in ntklog_end_off_cpu().
		 */
		smp_rmb();
	} while (ntklog_read_u64(record->off_cpu_since) != since);
	sum.ready_cycles += ready_cycles;
	sum.blocked_cycles += off_cpu_cycles - ready_cycles;
	return sum;
}

static void ntklog_clear_off_cpu_since(struct ntklog_task *record, void *unused)
{
	ntklog_write_u64(record->off_cpu_since, 0);
}

/**
 * ntklog_start_off_cpu_counting() - register the probe of sched_switch
 *
 * Context: task; may sleep. Callers are serialized. Task records are pinned, and no hook of a
 * sleeping lock runs.
 * Return: 0 or a negative errno.
 */
int ntklog_start_off_cpu_counting(void)
{
	int err;

	ntklog_alloc_block_stacks();
	err = tracepoint_probe_register(ntklog_sched_switch_tp, ntklog_off_cpu_probe, NULL);
	if (err)
		ntklog_free_block_stacks();
	return err;
}

/**
 * ntklog_stop_off_cpu_counting() - unregister the probe of sched_switch
 *
 * Context: task; may sleep. On return no CPU runs the probe, so that records may be freed.
 */
void ntklog_stop_off_cpu_counting(void)
{
	tracepoint_probe_unregister(ntklog_sched_switch_tp, ntklog_off_cpu_probe, NULL);
	tracepoint_synchronize_unregister();
	/* No probe ends the time without a CPU of the tasks that have none now. */
	memset(ntklog_off_cpu_task_counts, 0, sizeof(ntklog_off_cpu_task_counts));
	ntklog_visit_task_records(ntklog_clear_off_cpu_since, NULL);
	ntklog_free_block_stacks();
}
