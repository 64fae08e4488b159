// SPDX-License-Identifier: GPL-2.0-only
/* NT's facts R11 to R17 in kunit/facts.rst. */

#include <linux/pid.h>
#include <ntklog/irql.h>

#include "eresource_expect.h"

/* R11: release for another thread, and owner pointers. */

static int owner_object;

static bool release_for_pointer(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)&owner_object | 3);
	return true;
}

static void release_for_other_thread_owner_removed(struct kunit *test)
{
	/* User 0 does not release itself, so lockdep would see a lock that stays held. */
	users[0].is_lockdep_off = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	ex_release_resource_for_thread_lite(&resource, get_user_thread(test, 0));
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	ex_release_resource_for_thread_lite(&resource, get_user_thread(test, 0));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	user_wait_exclusive(test, 1);
	ex_release_resource_for_thread_lite(&resource, get_user_thread(test, 0));
	ex_release_resource_for_thread_lite(&resource, ex_get_current_resource_thread());
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	user_call(test, 1, user_release, false);
}

static void owner_pointer_any_thread_releases(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	ex_set_resource_owner_pointer(&resource, &owner_object);
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_FALSE(test, acquire_shared(&resource, false));
	EXPECT_DESCRIBED(test, 1, 2u, 2);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.owning_thread, 0ull);
	user_call(test, 0, release_for_pointer, false);
	KUNIT_EXPECT_FALSE(test, acquire_shared(&resource, false));
	user_call(test, 1, release_for_pointer, false);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, false));
	ex_set_resource_owner_pointer_ex(&resource, &owner_object,
					 FLAG_OWNER_POINTER_IS_THREAD);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, false));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	ex_set_resource_owner_pointer_ex(&resource, &owner_object, 0);
	EXPECT_DESCRIBED(test, 1, 2u, 0);
	user_wait_exclusive(test, 0);
	release_for_pointer(&resource, false);
	EXPECT_WAITERS(test, 1u, 0u);
	user_call(test, 1, release_for_pointer, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	user_call(test, 0, user_release, false);
}

static void owner_pointer_by_non_owner_refused(struct kunit *test)
{
	ex_set_resource_owner_pointer(&resource, &owner_object);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	ex_set_resource_owner_pointer(&resource, &owner_object);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	ex_set_resource_owner_pointer_ex(&resource, &owner_object, 2);
	EXPECT_OWNED(test, 1u);
	release_acquisitions(1);
}

/* R12: releases by non-owners. */

static void release_by_non_owner_refused(struct kunit *test)
{
	release_acquisitions(1);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, true));
	release_acquisitions(1);
	ex_release_resource_for_thread_lite(&resource, 0);
	ex_release_resource_for_thread_lite(&resource, 2);
	ex_release_resource_for_thread_lite(&resource, get_user_thread(test, 0) | 3);
	EXPECT_DESCRIBED(test, 1, 1u, 1);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_wait_exclusive(test, 1);
	release_acquisitions(1);
	ex_release_resource_for_thread_lite(&resource, 0);
	ex_release_resource_for_thread_lite(&resource, 2);
	EXPECT_WAITERS(test, 1u, 0u);
	EXPECT_DESCRIBED(test, 1, 1u, 1);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	user_call(test, 1, user_release, false);
}

/* R13: contention count. */

static void waits_contention_counted_once_each(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, acquire_shared, false));
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, acquire_exclusive, false));
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 0u);
	user_wait_shared(test, 0, acquire_shared);
	user_wait_exclusive(test, 1);
	user_wait_exclusive(test, 2);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 3u);
	KUNIT_EXPECT_EQ(test,
			describe_resource(test, &resource).information.number_of_waiting_shared,
			1u);
	KUNIT_EXPECT_EQ(test,
			describe_resource(test, &resource).information.number_of_waiting_exclusive,
			2u);
	release_acquisitions(1);
	user_call_end(test, 0);
	user_call(test, 0, user_release, false);
	user_call_end(test, 1);
	user_call(test, 1, user_release, false);
	user_call_end(test, 2);
	user_call(test, 2, user_release, false);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 3u);
	EXPECT_WAITERS(test, 0u, 0u);
}

/* R15: flags and counts. */

static void boost_disabled_flag_set(struct kunit *test)
{
	ex_disable_resource_boost_lite(&resource);
	KUNIT_EXPECT_EQ(test, resource.flag, 0x08);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
}

#define EXPECT_STATE(test, _owners, _flag)					\
do {										\
	KUNIT_EXPECT_EQ(test, ex_get_resource_active_count(&resource), _owners);	\
	KUNIT_EXPECT_EQ(test, ex_get_resource_flag(&resource), _flag);		\
} while (0)

