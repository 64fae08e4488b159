// SPDX-License-Identifier: GPL-2.0-only

#include <linux/completion.h>
#include <linux/debug_locks.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <ntklog/eresource.h>
#include <ntklog/irql.h>

#include "../module/ground/task_table.h"
#include "fixture.h"

static struct eresource resource;

static void expect_record_count(struct kunit *test, u32 record_count)
{
	int tries = 60000;

	/* A test sees the end of a thread before its record is freed. */
	while (ntklog_count_task_records() != record_count && tries--)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, ntklog_count_task_records(), record_count);
}

static u32 record_count_before_exit;

static int exit_in_region(void *data)
{
	u8 old_irql;

	ke_enter_critical_region();
	ke_raise_irql(APC_LEVEL, &old_irql);
	record_count_before_exit = ntklog_count_task_records();
	return 0;
}

static void thread_exits_its_record_freed(struct kunit *test)
{
	struct test_thread thread;
	u32 record_count;

	/* The test's own task gets its record before the count. */
	ke_enter_critical_region();
	ke_leave_critical_region();
	record_count = ntklog_count_task_records();
	/* The thread exits in a region and at APC_LEVEL. */
	test_thread_start(test, &thread, TEST_CPU, exit_in_region, NULL);
	test_thread_join(&thread);
	KUNIT_EXPECT_EQ(test, record_count_before_exit, record_count + 1);
	expect_record_count(test, record_count);
}

/* @record_counts: number of records before, during and after the use of regions */
struct exit_results {
	u32 record_counts[3];
	bool irqls_and_regions_are_right;
};

static int use_irql_and_regions_at_exit(void *data)
{
	struct exit_results *results = data;
	u8 old_irql;

	/* Act as a thread that closes its files after the exit probe has freed its record. */
	current->flags |= PF_EXITING;
	results->record_counts[0] = ntklog_count_task_records();
	results->irqls_and_regions_are_right = ke_raise_irql_to_dpc_level() == PASSIVE_LEVEL;
	ke_lower_irql(PASSIVE_LEVEL);
	ke_enter_critical_region();
	ke_enter_critical_region();
	results->record_counts[1] = ntklog_count_task_records();
	results->irqls_and_regions_are_right &= ke_are_apcs_disabled();
	ke_leave_critical_region();
	results->irqls_and_regions_are_right &= ke_are_apcs_disabled();
	ke_raise_irql(APC_LEVEL, &old_irql);
	ke_leave_critical_region();
	results->irqls_and_regions_are_right &= ke_raise_irql_to_dpc_level() == APC_LEVEL;
	ke_lower_irql(APC_LEVEL);
	ke_lower_irql(old_irql);
	results->irqls_and_regions_are_right &= !ke_are_apcs_disabled();
	results->irqls_and_regions_are_right &= ke_get_current_irql() == PASSIVE_LEVEL;
	results->record_counts[2] = ntklog_count_task_records();
	current->flags &= ~PF_EXITING;
	return 0;
}

static void exiting_thread_irql_and_regions_kept_while_used(struct kunit *test)
{
	struct test_thread thread;
	struct exit_results results;

	test_thread_start(test, &thread, TEST_CPU, use_irql_and_regions_at_exit, &results);
	test_thread_join(&thread);
	KUNIT_EXPECT_TRUE(test, results.irqls_and_regions_are_right);
	KUNIT_EXPECT_EQ(test, results.record_counts[1], results.record_counts[0] + 1);
	KUNIT_EXPECT_EQ(test, results.record_counts[2], results.record_counts[0]);
}

/* Number of threads; greater than the number of spare records. */
#define THREADS	150

static DECLARE_COMPLETION(threads_may_go);

static int enter_and_wait(void *data)
{
	bool *is_in_region = data;

	ke_enter_critical_region();
	*is_in_region = ke_are_apcs_disabled();
	wait_for_completion(&threads_may_go);
	ke_leave_critical_region();
	return 0;
}

static void threads_more_than_spare_records_all_recorded(struct kunit *test)
{
	struct test_thread *threads = kunit_kcalloc(test, THREADS, sizeof(*threads), GFP_KERNEL);
	bool *is_in_region = kunit_kcalloc(test, THREADS, sizeof(*is_in_region), GFP_KERNEL);
	u32 record_count;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, threads);
	KUNIT_ASSERT_NOT_NULL(test, is_in_region);
	reinit_completion(&threads_may_go);
	record_count = ntklog_count_task_records();
	for (i = 0; i < THREADS; i++)
		test_thread_start(test, &threads[i], i % num_online_cpus(), enter_and_wait,
				  &is_in_region[i]);
	expect_record_count(test, record_count + THREADS);
	complete_all(&threads_may_go);
	for (i = 0; i < THREADS; i++) {
		test_thread_join(&threads[i]);
		KUNIT_EXPECT_TRUE(test, is_in_region[i]);
	}
	expect_record_count(test, record_count);
}

#ifdef CONFIG_LOCKDEP
static bool lockdep_was_enabled;

static int use_while_pages_are_written(void *data)
{
	unsigned long owner_pointer;
	u8 old_irql;

	/* Lockdep reports an allocation that may reclaim memory between these two calls. */
	fs_reclaim_acquire(GFP_KERNEL);
	ke_enter_critical_region();
	ke_raise_irql(APC_LEVEL, &old_irql);
	ex_acquire_resource_exclusive_lite(&resource, true);
	ex_release_resource_lite(&resource);
	/* More owners than fit into the resource's first table. */
	for (owner_pointer = 0x1000; owner_pointer < 0x9000; owner_pointer += 0x1000) {
		ex_acquire_resource_shared_lite(&resource, true);
		ex_set_resource_owner_pointer(&resource, (void *)owner_pointer);
	}
	while (owner_pointer -= 0x1000)
		ex_release_resource_for_thread_lite(&resource, owner_pointer | 3);
	ke_lower_irql(old_irql);
	ke_leave_critical_region();
	fs_reclaim_release(GFP_KERNEL);
	lockdep_was_enabled = debug_locks;
	return 0;
}

static void record_allocation_never_reclaims(struct kunit *test)
{
	struct test_thread thread;

	if (!debug_locks)
		kunit_skip(test, "lockdep has turned itself off");
	test_thread_start(test, &thread, TEST_CPU, use_while_pages_are_written, NULL);
	test_thread_join(&thread);
	KUNIT_EXPECT_TRUE(test, lockdep_was_enabled);
}
#else
static void record_allocation_never_reclaims(struct kunit *test)
{
	kunit_skip(test, "no lockdep in this kernel");
}
#endif

static int thread_test_init(struct kunit *test)
{
	if (ex_initialize_resource_lite(&resource))
		return -EINVAL;
	return fixture_init(test);
}

static void thread_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&resource), 0u);
	fixture_exit(test);
}

static struct kunit_case thread_test_cases[] = {
	KUNIT_CASE(thread_exits_its_record_freed),
	KUNIT_CASE(exiting_thread_irql_and_regions_kept_while_used),
	KUNIT_CASE(threads_more_than_spare_records_all_recorded),
	KUNIT_CASE(record_allocation_never_reclaims),
	{}
};

static struct kunit_suite thread_test_suite = {
	.name = "ntklog_task",
	.init = thread_test_init,
	.exit = thread_test_exit,
	.test_cases = thread_test_cases,
};

kunit_test_suite(thread_test_suite);
