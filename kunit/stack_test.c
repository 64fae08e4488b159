// SPDX-License-Identifier: GPL-2.0-only

#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/etw/stacks.h"
#include "../module/perf/resource.h"
#include "../module/perf/stack.h"
#include "fixture.h"

#define STACK_HOOK_ID	0x1820
#define STACK_TIME	(EVENT_DATA + 0x00)	/* u64 */
#define STACK_PROCESS	(EVENT_DATA + 0x08)	/* u32 */
#define STACK_THREAD	(EVENT_DATA + 0x0C)	/* u32 */
#define STACK_ADDRESSES	(EVENT_DATA + 0x10)
#define TEST_HOOK_ID	0x0FFE
#define SPINLOCKS	BIT(1)
#define RESOURCES	BIT(2)

static struct kspin_lock lock;

static int stack_test_init(struct kunit *test)
{
	ke_initialize_spin_lock(&lock);
	return fixture_init(test);
}

static void stack_test_exit(struct kunit *test)
{
	etw_set_stacks(&etw_sessions[0], 0);
	etw_set_stacks(&etw_sessions[1], 0);
	fixture_exit(test);
}

static const struct ntklog_stack_cpu *get_stack_cpu(void)
{
	return per_cpu_ptr(&ntklog_stack_cpu, TEST_CPU);
}

static const struct etw_buffer_cpu *get_session_counts(int i)
{
	return per_cpu_ptr(etw_sessions[i].run->cpus, TEST_CPU);
}

static noinline void write_release(void)
{
	struct klock_queue_handle handle;
	cycles_t start;

	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	/* Start the clock after the acquisition, whose first call is slow with lockdep. */
	start = get_cycles();
	while (get_cycles() - start < 1500000)
		cpu_relax();
	ke_release_in_stack_queued_spin_lock(&handle);
	/* No tail call, so that this function has a frame. */
	barrier();
}

static const u8 *next_event(const u8 *event)
{
	return event + ALIGN(read_u16(event, EVENT_SIZE), 8);
}

static void stack_enabled_follows_its_event(struct kunit *test)
{
	u64 walked_before = get_stack_cpu()->walked_stacks;
	const u8 *event, *stack;
	u32 count;

	etw_set_stacks(&etw_sessions[0], SPINLOCKS);
	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	write_release();
	event = get_session_event(0, PERFINFO_LOG_TYPE_SPINLOCK);
	KUNIT_ASSERT_NOT_NULL(test, event);
	stack = next_event(event);
	KUNIT_EXPECT_EQ(test, read_u32(stack, EVENT_MARKER), 0xC0110002u);
	KUNIT_ASSERT_EQ(test, read_u16(stack, EVENT_HOOK_ID), STACK_HOOK_ID);
	KUNIT_EXPECT_GE(test, read_u64(stack, EVENT_TIME), read_u64(event, EVENT_TIME));
	KUNIT_EXPECT_EQ(test, read_u64(stack, STACK_TIME), read_u64(event, EVENT_TIME));
	KUNIT_EXPECT_EQ(test, read_u32(stack, STACK_PROCESS), task_tgid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u32(stack, STACK_THREAD), task_pid_nr(current));
	count = (read_u16(stack, EVENT_SIZE) - STACK_ADDRESSES) / 8;
	KUNIT_EXPECT_EQ(test, read_u16(stack, EVENT_SIZE), STACK_ADDRESSES + 8 * count);
	/* KUnit's functions add some frames. */
	KUNIT_EXPECT_GT(test, count, 2);
	KUNIT_EXPECT_LE(test, count, 64);
	KUNIT_EXPECT_EQ(test, read_u64(stack, STACK_ADDRESSES), read_u64(event, SPINLOCK_CALLER));
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 1);
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->walked_stacks, walked_before + 1);
	stop_session_0(test);
}

static void stack_not_enabled_none_written(struct kunit *test)
{
	u64 walked_before = get_stack_cpu()->walked_stacks,
	    left_out_before = get_stack_cpu()->left_out_stacks;
	const u8 *event;

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	write_release();
	etw_set_stacks(&etw_sessions[0], RESOURCES);
	write_release();
	event = get_session_event(1, PERFINFO_LOG_TYPE_SPINLOCK);
	KUNIT_EXPECT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 0);
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->walked_stacks, walked_before);
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->left_out_stacks, left_out_before);
	stop_session_0(test);
}

static void stack_enabled_in_one_session_other_has_none(struct kunit *test)
{
	struct etw_group_mask_change change = { .replaces_mask = true };
	u64 written;

	etw_group_mask_set(&change.groups_to_set, PERF_SPINLOCK);
	etw_change_group_mask(&etw_sessions[1], &change);
	KUNIT_ASSERT_EQ(test, etw_start_session(&etw_sessions[1]), 0);
	etw_set_stacks(&etw_sessions[0], SPINLOCKS);
	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	written = get_session_counts(1)->written;
	write_release();
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 1);
	KUNIT_EXPECT_EQ(test, get_session_counts(1)->written, written + 1);
	etw_set_stacks(&etw_sessions[1], SPINLOCKS);
	written = get_session_counts(1)->written;
	write_release();
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 2);
	KUNIT_EXPECT_EQ(test, get_session_counts(1)->written, written + 2);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[1]), 0);
}

