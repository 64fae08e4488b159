// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executive resources, as their callers see them. The numbers are those of the
 * facts in Documentation/design.rst. The tests of misuse provoke a warning each, on
 * purpose, and then look at the resource: nothing has changed.
 */

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fault-inject.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <ntklog/eresource.h>
#include <ntklog/irql.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/ex/locks_information.h"
#include "fixture.h"
#include "resource_fixture.h"

#define exclusive	ex_acquire_resource_exclusive_lite
#define shared		ex_acquire_resource_shared_lite
#define starve		ex_acquire_shared_starve_exclusive
#define behind		ex_acquire_shared_wait_for_exclusive

#define EXPECT_OWNED(test, count) \
	KUNIT_EXPECT_EQ(test, ex_is_resource_acquired_shared_lite(&resource), count)
#define EXPECT_WAITERS(test, for_exclusive, for_shared) \
do { \
	KUNIT_EXPECT_EQ(test, ex_get_exclusive_waiter_count(&resource), for_exclusive); \
	KUNIT_EXPECT_EQ(test, ex_get_shared_waiter_count(&resource), for_shared); \
} while (0)

static void release(unsigned int times)
{
	while (times--)
		ex_release_resource_lite(&resource);
}

/* Described as SystemLocksInformation does; zeros if it is not live. */
static struct ex_lock describe(struct kunit *test, const struct eresource *which)
{
	struct ex_locks *locks = ex_query_locks();
	struct ex_lock found = {};
	u32 i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(locks));
	for (i = 0; i < locks->count; i++) {
		if (i)
			KUNIT_EXPECT_GT(test, locks->locks[i].resource,
					locks->locks[i - 1].resource);
		if (locks->locks[i].resource == (unsigned long)which)
			found = locks->locks[i];
	}
	kvfree(locks);
	return found;
}

#define EXPECT_DESCRIBED(test, _owners, _entries, _recursion)			\
do {										\
	struct ex_lock _lock = describe(test, &resource);			\
										\
	KUNIT_EXPECT_EQ(test, _lock.information.lock_count, _owners);		\
	KUNIT_EXPECT_EQ(test, _lock.information.entry_count, _entries);		\
	KUNIT_EXPECT_EQ(test, _lock.information.recursion_count, _recursion);	\
} while (0)

/* R1, R2 */

static void initialised_is_owned_by_nobody_and_listed(struct kunit *test)
{
	struct ex_lock lock = describe(test, &resource);

	EXPECT_OWNED(test, 0u);
	EXPECT_WAITERS(test, 0u, 0u);
	KUNIT_EXPECT_EQ(test, lock.information.address, (unsigned long)&resource);
	KUNIT_EXPECT_EQ(test, lock.information.type, 1);
	KUNIT_EXPECT_EQ(test, lock.information.owning_thread, 0ull);
	KUNIT_EXPECT_EQ(test, lock.information.lock_count, 0);
	KUNIT_EXPECT_EQ(test, lock.information.contention_count, 0u);
	KUNIT_EXPECT_EQ(test, resource.flag, 0);
	KUNIT_EXPECT_TRUE(test, lock.creator > (unsigned long)resource_fixture_init &&
			  lock.creator < (unsigned long)resource_fixture_init + 0x200);
}

static void deleted_is_not_listed(struct kunit *test)
{
	static struct eresource other;
	u8 old_irql = ke_raise_irql_to_dpc_level();

	KUNIT_EXPECT_EQ(test, ex_initialize_resource_lite(&other), 0u);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, describe(test, &other).information.type, 1);
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&other), 0u);
	KUNIT_EXPECT_EQ(test, describe(test, &other).information.type, 0);
	/* And may come again. */
	KUNIT_EXPECT_EQ(test, ex_initialize_resource_lite(&other), 0u);
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&other), 0u);
}

static void deletion_of_an_owned_one_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(&resource), 0u);
	KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	user_wait_shared(test, 0, shared);
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(&resource), 0u);
	EXPECT_WAITERS(test, 0u, 1u);
	EXPECT_DESCRIBED(test, 1, 1u, 1);
	release(1);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	user_call(test, 0, user_release, false);
}

