// SPDX-License-Identifier: GPL-2.0-only

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/relay.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/session.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/flush.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/observe.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/linux/rundown.h"
#include "../module/perf/resource.h"
#include "../module/perf/spin_lock.h"
#include "fixture.h"

#define SESSION_BUFFER_SIZE		4096
#define OBSERVED	0xA04F
#define SPIN_LOCK_START	0x0F4B
#define SPIN_LOCK_END	0x0F4C
#define RESOURCE_START	0x0F4D
#define RESOURCE_END	0x0F4E
#define DROPPED_START	0xA050
#define STEAL_TIME	(EVENT_DATA + 0x10)

static void start_session_of_group(struct kunit *test, int i, u32 group)
{
	struct etw_group_mask_change change = { .replaces_mask = true };
	struct etw_session *session = &etw_sessions[i];

	if (group)
		etw_group_mask_set(&change.groups_to_set, group);
	KUNIT_ASSERT_EQ(test, etw_change_group_mask(session, &change), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SESSION_BUFFER_SIZE), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, 4), 0);
	KUNIT_ASSERT_EQ(test, etw_set_mode(session, ETW_MODE_SEQUENTIAL), 0);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(session, 0), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
}

static void stop_session(struct kunit *test, int i)
{
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[i]), 0);
}

/* Return an event of the first buffer of the CPU on which all these events are written. */
static const u8 *event_at(int i, unsigned int index)
{
	const struct etw_run *run = etw_sessions[i].run;
	const struct rchan_buf *buf = etw_get_buffer_of_cpu(run, etw_find_last_file_cpu(run));
	const u8 *bytes = buf->start;
	size_t position = BUFFER_EVENTS;

	while (index--)
		position += ALIGN(read_u16(bytes + position, EVENT_SIZE), 8);
	return bytes + position;
}

static void expect_first_events(struct kunit *test, int i, const u16 *hook_ids, unsigned int count)
{
	unsigned int index;

	for (index = 0; index < count; index++)
		KUNIT_EXPECT_EQ_MSG(test, read_u16(event_at(i, index), EVENT_HOOK_ID),
				    hook_ids[index], "event %u of session %d", index, i);
}

static void expect_observed(struct kunit *test, const u8 *event, u32 group, u32 is_observed)
{
	/* Version 1, PERFINFO64, 0xC0; header and two words. */
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110001u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x18);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), OBSERVED);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA), group);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 4), is_observed);
}

static void start_and_stop_log_observation_of_group(struct kunit *test)
{
	static const u16 hook_ids[] = { SPIN_LOCK_START, OBSERVED, OBSERVED, SPIN_LOCK_END };
	unsigned int i;

	start_session_of_group(test, 2, PERF_SPINLOCK);
	stop_session(test, 2);
	expect_first_events(test, 2, hook_ids, ARRAY_SIZE(hook_ids));
	expect_observed(test, event_at(2, 1), PERF_SPINLOCK, 1);
	expect_observed(test, event_at(2, 2), PERF_SPINLOCK, 0);
	for (i = 1; i < ARRAY_SIZE(hook_ids); i++)
		KUNIT_EXPECT_GT(test, read_u64(event_at(2, i), EVENT_TIME),
				read_u64(event_at(2, i - 1), EVENT_TIME));
}

static void change_of_mask_logs_observation_of_group(struct kunit *test)
{
	static const u16 hook_ids[] = {
		SPIN_LOCK_START, OBSERVED, OBSERVED, RESOURCE_START, OBSERVED, RESOURCE_END,
		OBSERVED, SPIN_LOCK_END,
	};
	struct etw_group_mask_change change = {};

	start_session_of_group(test, 2, PERF_SPINLOCK);
	etw_group_mask_set(&change.groups_to_set, PERF_SYNC_OBJECTS);
	KUNIT_EXPECT_EQ(test, etw_change_group_mask(&etw_sessions[2], &change), 0);
	change.groups_to_clear = change.groups_to_set;
	memset(&change.groups_to_set, 0, sizeof(change.groups_to_set));
	KUNIT_EXPECT_EQ(test, etw_change_group_mask(&etw_sessions[2], &change), 0);
	stop_session(test, 2);
	expect_first_events(test, 2, hook_ids, ARRAY_SIZE(hook_ids));
	expect_observed(test, event_at(2, 2), PERF_SYNC_OBJECTS, 1);
	expect_observed(test, event_at(2, 4), PERF_SYNC_OBJECTS, 0);
	expect_observed(test, event_at(2, 6), PERF_SPINLOCK, 0);
}

