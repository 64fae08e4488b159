// SPDX-License-Identifier: GPL-2.0-only
/* Mode sampled. Linux' locks are not counted, because ntklog is loaded with linux_locks=0. */

#include <linux/bitmap.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../module/perf/spin_lock.h"
#include "../module/perf/spin_lock_parameters.h"
#include "../module/perf/spin_lock_sampled.h"
#include "fixture.h"

#define RATE		1000
#define INTERVALS	40
#define MODE		(WMI_SPINLOCK_QUEUED | PERF_SPIN_LOCK_LINUX_SPIN)

/* Stand for locks: the hooks use only their addresses. */
static u32 lock[PERF_SAMPLED_SLOT_COUNT + 1];

static struct ntklog_spin_lock_cpu *get_spin_lock_cpu(void)
{
	return per_cpu_ptr(&ntklog_spin_lock_cpu, TEST_CPU);
}

static void start_sampled_session(struct kunit *test, u32 spin_threshold, u32 contention_rate,
				  u32 rate)
{
	const u32 parameters[] = { 5, spin_threshold, rate, contention_rate, 1000000 };

	KUNIT_ASSERT_EQ(test,
			ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, parameters,
						    sizeof(parameters)),
			STATUS_SUCCESS);
	start_session_0(test, PERF_LINUX_SPINLOCK, 4096, 64);
	ntklog_start_sampling_spin_locks();
}

static void stop(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, 0);
	ntklog_stop_sampling_spin_locks();
	stop_session_0(test);
}

static void release_in_mode(u32 *tested_lock, u8 mode)
{
	struct ntklog_time time = ntklog_read_time();

	ntklog_track_sampled_release(tested_lock, mode, time.low, time.high, _THIS_IP_);
}

static void release(u32 *tested_lock)
{
	release_in_mode(tested_lock, MODE);
}

static void release_with_waiter(u32 *tested_lock)
{
	release_in_mode(tested_lock, MODE | PERF_SPIN_LOCK_LEAVES_WAITER);
}

static void sample(const u32 *tested_lock)
{
	if (!ntklog_sample_spin_lock_acquire_fast(tested_lock))
		ntklog_sample_spin_lock_acquire_slow(tested_lock);
}

static void acquire_shared(const u32 *tested_lock)
{
	if (!ntklog_sample_shared_spin_lock_acquire_fast(tested_lock))
		ntklog_sample_spin_lock_acquire_slow(tested_lock);
}

static void acquire_after_wait(u32 *tested_lock, u32 spin_count)
{
	struct ntklog_spin_lock_wait_start wait_start;

	ntklog_start_spin_lock_wait(&wait_start);
	ntklog_sample_contended_spin_lock(tested_lock, MODE, spin_count, &wait_start);
}

static unsigned int count_spinlock_events(void)
{
	return count_session_events(PERFINFO_LOG_TYPE_SPINLOCK);
}

/* Acquire and release a lock @pair_count times; set a bit in @sampled for each that is sampled. */
static void count_pairs(unsigned int pair_count, unsigned long *sampled)
{
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	for (i = 0; i < pair_count; i++) {
		sample(&lock[0]);
		if (get_spin_lock_cpu()->sampled_slots_in_use)
			__set_bit(i, sampled);
		release(&lock[0]);
	}
	local_irq_restore(flags);
}

static DECLARE_BITMAP(was_sampled, INTERVALS * RATE);

static void each_interval_one_acquisition_sampled(struct kunit *test)
{
	u32 before = ntklog_get_spin_lock_acquire_count(TEST_CPU);
	unsigned long first = 0, place;
	unsigned int i, others = 0;

	bitmap_zero(was_sampled, INTERVALS * RATE);
	start_sampled_session(test, 1, 1, RATE);
	count_pairs(INTERVALS * RATE, was_sampled);
	KUNIT_EXPECT_EQ(test, ntklog_get_spin_lock_acquire_count(TEST_CPU) - before,
			INTERVALS * RATE);
	KUNIT_EXPECT_EQ(test, bitmap_weight(was_sampled, INTERVALS * RATE), INTERVALS);
	for (i = 0; i < INTERVALS; i++) {
		place = find_next_bit(was_sampled, INTERVALS * RATE, i * RATE) - i * RATE;
		KUNIT_EXPECT_LT(test, place, RATE);
		if (!i)
			first = place;
		others += place != first;
	}
	/* The position is random, so it differs in some intervals. */
	KUNIT_EXPECT_GT(test, others, INTERVALS / 4);
	stop(test);
	KUNIT_EXPECT_EQ(test, count_spinlock_events(), INTERVALS);
}

