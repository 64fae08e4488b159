// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <linux/pid.h>
#include <linux/relay.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/session.h>
#include <uapi/ntklog/wmi_contextswap.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/observe.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/perf/context_swap.h"
#include "../module/trace.h"
#include "fixture.h"

#define HOOK_ID			0x0524
#define SWAP_NEW_THREAD		(EVENT_DATA + 0x00)
#define SWAP_OLD_THREAD		(EVENT_DATA + 0x04)
#define SWAP_NEW_PRIORITY	(EVENT_DATA + 0x08)
#define SWAP_OLD_PRIORITY	(EVENT_DATA + 0x09)
#define SWAP_C_STATE		(EVENT_DATA + 0x0A)
#define SWAP_SPARE		(EVENT_DATA + 0x0B)
#define SWAP_WAIT_REASON	(EVENT_DATA + 0x0C)
#define SWAP_FLAGS		(EVENT_DATA + 0x0D)
#define SWAP_STATE		(EVENT_DATA + 0x0E)
#define SWAP_IDEAL		(EVENT_DATA + 0x0F)
#define SWAP_WAIT_TIME		(EVENT_DATA + 0x10)

static void start_swap_session(struct kunit *test, u32 version)
{
	KUNIT_ASSERT_EQ(test, etw_set_contextswap_version(&etw_sessions[0], version), 0);
	start_session_0(test, PERF_CONTEXT_SWITCH, 65536, 64);
}

/* Return the next event, from index *@next_index on, that has the test's thread ID at @offset. */
static const u8 *find_own_swap(struct kunit *test, size_t offset, unsigned int *next_index)
{
	const u8 *event;

	while ((event = get_session_event((*next_index)++, HOOK_ID)))
		if (read_u32(event, offset) == (u32)task_pid_nr(current))
			return event;
	KUNIT_ASSERT_NOT_NULL(test, event);
	return NULL;
}

static void sleep_written_as_two_swaps(struct kunit *test)
{
	const u8 *swap_out_event, *swap_in_event;
	unsigned int next_index = 0;

	start_swap_session(test, 4);
	KUNIT_EXPECT_TRUE(test, ntklog_context_swaps_are_traced());
	test_sleep(50);
	stop_session_0(test);
	KUNIT_EXPECT_FALSE(test, ntklog_context_swaps_are_traced());

	do
		swap_out_event = find_own_swap(test, SWAP_OLD_THREAD, &next_index);
	while (read_u8(swap_out_event, SWAP_STATE) != 5);
	swap_in_event = find_own_swap(test, SWAP_NEW_THREAD, &next_index);
	KUNIT_EXPECT_EQ(test, read_u32(swap_out_event, EVENT_MARKER), 0xC0110004u);
	KUNIT_EXPECT_EQ(test, read_u16(swap_out_event, EVENT_SIZE), 0x28);
	/* A thread with nice 0 has NT's priority 8, the idle thread has 0. */
	KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_OLD_PRIORITY), 8);
	KUNIT_EXPECT_EQ(test, read_u8(swap_in_event, SWAP_NEW_PRIORITY), 8);
	if (!read_u32(swap_out_event, SWAP_NEW_THREAD))
		KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_NEW_PRIORITY), 0);
	/* An uninterruptible sleep in the kernel. */
	KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_WAIT_REASON), 0);
	KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_FLAGS), 0);
	KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_C_STATE), 0);
	KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_SPARE), 0);
	KUNIT_EXPECT_EQ(test, read_u8(swap_out_event, SWAP_IDEAL), TEST_CPU);
	/* WaitTime is a duration in ticks, not a time since boot. */
	KUNIT_EXPECT_LT(test, read_u32(swap_in_event, SWAP_WAIT_TIME), msecs_to_jiffies(5000));
	KUNIT_EXPECT_GT(test, read_u64(swap_in_event, EVENT_TIME),
			read_u64(swap_out_event, EVENT_TIME));
}

static void swaps_in_sequence_old_thread_is_previous_new(struct kunit *test)
{
	unsigned int i;
	u32 running_thread_id = 0;

	start_swap_session(test, 4);
	for (i = 0; i < 20; i++)
		msleep(20);
	stop_session_0(test);
	KUNIT_EXPECT_GE(test, count_session_events(HOOK_ID), 20u);
	for (i = 0; i < count_session_events(HOOK_ID); i++) {
		const u8 *event = get_session_event(i, HOOK_ID);

		if (i)
			KUNIT_EXPECT_EQ(test, read_u32(event, SWAP_OLD_THREAD), running_thread_id);
		running_thread_id = read_u32(event, SWAP_NEW_THREAD);
	}
}