static void active_count_and_flag_follow_owners(struct kunit *test)
{
	unsigned long owner_pointer = (unsigned long)&users | 3;

	EXPECT_STATE(test, 0u, 0);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	EXPECT_STATE(test, 1u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	EXPECT_STATE(test, 2u, 0);
	release_acquisitions(2);
	user_call(test, 0, user_release, false);
	EXPECT_STATE(test, 0u, 0);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	EXPECT_STATE(test, 1u, 0x80);
	user_wait_shared(test, 0, acquire_shared);
	user_wait_shared(test, 1, acquire_shared);
	EXPECT_STATE(test, 1u, 0x80);
	ex_disable_resource_boost_lite(&resource);
	EXPECT_STATE(test, 1u, 0x88);
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	EXPECT_STATE(test, 2u, 0x08);
	user_call(test, 0, user_release, false);
	user_call(test, 1, user_release, false);
	EXPECT_STATE(test, 0u, 0x08);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	ex_set_resource_owner_pointer(&resource, (void *)owner_pointer);
	EXPECT_STATE(test, 1u, 0x88);
	ex_release_resource_for_thread_lite(&resource, owner_pointer);
	EXPECT_STATE(test, 0u, 0x08);
}

/* R16: IRQL. */

static void acquire_in_softirq(void *data)
{
	bool *granted = data;

	granted[0] = acquire_exclusive(&resource, false);
	granted[1] = ex_is_resource_acquired_exclusive_lite(&resource);
	ex_release_resource_lite(&resource);
	granted[2] = acquire_shared(&resource, false);
	ex_release_resource_lite(&resource);
}

static void dispatch_level_without_wait_granted(struct kunit *test)
{
	bool granted[3] = {};
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	release_acquisitions(1);
	ke_lower_irql(old_irql);
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, false));
	release_acquisitions(2);
	KUNIT_EXPECT_TRUE(test, acquire_wait_for_exclusive(&resource, false));
	release_acquisitions(1);
	ke_lower_irql(old_irql);
	test_run_in_softirq(acquire_in_softirq, granted);
	KUNIT_EXPECT_TRUE(test, granted[0] && granted[1] && granted[2]);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* tests/steps/kunit.sh counts the reports of these calls. */
static void dispatch_level_with_wait_tried_once(struct kunit *test)
{
	u8 old_irql;
	int i;

	test_let_sleep_be_reported();
	old_irql = ke_raise_irql_to_dpc_level();
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
		KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
		release_acquisitions(1);
	}
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_shared, true));
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_FALSE(test, acquire_exclusive(&resource, true));
	EXPECT_OWNED(test, 0u);
	EXPECT_WAITERS(test, 0u, 0u);
	ke_lower_irql(old_irql);
	user_call(test, 0, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

static void above_dispatch_level_acquisition_refused(struct kunit *test)
{
	u8 old_irql;

	old_irql = ke_raise_irql_to_synch_level();
	KUNIT_EXPECT_FALSE(test, acquire_exclusive(&resource, false));
	KUNIT_EXPECT_FALSE(test, acquire_shared(&resource, false));
	ke_lower_irql(old_irql);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R17: the releaser makes the waiter the owner. */

static void release_with_waiter_ownership_handed_over(struct kunit *test)
{
	struct ex_resource_description description;

	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	user_wait_exclusive(test, 0);
	release_acquisitions(1);
	KUNIT_EXPECT_FALSE(test, acquire_shared(&resource, false));
	KUNIT_EXPECT_FALSE(test, acquire_exclusive(&resource, false));
	description = describe_resource(test, &resource);
	KUNIT_EXPECT_EQ(test, description.owner, get_user_thread(test, 0));
	KUNIT_EXPECT_EQ(test, description.information.owning_thread,
			(u64)task_pid_nr(users[0].task));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	user_call(test, 0, user_release, false);
}

static struct kunit_case eresource_owner_test_cases[] = {
	KUNIT_CASE(release_for_other_thread_owner_removed),
	KUNIT_CASE(owner_pointer_any_thread_releases),
	KUNIT_CASE(owner_pointer_by_non_owner_refused),
	KUNIT_CASE(release_by_non_owner_refused),
	KUNIT_CASE(waits_contention_counted_once_each),
	KUNIT_CASE(boost_disabled_flag_set),
	KUNIT_CASE(active_count_and_flag_follow_owners),
	KUNIT_CASE(dispatch_level_without_wait_granted),
	KUNIT_CASE(dispatch_level_with_wait_tried_once),
	KUNIT_CASE(above_dispatch_level_acquisition_refused),
	KUNIT_CASE(release_with_waiter_ownership_handed_over),
	{}
};

static struct kunit_suite eresource_owner_test_suite = {
	.name = "ntklog_eresource_owner",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = eresource_owner_test_cases,
};

kunit_test_suite(eresource_owner_test_suite);