static void a_second_initialisation_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_NE(test, ex_initialize_resource_lite(&resource), 0u);
	EXPECT_OWNED(test, 1u);
	release(1);
}

/* Each of the calls warns: kunit.sh counts. */
static void null_is_not_live(struct kunit *test)
{
	u32 address = 0;

	/* The tree of live resources is empty, then has one that is not NULL. */
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&resource), 0u);
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(NULL), 0u);
	KUNIT_EXPECT_NE(test, ex_initialize_resource_lite(NULL), 0u);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, ex_initialize_resource_lite(&resource), 0u);
	KUNIT_EXPECT_NE(test, ex_delete_resource_lite(NULL), 0u);
	KUNIT_EXPECT_NE(test, ex_initialize_resource_lite(NULL), 0u);
	KUNIT_EXPECT_NE(test, ex_reinitialize_resource_lite(NULL), 0u);
	ex_convert_exclusive_to_shared_lite(NULL);
	ex_set_resource_owner_pointer(NULL, &address);
	ex_set_resource_owner_pointer_ex(NULL, &address, 0);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(NULL));
	KUNIT_EXPECT_EQ(test, ex_is_resource_acquired_shared_lite(NULL), 0u);
	KUNIT_EXPECT_EQ(test, ex_get_resource_active_count(NULL), 0u);
	KUNIT_EXPECT_EQ(test, ex_get_resource_flag(NULL), 0);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R3 */

static void reinitialised_forgets_owners_and_contention(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	user_wait_shared(test, 0, shared);
	user_wait_shared(test, 1, shared);
	release(1);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	user_call(test, 1, user_release, false);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 2u);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_EQ(test, ex_reinitialize_resource_lite(&resource), 0u);
	EXPECT_OWNED(test, 0u);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, false));
	user_call(test, 0, user_release, false);
}

static void reinitialisation_with_waiters_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	user_wait_exclusive(test, 0);
	KUNIT_EXPECT_NE(test, ex_reinitialize_resource_lite(&resource), 0u);
	EXPECT_OWNED(test, 1u);
	EXPECT_WAITERS(test, 1u, 0u);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 1u);
	release(1);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	user_call(test, 0, user_release, false);
}

/* R4 */

static void a_shared_owner_gets_it_shared_at_once(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, false));
	KUNIT_EXPECT_TRUE(test, starve(&resource, true));
	KUNIT_EXPECT_TRUE(test, starve(&resource, false));
	KUNIT_EXPECT_TRUE(test, behind(&resource, true));
	KUNIT_EXPECT_TRUE(test, behind(&resource, false));
	KUNIT_EXPECT_TRUE(test, shared(&resource, false));
	EXPECT_OWNED(test, 7u);
	KUNIT_EXPECT_FALSE(test, exclusive(&resource, false));
	KUNIT_EXPECT_FALSE(test, ex_try_to_acquire_resource_exclusive_lite(&resource));
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	EXPECT_OWNED(test, 7u);
	release(6);
	EXPECT_OWNED(test, 1u);
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, exclusive, false));
	release(1);
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, false));
	user_call(test, 0, user_release, false);
}

/* R5 */

static void the_exclusive_owner_gets_it_in_any_form(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, ex_try_to_acquire_resource_exclusive_lite(&resource));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, starve(&resource, false));
	KUNIT_EXPECT_TRUE(test, behind(&resource, true));
	EXPECT_OWNED(test, 6u);
	for (i = 6; i; i--) {
		KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
		KUNIT_EXPECT_FALSE(test, user_call(test, 0, starve, false));
		release(1);
	}
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, starve, false));
	user_call(test, 0, user_release, false);
}

