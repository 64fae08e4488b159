// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/instruction_pointer.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../module/perf/resource_event.h"
#include "../module/perf/sleeping_lock.h"
#include "../module/trace.h"
#include "perf_resource_fixture.h"

static void initialization_written(struct kunit *test)
{
	static struct eresource other;
	const u8 *written_event;

	resource_session_start(test);
	set_resource_parameters(test, U32_MAX, U32_MAX, 1);
	ex_initialize_resource_lite(&other);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	written_event = get_resource_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u32(written_event, RESOURCE_ACTION), 0x10008u);
	KUNIT_EXPECT_EQ(test, read_u64(written_event, RESOURCE_RESOURCE),
			(u64)(unsigned long)&other);
	KUNIT_EXPECT_EQ(test, read_u32(written_event, RESOURCE_THREAD_ID),
			(u32)task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u32(written_event, RESOURCE_MAX_DEPTH), 0u);
	KUNIT_EXPECT_EQ(test, read_u32(written_event, RESOURCE_CONTENTION), 0u);
	EXPECT_NO_TIMES(test, written_event);
	ex_delete_resource_lite(&other);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	stop_session_0(test);
}

static void reinitialization_with_owners_written(struct kunit *test)
{
	users[0].is_lockdep_off = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	resource_session_start(test);
	ex_reinitialize_resource_lite(&resource);
	/* The resource's own owner entry, and the first table of four. */
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10018u, 5u, 2u);
	EXPECT_NO_TIMES(test, get_resource_event(test, 0));
	ex_reinitialize_resource_lite(&resource);
	EXPECT_EVENT(test, get_resource_event(test, 1), 0x10018u, 5u, 0u);
	KUNIT_EXPECT_EQ(test, read_u32(get_resource_event(test, 1), RESOURCE_THREAD_ID),
			(u32)task_pid_nr(current));
	stop_session_0(test);
}

static void release_event_bytes_match_nt_layout(struct kunit *test)
{
	u64 before, owned, released, after;
	const u8 *written_event;

	resource_session_start(test);
	before = get_cycles();
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	owned = get_cycles();
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	udelay(9);
	released = get_cycles();
	release_acquisitions(1);
	after = get_cycles();
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	written_event = get_resource_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u32(written_event, EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, read_u16(written_event, EVENT_SIZE), 0x40);
	KUNIT_EXPECT_EQ(test, read_u16(written_event, EVENT_HOOK_ID), 0x052B);
	KUNIT_EXPECT_GE(test, read_u64(written_event, EVENT_TIME), released);
	KUNIT_EXPECT_LE(test, read_u64(written_event, EVENT_TIME), after);
	EXPECT_EVENT(test, written_event, 0x10022u, 1u, 0u);
	KUNIT_EXPECT_GE(test, read_u64(written_event, RESOURCE_ACQUIRE_TIME), before);
	KUNIT_EXPECT_LE(test, read_u64(written_event, RESOURCE_ACQUIRE_TIME), owned);
	KUNIT_EXPECT_GE(test, read_u64(written_event, RESOURCE_HOLD_TIME), released - owned);
	KUNIT_EXPECT_LE(test, read_u64(written_event, RESOURCE_HOLD_TIME), after - before);
	KUNIT_EXPECT_EQ(test, read_u64(written_event, RESOURCE_WAIT_TIME), 0ull);
	KUNIT_EXPECT_EQ(test, read_u32(written_event, RESOURCE_THREAD_ID),
			(u32)task_pid_nr(current));
	stop_session_0(test);
}

static void shared_release_written(struct kunit *test)
{
	resource_session_start(test);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 2u);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10042u, 1u, 0u);
	EXPECT_EVENT(test, get_resource_event(test, 1), 0x10042u, 1u, 0u);
	KUNIT_EXPECT_GT(test, read_u64(get_resource_event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 2u);
	stop_session_0(test);
}

static void recursive_releases_only_last_written_with_max_depth(struct kunit *test)
{
	resource_session_start(test);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, false));
	release_acquisitions(2);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10022u, 3u, 0u);

	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_wait_for_exclusive(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 2u);
	EXPECT_EVENT(test, get_resource_event(test, 1), 0x10042u, 2u, 0u);
	stop_session_0(test);
}

