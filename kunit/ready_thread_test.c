// SPDX-License-Identifier: GPL-2.0-only

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/jump_label.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/session.h>

#include "../module/etw/observe.h"
#include "../module/etw/session.h"
#include "../module/perf/ready_thread.h"
#include "fixture.h"

#define HOOK_ID			0x0532
#define READY_THREAD_ID		(EVENT_DATA + 0x00)
#define READY_ADJUST_REASON	(EVENT_DATA + 0x04)
#define READY_ADJUST_INCREMENT	(EVENT_DATA + 0x05)
#define READY_FLAGS		(EVENT_DATA + 0x06)
#define READY_SPARE		(EVENT_DATA + 0x07)

struct waiter {
	struct test_thread thread;
	struct completion started, woken;
};

static int wait_to_be_woken(void *data)
{
	struct waiter *waiter = data;

	complete(&waiter->started);
	wait_for_completion(&waiter->woken);
	return 0;
}

static void wake_task(void *data)
{
	struct waiter *waiter = data;

	complete(&waiter->woken);
}

static void run_in_thread(void (*run)(void *data), void *data)
{
	run(data);
}

/* Return the number of events of a thread. @event: set to its last event. */
static unsigned int count_events_of(pid_t thread_id, const u8 **event)
{
	unsigned int count = 0, index = 0;
	const u8 *next_event;

	while ((next_event = get_session_event(index++, HOOK_ID))) {
		if (read_u32(next_event, READY_THREAD_ID) != (u32)thread_id)
			continue;
		*event = next_event;
		count++;
	}
	return count;
}

/* On TEST_CPU, in the context of @run_in, wake a thread of another CPU, if there is one. */
static void expect_event(struct kunit *test,
			 void (*run_in)(void (*run)(void *data), void *data), u8 flags)
{
	struct waiter waiter = {};
	const u8 *event = NULL;
	pid_t thread_id;

	init_completion(&waiter.started);
	init_completion(&waiter.woken);
	test_thread_start(test, &waiter.thread, cpumask_last(cpu_online_mask), wait_to_be_woken,
			  &waiter);
	thread_id = task_pid_nr(waiter.thread.task);
	wait_for_completion(&waiter.started);
	while (READ_ONCE(waiter.thread.task->__state) != TASK_UNINTERRUPTIBLE)
		schedule_timeout_uninterruptible(1);

	start_session_0(test, PERF_DISPATCHER, 65536, 64);
	run_in(wake_task, &waiter);
	stop_session_0(test);
	test_thread_join(&waiter.thread);

	KUNIT_EXPECT_EQ(test, count_events_of(thread_id, &event), 1);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x18);
	KUNIT_EXPECT_EQ(test, read_u8(event, READY_ADJUST_REASON), 1);
	KUNIT_EXPECT_EQ(test, read_u8(event, READY_ADJUST_INCREMENT), 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, READY_FLAGS), flags);
	KUNIT_EXPECT_EQ(test, read_u8(event, READY_SPARE), 0);
}

static void woken_by_thread_event_without_flags(struct kunit *test)
{
	expect_event(test, run_in_thread, 0);
}

static void woken_in_softirq_flag_executing_dpc(struct kunit *test)
{
	expect_event(test, test_run_in_softirq, 0x01);
}

static void woken_in_hard_interrupt_flag_executing_dpc(struct kunit *test)
{
	expect_event(test, test_run_in_hardirq, 0x01);
}

static void running_thread_wakes_itself_no_event(struct kunit *test)
{
	unsigned int before, after;
	const u8 *event;

	start_session_0(test, PERF_DISPATCHER, 65536, 64);
	before = count_events_of(task_pid_nr(current), &event);
	set_current_state(TASK_INTERRUPTIBLE);
	KUNIT_EXPECT_EQ(test, wake_up_process(current), 1);
	after = count_events_of(task_pid_nr(current), &event);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, after, before);
}

static bool probes_are_registered(void)
{
	return static_key_enabled(&ntklog_sched_waking_tp->key) ||
	       static_key_enabled(&ntklog_sched_wakeup_new_tp->key);
}

static void group_enabled_probes_registered_until_stop(struct kunit *test)
{
	start_session_0(test, PERF_CONTEXT_SWITCH, 65536, 64);
	KUNIT_EXPECT_FALSE(test, probes_are_registered());
	stop_session_0(test);
	start_session_0(test, PERF_DISPATCHER, 65536, 64);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_sched_waking_tp->key));
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_sched_wakeup_new_tp->key));
	stop_session_0(test);
	KUNIT_EXPECT_FALSE(test, probes_are_registered());
}

/*
 * Replace *@tracepoint by @replacement (NULL: the kernel lacks it) and expect that the group fails
 * with @error. No probe may be left registered.
 */
static void expect_failure(struct kunit *test, struct tracepoint **tracepoint,
			   struct tracepoint *replacement, u32 expected_error)
{
	struct ntklog_session_failure failures[NTKLOG_SESSION_FAILURES];
	struct tracepoint *original_tracepoint = *tracepoint;

	*tracepoint = replacement;
	start_session_0(test, PERF_DISPATCHER, 65536, 64);
	*tracepoint = original_tracepoint;
	KUNIT_EXPECT_EQ(test, etw_get_failures(etw_sessions[0].run, failures), 1);
	KUNIT_EXPECT_EQ(test, failures[0].group, (u32)PERF_DISPATCHER);
	KUNIT_EXPECT_EQ(test, failures[0].error, expected_error);
	KUNIT_EXPECT_FALSE(test, probes_are_registered());
	stop_session_0(test);
}

static void probe_not_registered_group_failed_no_probe_left(struct kunit *test)
{
	expect_failure(test, &ntklog_sched_waking_tp, NULL, ENOENT);
	expect_failure(test, &ntklog_sched_waking_tp, &failing_tracepoint, ENOMEM);
	expect_failure(test, &ntklog_sched_wakeup_new_tp, &failing_tracepoint, ENOMEM);
	woken_by_thread_event_without_flags(test);
}

static struct kunit_case ready_thread_test_cases[] = {
	KUNIT_CASE(woken_by_thread_event_without_flags),
	KUNIT_CASE(woken_in_softirq_flag_executing_dpc),
	KUNIT_CASE(woken_in_hard_interrupt_flag_executing_dpc),
	KUNIT_CASE(running_thread_wakes_itself_no_event),
	KUNIT_CASE(group_enabled_probes_registered_until_stop),
	KUNIT_CASE(probe_not_registered_group_failed_no_probe_left),
	{}
};

static struct kunit_suite ready_thread_test_suite = {
	.name = "ntklog_ready_thread",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ready_thread_test_cases,
};

kunit_test_suite(ready_thread_test_suite);
