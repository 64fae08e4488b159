// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of Linux' sleeping locks when two CPUs count concurrently. No lock but the test's is
 * counted, because ntklog is loaded with linux_locks=0.
 */

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/instruction_pointer.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "../module/perf/resource.h"
#include "../module/perf/resource_cpu.h"
#include "../module/perf/sleeping_lock.h"
#include "fixture.h"

#define ROUNDS	3000
#define TEST_CLASS	NTKLOG_SLEEPING_CLASS(SEMAPHORE)
#define TEST_ACTION	(TEST_CLASS | NTKLOG_SLEEPING_EXCLUSIVE)

/* Stand for locks: the hooks use only their addresses. */
static u32 lock, others[NTKLOG_TASK_SLOT_COUNT + 1];

/* The test sets @begun_round and @ended_round, the other thread @acquired_round and @done_round. */
static unsigned int begun_round, ended_round, acquired_round, done_round;

static struct test_thread other;

/* Function that the other thread calls in each round after it has acquired the lock. */
static void (*part_in_round)(unsigned int round);

/*
 * The numbers of acquisitions (attempts) and of waits, minus the counters of their outcomes and the
 * slots in use or dropped. Both are 0 if each acquisition and wait is counted once.
 */
struct unaccounted {
	s64 acquisitions;
	s64 waits;
};

static struct unaccounted count_unaccounted(void)
{
	const struct ntklog_sleeping_slot_totals sum = ntklog_count_sleeping_slots();
	struct unaccounted unaccounted = {
		.acquisitions = -(sum.held_slots + sum.waiting_slots + sum.dropped_slots),
		.waits = -(sum.waiting_slots + sum.dropped_waiting_slots),
	};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ntklog_sleeping_lock_cpu *counts =
			per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu);

		unaccounted.acquisitions += READ_ONCE(counts->acquire_attempts) -
					    READ_ONCE(counts->untracked_count) -
					    READ_ONCE(counts->waits_given_up) -
					    READ_ONCE(counts->releases_missed) -
					    ntklog_get_release_count(&counts->release_count);
		unaccounted.waits += READ_ONCE(counts->waits_begun) -
				     READ_ONCE(counts->waits_ended) -
				     READ_ONCE(counts->waits_given_up);
	}
	return unaccounted;
}

static void wait_for_round(const unsigned int *word, unsigned int round)
{
	/* Pairs with the smp_store_release() of the thread that publishes the round. */
	while (smp_load_acquire(word) != round) {
		cpu_relax();
		cond_resched();
	}
}

static int play_rounds(void *unused)
{
	unsigned int round;

	for (round = 1; round <= ROUNDS; round++) {
		wait_for_round(&begun_round, round);
		ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, TEST_ACTION);
		/* Pairs with smp_load_acquire() in wait_for_round(). */
		smp_store_release(&acquired_round, round);
		part_in_round(round);
		/* Pairs with smp_load_acquire() in wait_for_round(). */
		smp_store_release(&done_round, round);
	}
	return 0;
}

/*
 * The other thread acquires the lock and calls @other_part; this thread calls @test_part. Returns
 * the number of rounds after which count_unaccounted() is not what it was at the start.
 */
static unsigned int count_failed_rounds(struct kunit *test,
					void (*other_part)(unsigned int round),
					void (*test_part)(void))
{
	const struct unaccounted before = count_unaccounted();
	unsigned int round, failed = 0;

	begun_round = 0;
	ended_round = 0;
	acquired_round = 0;
	done_round = 0;
	part_in_round = other_part;
	/* Disabling the last enabled class may take long, so keep another class enabled. */
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX)), 0);
	test_thread_start(test, &other, TEST_CPU + 1, play_rounds, NULL);
	for (round = 1; round <= ROUNDS; round++) {
		struct unaccounted unaccounted;

		KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
		/* Pairs with smp_load_acquire() in wait_for_round(). */
		smp_store_release(&begun_round, round);
		wait_for_round(&acquired_round, round);
		ndelay(round * 7 % 4096);
		test_part();
		WRITE_ONCE(ended_round, round);
		wait_for_round(&done_round, round);
		ntklog_disable_sleeping_class(TEST_CLASS);
		unaccounted = count_unaccounted();
		failed += unaccounted.acquisitions != before.acquisitions ||
			  unaccounted.waits != before.waits;
	}
	test_thread_join(&other);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX));
	return failed;
}