static void idle_thread_swapped_out_state_running(struct kunit *test)
{
	unsigned int idle_swaps = 0;
	int tries = 100;

	/* Another task may keep the CPU busy while this thread sleeps, so try again. */
	while (!idle_swaps && tries--) {
		unsigned int next_index = 0;
		const u8 *event;

		start_swap_session(test, 4);
		msleep(20);
		stop_session_0(test);
		while ((event = get_session_event(next_index++, HOOK_ID))) {
			bool was_idle = !read_u32(event, SWAP_OLD_THREAD);

			KUNIT_EXPECT_EQ(test, read_u8(event, SWAP_STATE) == 2, was_idle);
			idle_swaps += was_idle;
		}
	}
	KUNIT_EXPECT_GT(test, idle_swaps, 0);
}

static void interruptible_sleep_wait_reason_wr_queue(struct kunit *test)
{
	unsigned int next_index = 0;
	unsigned long switches;
	const u8 *event;

	start_swap_session(test, 4);
	/* If the CPU stalls, the timer may expire before the task has left the CPU. */
	switches = current->nvcsw;
	do
		schedule_timeout_interruptible(2);
	while (current->nvcsw == switches);
	stop_session_0(test);
	do
		event = find_own_swap(test, SWAP_OLD_THREAD, &next_index);
	while (read_u8(event, SWAP_STATE) != 5 || read_u8(event, SWAP_WAIT_REASON) == 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SWAP_WAIT_REASON), 15);
}

static void each_version_set_written_with_its_size(struct kunit *test)
{
	u32 version;

	for (version = 1; version <= 4; version++) {
		unsigned int next_index = 0;
		const u8 *event;

		start_swap_session(test, version);
		test_sleep(20);
		stop_session_0(test);
		event = find_own_swap(test, SWAP_OLD_THREAD, &next_index);
		KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110000u + version);
		KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), version == 1 ? 0x20 : 0x28);
		KUNIT_EXPECT_EQ(test, read_u8(event, SWAP_OLD_PRIORITY), 8);
		if (version == 1) {
			KUNIT_EXPECT_EQ(test, read_u8(event, SWAP_C_STATE), 0);
			KUNIT_EXPECT_EQ(test, read_u8(event, SWAP_SPARE), 0);
		}
	}
}

static const u8 *find_swap_at_time(int session, u64 time)
{
	const struct rchan_buf *buf = etw_get_buffer_of_cpu(etw_sessions[session].run, TEST_CPU);
	const u8 *bytes = buf->start;
	size_t position;

	for (position = BUFFER_EVENTS; position < read_u32(bytes, BUFFER_SAVED_OFFSET);
	     position += ALIGN(read_u16(bytes + position, EVENT_SIZE), 8))
		if (read_u64(bytes + position, EVENT_TIME) == time)
			return bytes + position;
	return NULL;
}

static void start_other_session(struct kunit *test, int session, u32 version)
{
	struct etw_group_mask_change change = { .replaces_mask = true };

	etw_group_mask_set(&change.groups_to_set, PERF_CONTEXT_SWITCH);
	etw_change_group_mask(&etw_sessions[session], &change);
	KUNIT_ASSERT_EQ(test, etw_set_contextswap_version(&etw_sessions[session], version), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(&etw_sessions[session], 65536), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(&etw_sessions[session], 4), 0);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(&etw_sessions[session], 0), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(&etw_sessions[session]), 0);
}

static void sessions_of_other_versions_same_swap_values(struct kunit *test)
{
	static const u32 versions[][3] = { { 1, 1, 1 }, { 4, 4, 2 }, { 1, 3, 1 } };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(versions); i++) {
		unsigned int next_index = 0, both = 0;
		const u8 *event;

		/* Start session 1 last and stop it first. */
		start_swap_session(test, versions[i][0]);
		start_other_session(test, 2, versions[i][2]);
		start_other_session(test, 1, versions[i][1]);
		test_sleep(20);
		for (j = 1; j <= 2; j++)
			KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[j]), 0);
		stop_session_0(test);
		while ((event = get_session_event(next_index++, HOOK_ID))) {
			for (j = 1; j <= 2; j++) {
				const u8 *other_event =
					find_swap_at_time(j, read_u64(event, EVENT_TIME));

				if (!other_event)
					continue;
				both++;
				KUNIT_EXPECT_EQ(test, read_u8(event, EVENT_VERSION),
						versions[i][0]);
				KUNIT_EXPECT_EQ(test, read_u8(other_event, EVENT_VERSION),
						versions[i][j]);
				KUNIT_EXPECT_EQ(test, read_u16(other_event, EVENT_SIZE),
						versions[i][j] == 1 ? 0x20 : 0x28);
				KUNIT_EXPECT_EQ(test, read_u64(event, SWAP_NEW_THREAD),
						read_u64(other_event, SWAP_NEW_THREAD));
				KUNIT_EXPECT_EQ(test, read_u16(event, SWAP_NEW_PRIORITY),
						read_u16(other_event, SWAP_NEW_PRIORITY));
				KUNIT_EXPECT_EQ(test, read_u32(event, SWAP_WAIT_REASON),
						read_u32(other_event, SWAP_WAIT_REASON));
				if (versions[i][j] == 1)
					KUNIT_EXPECT_EQ(test, read_u16(other_event, SWAP_C_STATE),
							0);
			}
		}
		KUNIT_EXPECT_GT(test, both, 0);
	}
	for (j = 0; j <= 2; j++)
		etw_set_contextswap_version(&etw_sessions[j], ETW_EVENT_VERSIONS);
}