/* Also more often than there is room for in the word, alone and with others. */
static void deep_recursion_is_counted(struct kunit *test)
{
	u32 i;

	for (i = 1; i <= 100; i++) {
		KUNIT_EXPECT_TRUE(test, exclusive(&resource, i % 2));
		EXPECT_OWNED(test, i);
	}
	EXPECT_DESCRIBED(test, 1, 100u, 100);
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_OWNED(test, 100u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, false));
	for (i = 101; i <= 120; i++)
		KUNIT_EXPECT_TRUE(test, shared(&resource, i % 2));
	EXPECT_DESCRIBED(test, 2, 121u, 0);
	for (i = 120; i; i--) {
		EXPECT_OWNED(test, i);
		release(1);
	}
	EXPECT_OWNED(test, 0u);
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	user_call(test, 0, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R6 */

static void conversion_keeps_the_count_and_wakes_shared_waiters(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	user_wait_shared(test, 0, shared);
	user_wait_exclusive(test, 1);
	user_wait_shared(test, 2, behind);
	ex_convert_exclusive_to_shared_lite(&resource);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	KUNIT_EXPECT_TRUE(test, user_end(test, 2));
	EXPECT_WAITERS(test, 1u, 0u);
	EXPECT_OWNED(test, 2u);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	EXPECT_DESCRIBED(test, 3, 4u, 0);
	release(2);
	user_call(test, 0, user_release, false);
	EXPECT_WAITERS(test, 1u, 0u);
	user_call(test, 2, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	user_call(test, 1, user_release, false);
}

static void conversion_without_waiters(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_OWNED(test, 2u);
	KUNIT_EXPECT_FALSE(test, exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, false));
	user_call(test, 0, user_release, false);
	release(2);
}

static void conversion_by_another_than_the_exclusive_owner_is_refused(struct kunit *test)
{
	/* By nobody, by a shared owner, alone and with another. */
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_OWNED(test, 1u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	user_call(test, 0, user_release, false);
	release(1);
	/* While somebody else is. */
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_call(test, 0, user_release, false);
}

/* R7 */

static void others_ownership_is_not_mine(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 1, shared, true));
	EXPECT_OWNED(test, 0u);
	user_call(test, 0, user_release, false);
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_FALSE(test, ex_is_resource_acquired_exclusive_lite(&resource));
	user_call(test, 0, user_release, false);
}

/* R8 */

static void shared_owners_a_waiter_and_those_who_come_later(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, false));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	KUNIT_EXPECT_FALSE(test, user_call(test, 1, exclusive, false));
	user_wait_exclusive(test, 1);
	EXPECT_WAITERS(test, 1u, 0u);

	KUNIT_EXPECT_FALSE(test, user_call(test, 2, shared, false));
	KUNIT_EXPECT_FALSE(test, user_call(test, 2, behind, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 2, starve, false));
	user_call(test, 2, user_release, false);
	user_wait_shared(test, 2, shared);
	EXPECT_WAITERS(test, 1u, 1u);

	release(1);
	EXPECT_WAITERS(test, 1u, 1u);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	KUNIT_EXPECT_TRUE(test, user_call(test, 1, user_is_exclusive, false));
	EXPECT_WAITERS(test, 0u, 1u);
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 2));
	KUNIT_EXPECT_TRUE(test, user_call(test, 2, user_is_owner, false));
	EXPECT_WAITERS(test, 0u, 0u);
	user_call(test, 2, user_release, false);
}

/* R9 */

static void an_exclusive_release_wakes_all_shared_waiters_first(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	user_wait_exclusive(test, 0);
	user_wait_shared(test, 1, shared);
	user_wait_shared(test, 2, starve);
	user_wait_exclusive(test, 3);
	user_wait_shared(test, 4, behind);
	EXPECT_WAITERS(test, 2u, 3u);
	release(1);
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	KUNIT_EXPECT_TRUE(test, user_end(test, 2));
	KUNIT_EXPECT_TRUE(test, user_end(test, 4));
	EXPECT_WAITERS(test, 2u, 0u);
	user_call(test, 2, user_release, false);
	user_call(test, 4, user_release, false);
	user_call(test, 1, user_release, false);
	/* Then the exclusive ones, in the order of asking. */
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	EXPECT_WAITERS(test, 1u, 0u);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 3));
	user_call(test, 3, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

static void exclusive_waiters_are_served_in_order(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	for (i = 0; i < 10; i++)
		user_wait_exclusive(test, i);
	release(1);
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_TRUE(test, user_end(test, i));
		EXPECT_WAITERS(test, 9u - i, 0u);
		user_call(test, i, user_release, false);
	}
}

/* R10 */

static bool release_for_user_0(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)users[0].task);
	return true;
}

