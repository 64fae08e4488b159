// SPDX-License-Identifier: GPL-2.0-only
/* NT's facts E1 to E4 in kunit/facts.rst. Some tests make a caller's error (see ke_test.c). */

#include <linux/delay.h>
#include <ntklog/ex_spin_lock.h>

#include "fixture.h"

#define OWNER	0x80000000u
#define WAITER	0x40000000u

static struct ex_spin_lock lock;

static u32 read_lock_word(void)
{
	return atomic_read(&lock.value);
}

static int ex_test_init(struct kunit *test)
{
	ex_initialize_spin_lock(&lock);
	return fixture_init(test);
}

/* E1, E2: exclusive and shared acquisition. */

static void exclusive_owner_sets_bit_31(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_exclusive(&lock);

	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ex_release_spin_lock_exclusive(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static void shared_owners_counted_in_word(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 1u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	atomic_inc(&lock.value);
	ex_release_spin_lock_shared(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 1u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static void at_dpc_level_irql_unchanged(struct kunit *test)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ex_acquire_spin_lock_shared_at_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 1u);
	ex_release_spin_lock_shared_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
	ex_acquire_spin_lock_exclusive_at_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER);
	ex_release_spin_lock_exclusive_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

static void failed_try_changes_nothing(struct kunit *test)
{
	static const u32 words_not_shared[] = { OWNER, WAITER, OWNER | WAITER, WAITER | 3 };
	static const u32 words_not_exclusive[] = { OWNER, WAITER, 1, WAITER | 1, 5 };
	u8 old_irql = ke_raise_irql_to_dpc_level();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words_not_shared); i++) {
		atomic_set(&lock.value, words_not_shared[i]);
		KUNIT_EXPECT_FALSE(test, ex_try_acquire_spin_lock_shared_at_dpc_level(&lock));
		KUNIT_EXPECT_EQ(test, read_lock_word(), words_not_shared[i]);
	}
	for (i = 0; i < ARRAY_SIZE(words_not_exclusive); i++) {
		atomic_set(&lock.value, words_not_exclusive[i]);
		KUNIT_EXPECT_FALSE(test,
				   ex_try_acquire_spin_lock_exclusive_at_dpc_level(&lock));
		KUNIT_EXPECT_EQ(test, read_lock_word(), words_not_exclusive[i]);
	}
	atomic_set(&lock.value, 2);
	KUNIT_EXPECT_TRUE(test, ex_try_acquire_spin_lock_shared_at_dpc_level(&lock));
	KUNIT_EXPECT_EQ(test, read_lock_word(), 3u);
	ex_release_spin_lock_shared_from_dpc_level(&lock);
	atomic_set(&lock.value, 0);
	KUNIT_EXPECT_TRUE(test, ex_try_acquire_spin_lock_exclusive_at_dpc_level(&lock));
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER);
	ex_release_spin_lock_exclusive_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

/* E3: waiters. */

struct contender {
	struct test_thread thread;
	bool shared;
	bool is_asking;
	bool owns;
	u32 word_seen;
};

static int contend(void *data)
{
	struct contender *contender = data;
	u8 old_irql;

	WRITE_ONCE(contender->is_asking, true);
	if (contender->shared) {
		old_irql = ex_acquire_spin_lock_shared(&lock);
		WRITE_ONCE(contender->owns, true);
		contender->word_seen = read_lock_word();
		ex_release_spin_lock_shared(&lock, old_irql);
	} else {
		old_irql = ex_acquire_spin_lock_exclusive(&lock);
		WRITE_ONCE(contender->owns, true);
		contender->word_seen = read_lock_word();
		ex_release_spin_lock_exclusive(&lock, old_irql);
	}
	return 0;
}

static void start_contender(struct kunit *test, struct contender *contender,
			    unsigned int cpu, bool shared)
{
	int tries = 30000;

	contender->shared = shared;
	test_thread_start(test, &contender->thread, cpu, contend, contender);
	while (!READ_ONCE(contender->is_asking))
		usleep_range(1000, 2000);
	/* An exclusive waiter sets a bit in the word. A shared waiter leaves no trace. */
	while (!shared && !(read_lock_word() & WAITER) && tries--)
		usleep_range(1000, 2000);
	msleep(30);
}

