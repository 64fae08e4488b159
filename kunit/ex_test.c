// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executive spin locks, as their callers see them. The numbers are those of the
 * facts in Documentation/design.rst. As in ke_test.c, some tests misuse them on
 * purpose.
 */

#include <linux/delay.h>
#include <ntklog/ex_spin_lock.h>

#include "fixture.h"

#define OWNER	0x80000000u
#define WAITER	0x40000000u

static struct ex_spin_lock lock;

static u32 word(void)
{
	return atomic_read(&lock.value);
}

static int ex_test_init(struct kunit *test)
{
	ex_initialize_spin_lock(&lock);
	return fixture_init(test);
}

/* E1, E2 */

static void exclusive_owns_bit_31(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_exclusive(&lock);

	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, word(), OWNER);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ex_release_spin_lock_exclusive(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, word(), 0u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static void shared_owners_are_counted(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, word(), 1u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	/* As another processor would. */
	atomic_inc(&lock.value);
	ex_release_spin_lock_shared(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, word(), 1u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

static void at_dpc_level_leaves_the_irql(struct kunit *test)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ex_acquire_spin_lock_shared_at_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, word(), 1u);
	ex_release_spin_lock_shared_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, word(), 0u);
	ex_acquire_spin_lock_exclusive_at_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, word(), OWNER);
	ex_release_spin_lock_exclusive_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, word(), 0u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

static void try_owns_or_changes_nothing(struct kunit *test)
{
	static const u32 not_shared[] = { OWNER, WAITER, OWNER | WAITER, WAITER | 3 };
	static const u32 not_exclusive[] = { OWNER, WAITER, 1, WAITER | 1, 5 };
	u8 old_irql = ke_raise_irql_to_dpc_level();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(not_shared); i++) {
		atomic_set(&lock.value, not_shared[i]);
		KUNIT_EXPECT_FALSE(test, ex_try_acquire_spin_lock_shared_at_dpc_level(&lock));
		KUNIT_EXPECT_EQ(test, word(), not_shared[i]);
	}
	for (i = 0; i < ARRAY_SIZE(not_exclusive); i++) {
		atomic_set(&lock.value, not_exclusive[i]);
		KUNIT_EXPECT_FALSE(test,
				   ex_try_acquire_spin_lock_exclusive_at_dpc_level(&lock));
		KUNIT_EXPECT_EQ(test, word(), not_exclusive[i]);
	}
	atomic_set(&lock.value, 2);
	KUNIT_EXPECT_TRUE(test, ex_try_acquire_spin_lock_shared_at_dpc_level(&lock));
	KUNIT_EXPECT_EQ(test, word(), 3u);
	ex_release_spin_lock_shared_from_dpc_level(&lock);
	atomic_set(&lock.value, 0);
	KUNIT_EXPECT_TRUE(test, ex_try_acquire_spin_lock_exclusive_at_dpc_level(&lock));
	KUNIT_EXPECT_EQ(test, word(), OWNER);
	ex_release_spin_lock_exclusive_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

/* E3 */

struct contender {
	struct test_thread thread;
	bool shared;
	bool asks;
	bool owns;
	u32 seen;
};

static int contend(void *data)
{
	struct contender *contender = data;
	u8 old_irql;

	WRITE_ONCE(contender->asks, true);
	if (contender->shared) {
		old_irql = ex_acquire_spin_lock_shared(&lock);
		WRITE_ONCE(contender->owns, true);
		contender->seen = word();
		ex_release_spin_lock_shared(&lock, old_irql);
	} else {
		old_irql = ex_acquire_spin_lock_exclusive(&lock);
		WRITE_ONCE(contender->owns, true);
		contender->seen = word();
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
	while (!READ_ONCE(contender->asks))
		usleep_range(1000, 2000);
	/* Who is exclusive says so in the word; who is shared must not be seen at all. */
	while (!shared && !(word() & WAITER) && tries--)
		usleep_range(1000, 2000);
	msleep(30);
}

/*
 * The test owns the lock by its word alone: it has to sleep meanwhile, which an
 * owner may not, and lockdep would say so.
 */
static void new_shared_requests_wait_behind_an_exclusive_waiter(struct kunit *test)
{
	struct contender exclusive = {}, shared = {};

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs 3 processors");
	atomic_set(&lock.value, 1);
	start_contender(test, &exclusive, 1, false);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(exclusive.owns));
	KUNIT_EXPECT_EQ(test, word(), WAITER | 1);
	start_contender(test, &shared, 2, true);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(shared.owns));
	KUNIT_EXPECT_EQ(test, word(), WAITER | 1);

	atomic_dec(&lock.value);
	test_thread_join(&exclusive.thread);
	test_thread_join(&shared.thread);
	KUNIT_EXPECT_EQ(test, exclusive.seen & ~WAITER, OWNER);
	KUNIT_EXPECT_EQ(test, shared.seen, 1u);
	KUNIT_EXPECT_EQ(test, word(), 0u);
}