/* With a fixed distance, an even rate would always sample the same lock of a nested pair. */
static void nested_locks_both_sampled(struct kunit *test)
{
	unsigned int outer_samples = 0, inner_samples = 0, i;
	unsigned long flags;

	start_sampled_session(test, 1, 1, RATE);
	local_irq_save(flags);
	for (i = 0; i < INTERVALS * RATE / 2; i++) {
		sample(&lock[0]);
		outer_samples += get_spin_lock_cpu()->sampled_slots_in_use;
		sample(&lock[1]);
		inner_samples += ntklog_find_topmost_sampled_spin_lock() == &lock[1];
		release(&lock[1]);
		release(&lock[0]);
	}
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, outer_samples + inner_samples, INTERVALS);
	KUNIT_EXPECT_GT(test, outer_samples, 2);
	KUNIT_EXPECT_GT(test, inner_samples, 2);
	stop(test);
}

/* Other readers' releases must not end the sampled hold. */
static void sampled_reader_other_readers_release_hold_kept(struct kunit *test)
{
	struct ntklog_spin_lock_wait_start wait_start;
	unsigned long flags;
	unsigned int i;

	start_sampled_session(test, 1, 1000000, RATE);
	local_irq_save(flags);
	do
		acquire_shared(&lock[0]);
	while (!get_spin_lock_cpu()->sampled_slots_in_use);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, 1);
	/* The next acquisitions are not sampled. */
	get_spin_lock_cpu()->sampled_countdown = RATE;
	for (i = 0; i < 3; i++)
		acquire_shared(&lock[0]);
	ntklog_start_spin_lock_wait(&wait_start);
	ntklog_sample_contended_spin_lock(&lock[0], MODE, 1, &wait_start);
	acquire_shared(&lock[1]);
	for (i = 0; i < 4; i++)
		release(&lock[0]);
	release(&lock[1]);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, 1);
	release(&lock[0]);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, 0);
	do
		acquire_shared(&lock[0]);
	while (!get_spin_lock_cpu()->sampled_slots_in_use);
	release(&lock[0]);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, 0);
	local_irq_restore(flags);
	stop(test);
	KUNIT_EXPECT_EQ(test, count_spinlock_events(), 2);
}

static void rate_changed_takes_effect_at_once(struct kunit *test)
{
	static const u32 parameters[] = { 5, 1, RATE, 1, 1000000 };

	bitmap_zero(was_sampled, INTERVALS * RATE);
	start_sampled_session(test, 1, 1, 4000000000u);
	count_pairs(RATE, was_sampled);
	KUNIT_EXPECT_EQ(test,
			ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, parameters,
						    sizeof(parameters)),
			STATUS_SUCCESS);
	bitmap_zero(was_sampled, INTERVALS * RATE);
	count_pairs(INTERVALS * RATE, was_sampled);
	KUNIT_EXPECT_EQ(test, bitmap_weight(was_sampled, INTERVALS * RATE), INTERVALS);
	stop(test);
}

/* A distance over 2^31 does not fit into the countdown, so the remainder is stored separately. */
static void rate_over_2_to_31_countdown_continued(struct kunit *test)
{
	unsigned long flags;
	u32 before;

	start_sampled_session(test, 1, 1, U32_MAX);
	before = ntklog_get_spin_lock_acquire_count(TEST_CPU);
	local_irq_save(flags);
	get_spin_lock_cpu()->sampling->countdown_excess = 5;
	get_spin_lock_cpu()->sampling->sample_at_count -= get_spin_lock_cpu()->sampled_countdown;
	get_spin_lock_cpu()->sampled_countdown = 0;
	sample(&lock[0]);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_countdown, 4);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampling->countdown_excess, 0);
	release(&lock[0]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, ntklog_get_spin_lock_acquire_count(TEST_CPU) - before, 1);
	stop(test);
}

