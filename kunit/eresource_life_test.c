// SPDX-License-Identifier: GPL-2.0-only

#include <linux/irqflags.h>
#include <ntklog/irql.h>

#include "eresource_expect.h"

/* NT's facts R1 and R2 in kunit/facts.rst: initialization and deletion. */

static void resource_initialized_unowned_and_listed(struct kunit *test)
{
	struct ex_resource_description description = describe_resource(test, &resource);

	EXPECT_OWNED(test, 0u);
	EXPECT_WAITERS(test, 0u, 0u);
	KUNIT_EXPECT_EQ(test, description.information.address, (unsigned long)&resource);
	KUNIT_EXPECT_EQ(test, description.information.type, 1);
	KUNIT_EXPECT_EQ(test, description.information.owning_thread, 0ull);
	KUNIT_EXPECT_EQ(test, description.information.lock_count, 0);
	KUNIT_EXPECT_EQ(test, description.information.contention_count, 0u);
	KUNIT_EXPECT_EQ(test, resource.flag, 0);
	KUNIT_EXPECT_TRUE(test, description.init_caller > (unsigned long)resource_fixture_init &&
			  description.init_caller < (unsigned long)resource_fixture_init + 0x200);
}

static void resource_deleted_not_listed(struct kunit *test)
{
	static struct eresource other;
	u8 old_irql = ke_raise_irql_to_dpc_level();

	KUNIT_EXPECT_EQ(test, ex_initialize_resource_lite(&other), 0u);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &other).information.type, 1);
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&other), 0u);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &other).information.type, 0);
	KUNIT_EXPECT_EQ(test, ex_initialize_resource_lite(&other), 0u);
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&other), 0u);
}

static void resource_owned_deletion_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(&resource), 0u);
	KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	user_wait_shared(test, 0, acquire_shared);
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(&resource), 0u);
	EXPECT_WAITERS(test, 0u, 1u);
	EXPECT_DESCRIBED(test, 1, 1u, 1);
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	user_call(test, 0, user_release, false);
}

static void resource_live_initialization_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_NE(test, ex_initialize_resource_lite(&resource), 0u);
	EXPECT_OWNED(test, 1u);
	release_acquisitions(1);
}

/* tests/steps/kunit.sh counts the reports of these calls. */
static void null_resource_calls_refused(struct kunit *test)
{
	u32 owner_object = 0;

	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&resource), 0u);
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(NULL), 0u);
	KUNIT_EXPECT_NE(test, ex_initialize_resource_lite(NULL), 0u);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, ex_initialize_resource_lite(&resource), 0u);
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(NULL), 0u);
	KUNIT_EXPECT_NE(test, ex_initialize_resource_lite(NULL), 0u);
	KUNIT_EXPECT_NE(test, ex_reinitialize_resource_lite(NULL), 0u);
	ex_convert_exclusive_to_shared_lite(NULL);
	ex_set_resource_owner_pointer(NULL, &owner_object);
	ex_set_resource_owner_pointer_ex(NULL, &owner_object, 0);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(NULL));
	KUNIT_EXPECT_EQ(test, ex_is_resource_acquired_shared_lite(NULL), 0u);
	KUNIT_EXPECT_EQ(test, ex_get_resource_active_count(NULL), 0u);
	KUNIT_EXPECT_EQ(test, ex_get_resource_flag(NULL), 0);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R3: reinitialization. */

static void resource_reinitialized_owners_and_contention_cleared(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_exclusive(&resource, true));
	user_wait_shared(test, 0, acquire_shared);
	user_wait_shared(test, 1, acquire_shared);
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 1));
	user_call(test, 1, user_release, false);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 2u);
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	KUNIT_EXPECT_EQ(test, ex_reinitialize_resource_lite(&resource), 0u);
	EXPECT_OWNED(test, 0u);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, acquire_exclusive, false));
	user_call(test, 0, user_release, false);
}

static void resource_with_waiters_reinitialization_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, acquire_shared(&resource, true));
	user_wait_exclusive(test, 0);
	KUNIT_EXPECT_NE(test, ex_reinitialize_resource_lite(&resource), 0u);
	EXPECT_OWNED(test, 1u);
	EXPECT_WAITERS(test, 1u, 0u);
	KUNIT_EXPECT_EQ(test, describe_resource(test, &resource).information.contention_count, 1u);
	release_acquisitions(1);
	KUNIT_EXPECT_TRUE(test, user_call_end(test, 0));
	user_call(test, 0, user_release, false);
}

static struct kunit_case eresource_life_test_cases[] = {
	KUNIT_CASE(resource_initialized_unowned_and_listed),
	KUNIT_CASE(resource_deleted_not_listed),
	KUNIT_CASE(resource_owned_deletion_refused),
	KUNIT_CASE(resource_live_initialization_refused),
	KUNIT_CASE(null_resource_calls_refused),
	KUNIT_CASE(resource_reinitialized_owners_and_contention_cleared),
	KUNIT_CASE(resource_with_waiters_reinitialization_refused),
	{}
};

static struct kunit_suite eresource_life_test_suite = {
	.name = "ntklog_eresource_life",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = eresource_life_test_cases,
};

kunit_test_suite(eresource_life_test_suite);
