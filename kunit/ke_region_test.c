// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cpumask.h>
#include <linux/sched.h>
#include <ntklog/irql.h>

#include "eresource_expect.h"

/* NT's fact R14 in kunit/facts.rst: critical regions. */

static void critical_regions_nested_apcs_disabled(struct kunit *test)
{
	u8 old_irql;

	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	ke_enter_critical_region();
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ex_enter_critical_region_and_acquire_resource_exclusive(&resource);
	KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	ex_release_resource_and_leave_critical_region(&resource);
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ex_enter_critical_region_and_acquire_resource_shared(&resource);
	ex_enter_critical_region_and_acquire_shared_wait_for_exclusive(&resource);
	EXPECT_OWNED(test, 2u);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	ex_release_resource_and_leave_critical_region(&resource);
	ex_release_resource_and_leave_critical_region(&resource);
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ke_leave_critical_region();
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	ke_enter_critical_region();
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ke_leave_critical_region();
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	ke_lower_irql(old_irql);
}

static void critical_region_not_entered_leave_refused(struct kunit *test)
{
	ke_leave_critical_region();
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	ke_enter_critical_region();
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ke_leave_critical_region();
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
}

#define EXPECT_APCS_DISABLED(test, _normal, _all)				\
do {										\
	KUNIT_EXPECT_EQ(test, ke_are_apcs_disabled(), _normal);			\
	KUNIT_EXPECT_EQ(test, ke_are_all_apcs_disabled(), _all);		\
} while (0)

static int record_apcs_disabled(void *data)
{
	bool *apcs_disabled = data;

	apcs_disabled[0] = ke_are_apcs_disabled();
	apcs_disabled[1] = ke_are_all_apcs_disabled();
	return 0;
}

static void record_apcs_disabled_in_interrupt(void *data)
{
	record_apcs_disabled(data);
}

static int end_in_a_guarded_region(void *data)
{
	ke_enter_guarded_region();
	return record_apcs_disabled(data);
}

static void guarded_regions_nested_all_apcs_disabled(struct kunit *test)
{
	EXPECT_APCS_DISABLED(test, false, false);
	ke_enter_guarded_region();
	EXPECT_APCS_DISABLED(test, true, true);
	ke_enter_guarded_region();
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, true, true);
	/* The order of leaving is free. */
	ke_enter_critical_region();
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, true, false);
	ke_enter_guarded_region();
	ke_leave_critical_region();
	EXPECT_APCS_DISABLED(test, true, true);
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, false, false);
}

static void irql_raised_all_apcs_disabled(struct kunit *test)
{
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	EXPECT_APCS_DISABLED(test, false, true);
	ke_enter_critical_region();
	EXPECT_APCS_DISABLED(test, true, true);
	ke_enter_guarded_region();
	ke_lower_irql(old_irql);
	EXPECT_APCS_DISABLED(test, true, true);
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, true, false);
	ke_leave_critical_region();
	EXPECT_APCS_DISABLED(test, false, false);
	old_irql = ke_raise_irql_to_dpc_level();
	EXPECT_APCS_DISABLED(test, false, true);
	ke_lower_irql(old_irql);
	old_irql = ke_raise_irql_to_synch_level();
	EXPECT_APCS_DISABLED(test, false, true);
	ke_lower_irql(old_irql);
	EXPECT_APCS_DISABLED(test, false, false);
}

static void guarded_region_other_thread_unaffected(struct kunit *test)
{
	bool apcs_disabled[2] = { true, true };
	struct test_thread other;

	ke_enter_guarded_region();
	test_thread_start(test, &other, TEST_CPU, record_apcs_disabled, apcs_disabled);
	test_thread_join(&other);
	KUNIT_EXPECT_FALSE(test, apcs_disabled[0] || apcs_disabled[1]);
	if (num_online_cpus() > 1)
		set_cpus_allowed_ptr(current, cpumask_of(1));
	EXPECT_APCS_DISABLED(test, true, true);
	set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU));
	ke_leave_guarded_region();
	test_run_in_hardirq(record_apcs_disabled_in_interrupt, apcs_disabled);
	KUNIT_EXPECT_TRUE(test, apcs_disabled[1]);

	test_thread_start(test, &other, TEST_CPU, end_in_a_guarded_region, apcs_disabled);
	test_thread_join(&other);
	KUNIT_EXPECT_TRUE(test, apcs_disabled[0] && apcs_disabled[1]);
	test_thread_start(test, &other, TEST_CPU, record_apcs_disabled, apcs_disabled);
	test_thread_join(&other);
	KUNIT_EXPECT_FALSE(test, apcs_disabled[0] || apcs_disabled[1]);
	EXPECT_APCS_DISABLED(test, false, false);
}

static void guarded_region_not_entered_leave_refused(struct kunit *test)
{
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, false, false);
	ke_enter_critical_region();
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, true, false);
	ke_leave_critical_region();
	ke_enter_guarded_region();
	ke_leave_critical_region();
	EXPECT_APCS_DISABLED(test, true, true);
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, false, false);
}

static struct kunit_case ke_region_test_cases[] = {
	KUNIT_CASE(critical_regions_nested_apcs_disabled),
	KUNIT_CASE(critical_region_not_entered_leave_refused),
	KUNIT_CASE(guarded_regions_nested_all_apcs_disabled),
	KUNIT_CASE(irql_raised_all_apcs_disabled),
	KUNIT_CASE(guarded_region_other_thread_unaffected),
	KUNIT_CASE(guarded_region_not_entered_leave_refused),
	{}
};

static struct kunit_suite ke_region_test_suite = {
	.name = "ntklog_ke_region",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = ke_region_test_cases,
};

kunit_test_suite(ke_region_test_suite);
