// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums of Linux' own locks that sleep, where two count at the same moment: the thread whose
 * wait begins or ends, and who switches the class of the lock off, or releases the lock in the
 * thread's place. The suites' module is loaded with linux_locks=0, so nobody else counts.
 */

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/instruction_pointer.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "../module/perf/sleeping_lock.h"
#include "fixture.h"

#define ROUNDS	3000
#define TEST_CLASS	NTKLOG_SLEEPING_CLASS(SEMAPHORE)
#define TEST_ACTION	(TEST_CLASS | NTKLOG_SLEEPING_EXCLUSIVE)

/* Only their addresses are looked at. */
static u32 lock, others[NTKLOG_THREAD_SLOTS + 1];

/* Rounds that the test has begun and ended, and that the other thread has come so far in. */
static unsigned int begun, ended, acquired, done;

static struct test_thread other;

/* What the other thread does in a round, when it has acquired the lock. */
static void (*in_round)(unsigned int round);

/* What is left is 0 when each is counted once. */
struct remainders {
	s64 acquisitions;
	s64 waits;
};

static struct remainders count(void)
{
	const struct ntklog_sleeping_totals sum = ntklog_sum_sleeping_slots();
	struct remainders left = {
		.acquisitions = -(sum.held + sum.waiting + sum.dropped),
		.waits = -(sum.waiting + sum.dropped_waits),
	};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ntklog_sleeping_cpu *counts = per_cpu_ptr(&ntklog_sleeping_cpu, cpu);

		left.acquisitions += READ_ONCE(counts->attempts) - READ_ONCE(counts->untracked) -
				     READ_ONCE(counts->given_up) - READ_ONCE(counts->written_off) -
				     ntklog_number_of_releases(&counts->releases);
		left.waits += READ_ONCE(counts->waits) - READ_ONCE(counts->waited) -
			      READ_ONCE(counts->given_up);
	}
	return left;
}

static void wait_for_round(const unsigned int *word, unsigned int round)
{
	/* Acquire; pairs with the release of who has come so far. */
	while (smp_load_acquire(word) != round) {
		cpu_relax();
		cond_resched();
	}
}

static int play_rounds(void *unused)
{
	unsigned int round;

	for (round = 1; round <= ROUNDS; round++) {
		wait_for_round(&begun, round);
		ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, TEST_ACTION);
		/* Releases; each pairs with the acquire in wait_for_round(). */
		smp_store_release(&acquired, round);
		in_round(round);
		/* As above. */
		smp_store_release(&done, round);
	}
	return 0;
}

/*
 * In each round the other thread acquires the lock and does @in_round while this one calls @now;
 * returns in how many the sums were not as before.
 */
static unsigned int rounds(struct kunit *test, void (*in_each)(unsigned int round),
			   void (*now)(void))
{
	const struct remainders before = count();
	unsigned int round, wrong = 0;

	begun = 0;
	ended = 0;
	acquired = 0;
	done = 0;
	in_round = in_each;
	/* While there is another class rooms are kept: a round is short. */
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX)), 0);
	test_thread_start(test, &other, TEST_CPU + 1, play_rounds, NULL);
	for (round = 1; round <= ROUNDS; round++) {
		struct remainders left;

		KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
		/* Release; pairs with the acquire in wait_for_round(). */
		smp_store_release(&begun, round);
		wait_for_round(&acquired, round);
		ndelay(round * 7 % 4096);
		now();
		WRITE_ONCE(ended, round);
		wait_for_round(&done, round);
		ntklog_disable_sleeping_class(TEST_CLASS);
		left = count();
		wrong += left.acquisitions != before.acquisitions || left.waits != before.waits;
	}
	test_thread_join(&other);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX));
	return wrong;
}

/* It waits again and again until the class has gone, or gives up at about that time. */
static void wait_until_it_ends(unsigned int round)
{
	bool gives_up = round & 1;
	unsigned int turns = 0;

	do {
		ntklog_begin_sleeping_wait(&lock);
		if (gives_up && ++turns == round % 64) {
			ntklog_end_sleeping_wait(&lock, -EINTR);
			return;
		}
		ntklog_end_sleeping_wait(&lock, 0);
	} while (READ_ONCE(ended) != round);
}

static void switch_off(void)
{
	ntklog_disable_sleeping_class(TEST_CLASS);
}

static void a_wait_that_is_forgotten_is_counted_once(struct kunit *test)
{
	const struct ntklog_sleeping_totals sum = ntklog_sum_sleeping_slots();
	u64 waits;

	KUNIT_EXPECT_EQ(test, rounds(test, wait_until_it_ends, switch_off), 0);
	/* Both came about: it was waiting, and it was not. */
	waits = ntklog_sum_sleeping_slots().dropped_waits - sum.dropped_waits;
	KUNIT_EXPECT_GT(test, waits, 0);
	KUNIT_EXPECT_LT(test, waits, ntklog_sum_sleeping_slots().dropped - sum.dropped);
}

