// SPDX-License-Identifier: GPL-2.0-only
/* NT's facts R4 to R10 and R18 in kunit/facts.rst. */

#include <linux/delay.h>
#include <linux/fault-inject.h>
#include <linux/sched.h>

#include "eresource_expect.h"

/* R4: recursive acquisition by a shared owner. */

static void shared_owner_shared_again_granted(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, false));
	KUNIT_EXPECT_TRUE(test, acquire_starve_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_starve_exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, acquire_wait_for_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_wait_for_exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, false));
	EXPECT_OWNED(test, 7u);
	KUNIT_EXPECT_FALSE(test, acquire_exclusive(&resource, false));
	KUNIT_EXPECT_FALSE(test, ex_try_to_acquire_resource_exclusive_lite(&resource));
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	EXPECT_OWNED(test, 7u);
	release_acquisitions(6);
	EXPECT_OWNED(test, 1u);
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, acquire_exclusive, false));
	release_acquisitions(1);
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, false));
	user_call(test, 0, user_release, false);
}

/* R5: recursive acquisition by the exclusive owner. */

static void exclusive_owner_any_mode_granted(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, ex_try_to_acquire_resource_exclusive_lite(&resource));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_starve_exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, acquire_wait_for_exclusive(&resource, true));
	EXPECT_OWNED(test, 6u);
	for (i = 6; i; i--) {
		KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
		KUNIT_EXPECT_FALSE(test, user_call(test, 0, acquire_starve_exclusive, false));
		release_acquisitions(1);
	}
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_starve_exclusive, false));
	user_call(test, 0, user_release, false);
}

/* More acquisitions than the state word can count, with one owner and with two. */
static void deep_recursion_counted(struct kunit *test)
{
	u32 i;

	for (i = 1; i <= 100; i++) {
		KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, i % 2));
		EXPECT_OWNED(test, i);
	}
	EXPECT_DESCRIBED(test, 1, 100u, 100);
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_OWNED(test, 100u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, false));
	for (i = 101; i <= 120; i++)
		KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, i % 2));
	EXPECT_DESCRIBED(test, 2, 121u, 0);
	for (i = 120; i; i--) {
		EXPECT_OWNED(test, i);
		release_acquisitions(1);
	}
	EXPECT_OWNED(test, 0u);
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	user_call(test, 0, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R6: conversion from exclusive to shared. */

static void conversion_with_waiters_shared_ones_woken(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	user_wait_shared(test, 0, acquire_shared);
	user_wait_exclusive(test, 1);
	user_wait_shared(test, 2, acquire_wait_for_exclusive);
	ex_convert_exclusive_to_shared_lite(&resource);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 2));
	EXPECT_WAITERS(test, 1u, 0u);
	EXPECT_OWNED(test, 2u);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	EXPECT_DESCRIBED(test, 3, 4u, 0);
	release_acquisitions(2);
	user_call(test, 0, user_release, false);
	EXPECT_WAITERS(test, 1u, 0u);
	user_call(test, 2, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	user_call(test, 1, user_release, false);
}

static void conversion_without_waiters_acquisitions_kept(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_OWNED(test, 2u);
	KUNIT_EXPECT_FALSE(test, acquire_exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, false));
	user_call(test, 0, user_release, false);
	release_acquisitions(2);
}

static void conversion_by_non_exclusive_owner_refused(struct kunit *test)
{
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_OWNED(test, 1u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	user_call(test, 0, user_release, false);
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_call(test, 0, user_release, false);
}

/* R7: queries count only the acquisitions of the calling thread. */

static void resource_held_by_other_thread_reported_unowned(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 1, acquire_shared, true));
	EXPECT_OWNED(test, 0u);
	user_call(test, 0, user_release, false);
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	user_call(test, 0, user_release, false);
}

/* R8: requests after an exclusive request that waits. */

static void exclusive_waiter_queued_later_shared_waits(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, false));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	KUNIT_EXPECT_FALSE(test, user_call(test, 1, acquire_exclusive, false));
	user_wait_exclusive(test, 1);
	EXPECT_WAITERS(test, 1u, 0u);

	KUNIT_EXPECT_FALSE(test, user_call(test, 2, acquire_shared, false));
	KUNIT_EXPECT_FALSE(test, user_call(test, 2, acquire_wait_for_exclusive, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 2, acquire_starve_exclusive, false));
	user_call(test, 2, user_release, false);
	user_wait_shared(test, 2, acquire_shared);
	EXPECT_WAITERS(test, 1u, 1u);

	release_acquisitions(1);
	EXPECT_WAITERS(test, 1u, 1u);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	KUNIT_EXPECT_TRUE(test, user_call(test, 1, user_is_exclusive, false));
	EXPECT_WAITERS(test, 0u, 1u);
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 2));
	KUNIT_EXPECT_TRUE(test, user_call(test, 2, user_is_owner, false));
	EXPECT_WAITERS(test, 0u, 0u);
	user_call(test, 2, user_release, false);
}

