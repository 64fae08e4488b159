// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/relay.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/time64.h>
#include <linux/tracepoint.h>
#include <linux/version.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/etw/control.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/perf/resource.h"
#include "../module/perf/spin_lock.h"
#include "fixture.h"

/* Bind the test to TEST_CPU, and reset parameters and settings to their defaults. */
int fixture_init(struct kunit *test)
{
	static const u32 spin_lock_defaults[] = { 5, 1, 1000, 1, 1000000 };
	static const u32 resource_defaults[] = { 7, 1000, 1, 1 };

	if (ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, spin_lock_defaults,
					sizeof(spin_lock_defaults)) ||
	    ntklog_change_parameter_set(&ntklog_resource_parameter_set, resource_defaults,
					sizeof(resource_defaults)))
		return -EINVAL;
	return set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU));
}

void fixture_exit(struct kunit *test)
{
	int i;

	/* A failed test may have left sessions running. */
	for (i = 0; i < ETW_SESSIONS; i++)
		etw_stop_session(&etw_sessions[i]);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* The kernel limits its reports of sleeping in atomic context to one a second. */
void test_let_sleep_be_reported(void)
{
	msleep(1100);
}

/*
 * Sleep for @ms, and let the task be blocked for at least three quarters of this time. msleep()
 * would count jiffies, many of which may come at once after the host has stopped a CPU.
 *
 * If the CPU stalls between the start of the timer and the switch to another task, the task keeps
 * the CPU until the timer expires. If the task is preempted there, it is ready meanwhile. Then
 * sleep again.
 */
void test_sleep(unsigned int ms)
{
	unsigned long switches, preemptions, us = ms * USEC_PER_MSEC;
	u64 time_on_cpu;

	do {
		switches = current->nvcsw;
		preemptions = current->nivcsw;
		time_on_cpu = current->se.sum_exec_runtime;
		usleep_range(us, us + 1000);
		time_on_cpu = current->se.sum_exec_runtime - time_on_cpu;
	} while (current->nvcsw == switches || current->nivcsw != preemptions ||
		 time_on_cpu > us * NSEC_PER_USEC / 4);
}

static int run_test_thread(void *data)
{
	struct test_thread *thread = data;
	int err = thread->run(thread->data);

	complete(&thread->done);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return err;
}

void test_thread_start(struct kunit *test, struct test_thread *thread,
		       unsigned int cpu, int (*run)(void *data), void *data)
{
	thread->run = run;
	thread->data = data;
	init_completion(&thread->done);
	thread->task = kthread_create(run_test_thread, thread, "ntklog_kunit/%u", cpu);
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread->task));
	kthread_bind(thread->task, cpu);
	wake_up_process(thread->task);
}

/* kthread_stop() may return before the probes of the thread's exit have run. Wait for them. */
int test_stop_kthread(struct task_struct *task)
{
	int err;

	get_task_struct(task);
	err = kthread_stop(task);
	/* The kernel writes it with a plain store. */
	while (!data_race(READ_ONCE(task->exit_state)))
		schedule_timeout_uninterruptible(1);
	put_task_struct(task);
	return err;
}

int test_thread_result(struct test_thread *thread)
{
	wait_for_completion(&thread->done);
	return test_stop_kthread(thread->task);
}

void test_thread_join(struct test_thread *thread)
{
	test_thread_result(thread);
}

struct test_timer {
	struct hrtimer timer;
	struct completion done;
	void (*run)(void *data);
	void *data;
};

static enum hrtimer_restart run_test_timer(struct hrtimer *timer)
{
	struct test_timer *test_timer = container_of(timer, struct test_timer, timer);

	test_timer->run(test_timer->data);
	complete(&test_timer->done);
	return HRTIMER_NORESTART;
}

static void test_run_in_timer(void (*run)(void *data), void *data,
			      enum hrtimer_mode mode)
{
	struct test_timer timer = { .run = run, .data = data };

	init_completion(&timer.done);
	hrtimer_init_on_stack(&timer.timer, CLOCK_MONOTONIC, mode);
	timer.timer.function = run_test_timer;
	hrtimer_start(&timer.timer, ns_to_ktime(NSEC_PER_MSEC), mode);
	wait_for_completion(&timer.done);
	hrtimer_cancel(&timer.timer);
	destroy_hrtimer_on_stack(&timer.timer);
}