static const struct task_struct *owner_is_other(const void *unused)
{
	return other.task;
}

static void release_in_its_place(void)
{
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, owner_is_other, false);
}

static u64 unmatched(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(&ntklog_sleeping_cpu, cpu)->unmatched);
	return sum;
}

static void wait_and_release(unsigned int round)
{
	ndelay(2048);
	ntklog_begin_sleeping_wait(&lock);
	ntklog_end_sleeping_wait(&lock, 0);
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, NULL, false);
}

static void a_wait_for_what_another_releases_is_counted_once(struct kunit *test)
{
	u64 before = unmatched();

	KUNIT_EXPECT_EQ(test, rounds(test, wait_and_release, release_in_its_place), 0);
	/* Of the two releases one has no slot. */
	KUNIT_EXPECT_EQ(test, unmatched() - before, ROUNDS);
}

static void acquire_again(unsigned int round)
{
	ndelay(2048);
	ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, TEST_ACTION);
	ntklog_track_sleeping_release_slow(&lock, TEST_ACTION, NULL, false);
}

static void what_another_releases_is_not_acquired_again(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rounds(test, acquire_again, release_in_its_place), 0);
}

static int lose_more_than_there_is_room_for(void *data)
{
	u64 *untracked = data;
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		ntklog_track_sleeping_acquire_slow(&others[i], _THIS_IP_, TEST_ACTION);
	preempt_disable();
	*untracked = this_cpu_read(ntklog_sleeping_cpu.untracked);
	ntklog_track_sleeping_acquire_slow(&lock, _THIS_IP_, NTKLOG_SLEEPING_CLASS(MUTEX) |
						      NTKLOG_SLEEPING_EXCLUSIVE);
	*untracked = this_cpu_read(ntklog_sleeping_cpu.untracked) - *untracked;
	preempt_enable();
	return 0;
}

/* Of semaphores, which another thread releases without a word of whose they were. */
static void lost_slots_are_taken_back(struct kunit *test)
{
	const struct remainders before = count();
	u64 untracked = 1;

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX)), 0);
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
	test_thread_start(test, &other, TEST_CPU + 1, lose_more_than_there_is_room_for, &untracked);
	test_thread_join(&other);
	KUNIT_EXPECT_EQ(test, untracked, 0);
	ntklog_disable_sleeping_class(TEST_CLASS);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX));
	KUNIT_EXPECT_EQ(test, count().acquisitions, before.acquisitions);
}

/* How many were not tracked while there was no room, and when the readers had been so for long. */
static int read_more_than_there_is_room_for(void *data)
{
	const u32 action = NTKLOG_SLEEPING_CLASS(RWSEM) | NTKLOG_SLEEPING_SHARED;
	struct ntklog_sleeping_slot *slots;
	u64 *untracked = data;
	int i;

	preempt_disable();
	untracked[0] = this_cpu_read(ntklog_sleeping_cpu.untracked);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		ntklog_track_sleeping_acquire_slow(&others[i], _THIS_IP_, action);
	untracked[1] = this_cpu_read(ntklog_sleeping_cpu.untracked);
	untracked[0] = untracked[1] - untracked[0];
	slots = ntklog_find_thread()->sleeping_slots;
	for (i = 1; i <= NTKLOG_THREAD_SLOTS; i++)
		slots[i].acquire_time -= ntklog_ms_to_cycles(61000);
	for (i = 0; i < 2; i++)
		ntklog_track_sleeping_acquire_slow((char *)&lock + i, _THIS_IP_, action);
	untracked[1] = this_cpu_read(ntklog_sleeping_cpu.untracked) - untracked[1];
	preempt_enable();
	return 0;
}

/* Another thread has released them, as NFS does: here each is a lock of its own. */
static void readers_that_never_end_are_given_up(struct kunit *test)
{
	const struct remainders before = count();
	u64 untracked[2] = { 0, 1 };

	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(RWSEM)), 0);
	test_thread_start(test, &other, TEST_CPU + 1, read_more_than_there_is_room_for, untracked);
	test_thread_join(&other);
	KUNIT_EXPECT_EQ(test, untracked[0], 1);
	KUNIT_EXPECT_EQ(test, untracked[1], 0);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(RWSEM));
	KUNIT_EXPECT_EQ(test, count().acquisitions, before.acquisitions);
}

static struct kunit_case sleeping_lock_cases[] = {
	KUNIT_CASE(a_wait_that_is_forgotten_is_counted_once),
	KUNIT_CASE(a_wait_for_what_another_releases_is_counted_once),
	KUNIT_CASE(what_another_releases_is_not_acquired_again),
	KUNIT_CASE(lost_slots_are_taken_back),
	KUNIT_CASE(readers_that_never_end_are_given_up),
	{}
};

static struct kunit_suite sleeping_lock_suite = {
	.name = "ntklog_sleeping_lock",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = sleeping_lock_cases,
};

kunit_test_suite(sleeping_lock_suite);