/* R9: order of grants. */

static void exclusive_release_shared_waiters_granted_first(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	user_wait_exclusive(test, 0);
	user_wait_shared(test, 1, acquire_shared);
	user_wait_shared(test, 2, acquire_starve_exclusive);
	user_wait_exclusive(test, 3);
	user_wait_shared(test, 4, acquire_wait_for_exclusive);
	EXPECT_WAITERS(test, 2u, 3u);
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 2));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 4));
	EXPECT_WAITERS(test, 2u, 0u);
	user_call(test, 2, user_release, false);
	user_call(test, 4, user_release, false);
	user_call(test, 1, user_release, false);
	/* Exclusive waiters become owners after the shared waiters. */
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	EXPECT_WAITERS(test, 1u, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 3));
	user_call(test, 3, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

static void exclusive_waiters_granted_in_order(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	for (i = 0; i < 10; i++)
		user_wait_exclusive(test, i);
	release_acquisitions(1);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_TRUE(test, user_call_end(test, i));
		EXPECT_WAITERS(test, 9u - i, 0u);
		user_call(test, i, user_release, false);
	}
}

/* R10: ExAcquireSharedWaitForExclusive. */

static bool release_for_user_0(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)users[0].task);
	return true;
}

static void wait_for_exclusive_by_owner_waits(struct kunit *test)
{
	/* Lockdep would report this deadlock, which another thread's release resolves. */
	users[0].is_lockdep_off = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	user_wait_exclusive(test, 1);
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, acquire_wait_for_exclusive, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_release, false));
	user_wait_shared(test, 0, acquire_wait_for_exclusive);
	EXPECT_WAITERS(test, 1u, 1u);
	/* User 2 releases user 0's hold; the exclusive waiter comes before user 0's request. */
	user_call(test, 2, release_for_user_0, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	EXPECT_WAITERS(test, 0u, 1u);
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	user_call(test, 0, user_release, false);
}

static void waiting_owner_after_exclusive_granted(struct kunit *test)
{
	users[0].is_lockdep_off = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	user_wait_exclusive(test, 1);
	user_wait_shared(test, 0, acquire_wait_for_exclusive);
	/* User 0 is still an owner, so the exclusive waiter keeps waiting. */
	KUNIT_EXPECT_TRUE(test, user_call(test, 2, acquire_starve_exclusive, true));
	user_call(test, 2, user_release, false);
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	user_call(test, 2, release_for_user_0, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	user_call(test, 0, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R18: many owners and waiters. */

static void shared_owners_many_all_recorded(struct kunit *test)
{
	int i;

	for (i = 0; i < RESOURCE_USERS; i++)
		KUNIT_EXPECT_TRUE(test, user_call(test, i, acquire_shared, i % 2));
	EXPECT_DESCRIBED(test, RESOURCE_USERS, (u32)RESOURCE_USERS, 0);
	for (i = 0; i < RESOURCE_USERS; i += 2)
		user_call(test, i, user_release, false);
	for (i = 1; i < RESOURCE_USERS; i += 2)
		KUNIT_EXPECT_TRUE(test, user_call(test, i, user_is_owner, false));
	EXPECT_DESCRIBED(test, RESOURCE_USERS / 2, (u32)RESOURCE_USERS / 2, 0);
	for (i = 1; i < RESOURCE_USERS; i += 2)
		user_call(test, i, user_release, false);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, false));
	release_acquisitions(1);
}

static void shared_waiters_many_all_granted(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	for (i = 0; i < RESOURCE_USERS; i++)
		user_wait_shared(test, i, acquire_shared);
	release_acquisitions(1);
	for (i = 0; i < RESOURCE_USERS; i++)
		KUNIT_EXPECT_TRUE(test, user_call_end(test, i));
	EXPECT_DESCRIBED(test, RESOURCE_USERS, (u32)RESOURCE_USERS, 0);
	for (i = 0; i < RESOURCE_USERS; i++)
		user_call(test, i, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

#ifdef CONFIG_FAILSLAB
/* Acquire shared while the first allocation of memory fails. */
static bool acquire_shared_without_memory(struct eresource *resource, bool wait)
{
	bool result;

	current->fail_nth = 1;
	result = ex_acquire_resource_shared_lite(resource, wait);
	if (current->fail_nth)
		pr_err("the allocation did not fail\n");
	result = result && !current->fail_nth;
	current->fail_nth = 0;
	return result;
}

static void owner_table_no_memory_refused_or_retried(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	/* An acquisition that may not wait is refused. */
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, acquire_shared_without_memory, false));
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared_without_memory, true));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	user_call(test, 0, user_release, false);
	release_acquisitions(1);
}
#else
static void owner_table_no_memory_refused_or_retried(struct kunit *test)
{
	kunit_skip(test, "needs a kernel with FAILSLAB");
}
#endif