static void wait_for_exclusive_waits_also_as_an_owner(struct kunit *test)
{
	/* Lockdep rightly says that this cannot end well by itself. */
	users[0].quiet = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	user_wait_exclusive(test, 1);
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, behind, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, false));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_release, false));
	user_wait_shared(test, 0, behind);
	EXPECT_WAITERS(test, 1u, 1u);
	/* The exclusive waiter comes first, once the owner's other one is gone. */
	user_call(test, 2, release_for_user_0, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	EXPECT_WAITERS(test, 0u, 1u);
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	user_call(test, 0, user_release, false);
}

static void a_waiting_owner_is_granted_once_more(struct kunit *test)
{
	users[0].quiet = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	user_wait_exclusive(test, 1);
	user_wait_shared(test, 0, behind);
	/* An owner pointer's release hands over with the owner still one. */
	KUNIT_EXPECT_TRUE(test, user_call(test, 2, starve, true));
	user_call(test, 2, user_release, false);
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	user_call(test, 2, release_for_user_0, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	user_call(test, 1, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	user_call(test, 0, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R11 */

static int pointed_to;

static bool release_for_pointer(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)&pointed_to | 3);
	return true;
}

static void release_for_another_thread(struct kunit *test)
{
	/* Lockdep would go on thinking that the user owns it. */
	users[0].quiet = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	ex_release_resource_for_thread_lite(&resource, user_thread(test, 0));
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	ex_release_resource_for_thread_lite(&resource, user_thread(test, 0));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	user_wait_exclusive(test, 1);
	ex_release_resource_for_thread_lite(&resource, user_thread(test, 0));
	ex_release_resource_for_thread_lite(&resource, ex_get_current_resource_thread());
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	user_call(test, 1, user_release, false);
}

static void an_owner_pointer_is_released_by_any_thread(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	ex_set_resource_owner_pointer(&resource, &pointed_to);
	EXPECT_OWNED(test, 0u);
	KUNIT_EXPECT_FALSE(test, shared(&resource, false));
	EXPECT_DESCRIBED(test, 1, 2u, 2);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.owning_thread, 0ull);
	user_call(test, 0, release_for_pointer, false);
	KUNIT_EXPECT_FALSE(test, shared(&resource, false));
	user_call(test, 1, release_for_pointer, false);
	KUNIT_EXPECT_TRUE(test, shared(&resource, false));
	ex_set_resource_owner_pointer_ex(&resource, &pointed_to,
					 FLAG_OWNER_POINTER_IS_THREAD);
	/* Shared, a second time for the same pointer: one owner, two releases. */
	KUNIT_EXPECT_TRUE(test, shared(&resource, false));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	ex_set_resource_owner_pointer_ex(&resource, &pointed_to, 0);
	EXPECT_DESCRIBED(test, 1, 2u, 0);
	user_wait_exclusive(test, 0);
	release_for_pointer(&resource, false);
	EXPECT_WAITERS(test, 1u, 0u);
	user_call(test, 1, release_for_pointer, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	user_call(test, 0, user_release, false);
}

static void owner_pointers_of_others_are_refused(struct kunit *test)
{
	ex_set_resource_owner_pointer(&resource, &pointed_to);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	ex_set_resource_owner_pointer(&resource, &pointed_to);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	ex_set_resource_owner_pointer_ex(&resource, &pointed_to, 2);
	EXPECT_OWNED(test, 1u);
	release(1);
}

/* R12 */

static void release_by_another_than_an_owner_is_refused(struct kunit *test)
{
	release(1);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	release(1);
	ex_release_resource_for_thread_lite(&resource, 0);
	ex_release_resource_for_thread_lite(&resource, 2);
	ex_release_resource_for_thread_lite(&resource, user_thread(test, 0) | 3);
	EXPECT_DESCRIBED(test, 1, 1u, 1);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, user_is_exclusive, false));
	user_wait_exclusive(test, 1);
	release(1);
	ex_release_resource_for_thread_lite(&resource, 0);
	ex_release_resource_for_thread_lite(&resource, 2);
	EXPECT_WAITERS(test, 1u, 0u);
	EXPECT_DESCRIBED(test, 1, 1u, 1);
	user_call(test, 0, user_release, false);
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	user_call(test, 1, user_release, false);
}

/* R13 */

