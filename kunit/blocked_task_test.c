// SPDX-License-Identifier: GPL-2.0-only
/* The freeing of the records of blocked tasks, and the tasks' state afterwards. */

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <ntklog/irql.h>

#include "../module/ground/run_queue.h"
#include "../module/ground/task_table.h"
#include "../module/ground/thread.h"
#include "../module/perf/sleeping_lock.h"
#include "perf_resource_fixture.h"

#define TEST_CLASS	NTKLOG_SLEEPING_CLASS(SEMAPHORE)
#define TEST_ACTION	(TEST_CLASS | NTKLOG_SLEEPING_EXCLUSIVE)

/* Stands for a lock: the hooks use only its address. */
static u32 lock;

static void acquire_lock(void)
{
	ntklog_track_sleeping_acquire(&lock, _THIS_IP_, TEST_ACTION);
}

static void release_lock(void)
{
	ntklog_track_sleeping_release(&lock, TEST_ACTION, NULL, false);
}

static u64 count_tracking_failures(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ntklog_sleeping_lock_cpu *counts =
			per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu);

		sum += READ_ONCE(counts->unmatched_count) + READ_ONCE(counts->untracked_count);
	}
	return sum;
}

static void acquire_resource(void)
{
	acquire_exclusive(&resource, true);
}

static void release_resource(void)
{
	release_acquisitions(1);
}

static u8 irql_before;

static void enter_apc_level(void)
{
	ke_raise_irql(APC_LEVEL, &irql_before);
}

static void leave_apc_level(void)
{
	ke_lower_irql(irql_before);
}

/**
 * struct blocking_thread - a thread that gets a record and then blocks
 * @thread: the thread
 * @enter: called before the thread blocks; NULL: nothing
 * @leave: called when the thread runs again; NULL: nothing
 * @may_go_on: lets the thread run again
 * @is_about_to_block: set by the thread
 * @had_record: the thread has found a record when it ran again
 */
struct blocking_thread {
	struct test_thread thread;
	void (*enter)(void);
	void (*leave)(void);
	struct completion may_go_on;
	bool is_about_to_block;
	bool had_record;
};

static int block(void *data)
{
	struct blocking_thread *blocked = data;

	ke_enter_critical_region();
	ke_leave_critical_region();
	if (blocked->enter)
		blocked->enter();
	WRITE_ONCE(blocked->is_about_to_block, true);
	wait_for_completion(&blocked->may_go_on);
	blocked->had_record = ntklog_find_current_record();
	if (blocked->leave)
		blocked->leave();
	return 0;
}

static bool is_blocked(struct task_struct *task)
{
	unsigned long flags;
	bool is_blocked;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	is_blocked = ntklog_task_is_blocked(task);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return is_blocked;
}

/* Returns the change of the number of records when those of blocked tasks are freed. */
static int free_while_blocked(struct kunit *test, struct blocking_thread *blocked)
{
	u32 records;
	int change;

	blocked->is_about_to_block = false;
	init_completion(&blocked->may_go_on);
	/* Free the records of other blocked tasks. */
	ntklog_free_blocked_task_records();
	test_thread_start(test, &blocked->thread, TEST_CPU + 1, block, blocked);
	while (!READ_ONCE(blocked->is_about_to_block) || !is_blocked(blocked->thread.task))
		usleep_range(100, 200);
	records = ntklog_count_task_records();
	ntklog_free_blocked_task_records();
	change = ntklog_count_task_records() - records;
	complete(&blocked->may_go_on);
	test_thread_join(&blocked->thread);
	return change;
}

static void blocked_task_without_slot_and_state_loses_record(struct kunit *test)
{
	struct blocking_thread blocked = {};

	KUNIT_EXPECT_EQ(test, free_while_blocked(test, &blocked), -1);
	KUNIT_EXPECT_FALSE(test, blocked.had_record);
}

static void running_task_keeps_record(struct kunit *test)
{
	ke_enter_critical_region();
	ke_leave_critical_region();
	ntklog_free_blocked_task_records();
	KUNIT_EXPECT_NOT_NULL(test, ntklog_find_current_record());
}

static void task_in_region_keeps_record(struct kunit *test)
{
	struct blocking_thread critical = {
		.enter = ke_enter_critical_region, .leave = ke_leave_critical_region,
	};
	struct blocking_thread guarded = {
		.enter = ke_enter_guarded_region, .leave = ke_leave_guarded_region,
	};

	KUNIT_EXPECT_EQ(test, free_while_blocked(test, &critical), 0);
	KUNIT_EXPECT_TRUE(test, critical.had_record);
	KUNIT_EXPECT_EQ(test, free_while_blocked(test, &guarded), 0);
	KUNIT_EXPECT_TRUE(test, guarded.had_record);
}

