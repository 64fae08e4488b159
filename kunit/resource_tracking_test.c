// SPDX-License-Identifier: GPL-2.0-only

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../module/ground/task_table.h"
#include "perf_resource_fixture.h"

/* Owner pointers (events with Action 0x10120 and 0x10140), and releases for another thread. */

static int owner_object;

static bool release_for_pointer(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)&owner_object | 3);
	return true;
}

static void owner_pointer_set_written_release_not_written(struct kunit *test)
{
	u64 unmatched_before, pointer_releases_before;

	resource_session_start(test);
	set_resource_parameters(test, 1, 1, 1);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	ex_set_resource_owner_pointer(&resource, &owner_object);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10120u, 0u, 0u);
	EXPECT_NO_TIMES(test, get_resource_event(test, 0));
	KUNIT_EXPECT_EQ(test, read_u32(get_resource_event(test, 0), RESOURCE_THREAD_ID),
			(u32)task_pid_nr(current));
	unmatched_before = get_resource_cpu()->unmatched_count;
	pointer_releases_before = get_resource_cpu()->owner_pointer_releases;
	release_for_pointer(&resource, false);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->owner_pointer_releases,
			pointer_releases_before + 1);

	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	ex_set_resource_owner_pointer_ex(&resource, &owner_object, 0);
	EXPECT_EVENT(test, get_resource_event(test, 1), 0x10140u, 0u, 0u);
	EXPECT_NO_TIMES(test, get_resource_event(test, 1));
	user_call(test, 0, release_for_pointer, false);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 2u);

	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	EXPECT_EVENT(test, get_resource_event(test, 2), 0x10042u, 1u, 0u);
	stop_session_0(test);
}

static struct task_struct *test_task;

static bool release_for_test_thread(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)test_task);
	return true;
}

static void release_for_other_thread_written_with_its_id(struct kunit *test)
{
	users[0].is_lockdep_off = true;
	resource_session_start(test);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	ex_release_resource_for_thread_lite(&resource, get_user_thread(test, 0));
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10042u, 1u, 0u);
	KUNIT_EXPECT_EQ(test, read_u32(get_resource_event(test, 0), RESOURCE_THREAD_ID),
			(u32)task_pid_nr(users[0].task));
	stop_session_0(test);
}

static u64 wait_start_time, wait_end_time;

static int acquire_wait_and_release(void *data)
{
	struct completion *owned = data;

	/* Lockdep would report that the thread waits for itself. SCHED_FIFO: run when woken. */
	lockdep_off();
	sched_set_fifo(current);
	acquire_shared(&resource, true);
	complete(owned);
	wait_start_time = get_cycles();
	acquire_exclusive(&resource, true);
	wait_end_time = get_cycles();
	release_acquisitions(1);
	return 0;
}

static void release_for_waiting_owner_first_hold_written(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(owned);
	struct test_thread thread;
	u64 before, after;
	u64 unmatched_before;

	resource_session_start(test);
	disable_excessive_waits(test);
	unmatched_before = get_resource_cpu()->unmatched_count;
	before = get_cycles();
	test_thread_start(test, &thread, TEST_CPU, acquire_wait_and_release, &owned);
	wait_for_completion(&owned);
	while (!ex_get_exclusive_waiter_count(&resource))
		usleep_range(100, 200);
	msleep(20);
	ex_release_resource_for_thread_lite(&resource, (unsigned long)thread.task);
	after = get_cycles();
	test_thread_join(&thread);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 2u);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before);
	/* The woken waiter writes its event before the releaser does. */
	EXPECT_EVENT(test, get_resource_event(test, 0), 0x10022u, 1u, 0u);
	KUNIT_EXPECT_GT(test, read_u64(get_resource_event(test, 0), RESOURCE_WAIT_TIME), 1ull);
	KUNIT_EXPECT_LE(test, read_u64(get_resource_event(test, 0), RESOURCE_WAIT_TIME),
			wait_end_time - wait_start_time);
	KUNIT_EXPECT_GE(test, read_u64(get_resource_event(test, 0), RESOURCE_ACQUIRE_TIME),
			wait_start_time +
			read_u64(get_resource_event(test, 0), RESOURCE_WAIT_TIME));
	EXPECT_EVENT(test, get_resource_event(test, 1), 0x10042u, 1u, 1u);
	KUNIT_EXPECT_EQ(test, read_u64(get_resource_event(test, 1), RESOURCE_WAIT_TIME), 0ull);
	KUNIT_EXPECT_GE(test, read_u64(get_resource_event(test, 1), RESOURCE_ACQUIRE_TIME), before);
	KUNIT_EXPECT_LE(test, read_u64(get_resource_event(test, 1), RESOURCE_ACQUIRE_TIME),
			wait_start_time);
	KUNIT_EXPECT_LE(test, read_u64(get_resource_event(test, 1), RESOURCE_HOLD_TIME),
			after - before);
	stop_session_0(test);
}