static void contended_acquisition_sampled_by_contention_rate(struct kunit *test)
{
	u32 contention_count = get_spin_lock_cpu()->contention_count;
	u32 spin_count = get_spin_lock_cpu()->spin_count;
	unsigned int i, few = 0, enough = 0;
	unsigned long flags;

	start_sampled_session(test, 10, 3, U32_MAX);
	local_irq_save(flags);
	get_spin_lock_cpu()->contention_count = 0;
	for (i = 0; i < 30; i++) {
		acquire_after_wait(&lock[0], 9);
		few += get_spin_lock_cpu()->sampled_slots_in_use;
		release(&lock[0]);
	}
	for (i = 0; i < 30; i++) {
		acquire_after_wait(&lock[0], 10);
		enough += get_spin_lock_cpu()->sampled_slots_in_use;
		release(&lock[0]);
	}
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->contention_count, 60);
	get_spin_lock_cpu()->contention_count += contention_count;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, few, 0);
	KUNIT_EXPECT_EQ(test, enough, 10);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->spin_count - spin_count, 30 * 9 + 30 * 10);
	stop(test);
	KUNIT_EXPECT_EQ(test, count_spinlock_events(), 10);
}

static const u8 *get_only_event(struct kunit *test)
{
	const u8 *event = get_session_event(0, PERFINFO_LOG_TYPE_SPINLOCK);

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_EQ(test, count_spinlock_events(), 1);
	return event;
}

static void sampled_event_rule_set_depth_0(struct kunit *test)
{
	static const u8 zeros[4];
	unsigned long flags;
	const u8 *event;
	u64 before;

	start_sampled_session(test, 1, 1, U32_MAX);
	local_irq_save(flags);
	/* Hold lock[1] longer than the threshold; mode sampled does not write it. */
	sample(&lock[1]);
	before = get_cycles();
	acquire_after_wait(&lock[0], 7);
	while (get_cycles() - before < 2000000)
		cpu_relax();
	release(&lock[1]);
	release(&lock[0]);
	local_irq_restore(flags);
	event = get_only_event(test);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS), (u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 7);
	KUNIT_EXPECT_GE(test, read_u64(event, SPINLOCK_ACQUIRE_TIME), before);
	KUNIT_EXPECT_GE(test, read_u64(event, SPINLOCK_RELEASE_TIME), before + 2000000);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), WMI_SPINLOCK_QUEUED);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_RESERVED), WMI_SPINLOCK_RULE_SAMPLED);
	KUNIT_EXPECT_MEMEQ(test, event + SPINLOCK_RESERVED + 1, zeros, 4);
	stop(test);
}

static void wait_event_release_time_is_acquire_time(struct kunit *test)
{
	struct ntklog_spin_lock_wait_start wait_start;
	unsigned long flags;
	const u8 *event;

	start_sampled_session(test, 1, 1, U32_MAX);
	local_irq_save(flags);
	ntklog_start_spin_lock_wait(&wait_start);
	while (get_cycles() - ntklog_time_to_cycles(wait_start.time) < 100000)
		cpu_relax();
	if (ntklog_count_and_sample_wait(3))
		ntklog_log_spin_lock_wait(&lock[0], WMI_SPINLOCK_EXECUTIVE_SHARED |
					  PERF_SPIN_LOCK_LINUX_SPIN, 3, &wait_start, 0x1234);
	local_irq_restore(flags);
	event = get_only_event(test);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_CALLER), 0x1234);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ACQUIRE_TIME),
			read_u64(event, SPINLOCK_RELEASE_TIME));
	KUNIT_EXPECT_EQ(test, (u64)read_u32(event, SPINLOCK_WAIT_TIME),
			read_u64(event, SPINLOCK_ACQUIRE_TIME) -
			ntklog_time_to_cycles(wait_start.time));
	KUNIT_EXPECT_GE(test, read_u32(event, SPINLOCK_WAIT_TIME), 100000);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 3);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), WMI_SPINLOCK_EXECUTIVE_SHARED);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_RESERVED), WMI_SPINLOCK_RULE_WAIT);
	stop(test);
}

