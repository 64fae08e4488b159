// SPDX-License-Identifier: GPL-2.0-only
/* Run nt_driver.c and nt_volume.c with instrumentation disabled and enabled. */

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
	KUNIT_EXPECT_EQ(test, NtTestGuardedRegion(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestResource(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestResourceState(), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, NtTestResourceOwnerPointer(), (NTSTATUS)STATUS_SUCCESS);
}

static int use_volume(void *data)
{
	return NtUseVolume((unsigned long)data);
}

static void use_volume_twice(struct kunit *test)
{
	struct test_thread other;
	NTSTATUS status;

	KUNIT_ASSERT_EQ(test, NtMountVolume(), (NTSTATUS)STATUS_SUCCESS);
	test_thread_start(test, &other, num_online_cpus() > 1, use_volume, (void *)7);
	status = NtUseVolume(3);
	KUNIT_EXPECT_EQ(test, test_thread_result(&other), (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_EQ(test, status, (NTSTATUS)STATUS_SUCCESS);
	KUNIT_EXPECT_TRUE(test, NtVolumeIsIdle());
	KUNIT_EXPECT_EQ(test, NtDismountVolume(), (NTSTATUS)STATUS_SUCCESS);
}

static void nt_volume_untraced_requests_processed(struct kunit *test)
{
	use_volume_twice(test);
}

static void nt_volume_traced_requests_processed(struct kunit *test)
{
	start_session_0(test, PERF_SPININSTR | PERF_SYNC_OBJECTS, 4096, 16);
	use_volume_twice(test);
	stop_session_0(test);
}

/* tests/steps/kunit.sh counts the reports of these calls. */
static void paged_code_at_dispatch_level_reported(struct kunit *test)
{
	KIRQL irql;
	int i;

	for (i = 0; i < 2; i++) {
		irql = KeRaiseIrqlToDpcLevel();
		NtVolumeIsIdle();
		KeLowerIrql(irql);
	}
	NtVolumeIsIdle();
}

static void nt_code_untraced_guarantees_hold(struct kunit *test)
{
	run_all(test);
}

static void nt_code_traced_guarantees_hold(struct kunit *test)
{
	start_session_0(test, PERF_SPININSTR | PERF_SYNC_OBJECTS, 4096, 16);
	run_all(test);
	stop_session_0(test);
}

static struct kunit_case nt_test_cases[] = {
	KUNIT_CASE(nt_code_untraced_guarantees_hold),
	KUNIT_CASE(nt_code_traced_guarantees_hold),
	KUNIT_CASE(nt_volume_untraced_requests_processed),
	KUNIT_CASE(nt_volume_traced_requests_processed),
	KUNIT_CASE(paged_code_at_dispatch_level_reported),
	{}
};

static struct kunit_suite nt_test_suite = {
	.name = "ntklog_nt",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = nt_test_cases,
};

kunit_test_suite(nt_test_suite);