static void release_by_other_thread_slot_freed(struct kunit *test)
{
	static struct eresource other;
	u64 untracked_before;
	int i;

	ex_initialize_resource_lite(&other);
	/* Lockdep would not learn of the releases by another thread. */
	lockdep_off();
	users[0].is_lockdep_off = true;
	test_task = current;
	resource_session_start(test);
	untracked_before = get_resource_cpu()->untracked_count;
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&other, false));
	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
		if (i % 2) {
			user_call(test, 0, release_for_test_thread, false);
		} else {
			ex_reinitialize_resource_lite(&resource);
			KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
			release_acquisitions(1);
		}
	}
	ex_release_resource_lite(&other);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->untracked_count, untracked_before);
	stop_session_0(test);
	lockdep_on();
	ex_delete_resource_lite(&other);
}

static void ninth_resource_untracked_still_acquired(struct kunit *test)
{
	static struct eresource nine[9];
	u64 untracked_before, unmatched_before;
	int i;

	for (i = 0; i < 9; i++)
		ex_initialize_resource_lite(&nine[i]);
	resource_session_start(test);
	untracked_before = get_resource_cpu()->untracked_count;
	unmatched_before = get_resource_cpu()->unmatched_count;
	/* Lockdep checks no order for acquisitions that do not wait; all nine are of one class. */
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_TRUE(test, acquire_exclusive(&nine[i], false));
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->untracked_count, untracked_before + 1);
	KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&nine[8]));
	for (i = 8; i >= 0; i--)
		ex_release_resource_lite(&nine[i]);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before + 1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 8u);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, acquire_exclusive(&nine[i], false));
	for (i = 0; i < 8; i++)
		ex_release_resource_lite(&nine[i]);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 16u);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->untracked_count, untracked_before + 1);
	for (i = 0; i < 9; i++)
		ex_delete_resource_lite(&nine[i]);
	stop_session_0(test);
}

static void resource_held_at_enable_release_counted_unmatched(struct kunit *test)
{
	u64 unmatched_before;

	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	resource_session_start(test);
	unmatched_before = get_resource_cpu()->unmatched_count;
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before + 1);
	stop_session_0(test);
}

static void slots_of_stopped_session_reused(struct kunit *test)
{
	static struct eresource eight[8];
	u64 untracked_before, unmatched_before;
	int i;

	for (i = 0; i < 8; i++)
		ex_initialize_resource_lite(&eight[i]);
	resource_session_start(test);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, acquire_exclusive(&eight[i], false));
	stop_session_0(test);
	resource_session_start(test);
	untracked_before = get_resource_cpu()->untracked_count;
	unmatched_before = get_resource_cpu()->unmatched_count;
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->untracked_count, untracked_before);
	for (i = 0; i < 8; i++) {
		ex_release_resource_lite(&eight[i]);
		ex_delete_resource_lite(&eight[i]);
	}
	KUNIT_EXPECT_EQ(test, count_resource_events(), 1u);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before + 8);
	stop_session_0(test);
}