static void each_wait_counts_once(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, shared, false));
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, exclusive, false));
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 0u);
	user_wait_shared(test, 0, shared);
	user_wait_exclusive(test, 1);
	user_wait_exclusive(test, 2);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 3u);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.number_of_waiting_shared,
			1u);
	KUNIT_EXPECT_EQ(test,
			describe(test, &resource).information.number_of_waiting_exclusive,
			2u);
	release(1);
	user_end(test, 0);
	user_call(test, 0, user_release, false);
	user_end(test, 1);
	user_call(test, 1, user_release, false);
	user_end(test, 2);
	user_call(test, 2, user_release, false);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 3u);
	EXPECT_WAITERS(test, 0u, 0u);
}

/* R14 */

static void critical_regions_nest(struct kunit *test)
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
	/* A region is the thread's: others are not in it. */
	KUNIT_EXPECT_TRUE(test, ke_are_apcs_disabled());
	ke_leave_critical_region();
	KUNIT_EXPECT_FALSE(test, ke_are_apcs_disabled());
	/* Whatever the IRQL. */
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

static void leaving_a_region_that_was_not_entered_is_refused(struct kunit *test)
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

static int note_apcs(void *data)
{
	bool *disabled = data;

	disabled[0] = ke_are_apcs_disabled();
	disabled[1] = ke_are_all_apcs_disabled();
	return 0;
}

static void note_apcs_in_interrupt(void *data)
{
	note_apcs(data);
}

static int end_in_a_guarded_region(void *data)
{
	ke_enter_guarded_region();
	return note_apcs(data);
}

static void guarded_regions_nest(struct kunit *test)
{
	EXPECT_APCS_DISABLED(test, false, false);
	ke_enter_guarded_region();
	EXPECT_APCS_DISABLED(test, true, true);
	ke_enter_guarded_region();
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, true, true);
	/* Each kind is counted by itself, and they need not be left in order. */
	ke_enter_critical_region();
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, true, false);
	ke_enter_guarded_region();
	ke_leave_critical_region();
	EXPECT_APCS_DISABLED(test, true, true);
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, false, false);
}

static void apcs_and_the_irql(struct kunit *test)
{
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	EXPECT_APCS_DISABLED(test, false, true);
	/* May sleep: at APC_LEVEL one can enter both. */
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

static void a_guarded_region_is_the_threads(struct kunit *test)
{
	bool disabled[2] = { true, true };
	struct test_thread other;

	ke_enter_guarded_region();
	test_thread_start(test, &other, TEST_CPU, note_apcs, disabled);
	test_thread_join(&other);
	KUNIT_EXPECT_FALSE(test, disabled[0] || disabled[1]);
	if (num_online_cpus() > 1)
		set_cpus_allowed_ptr(current, cpumask_of(1));
	EXPECT_APCS_DISABLED(test, true, true);
	set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU));
	/* An interrupt is at an IRQL that lets none in. */
	ke_leave_guarded_region();
	test_run_in_hardirq(note_apcs_in_interrupt, disabled);
	KUNIT_EXPECT_TRUE(test, disabled[1]);

	test_thread_start(test, &other, TEST_CPU, end_in_a_guarded_region, disabled);
	test_thread_join(&other);
	KUNIT_EXPECT_TRUE(test, disabled[0] && disabled[1]);
	test_thread_start(test, &other, TEST_CPU, note_apcs, disabled);
	test_thread_join(&other);
	KUNIT_EXPECT_FALSE(test, disabled[0] || disabled[1]);
	EXPECT_APCS_DISABLED(test, false, false);
}

