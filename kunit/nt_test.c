// SPDX-License-Identifier: GPL-2.0-only
/* Runs nt_driver.c, with tracing off and with tracing on. */

#include <uapi/ntklog/group_mask.h>

#include "fixture.h"
#include "nt_driver.h"

static void run_all(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, NtTestIrql(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestSpinLock(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestInStackQueuedSpinLock(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestQueuedSpinLock(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestExSpinLock(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestCriticalRegion(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestResource(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestResourceOwnerPointer(), (NTSTATUS)STATUS_SUCCESS);
}

static void nt_code_does_what_nt_promises(struct kunit *test)
{
	run_all(test);
}

static void nt_code_does_the_same_when_traced(struct kunit *test)
{
	session_start(test, PERF_SPININSTR | PERF_SYNC_OBJECTS, 4096, 16);
	run_all(test);
	session_stop(test);
}

static struct kunit_case nt_test_cases[] = {
	KUNIT_CASE(nt_code_does_what_nt_promises),
	KUNIT_CASE(nt_code_does_the_same_when_traced),
	{}
};

static struct kunit_suite nt_test_suite = {
	.name = "ntklog_nt",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = nt_test_cases,
};

kunit_test_suite(nt_test_suite);
