// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sums of Linux' own locks that sleep, where two count at the same moment: the thread whose
 * wait begins or ends, and who switches the class of the lock off. The suites' module is loaded
 * with linux_locks=0, so nobody else counts.
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

/* Only its address is looked at. */
static u32 lock;

/* Rounds that the test has begun and ended, and that the waiter has come so far in. */
static unsigned int begun, ended, acquired, done;

/* What is left is 0 when each is counted once. */
struct remainders {
	s64 acquisitions;
	s64 waits;
};

static struct remainders count(void)
{
	const struct ntklog_sleeping_sum sum = ntklog_sum_sleeping_locks();
	struct remainders left = {
		.acquisitions = -(sum.owned + sum.waiting + sum.forgotten),
		.waits = -(sum.waiting + sum.forgotten_waits),
	};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ntklog_sleeping_cpu *counts = per_cpu_ptr(&ntklog_sleeping_cpu, cpu);

		left.acquisitions += READ_ONCE(counts->acquired) - READ_ONCE(counts->untracked) -
				     READ_ONCE(counts->given_up) - READ_ONCE(counts->again);
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

/* It waits again and again until the class has gone, or gives up at about that time. */
static void wait_in_round(unsigned int round)
{
	bool gives_up = round & 1;
	unsigned int turns = 0;

	do {
		ntklog_sleeping_wait_begins(&lock);
		if (gives_up && ++turns == round % 64) {
			ntklog_sleeping_wait_ends(&lock, -EINTR);
			return;
		}
		ntklog_sleeping_wait_ends(&lock, 0);
	} while (READ_ONCE(ended) != round);
}

static int wait_in_rounds(void *unused)
{
	unsigned int round;

	for (round = 1; round <= ROUNDS; round++) {
		wait_for_round(&begun, round);
		ntklog_acquire_sleeping_slowly(&lock, _THIS_IP_, TEST_ACTION);
		/* Releases; each pairs with the acquire in wait_for_round(). */
		smp_store_release(&acquired, round);
		wait_in_round(round);
		/* As above. */
		smp_store_release(&done, round);
	}
	return 0;
}

static void a_wait_that_is_forgotten_is_counted_once(struct kunit *test)
{
	const struct ntklog_sleeping_sum sum = ntklog_sum_sleeping_locks();
	const struct remainders before = count();
	unsigned int round, wrong = 0;
	struct test_thread waiter;
	u64 waits;

	begun = 0;
	ended = 0;
	acquired = 0;
	done = 0;
	/* While there is another class rooms are kept: a round is short. */
	ntklog_start_sleeping_locks(NTKLOG_SLEEPING_CLASS(MUTEX));
	test_thread_start(test, &waiter, TEST_CPU + 1, wait_in_rounds, NULL);
	for (round = 1; round <= ROUNDS; round++) {
		struct remainders left;

		ntklog_start_sleeping_locks(TEST_CLASS);
		/* Release; pairs with the acquire in wait_for_round(). */
		smp_store_release(&begun, round);
		wait_for_round(&acquired, round);
		ndelay(round * 7 % 4096);
		ntklog_stop_sleeping_locks(TEST_CLASS);
		WRITE_ONCE(ended, round);
		wait_for_round(&done, round);
		left = count();
		wrong += left.acquisitions != before.acquisitions || left.waits != before.waits;
	}
	test_thread_join(&waiter);
	ntklog_stop_sleeping_locks(NTKLOG_SLEEPING_CLASS(MUTEX));
	KUNIT_EXPECT_EQ(test, wrong, 0);
	/* Both came about: it was waiting, and it was not. */
	waits = ntklog_sum_sleeping_locks().forgotten_waits - sum.forgotten_waits;
	KUNIT_EXPECT_GT(test, waits, 0);
	KUNIT_EXPECT_LT(test, waits, ntklog_sum_sleeping_locks().forgotten - sum.forgotten);
}

static struct kunit_case sleeping_lock_cases[] = {
	KUNIT_CASE(a_wait_that_is_forgotten_is_counted_once),
	{}
};

static struct kunit_suite sleeping_lock_suite = {
	.name = "ntklog_sleeping_lock",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = sleeping_lock_cases,
};

kunit_test_suite(sleeping_lock_suite);
