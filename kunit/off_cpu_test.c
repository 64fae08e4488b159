// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a task that holds or waits for one of Linux' sleeping locks has no CPU. No lock but the
 * test's is counted, because ntklog is loaded with linux_locks=0.
 */

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/instruction_pointer.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <ntklog/irql.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/system_information.h>

#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/etw/stacks.h"
#include "../module/ground/clock.h"
#include "../module/ground/task_record.h"
#include "../module/ground/thread.h"
#include "../module/perf/context_swap.h"
#include "../module/perf/off_cpu.h"
#include "../module/perf/resource.h"
#include "../module/perf/sleeping_lock.h"
#include "fixture.h"

#define TEST_CLASS	NTKLOG_SLEEPING_CLASS(SEMAPHORE)
#define TEST_ACTION	(TEST_CLASS | NTKLOG_SLEEPING_EXCLUSIVE)

#define CALLER_HOOK_ID		0xA052
#define CALLER_HOLD_READY	(EVENT_DATA + 0x10)
#define CALLER_HOLD_BLOCKED	(EVENT_DATA + 0x18)
#define CALLER_WAIT_READY	(EVENT_DATA + 0x20)
#define CALLER_WAIT_LAST_READY	(EVENT_DATA + 0x28)
#define CALLER_WAIT_BLOCKED	(EVENT_DATA + 0x30)
#define BLOCK_STACK_HOOK_ID	0xA054
#define BLOCK_STACK_LOCK	EVENT_DATA
#define BLOCK_STACK_BLOCKED	(EVENT_DATA + 0x10)
#define BLOCK_STACK_FRAMES	(EVENT_DATA + 0x18)
#define BLOCK_STACK_END		(EVENT_DATA + 0x78)
#define RESOURCE_HOOK_ID	0x052B
#define RESOURCE_HOLD_TIME	(EVENT_DATA + 0x08)
#define RESOURCE_WAIT_TIME	(EVENT_DATA + 0x10)

/* Stand for locks: the hooks use only their addresses. */
static u32 outer_lock, inner_lock;

/* A thread that occupies TEST_CPU, because the scheduler prefers it to the test. */
static struct hog {
	struct test_thread thread;
	struct completion start;
	unsigned int sleep_ms, busy_ms;
	bool takes_lock, done;
} hog;

static void acquire(const void *lock)
{
	ntklog_track_sleeping_acquire_slow(lock, _THIS_IP_, TEST_ACTION);
}

static void release(const void *lock)
{
	ntklog_track_sleeping_release_slow(lock, TEST_ACTION, NULL, false, false);
}

static int run_hog(void *unused)
{
	sched_set_fifo(current);
	wait_for_completion(&hog.start);
	if (hog.sleep_ms)
		msleep(hog.sleep_ms);
	mdelay(hog.busy_ms);
	if (hog.takes_lock) {
		acquire(&inner_lock);
		release(&inner_lock);
	}
	WRITE_ONCE(hog.done, true);
	return 0;
}

static void start_hog(struct kunit *test, unsigned int sleep_ms, unsigned int busy_ms)
{
	init_completion(&hog.start);
	hog.sleep_ms = sleep_ms;
	hog.busy_ms = busy_ms;
	hog.takes_lock = false;
	hog.done = false;
	test_thread_start(test, &hog.thread, TEST_CPU, run_hog, NULL);
	/* Leave the thread time to wait for hog.start. */
	msleep(20);
}

/* @stacks: BIT(ETW_STACKED_*) */
static void begin_tracking_with_stacks(struct kunit *test, u32 stacks)
{
	u32 information[] = { EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS, 1, 1, 1 };

	KUNIT_ASSERT_EQ(test,
			ntklog_change_parameter_set(&ntklog_resource_parameter_set, information,
						    sizeof(information)),
			0u);
	etw_set_stacks(&etw_sessions[0], stacks);
	start_session_0(test, PERF_LINUX_SEMAPHORE, 65536, 4);
	/* A table of stacks is allocated if a session has begun to log them. */
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
	acquire(&outer_lock);
	release(&outer_lock);
	KUNIT_ASSERT_NOT_NULL(test, ntklog_find_current_record());
}