/* Wait until the group is observed. */
static void expect_to_be_observed(struct kunit *test, const struct etw_run *run, u32 group)
{
	int tries = 60000;

	/* The mask is written by an interrupt handler of the CPU that logs the event. */
	while (!data_race(etw_group_mask_test(&run->observed_groups, group)) && tries--)
		usleep_range(500, 1000);
	/* This read races with the writer only if the loop has timed out. */
	KUNIT_EXPECT_TRUE(test, data_race(etw_group_mask_test(&run->observed_groups, group)));
}

static void fill_last_cpu(void *data)
{
	static const u64 filler[32];
	u16 length;

	/* Fill the rest of each buffer with shorter and shorter events. */
	for (length = sizeof(filler); length; length -= 8)
		while (etw_log_session_event(data, PERFINFO_LOG_TYPE_NTKLOG_OBSERVED,
					     NTKLOG_OBSERVED_VERSION, filler, length))
			;
}

/* The buffers are full when the observation begins. Its event is written when there is space. */
static void a_lost_observed_event_is_written_later(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	struct etw_group_mask_change change = {};
	struct etw_counts before, after;
	struct rchan_buf *buf;
	struct etw_run *run;

	start_session_of_group(test, 2, PERF_SPINLOCK);
	run = session->run;
	buf = etw_get_buffer_of_cpu(run, etw_find_last_file_cpu(run));
	etw_call_on_last_cpu(run, fill_last_cpu, session);
	etw_group_mask_set(&change.groups_to_set, PERF_SYNC_OBJECTS);
	KUNIT_EXPECT_EQ(test, etw_change_group_mask(session, &change), 0);
	KUNIT_EXPECT_FALSE(test, etw_group_mask_test(&run->observed_groups, PERF_SYNC_OBJECTS));
	KUNIT_EXPECT_TRUE(test, etw_group_mask_test(&run->observed_groups, PERF_SPINLOCK));
	KUNIT_ASSERT_TRUE(test, etw_get_counts(run, buf->cpu, &before));
	msleep(300);
	KUNIT_ASSERT_TRUE(test, etw_get_counts(run, buf->cpu, &after));
	KUNIT_EXPECT_EQ_MSG(test, after.lost, before.lost, "each attempt counts as a loss");
	relay_subbufs_consumed(buf->chan, buf->cpu, buf->subbufs_produced - buf->subbufs_consumed);
	expect_to_be_observed(test, run, PERF_SYNC_OBJECTS);
	stop_session(test, 2);
	/* The first buffer has been reused, and begins with the event. */
	expect_observed(test, event_at(2, 0), PERF_SYNC_OBJECTS, 1);
}

static void a_suspend_interrupts_the_observation(struct kunit *test)
{
	static const u16 hook_ids[] = {
		SPIN_LOCK_START, OBSERVED, OBSERVED, OBSERVED, OBSERVED, SPIN_LOCK_END,
	};
	const struct etw_run *run;
	unsigned int i;

	start_session_of_group(test, 2, PERF_SPINLOCK);
	run = etw_sessions[2].run;
	KUNIT_EXPECT_EQ(test, etw_stop_observing_for_suspend(), 0);
	KUNIT_EXPECT_FALSE(test, etw_group_mask_test(&run->observed_groups, PERF_SPINLOCK));
	etw_resume_observing();
	expect_to_be_observed(test, run, PERF_SPINLOCK);
	etw_resume_observing();
	stop_session(test, 2);
	expect_first_events(test, 2, hook_ids, ARRAY_SIZE(hook_ids));
	for (i = 1; i < 5; i++)
		expect_observed(test, event_at(2, i), PERF_SPINLOCK, i % 2);
}