/* Set the lock word instead of acquiring: lockdep would report a real owner that sleeps. */
static void shared_request_after_exclusive_waiter_waits(struct kunit *test)
{
	struct contender exclusive = {}, shared = {};

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs 3 CPUs");
	atomic_set(&lock.value, 1);
	start_contender(test, &exclusive, 1, false);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(exclusive.owns));
	KUNIT_EXPECT_EQ(test, read_lock_word(), WAITER | 1);
	start_contender(test, &shared, 2, true);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(shared.owns));
	KUNIT_EXPECT_EQ(test, read_lock_word(), WAITER | 1);

	atomic_dec(&lock.value);
	test_thread_join(&exclusive.thread);
	test_thread_join(&shared.thread);
	KUNIT_EXPECT_EQ(test, exclusive.word_seen & ~WAITER, OWNER);
	KUNIT_EXPECT_EQ(test, shared.word_seen, 1u);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
}

static void exclusive_owner_all_others_excluded(struct kunit *test)
{
	struct contender exclusive = {}, shared = {};

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs 3 CPUs");
	atomic_set(&lock.value, OWNER);
	start_contender(test, &shared, 1, true);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(shared.owns));
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER);
	start_contender(test, &exclusive, 2, false);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(exclusive.owns));
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER | WAITER);
	atomic_sub(OWNER, &lock.value);
	test_thread_join(&exclusive.thread);
	test_thread_join(&shared.thread);
	KUNIT_EXPECT_TRUE(test, exclusive.owns && shared.owns);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
}

/* E4: conversion. */

static void conversion_by_only_shared_owner_granted(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	KUNIT_EXPECT_TRUE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ex_release_spin_lock_exclusive(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
}

static void conversion_with_two_shared_owners_refused(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	atomic_inc(&lock.value);
	KUNIT_EXPECT_FALSE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, read_lock_word(), 2u);
	atomic_dec(&lock.value);
	ex_release_spin_lock_shared(&lock, old_irql);
}

static void conversion_with_waiter_bit_kept(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	atomic_or(WAITER, &lock.value);
	KUNIT_EXPECT_TRUE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER | WAITER);
	ex_release_spin_lock_exclusive(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, read_lock_word(), WAITER);
}

static void release_and_conversion_by_non_owner_refused(struct kunit *test)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ex_release_spin_lock_shared(&lock, PASSIVE_LEVEL);
	ex_release_spin_lock_exclusive(&lock, PASSIVE_LEVEL);
	KUNIT_EXPECT_FALSE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, read_lock_word(), 0u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	atomic_set(&lock.value, OWNER);
	ex_release_spin_lock_shared(&lock, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, read_lock_word(), OWNER);
	atomic_set(&lock.value, 2);
	ex_release_spin_lock_exclusive(&lock, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, read_lock_word(), 2u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

static void static_lock_uninitialized_usable(struct kunit *test)
{
	static struct ex_spin_lock zero;
	u8 old_irql = ex_acquire_spin_lock_exclusive(&zero);

	KUNIT_EXPECT_EQ(test, (u32)atomic_read(&zero.value), OWNER);
	ex_release_spin_lock_exclusive(&zero, old_irql);
	old_irql = ex_acquire_spin_lock_shared(&zero);
	ex_release_spin_lock_shared(&zero, old_irql);
	KUNIT_EXPECT_EQ(test, atomic_read(&zero.value), 0);
}

static struct kunit_case ex_test_cases[] = {
	KUNIT_CASE(exclusive_owner_sets_bit_31),
	KUNIT_CASE(shared_owners_counted_in_word),
	KUNIT_CASE(at_dpc_level_irql_unchanged),
	KUNIT_CASE(failed_try_changes_nothing),
	KUNIT_CASE(shared_request_after_exclusive_waiter_waits),
	KUNIT_CASE(exclusive_owner_all_others_excluded),
	KUNIT_CASE(conversion_by_only_shared_owner_granted),
	KUNIT_CASE(conversion_with_two_shared_owners_refused),
	KUNIT_CASE(conversion_with_waiter_bit_kept),
	KUNIT_CASE(release_and_conversion_by_non_owner_refused),
	KUNIT_CASE(static_lock_uninitialized_usable),
	{}
};

static struct kunit_suite ex_test_suite = {
	.name = "ntklog_ex",
	.init = ex_test_init,
	.exit = fixture_exit,
	.test_cases = ex_test_cases,
};

kunit_test_suite(ex_test_suite);
