// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's facts Q1 to Q6, Q9 and Q10 in kunit/facts.rst.
 *
 * Some tests err on purpose: tests/steps/kunit.sh lists their reports.
 */

#include <linux/delay.h>
#include <linux/lockdep.h>
#include <ntklog/irql.h>
#include <ntklog/queued_spin_lock.h>

#include "fixture.h"

static struct kspin_lock lock, other_lock;

static int ke_test_init(struct kunit *test)
{
	ke_initialize_spin_lock(&lock);
	ke_initialize_spin_lock(&other_lock);
	return fixture_init(test);
}

static void expect_queue_entry(struct kunit *test, struct klock_queue_handle *handle,
			       struct kspin_lock_queue *next, unsigned long word)
{
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(handle->lock_queue.next), next);
	KUNIT_EXPECT_EQ(test, READ_ONCE(handle->lock_queue.lock), word);
}

static unsigned long lock_word_with_bits(unsigned long bits)
{
	return (unsigned long)&lock | bits;
}

/* Q1, Q2: words and IRQL. */

static void acquired_and_released_words_match_nt(struct kunit *test)
{
	struct klock_queue_handle handle;

	memset(&handle, 0xA5, sizeof(handle));
	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&handle.lock_queue);
	expect_queue_entry(test, &handle, NULL, lock_word_with_bits(2));
	KUNIT_EXPECT_EQ(test, handle.old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);

	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	expect_queue_entry(test, &handle, NULL, lock_word_with_bits(0));
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* Q1: from each IRQL that a caller may be at. */
static void acquisition_at_each_irql_old_irql_saved(struct kunit *test)
{
	static const u8 levels[] = { PASSIVE_LEVEL, APC_LEVEL, DISPATCH_LEVEL };
	struct klock_queue_handle handle;
	u8 old_irql;
	int i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		ke_raise_irql(levels[i], &old_irql);
		ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
		KUNIT_EXPECT_EQ(test, handle.old_irql, levels[i]);
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
		ke_release_in_stack_queued_spin_lock(&handle);
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), levels[i]);
		ke_lower_irql(old_irql);
	}
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* Q3: AtDpcLevel, and mixed pairs. */

static void at_dpc_level_irql_unchanged(struct kunit *test)
{
	struct klock_queue_handle handle;
	u8 old_irql = ke_raise_irql_to_dpc_level();

	handle.old_irql = 0x5A;
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock, &handle);
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&handle.lock_queue);
	expect_queue_entry(test, &handle, NULL, lock_word_with_bits(2));
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, handle.old_irql, 0x5A);

	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	expect_queue_entry(test, &handle, NULL, lock_word_with_bits(0));
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, handle.old_irql, 0x5A);
	ke_lower_irql(old_irql);
}

static void raising_and_non_raising_functions_mixed(struct kunit *test)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(handle.old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);

	handle.old_irql = ke_raise_irql_to_dpc_level();
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock, &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* Q4: RaiseToSynch. */

static void raise_to_synch_irql_synch(struct kunit *test)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock, &handle);
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&handle.lock_queue);
	KUNIT_EXPECT_EQ(test, handle.old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), SYNCH_LEVEL);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());

	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void synch_lock_nested_in_dispatch_irql_restored(struct kunit *test)
{
	struct klock_queue_handle handle, other;

	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&other_lock, &other);
	KUNIT_EXPECT_EQ(test, other.old_irql, DISPATCH_LEVEL);
	ke_release_in_stack_queued_spin_lock(&other);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* Q5, Q6: order of waiters. */

#define WAITERS	3

struct waiter {
	struct test_thread thread;
	struct klock_queue_handle handle;
	int *next_position;
	int position;
};

static int run_waiter(void *data)
{
	struct waiter *waiter = data;

	ke_acquire_in_stack_queued_spin_lock(&lock, &waiter->handle);
	waiter->position = (*waiter->next_position)++;
	ke_release_in_stack_queued_spin_lock(&waiter->handle);
	return 0;
}

static void start_waiter(struct kunit *test, struct waiter *waiter, int cpu,
			 int *next_position)
{
	waiter->next_position = next_position;
	test_thread_start(test, &waiter->thread, cpu, run_waiter, waiter);
}

/*
 * Become the owner by writing the words that an acquisition leaves. The test sleeps while it owns
 * the lock; lockdep would report that of a real acquisition.
 */
static void acquire_without_lockdep(struct klock_queue_handle *handle)
{
	handle->lock_queue.next = NULL;
	handle->lock_queue.lock = lock_word_with_bits(LOCK_QUEUE_OWNER);
	lock.word = (unsigned long)&handle->lock_queue;
}

