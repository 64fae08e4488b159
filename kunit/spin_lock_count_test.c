// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <ntklog/ex_spin_lock.h>

#include "spin_lock_fixture.h"

static void uncontended_acquisition_counted_once(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;

	spin_lock_session_start(test);
	before = read_counts();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, before.acquire_count + 1);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->contention_count, before.contention_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->spin_count, before.spin_count);
	stop_session_0(test);
}

static int hold_until_contended(void *data)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	WRITE_ONCE(*(bool *)data, true);
	while (READ_ONCE(lock[0].word) == (unsigned long)&handle.lock_queue)
		cpu_relax();
	mdelay(1);
	ke_release_in_stack_queued_spin_lock(&handle);
	return 0;
}

static void contended_acquisition_counted_and_written(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;
	struct test_thread holder;
	bool held = false;
	const u8 *event;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	spin_lock_session_start(test);
	before = read_counts();
	test_thread_start(test, &holder, 1, hold_until_contended, &held);
	while (!READ_ONCE(held))
		cpu_relax();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	test_thread_join(&holder);

	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, before.acquire_count + 1);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->contention_count,
			before.contention_count + 1);
	KUNIT_EXPECT_GT(test, get_spin_lock_cpu()->spin_count, before.spin_count);
	event = get_spin_lock_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS),
			(u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT),
			get_spin_lock_cpu()->spin_count - before.spin_count);
	KUNIT_EXPECT_GT(test, read_u32(event, SPINLOCK_WAIT_TIME), 0);
	stop_session_0(test);
}

static void counters_at_32_bits_wrap(struct kunit *test)
{
	struct klock_queue_handle handle;

	spin_lock_session_start(test);
	set_counters(U32_MAX, 0);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, 0);

	/* Only the acquire count has wrapped: the uncontended count is still their difference. */
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 0, 4, U32_MAX - 994));
	KUNIT_EXPECT_TRUE(test, release_is_written(0, 0, 5, U32_MAX - 994));
	/* The contention count 0 is a multiple of every rate. */
	KUNIT_EXPECT_TRUE(test, release_is_written(1, 0, 5, 0));
	stop_session_0(test);
}

static void counters_group_only_nothing_tracked(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;

	start_session_0(test, PERF_SPINLOCK_CNTRS, 4096, 8);
	before = read_counts();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	set_counters(1000, 0);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, 1000);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 0);
	stop_session_0(test);
}

static void no_subscriber_nothing_counted(struct kunit *test)
{
	struct klock_queue_handle handle;
	u32 before = read_counts().acquire_count;

	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, before);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_key));
}

static struct ex_spin_lock ex_lock;

static void use_ordinary(void)
{
	u8 old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock[0]);

	sample_next_uncontended(true);
	ke_release_spin_lock(&lock[0], old_irql);
}

static void use_ordinary_try(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (ke_try_to_acquire_spin_lock_at_dpc_level(&lock[0])) {
		sample_next_uncontended(true);
		ke_release_spin_lock_from_dpc_level(&lock[0]);
	}
	ke_lower_irql(old_irql);
}

static void use_numbered(void)
{
	u8 old_irql = ke_acquire_queued_spin_lock(7);

	sample_next_uncontended(true);
	ke_release_queued_spin_lock(7, old_irql);
}

static void use_numbered_try(void)
{
	u8 old_irql;

	if (ke_try_to_acquire_queued_spin_lock(8, &old_irql)) {
		sample_next_uncontended(true);
		ke_release_queued_spin_lock(8, old_irql);
	}
}

static void use_shared(void)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&ex_lock);

	sample_next_uncontended(true);
	ex_release_spin_lock_shared(&ex_lock, old_irql);
}

static void use_shared_try(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (ex_try_acquire_spin_lock_shared_at_dpc_level(&ex_lock)) {
		sample_next_uncontended(true);
		ex_release_spin_lock_shared_from_dpc_level(&ex_lock);
	}
	ke_lower_irql(old_irql);
}

static void use_exclusive(void)
{
	u8 old_irql = ex_acquire_spin_lock_exclusive(&ex_lock);

	sample_next_uncontended(true);
	ex_release_spin_lock_exclusive(&ex_lock, old_irql);
}

static void use_exclusive_try(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (ex_try_acquire_spin_lock_exclusive_at_dpc_level(&ex_lock)) {
		sample_next_uncontended(true);
		ex_release_spin_lock_exclusive_from_dpc_level(&ex_lock);
	}
	ke_lower_irql(old_irql);
}

static void use_converted(void)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&ex_lock);

	if (ex_try_convert_shared_spin_lock_exclusive(&ex_lock)) {
		sample_next_uncontended(true);
		ex_release_spin_lock_exclusive(&ex_lock, old_irql);
	}
}

