/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_RUN_QUEUE_H
#define _NTKLOG_GROUND_RUN_QUEUE_H

/*
 * Whether a task is blocked, and how long it has been in a run queue, ready and without a CPU. The
 * scheduler records this time only with CONFIG_SCHED_INFO, and not for idle tasks.
 *
 * Since 6.12 a task that blocks may stay in its run queue for a while. If the scheduler moves such
 * a task to another CPU, the scheduler counts the time from the move until the wake-up as time in a
 * run queue.
 */

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <asm/barrier.h>

/**
 * ntklog_ns_since_queued() - return how long a task has been in its run queue
 * @task: the task
 *
 * Context: preemption off. Unless the lock of the task's run queue is held, the task may have left
 * the queue meanwhile.
 * Return: nanoseconds; 0 if the task is not queued, or if the scheduler does not record this.
 */
static inline u64 ntklog_ns_since_queued(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	u64 queue_time = READ_ONCE(task->sched_info.last_queued);
	u64 now;

	if (!queue_time)
		return 0;
	now = cpu_clock(smp_processor_id());
	/* The clocks of two CPUs may differ slightly. */
	if (now > queue_time)
		return now - queue_time;
#endif
	return 0;
}

/**
 * ntklog_ns_in_run_queues() - return how long a task has been in run queues since its creation
 * @task: the task
 *
 * Context: preemption off. Unless the lock of the task's run queue is held, the last time in a
 * queue may be missing or counted twice.
 * Return: nanoseconds; 0 if the scheduler does not record this.
 */
static inline u64 ntklog_ns_in_run_queues(const struct task_struct *task)
{
#ifdef CONFIG_SCHED_INFO
	return READ_ONCE(task->sched_info.run_delay) + ntklog_ns_since_queued(task);
#else
	return 0;
#endif
}

/**
 * ntklog_task_is_blocked() - test whether a task has given up its CPU until it is woken up
 * @task: the task
 *
 * A task that was preempted is not blocked, whatever its state. The kernel's task_call_func() makes
 * the same tests in the same order.
 *
 * Context: task->pi_lock is held. Until it is released, a blocked task stays blocked.
 * Return: true if the task is blocked. Its earlier writes are then visible to the caller.
 */
static inline bool ntklog_task_is_blocked(const struct task_struct *task)
{
	unsigned int state = READ_ONCE(task->__state);

	/* A waker sets TASK_WAKING and may then release pi_lock. */
	if (state == TASK_RUNNING || state == TASK_WAKING)
		return false;
	/*
	 * The task enters its run queue before it sets its own state. Pairs with the lock of the
	 * run queue in __schedule().
	 */
	smp_rmb();
	if (READ_ONCE(task->on_rq))
		return false;
#ifdef CONFIG_SMP
	/*
	 * The CPU sets on_cpu before the task leaves the run queue, and clears it when it has
	 * switched to another task. Pairs with the lock of the run queue in __schedule().
	 */
	smp_rmb();
	/* Pairs with smp_store_release() in finish_task(). */
	return !smp_load_acquire(&task->on_cpu);
#else
	return true;
#endif
}

#endif /* _NTKLOG_GROUND_RUN_QUEUE_H */