/* If the blocker rate is 0, a release that leaves a waiter is not written. */
static void release_leaving_waiter_without_slot_written_by_blocker_rate(struct kunit *test)
{
	unsigned long flags;
	const u8 *event;

	start_sampled_session(test, 1, 1, U32_MAX);
	local_irq_save(flags);
	sample(&lock[0]);
	release_with_waiter(&lock[0]);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	sample(&lock[1]);
	release_with_waiter(&lock[1]);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	local_irq_restore(flags);
	event = get_only_event(test);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS), (u64)(unsigned long)&lock[1]);
	KUNIT_EXPECT_NE(test, read_u64(event, SPINLOCK_CALLER), 0);
	KUNIT_EXPECT_NE(test, read_u64(event, SPINLOCK_RELEASE_TIME), 0);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ACQUIRE_TIME),
			read_u64(event, SPINLOCK_RELEASE_TIME));
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_WAIT_TIME), 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_THREAD_ID), task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), WMI_SPINLOCK_QUEUED);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_RESERVED), WMI_SPINLOCK_RULE_BLOCKER |
			WMI_SPINLOCK_RULE_BLOCKER_ONLY | WMI_SPINLOCK_RULE_HOLD_UNKNOWN);
	stop(test);
}

static void sampled_release_leaving_waiter_hold_known(struct kunit *test)
{
	unsigned long flags;
	const u8 *event;

	start_sampled_session(test, 1, 1, U32_MAX);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	local_irq_save(flags);
	acquire_after_wait(&lock[0], 1);
	release_with_waiter(&lock[0]);
	local_irq_restore(flags);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	event = get_only_event(test);
	KUNIT_EXPECT_LT(test, read_u64(event, SPINLOCK_ACQUIRE_TIME),
			read_u64(event, SPINLOCK_RELEASE_TIME));
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), WMI_SPINLOCK_QUEUED);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_RESERVED),
			WMI_SPINLOCK_RULE_SAMPLED | WMI_SPINLOCK_RULE_BLOCKER);
	stop(test);
}

static void sampled_slots_full_counted_untracked(struct kunit *test)
{
	u64 untracked = get_spin_lock_cpu()->untracked_count;
	unsigned long flags;
	unsigned int i;

	start_sampled_session(test, 1, 1, U32_MAX);
	local_irq_save(flags);
	for (i = 0; i < ARRAY_SIZE(lock); i++)
		acquire_after_wait(&lock[i], 1);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->sampled_slots_in_use, PERF_SAMPLED_SLOT_COUNT);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count, untracked + 1);
	for (i = 0; i < ARRAY_SIZE(lock); i++)
		release(&lock[i]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, count_spinlock_events(), PERF_SAMPLED_SLOT_COUNT);
	stop(test);
}

static struct kunit_case spin_lock_sampled_test_cases[] = {
	KUNIT_CASE(each_interval_one_acquisition_sampled),
	KUNIT_CASE(nested_locks_both_sampled),
	KUNIT_CASE(sampled_reader_other_readers_release_hold_kept),
	KUNIT_CASE(rate_changed_takes_effect_at_once),
	KUNIT_CASE(rate_over_2_to_31_countdown_continued),
	KUNIT_CASE(contended_acquisition_sampled_by_contention_rate),
	KUNIT_CASE(sampled_event_rule_set_depth_0),
	KUNIT_CASE(wait_event_release_time_is_acquire_time),
	KUNIT_CASE(release_leaving_waiter_without_slot_written_by_blocker_rate),
	KUNIT_CASE(sampled_release_leaving_waiter_hold_known),
	KUNIT_CASE(sampled_slots_full_counted_untracked),
	{}
};

static struct kunit_suite spin_lock_sampled_test_suite = {
	.name = "ntklog_spin_lock_sampled",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_sampled_test_cases,
};

kunit_test_suite(spin_lock_sampled_test_suite);