static void log_events(unsigned int event_count)
{
	u8 bytes[0x40] = {};

	/* Each event takes 0x50 bytes. */
	while (event_count--)
		etw_log_session_event(&etw_sessions[0], TEST_HOOK_ID, 1, bytes, sizeof(bytes));
}

/*
 * A buffer has space for (4096 - 0x48) / 0x50 = 50 events. After 49 of them 104 bytes remain: the
 * release's event takes 0x48, so the stack does not fit.
 */
static void stack_without_room_counted_lost(struct kunit *test)
{
	u64 walked_before = get_stack_cpu()->walked_stacks;

	etw_set_stacks(&etw_sessions[0], SPINLOCKS);
	start_session_0(test, PERF_SPINLOCK, 4096, 2);
	log_events(50 + 49);
	KUNIT_EXPECT_EQ(test, get_session_counts(0)->lost, 0);
	write_release();
	KUNIT_EXPECT_EQ(test, count_session_events(PERFINFO_LOG_TYPE_SPINLOCK), 1);
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 0);
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->walked_stacks, walked_before + 1);
	KUNIT_EXPECT_EQ(test, get_session_counts(0)->lost, 1);
	KUNIT_EXPECT_EQ(test, get_session_counts(0)->generated,
			get_session_counts(0)->written + get_session_counts(0)->lost);
	write_release();
	KUNIT_EXPECT_EQ(test, get_session_counts(0)->lost, 2);
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->walked_stacks, walked_before + 1);
	stop_session_0(test);
}

static void resource_events_have_stacks_except_timeouts(struct kunit *test)
{
	struct ntklog_resource_wait wait = {
		.action = WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE,
		.thread_id = 1,
	};
	struct wmi_resource64 record = { .action = WMI_RESOURCE_ACTION_INITIALIZE };
	u64 left_out_before = get_stack_cpu()->left_out_stacks;
	const u8 *event;

	etw_set_stacks(&etw_sessions[0], RESOURCES);
	start_session_0(test, PERF_SYNC_OBJECTS, 4096, 64);
	ntklog_write_resource_event(&record);
	event = get_session_event(0, PERFINFO_LOG_TYPE_RESOURCE);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_EQ(test, read_u16(next_event(event), EVENT_HOOK_ID), STACK_HOOK_ID);
	KUNIT_EXPECT_EQ(test, read_u64(next_event(event), STACK_TIME), read_u64(event, EVENT_TIME));
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->left_out_stacks, left_out_before);

	/* The waiting thread does not write the event of a timeout. */
	ntklog_log_resource_timeout(&wait);
	KUNIT_EXPECT_EQ(test, count_session_events(PERFINFO_LOG_TYPE_RESOURCE), 2);
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 1);
	KUNIT_EXPECT_EQ(test, get_stack_cpu()->left_out_stacks, left_out_before + 1);
	stop_session_0(test);
}

static void write_release_in_softirq(void *unused)
{
	write_release();
}

static void event_in_softirq_has_stack(struct kunit *test)
{
	etw_set_stacks(&etw_sessions[0], SPINLOCKS);
	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	test_run_in_softirq(write_release_in_softirq, NULL);
	KUNIT_EXPECT_EQ(test, count_session_events(PERFINFO_LOG_TYPE_SPINLOCK), 1);
	KUNIT_EXPECT_EQ(test, count_session_events(STACK_HOOK_ID), 1);
	stop_session_0(test);
}

static void stacks_setting_parsed_by_name_and_hook_id(struct kunit *test)
{
	static const char * const refused[] = {
		"", " ", "spin", "0x0f4b", "1321", "spinlock,resource", "none resource", "all",
	};
	char text[64];
	u32 stacks = 99;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		strscpy(text, refused[i], sizeof(text));
		KUNIT_EXPECT_EQ(test, etw_stacks_parse(text, &stacks), -EINVAL);
		KUNIT_EXPECT_EQ(test, stacks, 99);
	}
	strscpy(text, "  resource 0x0529 ", sizeof(text));
	KUNIT_EXPECT_EQ(test, etw_stacks_parse(text, &stacks), 0);
	KUNIT_EXPECT_EQ(test, stacks, SPINLOCKS | RESOURCES);
	strscpy(text, "none", sizeof(text));
	KUNIT_EXPECT_EQ(test, etw_stacks_parse(text, &stacks), 0);
	KUNIT_EXPECT_EQ(test, stacks, 0);
}

static struct kunit_case stack_test_cases[] = {
	KUNIT_CASE(stack_enabled_follows_its_event),
	KUNIT_CASE(stack_not_enabled_none_written),
	KUNIT_CASE(stack_enabled_in_one_session_other_has_none),
	KUNIT_CASE(stack_without_room_counted_lost),
	KUNIT_CASE(resource_events_have_stacks_except_timeouts),
	KUNIT_CASE(event_in_softirq_has_stack),
	KUNIT_CASE(stacks_setting_parsed_by_name_and_hook_id),
	{}
};

static struct kunit_suite stack_test_suite = {
	.name = "ntklog_stack",
	.init = stack_test_init,
	.exit = stack_test_exit,
	.test_cases = stack_test_cases,
};

kunit_test_suite(stack_test_suite);