static void owner_table_large_freed_with_owners(struct kunit *test)
{
	static u64 owner_pointers[200];
	int i;

	for (i = 0; i < ARRAY_SIZE(owner_pointers); i++) {
		KUNIT_EXPECT_TRUE(test, ex_acquire_resource_shared_lite(&resource, true));
		ex_set_resource_owner_pointer(&resource, &owner_pointers[i]);
	}
	KUNIT_EXPECT_GE(test, resource.owner_table_size + 1, 200u);
	for (i = 0; i < ARRAY_SIZE(owner_pointers); i++) {
		KUNIT_EXPECT_GE(test, resource.owner_table_size + 1, 200u);
		ex_release_resource_for_thread_lite(&resource,
						    (unsigned long)&owner_pointers[i] | 3);
	}
	KUNIT_EXPECT_LE(test, resource.owner_table_size, 32u);
	for (i = 0; i < 50; i++) {
		KUNIT_EXPECT_TRUE(test, ex_acquire_resource_shared_lite(&resource, true));
		ex_set_resource_owner_pointer(&resource, &owner_pointers[i]);
	}
	for (i = 0; i < 50; i++)
		ex_release_resource_for_thread_lite(&resource,
						    (unsigned long)&owner_pointers[i] | 3);
	EXPECT_OWNED(test, 0u);
}

static bool user_sleeps(int i)
{
	return READ_ONCE(users[i].task->__state) & TASK_UNINTERRUPTIBLE;
}

static bool last_user_slept;

/* A thread that runs as soon as the releaser has woken it and can be preempted. */
static int run_first_waiter(void *data)
{
	sched_set_fifo(current);
	ex_acquire_resource_shared_lite(&resource, true);
	last_user_slept = user_sleeps(RESOURCE_USERS - 1);
	ex_release_resource_lite(&resource);
	return 0;
}

static void shared_waiters_many_woken_in_batches(struct kunit *test)
{
	struct test_thread first_waiter;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "needs a preemptible kernel");
	KUNIT_EXPECT_TRUE(test, ex_acquire_resource_exclusive_lite(&resource, true));
	test_thread_start(test, &first_waiter, TEST_CPU, run_first_waiter, NULL);
	while (ex_get_shared_waiter_count(&resource) != 1)
		usleep_range(100, 200);
	for (i = 0; i < RESOURCE_USERS; i++)
		user_wait_shared(test, i, ex_acquire_resource_shared_lite);
	while (!user_sleeps(RESOURCE_USERS - 1))
		usleep_range(100, 200);
	ex_release_resource_lite(&resource);
	test_thread_join(&first_waiter);
	KUNIT_EXPECT_TRUE(test, last_user_slept);
	for (i = 0; i < RESOURCE_USERS; i++) {
		KUNIT_EXPECT_TRUE(test, user_call_end(test, i));
		user_call(test, i, user_release, false);
	}
}

static struct kunit_case eresource_acquire_test_cases[] = {
	KUNIT_CASE(shared_owner_shared_again_granted),
	KUNIT_CASE(exclusive_owner_any_mode_granted),
	KUNIT_CASE(deep_recursion_counted),
	KUNIT_CASE(conversion_with_waiters_shared_ones_woken),
	KUNIT_CASE(conversion_without_waiters_acquisitions_kept),
	KUNIT_CASE(conversion_by_non_exclusive_owner_refused),
	KUNIT_CASE(resource_held_by_other_thread_reported_unowned),
	KUNIT_CASE(exclusive_waiter_queued_later_shared_waits),
	KUNIT_CASE(exclusive_release_shared_waiters_granted_first),
	KUNIT_CASE(exclusive_waiters_granted_in_order),
	KUNIT_CASE(wait_for_exclusive_by_owner_waits),
	KUNIT_CASE(waiting_owner_after_exclusive_granted),
	KUNIT_CASE(shared_owners_many_all_recorded),
	KUNIT_CASE(shared_waiters_many_all_granted),
	KUNIT_CASE(owner_table_no_memory_refused_or_retried),
	KUNIT_CASE(owner_table_large_freed_with_owners),
	KUNIT_CASE(shared_waiters_many_woken_in_batches),
	{}
};

static struct kunit_suite eresource_acquire_test_suite = {
	.name = "ntklog_eresource_acquire",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = eresource_acquire_test_cases,
};

kunit_test_suite(eresource_acquire_test_suite);