/* Wait for the lock repeatedly until the class is disabled, or give up at about that time. */
static void wait_until_class_is_disabled(unsigned int round)
{
	bool gives_up = round & 1;
	unsigned int loop_count = 0;

	do {
		ntklog_begin_sleeping_wait(&lock);
		if (gives_up && ++loop_count == round % 64) {
			ntklog_end_sleeping_wait(&lock, -EINTR);
			return;
		}
		ntklog_end_sleeping_wait(&lock, 0);
	} while (READ_ONCE(ended_round) != round);
}

static void disable_test_class(void)
{
	ntklog_disable_sleeping_class(TEST_CLASS);
}

static void class_disabled_during_wait_counted_once(struct kunit *test)
{
	const struct ntklog_sleeping_slot_totals sum = ntklog_count_sleeping_slots();
	u64 dropped_waits;

	KUNIT_EXPECT_EQ(test, count_failed_rounds(test, wait_until_class_is_disabled,
						  disable_test_class), 0);
	dropped_waits = ntklog_count_sleeping_slots().dropped_waiting_slots -
			sum.dropped_waiting_slots;
	KUNIT_EXPECT_GT(test, dropped_waits, 0);
	KUNIT_EXPECT_LT(test, dropped_waits,
			ntklog_count_sleeping_slots().dropped_slots - sum.dropped_slots);
}

static const struct task_struct *get_other_as_owner(const void *unused)
{
	return other.task;
}

static void release_for_other_thread(void)
{
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, get_other_as_owner, false, false);
}

static u64 count_unmatched(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu)->unmatched_count);
	return sum;
}

static void wait_and_release(unsigned int round)
{
	ndelay(2048);
	ntklog_begin_sleeping_wait(&lock);
	ntklog_end_sleeping_wait(&lock, 0);
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, NULL, false, false);
}

static void lock_released_by_other_thread_wait_counted_once(struct kunit *test)
{
	u64 before = count_unmatched();

	KUNIT_EXPECT_EQ(test, count_failed_rounds(test, wait_and_release, release_for_other_thread),
			0);
	KUNIT_EXPECT_EQ(test, count_unmatched() - before, ROUNDS);
}

static void acquire_again(unsigned int round)
{
	ndelay(2048);
	ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, TEST_ACTION);
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, NULL, false, false);
}

static void lock_released_by_other_thread_acquisition_counted_once(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, count_failed_rounds(test, acquire_again, release_for_other_thread),
			0);
}

static int acquire_more_than_slots(void *data)
{
	u64 *untracked = data;
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		ntklog_track_sleeping_acquire_slow(&others[i], _THIS_IP_, TEST_ACTION);
	preempt_disable();
	*untracked = this_cpu_read(ntklog_sleeping_lock_cpu.untracked_count);
	ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, NTKLOG_SLEEPING_CLASS(MUTEX) |
						      NTKLOG_SLEEPING_EXCLUSIVE);
	*untracked = this_cpu_read(ntklog_sleeping_lock_cpu.untracked_count) - *untracked;
	preempt_enable();
	return 0;
}

/* Another thread releases the semaphores, and the hooks cannot find the slots of the acquirer. */
static void slots_of_released_semaphores_reclaimed(struct kunit *test)
{
	const struct unaccounted before = count_unaccounted();
	u64 untracked = 1;

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX)), 0);
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
	test_thread_start(test, &other, TEST_CPU + 1, acquire_more_than_slots, &untracked);
	test_thread_join(&other);
	KUNIT_EXPECT_EQ(test, untracked, 0);
	ntklog_disable_sleeping_class(TEST_CLASS);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX));
	KUNIT_EXPECT_EQ(test, count_unaccounted().acquisitions, before.acquisitions);
}

/* Count the untracked acquisitions while all slots are in use, and again when the holds are old. */
static int acquire_shared_more_than_slots(void *data)
{
	const u32 action = NTKLOG_SLEEPING_CLASS(RWSEM) | NTKLOG_SLEEPING_SHARED;
	struct ntklog_sleeping_slot *slots;
	u64 *untracked = data;
	int i;

	preempt_disable();
	untracked[0] = this_cpu_read(ntklog_sleeping_lock_cpu.untracked_count);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ntklog_track_sleeping_acquire_slow(&others[i], _THIS_IP_, action);
	untracked[1] = this_cpu_read(ntklog_sleeping_lock_cpu.untracked_count);
	untracked[0] = untracked[1] - untracked[0];
	slots = ntklog_find_current_record()->sleeping_slots;
	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++)
		slots[i].acquire_time -= ntklog_ms_to_cycles(61000);
	for (i = 0; i < 2; i++)
		ntklog_track_sleeping_acquire_slow((char *)&lock + i, _THIS_IP_, action);
	untracked[1] = this_cpu_read(ntklog_sleeping_lock_cpu.untracked_count) - untracked[1];
	preempt_enable();
	return 0;
}