static void task_at_apc_level_keeps_record(struct kunit *test)
{
	struct blocking_thread blocked = { .enter = enter_apc_level, .leave = leave_apc_level };

	KUNIT_EXPECT_EQ(test, free_while_blocked(test, &blocked), 0);
	KUNIT_EXPECT_TRUE(test, blocked.had_record);
}

static void task_with_resource_keeps_record(struct kunit *test)
{
	struct blocking_thread blocked = { .enter = acquire_resource, .leave = release_resource };

	resource_session_start(test);
	disable_excessive_waits(test);
	KUNIT_EXPECT_EQ(test, free_while_blocked(test, &blocked), 0);
	KUNIT_EXPECT_TRUE(test, blocked.had_record);
	stop_session_0(test);
}

static void task_with_sleeping_lock_keeps_record(struct kunit *test)
{
	struct blocking_thread blocked = { .enter = acquire_lock, .leave = release_lock };
	u64 failures = count_tracking_failures();

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
	KUNIT_EXPECT_EQ(test, free_while_blocked(test, &blocked), 0);
	ntklog_disable_sleeping_class(TEST_CLASS);
	KUNIT_EXPECT_TRUE(test, blocked.had_record);
	KUNIT_EXPECT_EQ(test, count_tracking_failures(), failures);
}

#define SLEEPERS	4
#define ROUNDS		1000
#define PAIRS		200

/*
 * The record is unused between two pairs. In odd rounds the state says that the task sleeps: a
 * preempted task then differs from a blocked one only in that it is in its run queue.
 */
static void acquire_and_release(unsigned int round)
{
	unsigned int i;

	if (round & 1)
		set_current_state(TASK_INTERRUPTIBLE);
	for (i = 0; i < PAIRS; i++) {
		acquire_lock();
		release_lock();
	}
	__set_current_state(TASK_RUNNING);
}

/**
 * struct sleeper - a thread that uses its record, and sleeps again and again
 * @thread: the thread
 * @lost_records: how often the thread has found no record after a sleep
 * @region_is_wrong: the thread was not in the region that it had entered
 * @is_done: the thread has ended
 */
struct sleeper {
	struct test_thread thread;
	unsigned int lost_records;
	bool region_is_wrong;
	bool is_done;
};

static int sleep_between_locks(void *data)
{
	struct sleeper *sleeper = data;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		sleeper->lost_records += !ntklog_find_current_record();
		acquire_and_release(round);
		ke_enter_critical_region();
		acquire_lock();
		if (round % 4 == 0)
			usleep_range(10, 20);
		sleeper->region_is_wrong |= !ke_are_apcs_disabled();
		release_lock();
		ke_leave_critical_region();
		sleeper->region_is_wrong |= ke_are_apcs_disabled();
		usleep_range(10, 20);
	}
	WRITE_ONCE(sleeper->is_done, true);
	return 0;
}

/* Records are freed while the sleepers run, are preempted, fall asleep and wake up. */
static void tasks_that_run_meanwhile_lose_nothing(struct kunit *test)
{
	static struct sleeper sleepers[SLEEPERS];
	u64 failures = count_tracking_failures();
	unsigned int i, done, lost_records = 0;

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
	for (i = 0; i < SLEEPERS; i++) {
		sleepers[i] = (struct sleeper){};
		test_thread_start(test, &sleepers[i].thread, TEST_CPU + i % 2, sleep_between_locks,
				  &sleepers[i]);
	}
	do {
		ntklog_free_blocked_task_records();
		cond_resched();
		for (i = 0, done = 0; i < SLEEPERS; i++)
			done += READ_ONCE(sleepers[i].is_done);
	} while (done < SLEEPERS);
	for (i = 0; i < SLEEPERS; i++) {
		test_thread_join(&sleepers[i].thread);
		KUNIT_EXPECT_FALSE(test, sleepers[i].region_is_wrong);
		lost_records += sleepers[i].lost_records;
	}
	ntklog_disable_sleeping_class(TEST_CLASS);
	KUNIT_EXPECT_GT(test, lost_records, SLEEPERS);
	KUNIT_EXPECT_EQ(test, count_tracking_failures(), failures);
}

static struct kunit_case blocked_task_test_cases[] = {
	KUNIT_CASE(blocked_task_without_slot_and_state_loses_record),
	KUNIT_CASE(running_task_keeps_record),
	KUNIT_CASE(task_in_region_keeps_record),
	KUNIT_CASE(task_at_apc_level_keeps_record),
	KUNIT_CASE(task_with_resource_keeps_record),
	KUNIT_CASE(task_with_sleeping_lock_keeps_record),
	KUNIT_CASE(tasks_that_run_meanwhile_lose_nothing),
	{}
};

static struct kunit_suite blocked_task_test_suite = {
	.name = "ntklog_blocked_task",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = blocked_task_test_cases,
};

kunit_test_suite(blocked_task_test_suite);