static void thread_exits_its_slots_freed(struct kunit *test)
{
	unsigned long thread;
	int tries = 60000;
	u64 unmatched_before;
	u32 record_count;

	resource_session_start(test);
	record_count = ntklog_count_task_records();
	users[0].is_lockdep_off = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	KUNIT_EXPECT_EQ(test, ntklog_count_task_records(), record_count + 1);
	thread = get_user_thread(test, 0);
	user_exit(test, 0);
	while (ntklog_count_task_records() != record_count && tries--)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, ntklog_count_task_records(), record_count);
	/* The exiting thread's slot is gone, so a release for it is unmatched. */
	unmatched_before = get_resource_cpu()->unmatched_count;
	ex_release_resource_for_thread_lite(&resource, thread);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before + 1);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	stop_session_0(test);
}

/*
 * Release the resource as if the CPU had counted @release_count, and the acquisition had waited for
 * @wait_time, and @contention_delta waits had begun during the hold. Returns true if an event was
 * written.
 */
static bool release_is_written(u64 release_count, u64 wait_time, u32 contention_delta)
{
	const struct ntklog_resource_wait wait = {
		.start_time = get_cycles() - wait_time,
		.start_cpu = TEST_CPU,
		.has_timer = true,
	};
	unsigned int before = count_resource_events();
	struct wmi_resource64 record;
	unsigned long flags;
	bool sampled;

	ntklog_track_resource_acquire_slow(&resource, 1, U32_MAX, wait_time ? &wait : NULL);
	preempt_disable();
	local_irq_save(flags);
	ntklog_restart_release_countdown(&get_resource_cpu()->release_count, release_count - 1);
	local_irq_restore(flags);
	ntklog_count_resource_release(true);
	sampled = ntklog_track_resource_release_slow(&resource, (unsigned long)current, true,
						     U32_MAX + contention_delta, &record);
	preempt_enable();
	if (sampled)
		ntklog_write_resource_event(&record);
	return count_resource_events() != before;
}

static void release_sampled_by_release_count(struct kunit *test)
{
	resource_session_start(test);
	set_resource_parameters(test, 1500, U32_MAX, 1);
	KUNIT_EXPECT_FALSE(test, release_is_written(1499, 0, 0));
	KUNIT_EXPECT_TRUE(test, release_is_written(1500, 0, 0));
	KUNIT_EXPECT_FALSE(test, release_is_written(1501, 0, 0));
	KUNIT_EXPECT_TRUE(test, release_is_written(3000, 0, 0));
	stop_session_0(test);
}

static void waited_release_sampled_by_release_count(struct kunit *test)
{
	resource_session_start(test);
	set_resource_parameters(test, U32_MAX, 7, 1);
	KUNIT_EXPECT_FALSE(test, release_is_written(706, 2, 0));
	KUNIT_EXPECT_TRUE(test, release_is_written(707, 2, 0));
	KUNIT_EXPECT_FALSE(test, release_is_written(708, 2, 0));
	/* An acquisition without a wait is not sampled by this rule. */
	KUNIT_EXPECT_FALSE(test, release_is_written(707, 0, 0));
	stop_session_0(test);
}

static void contended_release_sampled_by_contention(struct kunit *test)
{
	resource_session_start(test);
	set_resource_parameters(test, U32_MAX, 3, 1);
	KUNIT_EXPECT_FALSE(test, release_is_written(1000, 0, 0));
	KUNIT_EXPECT_FALSE(test, release_is_written(1000, 0, 2));
	KUNIT_EXPECT_TRUE(test, release_is_written(1000, 0, 3));
	KUNIT_EXPECT_FALSE(test, release_is_written(1000, 0, 4));
	KUNIT_EXPECT_TRUE(test, release_is_written(1000, 0, 6));
	stop_session_0(test);
}

static void release_with_unknown_wait_not_sampled_as_waited(struct kunit *test)
{
	resource_session_start(test);
	set_resource_parameters(test, U32_MAX, 1, 1);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	stop_session_0(test);
	resource_session_start(test);
	set_resource_parameters(test, U32_MAX, 1, 1);
	/* A recursive acquisition whose first one is unknown has WaitTime 1. */
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(2);
	KUNIT_EXPECT_EQ(test, count_resource_events(), 0u);
	stop_session_0(test);
}