static void converted_resource_release_written_as_shared(struct kunit *test)
{
	resource_session_start(test);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	release_acquisitions(1);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10042u, 1u, 0u);
	KUNIT_EXPECT_GT(test, read_u64(get_resource_event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	stop_session_0(test);
}

static void recursion_first_acquisition_untracked_times_unknown(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	resource_session_start(test);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(3);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10042u, 3u, 0u);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_ACQUIRE_TIME), 2ull);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_WAIT_TIME), 1ull);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	stop_session_0(test);
}

static bool release_later(struct eresource *resource, bool wait)
{
	while (!ex_get_exclusive_waiter_count(resource) &&
	       !ex_get_shared_waiter_count(resource))
		usleep_range(100, 200);
	msleep(20);
	return user_release(resource, wait);
}

static void check_wait(struct kunit *test,
		       bool (*acquire)(struct eresource *resource, bool wait), u32 action)
{
	u64 before, after, wait_time;
	const u8 *written_event;

	resource_session_start(test);
	disable_excessive_waits(test);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	user_call_begin(test, 0, release_later, false);
	before = get_cycles();
	KUNIT_EXPECT_TRUE(test, acquire(&resource, true));
	after = get_cycles();
	user_call_end(test, 0);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	written_event = get_resource_event(test, 0);
	/* The event counts only the waits that began after the acquisition. */
	EXPECT_EVENT(test, written_event, action, 1u, 0u);
	wait_time = read_u64(written_event, RESOURCE_WAIT_TIME);
	KUNIT_EXPECT_GT(test, wait_time, 1ull);
	KUNIT_EXPECT_LE(test, wait_time, after - before);
	KUNIT_EXPECT_GE(test, read_u64(written_event, RESOURCE_ACQUIRE_TIME), before + wait_time);
	stop_session_0(test);
}

static void exclusive_wait_time_written(struct kunit *test)
{
	check_wait(test, acquire_exclusive, 0x10022);
}

static void shared_wait_time_written(struct kunit *test)
{
	check_wait(test, acquire_shared, 0x10042);
}

static struct task_struct *mover;

static bool move_and_release(struct eresource *resource, bool wait)
{
	while (!ex_get_exclusive_waiter_count(resource))
		usleep_range(100, 200);
	msleep(20);
	set_cpus_allowed_ptr(mover, cpumask_of(TEST_CPU));
	return user_release(resource, wait);
}

static void wait_across_cpus_time_unknown(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	resource_session_start(test);
	disable_excessive_waits(test);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	mover = current;
	set_cpus_allowed_ptr(current, cpumask_of(1));
	user_call_begin(test, 0, move_and_release, false);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	user_call_end(test, 0);
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_WAIT_TIME), 1ull);
	/* Acquired and released on TEST_CPU, so the hold time is known. */
	KUNIT_EXPECT_GT(test, read_u64(get_resource_event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	stop_session_0(test);
}

static void hold_across_cpus_time_unknown(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	resource_session_start(test);
	set_cpus_allowed_ptr(current, cpumask_of(1));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	KUNIT_EXPECT_GT(test, read_u64(get_resource_event(test, 0), RESOURCE_ACQUIRE_TIME), 2ull);
	stop_session_0(test);
}

static void contention_during_hold_counted(struct kunit *test)
{
	resource_session_start(test);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	user_wait_exclusive(test, 0);
	user_wait_shared(test, 1, acquire_shared);
	user_wait_shared(test, 2, acquire_shared);
	release_acquisitions(1);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10022u, 1u, 3u);
	user_call_end(test, 1);
	user_call(test, 1, user_release, false);
	user_call_end(test, 2);
	user_call(test, 2, user_release, false);
	user_call_end(test, 0);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
	EXPECT_EVENT(test, get_resource_event(test, 1), 0x10022u, 1u, 0u);
	stop_session_0(test);
}

static unsigned int awaited_events;

static bool wait_for_events_and_release(struct eresource *resource, bool wait)
{
	int tries = 60000;

	while (count_resource_events() < awaited_events && tries--)
		usleep_range(500, 1000);
	return user_release(resource, wait) && tries > 0;
}