/* The end of the observation finds no space; a reader makes space only after the resume. */
static void a_lost_end_of_an_observation_is_written_after_the_resume(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	struct etw_counts before, after;
	struct rchan_buf *buf;
	struct etw_run *run;
	int tries = 60000;

	start_session_of_group(test, 2, PERF_SPINLOCK);
	run = session->run;
	buf = etw_get_buffer_of_cpu(run, etw_find_last_file_cpu(run));
	etw_call_on_last_cpu(run, fill_last_cpu, session);
	KUNIT_EXPECT_EQ(test, etw_stop_observing_for_suspend(), 0);
	etw_resume_observing();
	KUNIT_ASSERT_TRUE(test, etw_get_counts(run, buf->cpu, &before));
	relay_subbufs_consumed(buf->chan, buf->cpu, buf->subbufs_produced - buf->subbufs_consumed);
	do {
		usleep_range(500, 1000);
		KUNIT_ASSERT_TRUE(test, etw_get_counts(run, buf->cpu, &after));
	} while (after.written < before.written + 2 && tries--);
	stop_session(test, 2);
	expect_observed(test, event_at(2, 0), PERF_SPINLOCK, 0);
	expect_observed(test, event_at(2, 1), PERF_SPINLOCK, 1);
}

static int begin_suspend(void *unused)
{
	allow_signal(SIGKILL);
	return etw_stop_observing_for_suspend();
}

/* Let a task begin a suspend while the test holds etw_mutex, and expect that it fails with @err. */
static void refuse_suspend(struct kunit *test, bool is_killed, int err)
{
	struct etw_session *session = &etw_sessions[2];
	struct test_thread thread;
	struct etw_run *run;
	int tries = 60000;

	start_session_of_group(test, 2, PERF_SPINLOCK);
	run = session->run;
	/* A start may queue work that begins an observation. Let it end. */
	msleep(200);
	mutex_lock(&etw_mutex);
	test_thread_start(test, &thread, TEST_CPU, begin_suspend, NULL);
	/* As a start does, end the observation when the suspend has begun. */
	do {
		usleep_range(500, 1000);
		etw_log_observed_event(session, &session->settings.group_mask);
	} while (etw_group_mask_test(&run->observed_groups, PERF_SPINLOCK) && tries--);
	KUNIT_EXPECT_FALSE(test, etw_group_mask_test(&run->observed_groups, PERF_SPINLOCK));
	if (is_killed)
		send_sig(SIGKILL, thread.task, 1);
	wait_for_completion(&thread.done);
	mutex_unlock(&etw_mutex);
	KUNIT_EXPECT_EQ(test, test_stop_kthread(thread.task), err);
	expect_to_be_observed(test, run, PERF_SPINLOCK);
	stop_session(test, 2);
}

static void a_suspend_that_is_killed_lets_the_observation_go_on(struct kunit *test)
{
	refuse_suspend(test, true, -EINTR);
}

/* The suspend gives up after some time. */
static void a_suspend_does_not_wait_for_a_start_without_limit(struct kunit *test)
{
	refuse_suspend(test, false, -EBUSY);
}

static u64 get_growing_steal_time(int cpu)
{
	static u64 steal_time;

	return ++steal_time;
}

static u64 get_constant_steal_time(int cpu)
{
	return 1000;
}