static void begin_tracking(struct kunit *test)
{
	begin_tracking_with_stacks(test, 0);
}

static void end_tracking(struct kunit *test)
{
	stop_session_0(test);
	ntklog_disable_sleeping_class(TEST_CLASS);
	etw_set_stacks(&etw_sessions[0], 0);
}

/* The event with index 0 is of begin_tracking(). */
static u64 read_caller_event(struct kunit *test, unsigned int index, size_t offset)
{
	const u8 *event = get_session_event(index, CALLER_HOOK_ID);

	KUNIT_ASSERT_NOT_NULL(test, event);
	return read_u64(event, offset);
}

/* Return the index of the latest record, that of a release. Excessive waits may precede it. */
static unsigned int find_last_record(void)
{
	return count_session_events(RESOURCE_HOOK_ID) - 1;
}

static void expect_times_without_cpu_bounded(struct kunit *test, unsigned int index)
{
	const u8 *caller = get_session_event(index, CALLER_HOOK_ID);
	const u8 *resource = get_session_event(index, RESOURCE_HOOK_ID);

	KUNIT_ASSERT_NOT_NULL(test, caller);
	KUNIT_ASSERT_NOT_NULL(test, resource);
	KUNIT_EXPECT_LE(test, read_u64(caller, CALLER_HOLD_READY) +
			read_u64(caller, CALLER_HOLD_BLOCKED),
			read_u64(resource, RESOURCE_HOLD_TIME));
	KUNIT_EXPECT_LE(test, read_u64(caller, CALLER_WAIT_READY) +
			read_u64(caller, CALLER_WAIT_BLOCKED),
			read_u64(resource, RESOURCE_WAIT_TIME));
	KUNIT_EXPECT_LE(test, read_u64(caller, CALLER_WAIT_LAST_READY),
			read_u64(caller, CALLER_WAIT_READY));
}

static void short_hold_without_time_off_cpu(struct kunit *test)
{
	begin_tracking(test);
	preempt_disable();
	acquire(&outer_lock);
	release(&outer_lock);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, read_caller_event(test, 1, CALLER_HOLD_READY), 0);
	KUNIT_EXPECT_EQ(test, read_caller_event(test, 1, CALLER_HOLD_BLOCKED), 0);
	expect_times_without_cpu_bounded(test, 1);
	end_tracking(test);
}

static void sleep_in_hold_counted_as_blocked(struct kunit *test)
{
	begin_tracking(test);
	acquire(&outer_lock);
	test_sleep(20);
	release(&outer_lock);
	KUNIT_EXPECT_GE(test, read_caller_event(test, 1, CALLER_HOLD_BLOCKED),
			ntklog_ms_to_cycles(10));
	KUNIT_EXPECT_EQ(test, read_caller_event(test, 1, CALLER_WAIT_BLOCKED), 0);
	KUNIT_EXPECT_EQ(test, count_session_events(BLOCK_STACK_HOOK_ID), 0);
	expect_times_without_cpu_bounded(test, 1);
	end_tracking(test);
}

static noinline void sleep_in_known_function(void)
{
	msleep(60);
	/* No tail call, which would leave no frame of this function. */
	barrier();
}

static bool has_frame_of(const u8 *event, const void *function)
{
	size_t frame_offset;

	for (frame_offset = BLOCK_STACK_FRAMES; frame_offset < BLOCK_STACK_END; frame_offset += 8)
		if (read_u64(event, frame_offset) - (unsigned long)function < 0x100)
			return true;
	return false;
}

static void sleep_in_other_function(void)
{
	msleep(20);
}

/* Returns how long the task was blocked, in cycles. */
static u64 measure_blocked_cycles(void (*sleep)(void))
{
	const struct ntklog_task *record = ntklog_find_current_record();
	u64 before = record->off_cpu.blocked_cycles;

	sleep();
	return record->off_cpu.blocked_cycles - before;
}