static void releases_by_mode_counted(struct kunit *test)
{
	struct ntklog_resource_cpu before;

	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
	resource_session_start(test);
	before = *get_resource_cpu();
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(2);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->exclusive_releases,
			before.exclusive_releases + 1);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->shared_releases, before.shared_releases + 1);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->exclusive_releases,
			before.exclusive_releases + 1);
	stop_session_0(test);
	before = *get_resource_cpu();
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	release_acquisitions(1);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->shared_releases, before.shared_releases);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, before.unmatched_count);
}

static struct eresource softirq_resources[2], task_resources[8];

/* Acquire and release two resources as in a softirq that has interrupted this thread. */
static void acquire_two_in_softirq(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(SOFTIRQ_OFFSET);
	acquire_exclusive(&softirq_resources[0], false);
	acquire_exclusive(&softirq_resources[1], false);
	ex_release_resource_lite(&softirq_resources[0]);
	ex_release_resource_lite(&softirq_resources[1]);
	__preempt_count_sub(SOFTIRQ_OFFSET);
	local_irq_restore(flags);
}

static void softirq_releases_in_acquire_order_slots_freed(struct kunit *test)
{
	static struct lock_class_key softirq_keys[2], thread_keys[8];
	u64 untracked_before = get_resource_cpu()->untracked_count;
	u64 unmatched_before = get_resource_cpu()->unmatched_count;
	size_t i;

	/* A lockdep class for each, so that their order is free. */
	for (i = 0; i < ARRAY_SIZE(softirq_resources); i++)
		__ex_initialize_resource_lite(&softirq_resources[i], "softirq", &softirq_keys[i]);
	for (i = 0; i < ARRAY_SIZE(task_resources); i++)
		__ex_initialize_resource_lite(&task_resources[i], "task", &thread_keys[i]);
	resource_session_start(test);
	for (i = 0; i < 20; i++)
		acquire_two_in_softirq();
	for (i = 0; i < ARRAY_SIZE(task_resources); i++)
		acquire_exclusive(&task_resources[i], true);
	for (i = 0; i < ARRAY_SIZE(task_resources); i++)
		ex_release_resource_lite(&task_resources[i]);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->untracked_count, untracked_before);
	KUNIT_EXPECT_EQ(test, get_resource_cpu()->unmatched_count, unmatched_before);
	for (i = 0; i < ARRAY_SIZE(softirq_resources); i++)
		ex_delete_resource_lite(&softirq_resources[i]);
	for (i = 0; i < ARRAY_SIZE(task_resources); i++)
		ex_delete_resource_lite(&task_resources[i]);
}

static struct kunit_case resource_tracking_test_cases[] = {
	KUNIT_CASE(owner_pointer_set_written_release_not_written),
	KUNIT_CASE(release_for_other_thread_written_with_its_id),
	KUNIT_CASE(release_for_waiting_owner_first_hold_written),
	KUNIT_CASE(release_by_other_thread_slot_freed),
	KUNIT_CASE(ninth_resource_untracked_still_acquired),
	KUNIT_CASE(resource_held_at_enable_release_counted_unmatched),
	KUNIT_CASE(slots_of_stopped_session_reused),
	KUNIT_CASE(thread_exits_its_slots_freed),
	KUNIT_CASE(release_sampled_by_release_count),
	KUNIT_CASE(waited_release_sampled_by_release_count),
	KUNIT_CASE(contended_release_sampled_by_contention),
	KUNIT_CASE(release_with_unknown_wait_not_sampled_as_waited),
	KUNIT_CASE(releases_by_mode_counted),
	KUNIT_CASE(softirq_releases_in_acquire_order_slots_freed),
	{}
};

static struct kunit_suite resource_tracking_test_suite = {
	.name = "ntklog_resource_tracking",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = resource_tracking_test_cases,
};

kunit_test_suite(resource_tracking_test_suite);