void test_run_in_softirq(void (*run)(void *data), void *data)
{
	test_run_in_timer(run, data, HRTIMER_MODE_REL_PINNED_SOFT);
}

void test_run_in_hardirq(void (*run)(void *data), void *data)
{
	test_run_in_timer(run, data, HRTIMER_MODE_REL_PINNED_HARD);
}

static int fail_to_register(void)
{
	return -ENOMEM;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
struct tracepoint failing_tracepoint = {
	.name = "failing",
	.regfunc = fail_to_register,
};
#else
static struct tracepoint_ext failing_tracepoint_ext = {
	.regfunc = fail_to_register,
};

struct tracepoint failing_tracepoint = {
	.name = "failing",
	.ext = &failing_tracepoint_ext,
};
#endif

u64 read_little_endian(const u8 *bytes, size_t offset, size_t size)
{
	u64 value = 0;

	while (size--)
		value = value << 8 | bytes[offset + size];
	return value;
}

/* Start session 0. @group: PERF_*, or 0 for no group. */
void start_session_0(struct kunit *test, u32 group, u32 buffer_size, u32 buffers)
{
	struct etw_session *session = &etw_sessions[0];
	struct etw_group_mask_change change = { .replaces_mask = true };

	if (group)
		change.groups_to_set.masks[group >> 29] = group & 0x1FFFFFFF;
	etw_change_group_mask(session, &change);
	/* A flush by the timer would finish buffers at random times. */
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(session, 0), 0);
	KUNIT_ASSERT_EQ(test, etw_set_mode(session, ETW_MODE_SEQUENTIAL), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, buffer_size), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, buffers), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
}

void stop_session_0(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, etw_stop_session(&etw_sessions[0]), 0);
}

/*
 * A preempted worker on this CPU that holds etw_mutex could not continue, and a thread on another
 * CPU that starts or stops a session would wait for it. Disable preemption while etw_mutex is free.
 */
void disable_preemption_with_etw_mutex_free(void)
{
	mutex_lock(&etw_mutex);
	preempt_disable();
	mutex_unlock(&etw_mutex);
}

/* Return the bytes of a buffer of the CPU. @index: order of the first use of the buffers, from 0 */
const u8 *get_session_buffer(unsigned int cpu, unsigned int index)
{
	const struct rchan_buf *buf = etw_get_buffer_of_cpu(etw_sessions[0].run, cpu);

	return (u8 *)buf->start + index * buf->chan->subbuf_size;
}

unsigned int count_finished_buffers(unsigned int cpu)
{
	return etw_get_buffer_of_cpu(etw_sessions[0].run, cpu)->subbufs_produced;
}

static size_t get_buffer_end(unsigned int cpu, unsigned int index)
{
	const struct rchan_buf *buf = etw_get_buffer_of_cpu(etw_sessions[0].run, cpu);

	if (index < buf->subbufs_produced)
		return read_u32(get_session_buffer(cpu, index), BUFFER_SAVED_OFFSET);
	return buf->offset;
}

/*
 * Return the event with this index among the events with @hook_id in all buffers of TEST_CPU, in
 * the order of writing; NULL if there are fewer. The caller must not let buffers be reused.
 */
const u8 *get_session_event(unsigned int index, u16 hook_id)
{
	unsigned int buffer;

	for (buffer = 0; buffer <= count_finished_buffers(TEST_CPU); buffer++) {
		const u8 *bytes = get_session_buffer(TEST_CPU, buffer);
		size_t end, position;

		if (buffer >= etw_get_buffer_of_cpu(etw_sessions[0].run, TEST_CPU)->chan->n_subbufs)
			break;
		end = get_buffer_end(TEST_CPU, buffer);
		for (position = BUFFER_EVENTS; position < end;
		     position += ALIGN(read_u16(bytes + position, EVENT_SIZE), 8))
			if (read_u16(bytes + position, EVENT_HOOK_ID) == hook_id && !index--)
				return bytes + position;
	}
	return NULL;
}

unsigned int count_session_events(u16 hook_id)
{
	unsigned int count = 0;

	while (get_session_event(count, hook_id))
		count++;
	return count;
}

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("KUnit suites of ntklog");
MODULE_LICENSE("GPL");