static void release_after_sleep(struct klock_queue_handle *handle)
{
	handle->old_irql = ke_raise_irql_to_dpc_level();
	spin_acquire(&lock.dep_map, 0, 1, _THIS_IP_);
	ke_release_in_stack_queued_spin_lock(handle);
}

static void waiters_granted_in_order_of_asking(struct kunit *test)
{
	/* The order of arrival differs from the order of the CPUs. */
	static const int cpus[WAITERS] = { 2, 3, 1 };
	struct klock_queue_handle handle;
	struct waiter *waiters;
	unsigned long tail, word;
	int i, polls, next_position = 0;

	if (num_online_cpus() <= WAITERS)
		kunit_skip(test, "needs %d processors", WAITERS + 1);
	waiters = kunit_kcalloc(test, WAITERS, sizeof(*waiters), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waiters);

	acquire_without_lockdep(&handle);
	for (i = 0; i < WAITERS; i++) {
		start_waiter(test, &waiters[i], cpus[i], &next_position);
		tail = (unsigned long)&waiters[i].handle.lock_queue;
		while (READ_ONCE(lock.word) != tail)
			schedule_timeout_uninterruptible(1);
	}
	/* The last waiter may be between its exchange and the link to its predecessor. */
	while (!READ_ONCE(waiters[WAITERS - 2].handle.lock_queue.next))
		schedule_timeout_uninterruptible(1);

	/* Nothing changes after the waiters have queued themselves. */
	for (polls = 0; polls < 20; polls++) {
		schedule_timeout_uninterruptible(1);
		word = READ_ONCE(lock.word);
		KUNIT_EXPECT_EQ(test, word,
				(unsigned long)&waiters[WAITERS - 1].handle.lock_queue);
		expect_queue_entry(test, &handle, &waiters[0].handle.lock_queue,
				   lock_word_with_bits(2));
		for (i = 0; i < WAITERS; i++)
			expect_queue_entry(test, &waiters[i].handle,
					   i == WAITERS - 1 ? NULL :
					   &waiters[i + 1].handle.lock_queue,
					   lock_word_with_bits(1));
	}

	release_after_sleep(&handle);
	expect_queue_entry(test, &handle, NULL, lock_word_with_bits(0));
	for (i = 0; i < WAITERS; i++) {
		test_thread_join(&waiters[i].thread);
		KUNIT_EXPECT_EQ(test, waiters[i].position, i);
		expect_queue_entry(test, &waiters[i].handle, NULL, lock_word_with_bits(0));
	}
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
}

/* A waiter that an interrupt has stopped between its exchange and the link to its predecessor. */

static void release_with_unlinked_waiter_waits(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct waiter owner = {};
	struct kspin_lock_queue half_queued = { .lock = lock_word_with_bits(1) };
	struct kspin_lock_queue *tail;
	int next_position = 0;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");

	acquire_without_lockdep(&handle);
	start_waiter(test, &owner, 1, &next_position);
	while (READ_ONCE(lock.word) != (unsigned long)&owner.handle.lock_queue)
		schedule_timeout_uninterruptible(1);
	/* The next waiter is in the lock's word, but not yet linked to its predecessor. */
	tail = (struct kspin_lock_queue *)xchg(&lock.word, (unsigned long)&half_queued);
	KUNIT_EXPECT_PTR_EQ(test, tail, &owner.handle.lock_queue);
	release_after_sleep(&handle);

	msleep(50);
	KUNIT_EXPECT_EQ(test, READ_ONCE(next_position), 1);
	KUNIT_EXPECT_FALSE(test, completion_done(&owner.thread.done));
	KUNIT_EXPECT_EQ(test, READ_ONCE(half_queued.lock), lock_word_with_bits(1));

	/* Link the entry. Pairs with smp_cond_load_acquire() in ke_hand_over_queued_spin_lock(). */
	smp_store_release(&tail->next, &half_queued);
	test_thread_join(&owner.thread);
	KUNIT_EXPECT_EQ(test, READ_ONCE(half_queued.lock), lock_word_with_bits(2));
	expect_queue_entry(test, &owner.handle, NULL, lock_word_with_bits(0));
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&half_queued);
}

/* Q9: functions for DPCs. */

struct for_dpc_state {
	struct klock_queue_handle handle;
	u8 owned_irql, irql;
};

static void use_for_dpc(void *data)
{
	struct for_dpc_state *state = data;

	state->handle.old_irql = 0x5A;
	ke_acquire_in_stack_queued_spin_lock_for_dpc(&lock, &state->handle);
	state->owned_irql = ke_get_current_irql();
	ke_release_in_stack_queued_spin_lock_for_dpc(&state->handle);
	state->irql = ke_get_current_irql();
}