/* ntklog is loaded with linux_locks=0, so the group cannot be attached. */
static void an_added_group_that_cannot_be_attached_is_never_observed(struct kunit *test)
{
	static const u16 hook_ids[] = {
		SPIN_LOCK_START, OBSERVED, RESOURCE_START, DROPPED_START, OBSERVED,
	};
	ntklog_steal_time_func_t before = ntklog_steal_time_func;
	struct etw_group_mask_change change = {};

	start_session_of_group(test, 2, PERF_SPINLOCK);
	etw_group_mask_set(&change.groups_to_set, PERF_LINUX_MUTEX);
	ntklog_steal_time_func = get_constant_steal_time;
	KUNIT_EXPECT_EQ(test, etw_change_group_mask(&etw_sessions[2], &change), 0);
	stop_session(test, 2);
	ntklog_steal_time_func = before;
	expect_first_events(test, 2, hook_ids, ARRAY_SIZE(hook_ids));
	expect_observed(test, event_at(2, 1), PERF_SPINLOCK, 1);
	/* Version 2, PERFINFO64, 0xC0; header and three u64. */
	KUNIT_EXPECT_EQ(test, read_u32(event_at(2, 3), EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, read_u16(event_at(2, 3), EVENT_SIZE), 0x28);
	KUNIT_EXPECT_EQ(test, read_u64(event_at(2, 3), STEAL_TIME), 1000 * num_possible_cpus());
	expect_observed(test, event_at(2, 4), PERF_SPINLOCK, 0);
}

/* ntklog is loaded with linux_locks=0, so the group cannot be attached. */
static void a_group_that_cannot_be_attached_is_a_failure(struct kunit *test)
{
	struct ntklog_session_failure failures[NTKLOG_SESSION_FAILURES];

	start_session_of_group(test, 2, PERF_LINUX_MUTEX);
	KUNIT_EXPECT_EQ(test, etw_get_failures(etw_sessions[2].run, failures), 1u);
	KUNIT_EXPECT_EQ(test, failures[0].group, PERF_LINUX_MUTEX);
	KUNIT_EXPECT_EQ(test, failures[0].error, (u32)EOPNOTSUPP);
	stop_session(test, 2);
	KUNIT_EXPECT_EQ(test, etw_get_failures(etw_sessions[2].run, failures), 1u);
	KUNIT_EXPECT_NE(test, read_u16(event_at(2, 1), EVENT_HOOK_ID), OBSERVED);
	start_session_of_group(test, 2, PERF_SPINLOCK);
	KUNIT_EXPECT_EQ(test, etw_get_failures(etw_sessions[2].run, failures), 0u);
	stop_session(test, 2);
}

static void set_spin_lock_rates(struct kunit *test, u32 acquire_rate, u32 contention_rate)
{
	/* Class, spin threshold, acquire rate, contention rate, hold threshold. */
	u32 parameters[] = { 5, 2, acquire_rate, contention_rate, 5000000 };

	KUNIT_ASSERT_EQ(test,
			ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, parameters,
						    sizeof(parameters)),
			STATUS_SUCCESS);
}

static void expect_rates(struct kunit *test, const u8 *event, u32 acquire_rate, u32 contention_rate)
{
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110003u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x20);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x00), 2u);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x04), contention_rate);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x08), acquire_rate);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x0C), 5000000u);
}

/* Changes that cancel each other out are in the file, too. */
static void each_change_of_rates_is_in_each_started_session(struct kunit *test)
{
	static const u16 hook_ids[] = {
		SPIN_LOCK_START, OBSERVED, SPIN_LOCK_END, SPIN_LOCK_START, SPIN_LOCK_END,
		SPIN_LOCK_START, OBSERVED, SPIN_LOCK_END,
	};
	static const u16 resource_hook_ids[] = {
		RESOURCE_START, OBSERVED, OBSERVED, RESOURCE_END,
	};
	static const u32 rates[][2] = {
		[0] = { 1000, 1 }, [2] = { 1000, 1 }, [3] = { 2000, 100 }, [4] = { 2000, 100 },
		[5] = { 1000, 1 }, [7] = { 1000, 1 },
	};
	unsigned int i, index;

	set_spin_lock_rates(test, 1000, 1);
	start_session_of_group(test, 2, PERF_SPINLOCK);
	start_session_of_group(test, 4, PERF_SYNC_OBJECTS);
	start_session_of_group(test, 6, PERF_SPINLOCK);
	set_spin_lock_rates(test, 2000, 100);
	set_spin_lock_rates(test, 2000, 100);
	KUNIT_EXPECT_EQ(test, ntklog_set_parameter(&ntklog_spin_lock_parameter_set.parameters[1],
						   999), STATUS_INVALID_PARAMETER);
	set_spin_lock_rates(test, 1000, 1);
	for (i = 2; i <= 6; i += 2)
		stop_session(test, i);
	for (i = 2; i <= 6; i += 4) {
		expect_first_events(test, i, hook_ids, ARRAY_SIZE(hook_ids));
		for (index = 0; index < ARRAY_SIZE(hook_ids); index++)
			if (hook_ids[index] != OBSERVED)
				expect_rates(test, event_at(i, index), rates[index][0],
					     rates[index][1]);
	}
	expect_first_events(test, 4, resource_hook_ids, ARRAY_SIZE(resource_hook_ids));
}