static void longest_block_of_holds_written_with_its_stack(struct kunit *test)
{
	unsigned int count, count_after_inner, tries = 0;
	u64 first, known, last;
	const u8 *event;

	begin_tracking_with_stacks(test, BIT(ETW_STACKED_RESOURCE));
	/* On a machine that stalls, another block may become the longest one. */
	do {
		acquire(&outer_lock);
		first = measure_blocked_cycles(sleep_in_other_function);
		known = measure_blocked_cycles(sleep_in_known_function);
		acquire(&inner_lock);
		last = measure_blocked_cycles(sleep_in_other_function);
		count = count_session_events(BLOCK_STACK_HOOK_ID);
		release(&inner_lock);
		count_after_inner = count_session_events(BLOCK_STACK_HOOK_ID);
		release(&outer_lock);
	} while (max(first, last) >= known && ++tries < 20);
	KUNIT_ASSERT_LT(test, max(first, last), known);
	/* The inner hold has no stack: the longest block came before it. */
	KUNIT_EXPECT_EQ(test, count_after_inner, count);
	event = get_session_event(count, BLOCK_STACK_HOOK_ID);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u64(event, BLOCK_STACK_LOCK), (unsigned long)&outer_lock);
	KUNIT_EXPECT_EQ(test, read_u64(event, BLOCK_STACK_BLOCKED), known);
	KUNIT_EXPECT_TRUE(test, has_frame_of(event, sleep_in_known_function));
	acquire(&inner_lock);
	test_sleep(20);
	release(&inner_lock);
	event = get_session_event(count + 1, BLOCK_STACK_HOOK_ID);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u64(event, BLOCK_STACK_LOCK), (unsigned long)&inner_lock);
	KUNIT_EXPECT_FALSE(test, has_frame_of(event, sleep_in_known_function));
	acquire(&inner_lock);
	release(&inner_lock);
	KUNIT_EXPECT_EQ(test, count_session_events(BLOCK_STACK_HOOK_ID), count + 2);
	end_tracking(test);
}

static void nested_hold_has_its_own_part_only(struct kunit *test)
{
	u64 inner_blocked, outer_blocked;

	begin_tracking(test);
	acquire(&outer_lock);
	test_sleep(40);
	acquire(&inner_lock);
	test_sleep(20);
	release(&inner_lock);
	test_sleep(40);
	release(&outer_lock);
	inner_blocked = read_caller_event(test, 1, CALLER_HOLD_BLOCKED);
	outer_blocked = read_caller_event(test, 2, CALLER_HOLD_BLOCKED);
	KUNIT_EXPECT_GE(test, inner_blocked, ntklog_ms_to_cycles(10));
	KUNIT_EXPECT_GE(test, outer_blocked, inner_blocked + ntklog_ms_to_cycles(40));
	expect_times_without_cpu_bounded(test, 1);
	expect_times_without_cpu_bounded(test, 2);
	end_tracking(test);
}

static const struct task_struct *sleeper;
static const struct ntklog_task *sleeper_record;
static DECLARE_COMPLETION(sleeper_has_lock);
static DECLARE_COMPLETION(sleeper_may_end);

static int hold_asleep(void *unused)
{
	sleeper = current;
	/* The region keeps the record after the end of tracking. */
	ke_enter_critical_region();
	sleeper_record = ntklog_find_current_record();
	acquire(&outer_lock);
	complete(&sleeper_has_lock);
	wait_for_completion(&sleeper_may_end);
	ke_leave_critical_region();
	return 0;
}

/* Start the sleeper, which runs on the CPU of the test, and wait until it has left it. */
static void start_sleeper(struct kunit *test, struct test_thread *thread)
{
	reinit_completion(&sleeper_has_lock);
	reinit_completion(&sleeper_may_end);
	test_thread_start(test, thread, TEST_CPU, hold_asleep, NULL);
	wait_for_completion(&sleeper_has_lock);
	do
		schedule_timeout_uninterruptible(1);
	while (task_is_running(sleeper));
}

