/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_RUN_QUEUE_H
#define _NTKLOG_GROUND_RUN_QUEUE_H

/*
 * How long a task has been in a run queue, ready and without a CPU. The scheduler records this only
 * with CONFIG_SCHED_INFO, and not for idle tasks.
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

#endif /* _NTKLOG_GROUND_RUN_QUEUE_H */