static void leaving_a_guarded_region_that_was_not_entered_is_refused(struct kunit *test)
{
	ke_leave_guarded_region();
	EXPECT_APCS_DISABLED(test, false, false);
	/* The one kind is not the other. */
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

/* R15 */

static void disabling_the_boost_sets_a_flag(struct kunit *test)
{
	ex_disable_resource_boost_lite(&resource);
	KUNIT_EXPECT_EQ(test, resource.flag, 0x08);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
}

#define EXPECT_STATE(test, _owners, _flag)					\
do {										\
	KUNIT_EXPECT_EQ(test, ex_get_resource_active_count(&resource), _owners);	\
	KUNIT_EXPECT_EQ(test, ex_get_resource_flag(&resource), _flag);		\
} while (0)

static void active_count_and_flag(struct kunit *test)
{
	unsigned long pointer = (unsigned long)&users | 3;

	EXPECT_STATE(test, 0u, 0);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	EXPECT_STATE(test, 1u, 0);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	EXPECT_STATE(test, 2u, 0);
	release(2);
	user_call(test, 0, user_release, false);
	EXPECT_STATE(test, 0u, 0);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	EXPECT_STATE(test, 1u, 0x80);
	/* What is said does not change when somebody waits. */
	user_wait_shared(test, 0, shared);
	user_wait_shared(test, 1, shared);
	EXPECT_STATE(test, 1u, 0x80);
	ex_disable_resource_boost_lite(&resource);
	EXPECT_STATE(test, 1u, 0x88);
	release(1);
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	KUNIT_EXPECT_TRUE(test, user_end(test, 1));
	EXPECT_STATE(test, 2u, 0x08);
	user_call(test, 0, user_release, false);
	user_call(test, 1, user_release, false);
	EXPECT_STATE(test, 0u, 0x08);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	ex_set_resource_owner_pointer(&resource, (void *)pointer);
	EXPECT_STATE(test, 1u, 0x88);
	ex_release_resource_for_thread_lite(&resource, pointer);
	EXPECT_STATE(test, 0u, 0x08);
}

/* R16 */

static void tries_in_softirq(void *data)
{
	bool *results = data;

	results[0] = exclusive(&resource, false);
	results[1] = ex_is_resource_acquired_exclusive_lite(&resource);
	ex_release_resource_lite(&resource);
	results[2] = shared(&resource, false);
	ex_release_resource_lite(&resource);
}

static void without_waiting_at_dispatch_level(struct kunit *test)
{
	bool results[3] = {};
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
	ke_lower_irql(old_irql);
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, false));
	KUNIT_EXPECT_TRUE(test, shared(&resource, false));
	release(2);
	KUNIT_EXPECT_TRUE(test, behind(&resource, false));
	release(1);
	ke_lower_irql(old_irql);
	test_run_in_softirq(tries_in_softirq, results);
	KUNIT_EXPECT_TRUE(test, results[0] && results[1] && results[2]);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* Each of the calls warns: kunit.sh counts. */
static void a_waiting_acquisition_at_dispatch_level_tries(struct kunit *test)
{
	u8 old_irql;
	int i;

	test_let_sleep_be_reported();
	old_irql = ke_raise_irql_to_dpc_level();
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
		KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&resource));
		release(1);
	}
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	old_irql = ke_raise_irql_to_dpc_level();
	KUNIT_EXPECT_FALSE(test, exclusive(&resource, true));
	EXPECT_OWNED(test, 0u);
	EXPECT_WAITERS(test, 0u, 0u);
	ke_lower_irql(old_irql);
	user_call(test, 0, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

static void acquisition_above_dispatch_level_is_refused(struct kunit *test)
{
	u8 old_irql;

	old_irql = ke_raise_irql_to_synch_level();
	KUNIT_EXPECT_FALSE(test, exclusive(&resource, false));
	KUNIT_EXPECT_FALSE(test, shared(&resource, false));
	ke_lower_irql(old_irql);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

/* R17 */

static void the_releaser_hands_over(struct kunit *test)
{
	struct ex_lock lock;

	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	user_wait_exclusive(test, 0);
	/* The user's processor has something else to do. */
	release(1);
	KUNIT_EXPECT_FALSE(test, shared(&resource, false));
	KUNIT_EXPECT_FALSE(test, exclusive(&resource, false));
	lock = describe(test, &resource);
	KUNIT_EXPECT_EQ(test, lock.owner, user_thread(test, 0));
	KUNIT_EXPECT_EQ(test, lock.information.owning_thread,
			(u64)task_pid_nr(users[0].task));
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	user_call(test, 0, user_release, false);
}

/* R18 */

static void many_shared_owners(struct kunit *test)
{
	int i;

	for (i = 0; i < RESOURCE_USERS; i++)
		KUNIT_EXPECT_TRUE(test, user_call(test, i, shared, i % 2));
	EXPECT_DESCRIBED(test, RESOURCE_USERS, (u32)RESOURCE_USERS, 0);
	for (i = 0; i < RESOURCE_USERS; i += 2)
		user_call(test, i, user_release, false);
	for (i = 1; i < RESOURCE_USERS; i += 2)
		KUNIT_EXPECT_TRUE(test, user_call(test, i, user_is_owner, false));
	EXPECT_DESCRIBED(test, RESOURCE_USERS / 2, (u32)RESOURCE_USERS / 2, 0);
	for (i = 1; i < RESOURCE_USERS; i += 2)
		user_call(test, i, user_release, false);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, false));
	release(1);
}