static void end_of_tracking_clears_time_of_blocked_task(struct kunit *test)
{
	struct test_thread thread;

	begin_tracking(test);
	start_sleeper(test, &thread);
	KUNIT_EXPECT_NE(test, sleeper_record->off_cpu_since, 0);
	end_tracking(test);
	KUNIT_EXPECT_EQ(test, sleeper_record->off_cpu_since, 0);
	complete(&sleeper_may_end);
	test_thread_join(&thread);
}

static const struct task_struct *get_sleeper_as_owner(const void *lock)
{
	return sleeper;
}

static void hold_released_for_sleeping_owner_counted_as_blocked(struct kunit *test)
{
	struct test_thread thread;

	begin_tracking(test);
	start_sleeper(test, &thread);
	test_sleep(40);
	ntklog_track_sleeping_release_slow(&outer_lock, TEST_ACTION, get_sleeper_as_owner, false,
					   false);
	KUNIT_EXPECT_GE(test, read_caller_event(test, 1, CALLER_HOLD_BLOCKED),
			ntklog_ms_to_cycles(20));
	expect_times_without_cpu_bounded(test, 1);
	complete(&sleeper_may_end);
	test_thread_join(&thread);
	end_tracking(test);
}

/* The owner has been woken up on the CPU of the test, which goes on. */
static void hold_released_for_woken_owner_counted_as_ready(struct kunit *test)
{
	struct test_thread thread;

	begin_tracking(test);
	start_sleeper(test, &thread);
	msleep(40);
	preempt_disable();
	complete(&sleeper_may_end);
	mdelay(20);
	ntklog_track_sleeping_release_slow(&outer_lock, TEST_ACTION, get_sleeper_as_owner, false,
					   false);
	preempt_enable();
	if (IS_ENABLED(CONFIG_SCHED_INFO))
		KUNIT_EXPECT_GE(test, read_caller_event(test, 1, CALLER_HOLD_READY),
				ntklog_ms_to_cycles(10));
	KUNIT_EXPECT_GT(test, read_caller_event(test, 1, CALLER_HOLD_BLOCKED), 0);
	expect_times_without_cpu_bounded(test, 1);
	test_thread_join(&thread);
	end_tracking(test);
}

static void preempted_holder_counted_as_ready(struct kunit *test)
{
	begin_tracking(test);
	start_hog(test, 0, 20);
	acquire(&outer_lock);
	complete(&hog.start);
	while (!READ_ONCE(hog.done))
		cond_resched();
	release(&outer_lock);
	KUNIT_EXPECT_GE(test, read_caller_event(test, 1, CALLER_HOLD_READY),
			ntklog_ms_to_cycles(10));
	KUNIT_EXPECT_EQ(test, read_caller_event(test, 1, CALLER_HOLD_BLOCKED), 0);
	expect_times_without_cpu_bounded(test, 1);
	test_thread_join(&hog.thread);
	end_tracking(test);
}

/* The waiter is woken up while another thread has the CPU. */
static void wait_and_hold_counted_apart(struct kunit *test)
{
	unsigned int last, tries = 0;
	u64 blocked, ready;

	begin_tracking(test);
	/* On a machine that stalls, the waiter may be woken up before it has left the CPU. */
	do {
		start_hog(test, 10, 60);
		acquire(&outer_lock);
		ntklog_begin_sleeping_wait(&outer_lock);
		complete(&hog.start);
		msleep(20);
		ntklog_end_sleeping_wait(&outer_lock, 0);
		test_sleep(20);
		release(&outer_lock);
		test_thread_join(&hog.thread);
		last = find_last_record();
		blocked = read_caller_event(test, last, CALLER_WAIT_BLOCKED);
		ready = read_caller_event(test, last, CALLER_WAIT_LAST_READY);
		if (!IS_ENABLED(CONFIG_SCHED_INFO))
			ready = ntklog_ms_to_cycles(10);
	} while ((blocked < ntklog_ms_to_cycles(7) || ready < ntklog_ms_to_cycles(10)) &&
		 ++tries < 20);
	KUNIT_EXPECT_GE(test, blocked, ntklog_ms_to_cycles(7));
	KUNIT_EXPECT_GE(test, read_caller_event(test, last, CALLER_HOLD_BLOCKED),
			ntklog_ms_to_cycles(10));
	KUNIT_EXPECT_GE(test, ready, ntklog_ms_to_cycles(10));
	expect_times_without_cpu_bounded(test, last);
	end_tracking(test);
}