static void linux_priority_converted_to_nt_order_kept(struct kunit *test)
{
	struct task_struct *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);
	u8 last_priority = 31, priority;
	int prio;

	KUNIT_ASSERT_NOT_NULL(test, thread);
	for (prio = -1; prio < 140; prio++) {
		thread->prio = prio;
		priority = ntklog_convert_to_nt_priority(thread, false);
		KUNIT_EXPECT_LE(test, priority, last_priority);
		/* NT's priorities from 16 on are real-time, as Linux' below 100. */
		KUNIT_EXPECT_EQ_MSG(test, priority >= 16, prio < 100, "prio %d", prio);
		KUNIT_EXPECT_GE(test, priority, 1);
		last_priority = priority;
	}
	thread->prio = 0;
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, false), 31);
	thread->prio = 99;
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, false), 16);
	thread->prio = 100;
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, false), 15);
	thread->prio = 120;
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, false), 8);
	thread->prio = 139;
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, false), 1);
	thread->prio = 120;
	thread->policy = SCHED_IDLE;
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, false), 1);
	KUNIT_EXPECT_EQ(test, ntklog_convert_to_nt_priority(thread, true), 0);
}

static atomic_t probe_calls;

static void count_probe_call(void *data, const struct wmi_contextswap *record)
{
	atomic_inc(&probe_calls);
}

static void tracepoint_probe_only_swap_probe_registered(struct kunit *test)
{
	int tries = 60000;

	KUNIT_EXPECT_FALSE(test, ntklog_context_swaps_are_traced());
	KUNIT_ASSERT_EQ(test, register_trace_contextswap(count_probe_call, NULL), 0);
	/* A work item registers the probe of sched_switch. Wait for a call of the test's probe. */
	while (!(atomic_read(&probe_calls) && ntklog_context_swaps_are_traced()) && tries--)
		usleep_range(500, 1000);
	KUNIT_EXPECT_GT(test, atomic_read(&probe_calls), 0);
	unregister_trace_contextswap(count_probe_call, NULL);
	while (ntklog_context_swaps_are_traced() && tries--)
		usleep_range(500, 1000);
	KUNIT_EXPECT_FALSE(test, ntklog_context_swaps_are_traced());
	tracepoint_synchronize_unregister();
}

/* The session fails to attach; later a user of the tracepoint attaches. */
static void session_observes_after_late_attach(struct kunit *test)
{
	struct tracepoint *sched_switch = ntklog_sched_switch_tp;
	struct ntklog_session_failure failures[NTKLOG_SESSION_FAILURES];
	const struct etw_run *run;
	int tries = 60000;

	ntklog_sched_switch_tp = &failing_tracepoint;
	start_session_0(test, PERF_CONTEXT_SWITCH, 65536, 64);
	ntklog_sched_switch_tp = sched_switch;
	run = etw_sessions[0].run;
	KUNIT_EXPECT_FALSE(test, ntklog_context_swaps_are_traced());
	KUNIT_EXPECT_EQ(test, etw_get_failures(run, failures), 1);
	KUNIT_EXPECT_FALSE(test, etw_group_mask_test(&run->observed_groups, PERF_CONTEXT_SWITCH));

	KUNIT_ASSERT_EQ(test, register_trace_contextswap(count_probe_call, NULL), 0);
	/* The work item first writes the event and then clears the failure. */
	while (etw_get_failures(run, failures) && tries--)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, etw_get_failures(run, failures), 0);
	KUNIT_EXPECT_TRUE(test, etw_group_mask_test(&run->observed_groups, PERF_CONTEXT_SWITCH));
	unregister_trace_contextswap(count_probe_call, NULL);
	stop_session_0(test);
	while (ntklog_context_swaps_are_traced() && tries--)
		usleep_range(500, 1000);
	tracepoint_synchronize_unregister();
}

static struct kunit_case context_swap_test_cases[] = {
	KUNIT_CASE(sleep_written_as_two_swaps),
	KUNIT_CASE(swaps_in_sequence_old_thread_is_previous_new),
	KUNIT_CASE(idle_thread_swapped_out_state_running),
	KUNIT_CASE(interruptible_sleep_wait_reason_wr_queue),
	KUNIT_CASE(each_version_set_written_with_its_size),
	KUNIT_CASE(sessions_of_other_versions_same_swap_values),
	KUNIT_CASE(linux_priority_converted_to_nt_order_kept),
	KUNIT_CASE(tracepoint_probe_only_swap_probe_registered),
	KUNIT_CASE(session_observes_after_late_attach),
	{}
};

static struct kunit_suite context_swap_test_suite = {
	.name = "ntklog_context_swap",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = context_swap_test_cases,
};

kunit_test_suite(context_swap_test_suite);