static void many_shared_waiters_are_all_granted(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	for (i = 0; i < RESOURCE_USERS; i++)
		user_wait_shared(test, i, shared);
	release(1);
	for (i = 0; i < RESOURCE_USERS; i++)
		KUNIT_EXPECT_TRUE(test, user_end(test, i));
	EXPECT_DESCRIBED(test, RESOURCE_USERS, (u32)RESOURCE_USERS, 0);
	for (i = 0; i < RESOURCE_USERS; i++)
		user_call(test, i, user_release, false);
	EXPECT_DESCRIBED(test, 0, 0u, 0);
}

#ifdef CONFIG_FAILSLAB
/* The thread's first allocation fails. */
static bool shared_without_memory(struct eresource *resource, bool wait)
{
	bool result;

	current->fail_nth = 1;
	result = ex_acquire_resource_shared_lite(resource, wait);
	if (current->fail_nth)
		pr_err("the allocation did not fail\n");
	result = result && !current->fail_nth;
	current->fail_nth = 0;
	return result;
}

static void no_memory_for_the_owner_table(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	/* Without waiting: no. Nothing is lost. */
	KUNIT_EXPECT_FALSE(test, user_call(test, 0, shared_without_memory, false));
	EXPECT_DESCRIBED(test, 1, 1u, 0);
	KUNIT_EXPECT_EQ(test, describe(test, &resource).information.contention_count, 0u);
	/* With: again, until there is some. */
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared_without_memory, true));
	EXPECT_DESCRIBED(test, 2, 2u, 0);
	user_call(test, 0, user_release, false);
	release(1);
}
#else
static void no_memory_for_the_owner_table(struct kunit *test)
{
	kunit_skip(test, "needs a kernel with FAILSLAB");
}
#endif

static void a_large_owner_table_goes_with_its_owners(struct kunit *test)
{
	static u64 owner_pointers[200];
	int i;

	for (i = 0; i < ARRAY_SIZE(owner_pointers); i++) {
		KUNIT_EXPECT_TRUE(test, ex_acquire_resource_shared_lite(&resource, true));
		ex_set_resource_owner_pointer(&resource, &owner_pointers[i]);
	}
	KUNIT_EXPECT_GE(test, resource.owner_table_size + 1, 200u);
	for (i = 0; i < ARRAY_SIZE(owner_pointers); i++) {
		KUNIT_EXPECT_GE(test, resource.owner_table_size + 1, 200u);
		ex_release_resource_for_thread_lite(&resource,
						    (unsigned long)&owner_pointers[i] | 3);
	}
	KUNIT_EXPECT_LE(test, resource.owner_table_size, 32u);
	/* And comes again. */
	for (i = 0; i < 50; i++) {
		KUNIT_EXPECT_TRUE(test, ex_acquire_resource_shared_lite(&resource, true));
		ex_set_resource_owner_pointer(&resource, &owner_pointers[i]);
	}
	for (i = 0; i < 50; i++)
		ex_release_resource_for_thread_lite(&resource,
						    (unsigned long)&owner_pointers[i] | 3);
	EXPECT_OWNED(test, 0u);
}

static bool user_sleeps(int i)
{
	return READ_ONCE(users[i].task->__state) & TASK_UNINTERRUPTIBLE;
}

static bool last_slept;

/* Runs as soon as it is woken and the releaser may be interrupted. */
static int first_to_be_woken(void *data)
{
	sched_set_fifo(current);
	ex_acquire_resource_shared_lite(&resource, true);
	last_slept = user_sleeps(RESOURCE_USERS - 1);
	ex_release_resource_lite(&resource);
	return 0;
}