/* A wait that follows optimistic spinning, or another wait, includes it. */
static void second_wait_includes_first(struct kunit *test)
{
	unsigned int last;

	begin_tracking(test);
	acquire(&outer_lock);
	ntklog_begin_sleeping_wait(&outer_lock);
	test_sleep(20);
	ntklog_end_sleeping_wait(&outer_lock, 0);
	ntklog_begin_sleeping_wait(&outer_lock);
	test_sleep(20);
	ntklog_end_sleeping_wait(&outer_lock, 0);
	release(&outer_lock);
	last = find_last_record();
	KUNIT_EXPECT_GE(test, read_caller_event(test, last, CALLER_WAIT_BLOCKED),
			ntklog_ms_to_cycles(20));
	expect_times_without_cpu_bounded(test, last);
	end_tracking(test);
}

/*
 * The task is preempted when the hook has looked up the record and has not yet raised
 * next_sleeping_slot. The thread that preempts the task has a record, too.
 */
static void holder_preempted_within_hook_counted_later(struct kunit *test)
{
	struct ntklog_sleeping_slot *next;
	struct ntklog_task *record;

	begin_tracking(test);
	start_hog(test, 0, 20);
	hog.takes_lock = true;
	record = ntklog_find_current_record();
	acquire(&outer_lock);
	next = record->next_sleeping_slot;
	WRITE_ONCE(record->next_sleeping_slot, &record->sleeping_slots[1]);
	complete(&hog.start);
	while (!READ_ONCE(hog.done))
		cond_resched();
	WRITE_ONCE(record->next_sleeping_slot, next);
	test_sleep(20);
	release(&outer_lock);
	KUNIT_EXPECT_GE(test, read_caller_event(test, find_last_record(), CALLER_HOLD_BLOCKED),
			ntklog_ms_to_cycles(10));
	test_thread_join(&hog.thread);
	end_tracking(test);
}

static void holder_counted_after_migration(struct kunit *test)
{
	const struct ntklog_task *record;
	u64 blocked;

	begin_tracking(test);
	record = ntklog_find_current_record();
	acquire(&outer_lock);
	blocked = record->off_cpu.blocked_cycles;
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU + 1)), 0);
	test_sleep(20);
	KUNIT_EXPECT_GE(test, record->off_cpu.blocked_cycles - blocked, ntklog_ms_to_cycles(10));
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU)), 0);
	blocked = record->off_cpu.blocked_cycles;
	test_sleep(20);
	KUNIT_EXPECT_GE(test, record->off_cpu.blocked_cycles - blocked, ntklog_ms_to_cycles(10));
	release(&outer_lock);
	end_tracking(test);
}

/**
 * struct nmi_in_switch - what an NMI finds between the probe of sched_switch and the switch itself
 * @next: task to which the CPU switches
 * @switch_count: number of switches in which the CPU had cached the record of @next
 * @sleepers_found: number of these switches that left the sleeper, and whose NMI found its record
 * @others_found: number of these switches whose NMI found a record of another task than the one
 *	that it interrupted
 * @cache_changes: number of these switches whose NMI changed the cached task
 *
 * Written with interrupts off by the CPU that switches to @next.
 */
static struct nmi_in_switch {
	const struct task_struct *next;
	unsigned int switch_count, sleepers_found, others_found, cache_changes;
} nmi;

static void act_as_nmi_in_switch(void *data, bool preempted, struct task_struct *old,
				 struct task_struct *new, unsigned int old_state)
{
	const struct ntklog_task *found;

	if (new != nmi.next || __this_cpu_read(ntklog_current.cached_task) != new)
		return;
	__preempt_count_add(HARDIRQ_OFFSET + NMI_OFFSET);
	found = ntklog_find_current_record();
	__preempt_count_sub(HARDIRQ_OFFSET + NMI_OFFSET);
	nmi.switch_count++;
	nmi.sleepers_found += old == sleeper && found && found->task == old;
	nmi.others_found += found && found->task != old;
	nmi.cache_changes += __this_cpu_read(ntklog_current.cached_task) != new;
}