static void check_excessive_waits(struct kunit *test,
				  bool (*acquire)(struct eresource *resource, bool wait),
				  u32 action, u32 timeout_rate, unsigned int expected_events)
{
	u64 last = 0, before;
	unsigned int i;

	resource_session_start(test);
	set_resource_parameters(test, U32_MAX, U32_MAX, timeout_rate);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	awaited_events = expected_events;
	user_call_begin(test, 0, wait_for_events_and_release, false);
	before = get_cycles();
	KUNIT_EXPECT_TRUE(test, acquire(&resource, true));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	KUNIT_EXPECT_GE(test, count_resource_events(), expected_events);
	for (i = 0; i < expected_events; i++) {
		const u8 *written_event = get_resource_event(test, i);

		EXPECT_EVENT(test, written_event, action, timeout_rate * (i + 1), 0u);
		KUNIT_EXPECT_EQ(test, read_u64(written_event, RESOURCE_ACQUIRE_TIME), 0ull);
		KUNIT_EXPECT_GT(test, read_u64(written_event, RESOURCE_HOLD_TIME), last);
		last = read_u64(written_event, RESOURCE_HOLD_TIME);
		KUNIT_EXPECT_GE(test, read_u64(written_event, RESOURCE_WAIT_TIME), before);
		KUNIT_EXPECT_LE(test, read_u64(written_event, RESOURCE_WAIT_TIME) + last,
				read_u64(written_event, EVENT_TIME));
		KUNIT_EXPECT_EQ(test, read_u32(written_event, RESOURCE_THREAD_ID),
				(u32)task_pid_nr(current));
	}
	release_acquisitions(1);
	stop_session_0(test);
}

static void excessive_exclusive_wait_written(struct kunit *test)
{
	check_excessive_waits(test, acquire_exclusive, 0x10224, 1, 3);
}

static void excessive_shared_wait_written(struct kunit *test)
{
	check_excessive_waits(test, acquire_shared, 0x10244, 1, 2);
}

static void excessive_wait_every_second_timeout_written(struct kunit *test)
{
	check_excessive_waits(test, acquire_exclusive, 0x10224, 2, 2);
}

static void timeout_on_other_cpu_duration_unknown(struct kunit *test)
{
	struct ntklog_resource_wait wait = {
		.resource = &resource,
		.start_time = get_cycles(),
		.start_cpu = TEST_CPU + 1,
		.thread_id = 4711,
		.action = 0x10024,
		.has_timer = true,
	};

	resource_session_start(test);
	ntklog_log_resource_timeout(&wait);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10224u, 1u, 0u);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 0), RESOURCE_WAIT_TIME),
			wait.start_time);
	KUNIT_EXPECT_EQ(test, read_u32(get_resource_event(test, 0), RESOURCE_THREAD_ID), 4711u);
	stop_session_0(test);
}

static void rundown_has_parameters(struct kunit *test)
{
	static const u32 expected[] = { 11, 12, 13 };

	set_resource_parameters(test, 11, 12, 13);
	start_session_0(test, PERF_SYNC_OBJECTS, 4096, 8);
	stop_session_0(test);
	/* The rundown may have been written on another CPU than TEST_CPU. */
	if (get_session_event(0, 0x0F4D)) {
		KUNIT_EXPECT_EQ(test, read_u16(get_session_event(0, 0x0F4D), EVENT_SIZE), 0x1C);
		KUNIT_EXPECT_EQ(test, read_u8(get_session_event(0, 0x0F4D), EVENT_VERSION), 2);
		KUNIT_EXPECT_MEMEQ(test, get_session_event(0, 0x0F4D) + EVENT_DATA, expected, 12);
		KUNIT_EXPECT_MEMEQ(test, get_session_event(0, 0x0F4E) + EVENT_DATA, expected, 12);
	}
	KUNIT_EXPECT_NULL(test, get_session_event(0, 0x0F4B));
}

static struct eresource *probed_resource;
static unsigned int probe_calls;

static void count_probe_call(void *data, const struct wmi_resource64 *record)
{
	probe_calls++;
	/* Acquire and release a resource, as a helper of a BPF program might. */
	if (probed_resource && ex_try_to_acquire_resource_exclusive_lite(probed_resource))
		ex_release_resource_lite(probed_resource);
}

static void resource_used_by_event_writer_not_written(struct kunit *test)
{
	static struct eresource inner;
	u64 suppressed_before;

	ex_initialize_resource_lite(&inner);
	resource_session_start(test);
	probed_resource = &inner;
	probe_calls = 0;
	KUNIT_ASSERT_EQ(test, register_trace_resource(count_probe_call, NULL), 0);
	suppressed_before = get_resource_cpu()->suppressed_count;
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
	unregister_trace_resource(count_probe_call, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, probe_calls, 1u);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->suppressed_count, suppressed_before + 1);
	stop_session_0(test);
	ex_delete_resource_lite(&inner);
}