static void many_are_woken_a_few_at_a_time(struct kunit *test)
{
	struct test_thread first;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	if (!IS_ENABLED(CONFIG_PREEMPTION))
		kunit_skip(test, "a kernel that preempts nobody");
	KUNIT_EXPECT_TRUE(test, ex_acquire_resource_exclusive_lite(&resource, true));
	test_thread_start(test, &first, TEST_CPU, first_to_be_woken, NULL);
	while (ex_get_shared_waiter_count(&resource) != 1)
		usleep_range(100, 200);
	for (i = 0; i < RESOURCE_USERS; i++)
		user_wait_shared(test, i, ex_acquire_resource_shared_lite);
	/* Asleep, not on the way there. */
	while (!user_sleeps(RESOURCE_USERS - 1))
		usleep_range(100, 200);
	ex_release_resource_lite(&resource);
	test_thread_join(&first);
	KUNIT_EXPECT_TRUE(test, last_slept);
	for (i = 0; i < RESOURCE_USERS; i++) {
		KUNIT_EXPECT_TRUE(test, user_end(test, i));
		user_call(test, i, user_release, false);
	}
}

static struct kunit_case eresource_test_cases[] = {
	KUNIT_CASE(initialised_is_owned_by_nobody_and_listed),
	KUNIT_CASE(deleted_is_not_listed),
	KUNIT_CASE(deletion_of_an_owned_one_is_refused),
	KUNIT_CASE(a_second_initialisation_is_refused),
	KUNIT_CASE(null_is_not_live),
	KUNIT_CASE(reinitialised_forgets_owners_and_contention),
	KUNIT_CASE(reinitialisation_with_waiters_is_refused),
	KUNIT_CASE(a_shared_owner_gets_it_shared_at_once),
	KUNIT_CASE(the_exclusive_owner_gets_it_in_any_form),
	KUNIT_CASE(deep_recursion_is_counted),
	KUNIT_CASE(conversion_keeps_the_count_and_wakes_shared_waiters),
	KUNIT_CASE(conversion_without_waiters),
	KUNIT_CASE(conversion_by_another_than_the_exclusive_owner_is_refused),
	KUNIT_CASE(others_ownership_is_not_mine),
	KUNIT_CASE(shared_owners_a_waiter_and_those_who_come_later),
	KUNIT_CASE(an_exclusive_release_wakes_all_shared_waiters_first),
	KUNIT_CASE(exclusive_waiters_are_served_in_order),
	KUNIT_CASE(wait_for_exclusive_waits_also_as_an_owner),
	KUNIT_CASE(a_waiting_owner_is_granted_once_more),
	KUNIT_CASE(release_for_another_thread),
	KUNIT_CASE(an_owner_pointer_is_released_by_any_thread),
	KUNIT_CASE(owner_pointers_of_others_are_refused),
	KUNIT_CASE(release_by_another_than_an_owner_is_refused),
	KUNIT_CASE(each_wait_counts_once),
	KUNIT_CASE(critical_regions_nest),
	KUNIT_CASE(leaving_a_region_that_was_not_entered_is_refused),
	KUNIT_CASE(guarded_regions_nest),
	KUNIT_CASE(apcs_and_the_irql),
	KUNIT_CASE(a_guarded_region_is_the_threads),
	KUNIT_CASE(leaving_a_guarded_region_that_was_not_entered_is_refused),
	KUNIT_CASE(disabling_the_boost_sets_a_flag),
	KUNIT_CASE(active_count_and_flag),
	KUNIT_CASE(without_waiting_at_dispatch_level),
	KUNIT_CASE(a_waiting_acquisition_at_dispatch_level_tries),
	KUNIT_CASE(acquisition_above_dispatch_level_is_refused),
	KUNIT_CASE(the_releaser_hands_over),
	KUNIT_CASE(many_shared_owners),
	KUNIT_CASE(many_shared_waiters_are_all_granted),
	KUNIT_CASE(no_memory_for_the_owner_table),
	KUNIT_CASE(a_large_owner_table_goes_with_its_owners),
	KUNIT_CASE(many_are_woken_a_few_at_a_time),
	{}
};

static struct kunit_suite eresource_test_suite = {
	.name = "ntklog_eresource",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = eresource_test_cases,
};

kunit_test_suite(eresource_test_suite);