/* ntklog caches the record of the next task while the old one is still current. */
static void nmi_in_switch_does_not_find_record_of_next_task(struct kunit *test)
{
	struct test_thread thread;

	begin_tracking(test);
	nmi = (struct nmi_in_switch){ .next = current };
	/* The probe runs after those of ntklog, which have the default priority. */
	KUNIT_ASSERT_EQ(test, tracepoint_probe_register_prio(ntklog_sched_switch_tp,
							     act_as_nmi_in_switch, NULL,
							     TRACEPOINT_DEFAULT_PRIO - 1), 0);
	acquire(&inner_lock);
	start_sleeper(test, &thread);
	/* The idle task, which has no record, precedes this one. */
	test_sleep(20);
	tracepoint_probe_unregister(ntklog_sched_switch_tp, act_as_nmi_in_switch, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_GE(test, nmi.switch_count, 2u);
	KUNIT_EXPECT_GE(test, nmi.sleepers_found, 1u);
	KUNIT_EXPECT_EQ(test, nmi.others_found, 0u);
	KUNIT_EXPECT_EQ(test, nmi.cache_changes, 0u);
	release(&inner_lock);
	complete(&sleeper_may_end);
	test_thread_join(&thread);
	end_tracking(test);
}

static void sleep_without_lock_not_counted(struct kunit *test)
{
	struct ntklog_off_cpu_times before, after;

	begin_tracking(test);
	before = ntklog_find_current_record()->off_cpu;
	msleep(20);
	after = ntklog_find_current_record()->off_cpu;
	KUNIT_EXPECT_EQ(test, after.ready_cycles, before.ready_cycles);
	KUNIT_EXPECT_EQ(test, after.blocked_cycles, before.blocked_cycles);
	KUNIT_EXPECT_EQ(test, ntklog_find_current_record()->off_cpu_since, 0);
	end_tracking(test);
}

/* The visit of all slots may read the end of a period before its start. */
static void negative_time_off_cpu_is_0(struct kunit *test)
{
	const struct ntklog_off_cpu_times more = { .ready_cycles = 7, .blocked_cycles = 5 };
	const struct ntklog_off_cpu_times less = { .ready_cycles = 4, .blocked_cycles = 6 };
	const struct ntklog_off_cpu_times difference = ntklog_subtract_off_cpu_times(&more, &less);

	KUNIT_EXPECT_EQ(test, difference.ready_cycles, 3);
	KUNIT_EXPECT_EQ(test, difference.blocked_cycles, 0);
}

static struct kunit_case off_cpu_cases[] = {
	KUNIT_CASE(short_hold_without_time_off_cpu),
	KUNIT_CASE(sleep_in_hold_counted_as_blocked),
	KUNIT_CASE(longest_block_of_holds_written_with_its_stack),
	KUNIT_CASE(nested_hold_has_its_own_part_only),
	KUNIT_CASE(end_of_tracking_clears_time_of_blocked_task),
	KUNIT_CASE(hold_released_for_sleeping_owner_counted_as_blocked),
	KUNIT_CASE(hold_released_for_woken_owner_counted_as_ready),
	KUNIT_CASE(preempted_holder_counted_as_ready),
	KUNIT_CASE(wait_and_hold_counted_apart),
	KUNIT_CASE(second_wait_includes_first),
	KUNIT_CASE(holder_preempted_within_hook_counted_later),
	KUNIT_CASE(holder_counted_after_migration),
	KUNIT_CASE(nmi_in_switch_does_not_find_record_of_next_task),
	KUNIT_CASE(sleep_without_lock_not_counted),
	KUNIT_CASE(negative_time_off_cpu_is_0),
	{}
};

static struct kunit_suite off_cpu_suite = {
	.name = "ntklog_off_cpu",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = off_cpu_cases,
};

kunit_test_suite(off_cpu_suite);