/* The holds are old, and the hooks have not seen a release. No two are of one lock. */
static void slots_of_old_readers_reclaimed(struct kunit *test)
{
	const struct unaccounted before = count_unaccounted();
	u64 untracked[2] = { 0, 1 };

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(RWSEM)), 0);
	test_thread_start(test, &other, TEST_CPU + 1, acquire_shared_more_than_slots, untracked);
	test_thread_join(&other);
	KUNIT_EXPECT_EQ(test, untracked[0], 1);
	KUNIT_EXPECT_EQ(test, untracked[1], 0);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(RWSEM));
	KUNIT_EXPECT_EQ(test, count_unaccounted().acquisitions, before.acquisitions);
}

static void acquire_and_release(bool has_waiters, unsigned int contentions)
{
	ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, TEST_ACTION);
	ntklog_find_current_record()->sleeping_slots[1].contention_count = contentions;
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, NULL, has_waiters, false);
}

/*
 * Of the releases that NT's rules do not sample, those that leave a waiter are written, up to the
 * limit. The limit does not apply to a release that NT's rules sample.
 */
static void release_leaving_waiter_written_up_to_limit(struct kunit *test)
{
	u32 information[] = { EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS, U32_MAX, 1, 1 };
	struct ntklog_record_limit *limit;
	u64 events[5], dropped;
	unsigned long end, flags;

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
	KUNIT_ASSERT_EQ(test,
			ntklog_change_parameter_set(&ntklog_resource_parameter_set, information,
						    sizeof(information)),
			0u);
	ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, TEST_ACTION);
	KUNIT_ASSERT_NOT_NULL(test, ntklog_find_current_record());
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, NULL, false, false);
	do {
		local_irq_save(flags);
		limit = this_cpu_ptr(&ntklog_sleeping_lock_cpu.blocker_limit);
		end = jiffies + PERF_RECORD_WINDOW_JIFFIES;
		limit->window_end_jiffies = end;
		limit->records_left = 1;
		dropped = limit->dropped_records;
		events[0] = this_cpu_read(ntklog_resource_cpu.event_count);
		acquire_and_release(false, 0);
		events[1] = this_cpu_read(ntklog_resource_cpu.event_count);
		acquire_and_release(true, 0);
		events[2] = this_cpu_read(ntklog_resource_cpu.event_count);
		acquire_and_release(true, 0);
		events[3] = this_cpu_read(ntklog_resource_cpu.event_count);
		acquire_and_release(true, 1);
		events[4] = this_cpu_read(ntklog_resource_cpu.event_count);
		dropped = limit->dropped_records - dropped;
		/* The next test may begin in the same window. */
		limit->records_left = PERF_RECORDS_PER_WINDOW;
		local_irq_restore(flags);
	} while (limit->window_end_jiffies != end);
	ntklog_disable_sleeping_class(TEST_CLASS);
	KUNIT_EXPECT_EQ(test, events[1] - events[0], 0);
	KUNIT_EXPECT_EQ(test, events[2] - events[1], 1);
	KUNIT_EXPECT_EQ(test, events[3] - events[2], 0);
	KUNIT_EXPECT_EQ(test, events[4] - events[3], 1);
	KUNIT_EXPECT_EQ(test, dropped, 1);
}

static struct kunit_case sleeping_lock_cases[] = {
	KUNIT_CASE(release_leaving_waiter_written_up_to_limit),
	KUNIT_CASE(class_disabled_during_wait_counted_once),
	KUNIT_CASE(lock_released_by_other_thread_wait_counted_once),
	KUNIT_CASE(lock_released_by_other_thread_acquisition_counted_once),
	KUNIT_CASE(slots_of_released_semaphores_reclaimed),
	KUNIT_CASE(slots_of_old_readers_reclaimed),
	{}
};

static struct kunit_suite sleeping_lock_suite = {
	.name = "ntklog_sleeping_lock",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = sleeping_lock_cases,
};

kunit_test_suite(sleeping_lock_suite);