static void for_dpc_irql_raised_in_thread_only(struct kunit *test)
{
	struct for_dpc_state state;

	use_for_dpc(&state);
	KUNIT_EXPECT_EQ(test, state.handle.old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, state.owned_irql, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, state.irql, PASSIVE_LEVEL);

	test_run_in_softirq(use_for_dpc, &state);
	KUNIT_EXPECT_EQ(test, state.handle.old_irql, 0x5A);
	KUNIT_EXPECT_EQ(test, state.owned_irql, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, state.irql, DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
}

/* Q10: reuse of a handle. */

static bool contender_must_stop;

static int run_contender(void *data)
{
	struct klock_queue_handle handle;

	while (!READ_ONCE(contender_must_stop)) {
		ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
		ke_release_in_stack_queued_spin_lock(&handle);
	}
	return 0;
}

static void released_handle_reused_unchanged_by_others(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct test_thread contender;
	int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	WRITE_ONCE(contender_must_stop, false);
	test_thread_start(test, &contender, 1, run_contender, NULL);
	for (i = 0; i < 5000; i++) {
		ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
		ke_release_in_stack_queued_spin_lock(&handle);
		/* A store by the contender after its release would change this handle. */
		ke_acquire_in_stack_queued_spin_lock(&other_lock, &handle);
		if (i % 64 == 0)
			udelay(9);
		expect_queue_entry(test, &handle, NULL, (unsigned long)&other_lock | 2);
		ke_release_in_stack_queued_spin_lock(&handle);
		if (READ_ONCE(lock.word) == (unsigned long)&handle.lock_queue)
			KUNIT_FAIL(test, "the word names a handle that was released");
	}
	WRITE_ONCE(contender_must_stop, true);
	test_thread_join(&contender);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, other_lock.word, 0UL);
}

static void release_of_lock_not_owned_refused(struct kunit *test)
{
	struct klock_queue_handle owner, stranger = {
		.lock_queue = { NULL, (unsigned long)&lock },
		.old_irql = PASSIVE_LEVEL,
	};

	ke_acquire_in_stack_queued_spin_lock(&lock, &owner);
	ke_release_in_stack_queued_spin_lock(&stranger);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&owner.lock_queue);
	expect_queue_entry(test, &owner, NULL, lock_word_with_bits(2));
	expect_queue_entry(test, &stranger, NULL, lock_word_with_bits(0));
	ke_release_in_stack_queued_spin_lock(&owner);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
}

static void initialization_of_any_word_lock_free(struct kunit *test)
{
	struct kspin_lock dirty_lock = { .word = 0xdeadbeef };

	ke_initialize_spin_lock(&dirty_lock);
	KUNIT_EXPECT_EQ(test, dirty_lock.word, 0UL);
}

static void lockdep_acquired_lock_reported_held(struct kunit *test)
{
#ifdef CONFIG_LOCKDEP
	struct klock_queue_handle handle;

	KUNIT_EXPECT_FALSE(test, lock_is_held(&lock.dep_map));
	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	KUNIT_EXPECT_TRUE(test, lock_is_held(&lock.dep_map));
	KUNIT_EXPECT_FALSE(test, lock_is_held(&other_lock.dep_map));
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_FALSE(test, lock_is_held(&lock.dep_map));
#else
	kunit_skip(test, "no lockdep in this kernel");
#endif
}

static struct kunit_case ke_test_cases[] = {
	KUNIT_CASE(acquired_and_released_words_match_nt),
	KUNIT_CASE(acquisition_at_each_irql_old_irql_saved),
	KUNIT_CASE(at_dpc_level_irql_unchanged),
	KUNIT_CASE(raising_and_non_raising_functions_mixed),
	KUNIT_CASE(raise_to_synch_irql_synch),
	KUNIT_CASE(synch_lock_nested_in_dispatch_irql_restored),
	KUNIT_CASE(waiters_granted_in_order_of_asking),
	KUNIT_CASE(release_with_unlinked_waiter_waits),
	KUNIT_CASE(for_dpc_irql_raised_in_thread_only),
	KUNIT_CASE(released_handle_reused_unchanged_by_others),
	KUNIT_CASE(release_of_lock_not_owned_refused),
	KUNIT_CASE(initialization_of_any_word_lock_free),
	KUNIT_CASE(lockdep_acquired_lock_reported_held),
	{}
};

static struct kunit_suite ke_test_suite = {
	.name = "ntklog_ke",
	.init = ke_test_init,
	.exit = fixture_exit,
	.test_cases = ke_test_cases,
};

kunit_test_suite(ke_test_suite);