/* The counts before and after a change of parameters differ, but only the parameters are logged. */
static void a_change_of_a_parameter_logs_no_counts(struct kunit *test)
{
	static const u16 hook_ids[] = {
		RESOURCE_START, DROPPED_START, RESOURCE_END, RESOURCE_START, RESOURCE_END,
	};
	const struct ntklog_parameter *rate_parameter =
		&ntklog_resource_parameter_set.parameters[0];
	ntklog_steal_time_func_t steal_time_func_before = ntklog_steal_time_func;
	const u32 before = ntklog_get_parameter(rate_parameter);

	ntklog_steal_time_func = get_growing_steal_time;
	start_session_of_group(test, 2, PERF_LINUX_MUTEX);
	KUNIT_EXPECT_EQ(test, ntklog_set_parameter(rate_parameter, before + 7), STATUS_SUCCESS);
	stop_session(test, 2);
	ntklog_steal_time_func = steal_time_func_before;
	expect_first_events(test, 2, hook_ids, ARRAY_SIZE(hook_ids));
	KUNIT_EXPECT_EQ(test, ntklog_set_parameter(rate_parameter, before), STATUS_SUCCESS);
}

static void a_change_of_one_parameter_is_in_the_session(struct kunit *test)
{
	static const u16 hook_ids[] = {
		RESOURCE_START, OBSERVED, RESOURCE_END, RESOURCE_START, OBSERVED, RESOURCE_END,
	};
	const struct ntklog_parameter *rate_parameter =
		&ntklog_resource_parameter_set.parameters[0];
	const u32 before = ntklog_get_parameter(rate_parameter);

	start_session_of_group(test, 2, PERF_SYNC_OBJECTS);
	KUNIT_EXPECT_EQ(test, ntklog_set_parameter(rate_parameter, before + 7), STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, ntklog_set_parameter(rate_parameter, before + 7), STATUS_SUCCESS);
	stop_session(test, 2);
	expect_first_events(test, 2, hook_ids, ARRAY_SIZE(hook_ids));
	KUNIT_EXPECT_EQ(test, read_u32(event_at(2, 2), EVENT_DATA), before);
	KUNIT_EXPECT_EQ(test, read_u32(event_at(2, 3), EVENT_DATA), before + 7);
	KUNIT_EXPECT_EQ(test, ntklog_set_parameter(rate_parameter, before), STATUS_SUCCESS);
}

static struct kunit_case rundown_test_cases[] = {
	KUNIT_CASE(start_and_stop_log_observation_of_group),
	KUNIT_CASE(change_of_mask_logs_observation_of_group),
	KUNIT_CASE(a_lost_observed_event_is_written_later),
	KUNIT_CASE(a_suspend_interrupts_the_observation),
	KUNIT_CASE(a_lost_end_of_an_observation_is_written_after_the_resume),
	KUNIT_CASE(a_suspend_that_is_killed_lets_the_observation_go_on),
	KUNIT_CASE(a_suspend_does_not_wait_for_a_start_without_limit),
	KUNIT_CASE(an_added_group_that_cannot_be_attached_is_never_observed),
	KUNIT_CASE(a_group_that_cannot_be_attached_is_a_failure),
	KUNIT_CASE(each_change_of_rates_is_in_each_started_session),
	KUNIT_CASE(a_change_of_one_parameter_is_in_the_session),
	KUNIT_CASE(a_change_of_a_parameter_logs_no_counts),
	{}
};

static struct kunit_suite rundown_test_suite = {
	.name = "ntklog_rundown",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = rundown_test_cases,
};

kunit_test_suite(rundown_test_suite);