static void exclusive_keeps_all_others_out(struct kunit *test)
{
	struct contender exclusive = {}, shared = {};

	if (num_online_cpus() < 3)
		kunit_skip(test, "needs 3 processors");
	atomic_set(&lock.value, OWNER);
	start_contender(test, &shared, 1, true);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(shared.owns));
	KUNIT_EXPECT_EQ(test, word(), OWNER);
	start_contender(test, &exclusive, 2, false);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(exclusive.owns));
	KUNIT_EXPECT_EQ(test, word(), OWNER | WAITER);
	atomic_sub(OWNER, &lock.value);
	test_thread_join(&exclusive.thread);
	test_thread_join(&shared.thread);
	KUNIT_EXPECT_TRUE(test, exclusive.owns && shared.owns);
	KUNIT_EXPECT_EQ(test, word(), 0u);
}

/* E4 */

static void the_only_shared_owner_converts(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	KUNIT_EXPECT_TRUE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, word(), OWNER);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ex_release_spin_lock_exclusive(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, word(), 0u);
}

static void one_of_two_shared_owners_does_not_convert(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	atomic_inc(&lock.value);
	KUNIT_EXPECT_FALSE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, word(), 2u);
	atomic_dec(&lock.value);
	ex_release_spin_lock_shared(&lock, old_irql);
}

static void conversion_leaves_the_waiter(struct kunit *test)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&lock);

	atomic_or(WAITER, &lock.value);
	KUNIT_EXPECT_TRUE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, word(), OWNER | WAITER);
	ex_release_spin_lock_exclusive(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, word(), WAITER);
}

static void release_and_conversion_by_no_owner_change_nothing(struct kunit *test)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ex_release_spin_lock_shared(&lock, PASSIVE_LEVEL);
	ex_release_spin_lock_exclusive(&lock, PASSIVE_LEVEL);
	KUNIT_EXPECT_FALSE(test, ex_try_convert_shared_spin_lock_exclusive(&lock));
	KUNIT_EXPECT_EQ(test, word(), 0u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	atomic_set(&lock.value, OWNER);
	ex_release_spin_lock_shared(&lock, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, word(), OWNER);
	atomic_set(&lock.value, 2);
	ex_release_spin_lock_exclusive(&lock, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, word(), 2u);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

static void a_static_lock_needs_no_initialisation(struct kunit *test)
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
	KUNIT_CASE(exclusive_owns_bit_31),
	KUNIT_CASE(shared_owners_are_counted),
	KUNIT_CASE(at_dpc_level_leaves_the_irql),
	KUNIT_CASE(try_owns_or_changes_nothing),
	KUNIT_CASE(new_shared_requests_wait_behind_an_exclusive_waiter),
	KUNIT_CASE(exclusive_keeps_all_others_out),
	KUNIT_CASE(the_only_shared_owner_converts),
	KUNIT_CASE(one_of_two_shared_owners_does_not_convert),
	KUNIT_CASE(conversion_leaves_the_waiter),
	KUNIT_CASE(release_and_conversion_by_no_owner_change_nothing),
	KUNIT_CASE(a_static_lock_needs_no_initialisation),
	{}
};

static struct kunit_suite ex_test_suite = {
	.name = "ntklog_ex",
	.init = ex_test_init,
	.exit = fixture_exit,
	.test_cases = ex_test_cases,
};

kunit_test_suite(ex_test_suite);