static const struct acquire_case {
	const char *name;
	void (*use)(void);
	u8 mode;
} acquire_functions[] = {
	{ "ordinary", use_ordinary, 0 },
	{ "ordinary, tried", use_ordinary_try, 0 },
	{ "numbered", use_numbered, 1 },
	{ "numbered, tried", use_numbered_try, 1 },
	{ "shared", use_shared, 2 },
	{ "shared, tried", use_shared_try, 2 },
	{ "exclusive", use_exclusive, 3 },
	{ "exclusive, tried", use_exclusive_try, 3 },
	{ "converted", use_converted, 4 },
};

static void describe_acquire_function(const struct acquire_case *function, char *text)
{
	strscpy(text, function->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(acquire_function, acquire_functions, describe_acquire_function);

static void acquire_function_mode_and_caller_written(struct kunit *test)
{
	const struct acquire_case *function = test->param_value;
	unsigned long caller;
	const u8 *event;

	ex_initialize_spin_lock(&ex_lock);
	spin_lock_session_start(test);
	function->use();
	event = get_spin_lock_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), function->mode);
	caller = read_u64(event, SPINLOCK_CALLER);
	KUNIT_EXPECT_GT(test, caller, (unsigned long)function->use);
	KUNIT_EXPECT_LT(test, caller, (unsigned long)function->use + 0x400);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	stop_session_0(test);
}

static void check_acquisition_is_counted(struct kunit *test, u32 group)
{
	const struct acquire_case *function = test->param_value;
	u32 before;

	ex_initialize_spin_lock(&ex_lock);
	start_session_0(test, group, 4096, 8);
	keep_counters = true;
	before = read_counts().acquire_count;
	function->use();
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, before + 1);
	keep_counters = false;
	stop_session_0(test);
}

static void acquire_function_tracked_counted(struct kunit *test)
{
	check_acquisition_is_counted(test, PERF_SPINLOCK);
}

static void acquire_function_counters_only_counted(struct kunit *test)
{
	check_acquisition_is_counted(test, PERF_SPINLOCK_CNTRS);
}

static void converted_lock_hold_starts_at_conversion(struct kunit *test)
{
	u64 acquire_time, convert_time;
	u8 old_irql;

	ex_initialize_spin_lock(&ex_lock);
	spin_lock_session_start(test);
	old_irql = ex_acquire_spin_lock_shared(&ex_lock);
	acquire_time = ntklog_time_to_cycles(get_spin_lock_cpu()->slots[1].time);
	udelay(9);
	convert_time = get_cycles();
	KUNIT_EXPECT_TRUE(test, ex_try_convert_shared_spin_lock_exclusive(&ex_lock));
	sample_next_uncontended(true);
	ex_release_spin_lock_exclusive(&ex_lock, old_irql);
	KUNIT_EXPECT_LT(test, acquire_time, convert_time);
	KUNIT_EXPECT_GE(test, read_u64(get_spin_lock_event(test, 0), SPINLOCK_ACQUIRE_TIME),
			convert_time);
	stop_session_0(test);
}

static void failed_try_not_counted(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;
	u8 old_irql;

	ex_initialize_spin_lock(&ex_lock);
	spin_lock_session_start(test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	atomic_set(&ex_lock.value, EX_SPIN_LOCK_EXCLUSIVE);
	before = read_counts();
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_spin_lock_at_dpc_level(&lock[0]));
	KUNIT_EXPECT_FALSE(test, ex_try_acquire_spin_lock_shared_at_dpc_level(&ex_lock));
	KUNIT_EXPECT_FALSE(test, ex_try_acquire_spin_lock_exclusive_at_dpc_level(&ex_lock));
	old_irql = ke_acquire_queued_spin_lock(9);
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_queued_spin_lock(9, &old_irql));
	ke_release_queued_spin_lock(9, old_irql);
	/* Only the acquisition of number 9 succeeded. */
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, before.acquire_count + 1);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->contention_count, before.contention_count);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 1);
	ke_release_in_stack_queued_spin_lock(&handle);
	stop_session_0(test);
}

static struct kunit_case spin_lock_count_test_cases[] = {
	KUNIT_CASE(uncontended_acquisition_counted_once),
	KUNIT_CASE(contended_acquisition_counted_and_written),
	KUNIT_CASE(counters_at_32_bits_wrap),
	KUNIT_CASE(counters_group_only_nothing_tracked),
	KUNIT_CASE(no_subscriber_nothing_counted),
	KUNIT_CASE_PARAM(acquire_function_mode_and_caller_written, acquire_function_gen_params),
	KUNIT_CASE_PARAM(acquire_function_tracked_counted, acquire_function_gen_params),
	KUNIT_CASE_PARAM(acquire_function_counters_only_counted, acquire_function_gen_params),
	KUNIT_CASE(converted_lock_hold_starts_at_conversion),
	KUNIT_CASE(failed_try_not_counted),
	{}
};

static struct kunit_suite spin_lock_count_test_suite = {
	.name = "ntklog_spin_lock_count",
	.init = spin_lock_fixture_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_count_test_cases,
};

kunit_test_suite(spin_lock_count_test_suite);