static void tracepoint_probe_only_tracking_enabled(struct kunit *test)
{
	set_resource_parameters(test, 1, 1, 1);
	probed_resource = NULL;
	probe_calls = 0;
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_resource_key));
	KUNIT_ASSERT_EQ(test, register_trace_resource(count_probe_call, NULL), 0);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_resource_key));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	unregister_trace_resource(count_probe_call, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, probe_calls, 1u);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_resource_key));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, probe_calls, 1u);
}

static void caller_of_sleeping_lock_has_time_stamp_of_its_record(struct kunit *test)
{
	static u32 lock;
	const struct wmi_resource64 record = {
		.resource = (unsigned long)&lock,
		.action = NTKLOG_SLEEPING_CLASS(MUTEX) | NTKLOG_SLEEPING_EXCLUSIVE,
	};
	const struct ntklog_caller caller_event = {
		.caller = _THIS_IP_,
		.hold_ready = 0x11,
		.hold_blocked = 0x22,
		.wait_ready = 0x33,
		.wait_last_ready = 0x44,
		.wait_blocked = 0x55,
	};
	unsigned int i, j;

	start_session_0(test, PERF_LINUX_MUTEX, 4096, 4);
	for (i = 0; i < 2; i++) {
		preempt_disable();
		ntklog_write_sleeping_event(&record, &lock, &caller_event, NULL);
		preempt_enable();
	}
	KUNIT_ASSERT_EQ(test, count_session_events(0xA052), 2u);
	KUNIT_ASSERT_EQ(test, count_session_events(0x052B), 2u);
	for (i = 0; i < 2; i++) {
		const u8 *caller = get_session_event(i, 0xA052);

		KUNIT_EXPECT_PTR_EQ(test, caller + 0x48, get_session_event(i, 0x052B));
		KUNIT_EXPECT_EQ(test, read_u8(caller, EVENT_VERSION), 2);
		KUNIT_EXPECT_EQ(test, read_u16(caller, EVENT_SIZE), 0x48);
		for (j = 1; j <= 5; j++)
			KUNIT_EXPECT_EQ(test, read_u64(caller, EVENT_DATA + 8 + 8 * j), 0x11u * j);
		KUNIT_EXPECT_EQ(test, read_u64(caller, EVENT_TIME),
				read_u64(get_session_event(i, 0x052B), EVENT_TIME));
		KUNIT_EXPECT_EQ(test, read_u64(caller, EVENT_DATA), (u64)(unsigned long)&lock);
	}
	KUNIT_EXPECT_LT(test, read_u64(get_session_event(0, 0xA052), EVENT_TIME),
			read_u64(get_session_event(1, 0xA052), EVENT_TIME));
	stop_session_0(test);
}

static struct kunit_case resource_event_test_cases[] = {
	KUNIT_CASE(initialization_written),
	KUNIT_CASE(reinitialization_with_owners_written),
	KUNIT_CASE(release_event_bytes_match_nt_layout),
	KUNIT_CASE(shared_release_written),
	KUNIT_CASE(recursive_releases_only_last_written_with_max_depth),
	KUNIT_CASE(converted_resource_release_written_as_shared),
	KUNIT_CASE(recursion_first_acquisition_untracked_times_unknown),
	KUNIT_CASE(exclusive_wait_time_written),
	KUNIT_CASE(shared_wait_time_written),
	KUNIT_CASE(wait_across_cpus_time_unknown),
	KUNIT_CASE(hold_across_cpus_time_unknown),
	KUNIT_CASE(contention_during_hold_counted),
	KUNIT_CASE(excessive_exclusive_wait_written),
	KUNIT_CASE(excessive_shared_wait_written),
	KUNIT_CASE(excessive_wait_every_second_timeout_written),
	KUNIT_CASE(timeout_on_other_cpu_duration_unknown),
	KUNIT_CASE(rundown_has_parameters),
	KUNIT_CASE(resource_used_by_event_writer_not_written),
	KUNIT_CASE(tracepoint_probe_only_tracking_enabled),
	KUNIT_CASE(caller_of_sleeping_lock_has_time_stamp_of_its_record),
	{}
};

static struct kunit_suite resource_event_test_suite = {
	.name = "ntklog_resource_event",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = resource_event_test_cases,
};

kunit_test_suite(resource_event_test_suite);
