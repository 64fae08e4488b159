// SPDX-License-Identifier: GPL-2.0-only
/* NT's facts S1 to S8, Q7, Q8 and Q11 in kunit/facts.rst. Some tests err (see ke_test.c). */

#include <linux/delay.h>
#include <linux/percpu.h>
#include <ntklog/irql.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#include "fixture.h"

static struct kspin_lock lock;

static int spin_lock_test_init(struct kunit *test)
{
	ke_initialize_spin_lock(&lock);
	return fixture_init(test);
}

/* S1, S2: initialisation and test of the word. */

static void lock_word_0_lock_free(struct kunit *test)
{
	static const unsigned long words[] = { 1, 2, 1UL << 63, 0xffff888000000000 };
	size_t i;

	KUNIT_EXPECT_TRUE(test, ke_test_spin_lock(&lock));
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		lock.word = words[i];
		KUNIT_EXPECT_FALSE(test, ke_test_spin_lock(&lock));
		KUNIT_EXPECT_EQ(test, lock.word, words[i]);
		ke_initialize_spin_lock(&lock);
		KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	}
}

/* S3: acquisition that raises to DISPATCH_LEVEL. */

static void raising_acquisition_word_and_irql_set(struct kunit *test)
{
	u8 old_irql = 0xFF;

	ke_acquire_spin_lock(&lock, &old_irql);
	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, lock.word, 1UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);

	old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock);
	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, lock.word, 1UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* S5: AtDpcLevel. */

static void at_dpc_level_irql_unchanged(struct kunit *test)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ke_acquire_spin_lock_at_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, lock.word, 1UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_spin_lock_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

/* S4: RaiseToSynch. */

static void raise_to_synch_interrupts_disabled(struct kunit *test)
{
	u8 old_irql = ke_acquire_spin_lock_raise_to_synch(&lock);

	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), SYNCH_LEVEL);
	KUNIT_EXPECT_TRUE(test, irqs_disabled());
	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* S6: trying. */

static void failed_try_changes_nothing(struct kunit *test)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	KUNIT_EXPECT_TRUE(test, ke_try_to_acquire_spin_lock_at_dpc_level(&lock));
	KUNIT_EXPECT_EQ(test, lock.word, 1UL);
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_spin_lock_at_dpc_level(&lock));
	KUNIT_EXPECT_EQ(test, lock.word, 1UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_spin_lock_from_dpc_level(&lock);
	ke_lower_irql(old_irql);
}

/* S7: pairs of a function that raises and one that does not lower, and the reverse. */

static void raising_and_non_raising_functions_mixed(struct kunit *test)
{
	u8 old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock);

	ke_release_spin_lock_from_dpc_level(&lock);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);

	old_irql = ke_raise_irql_to_dpc_level();
	ke_acquire_spin_lock_at_dpc_level(&lock);
	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

/* S8: a waiter only reads the word while another CPU owns the lock. */

struct read_only_waiter {
	bool is_asking;
	unsigned long word_seen;
};

static int wait_and_release(void *data)
{
	struct read_only_waiter *reader = data;
	u8 old_irql;

	WRITE_ONCE(reader->is_asking, true);
	old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock);
	reader->word_seen = lock.word;
	ke_release_spin_lock(&lock, old_irql);
	return 0;
}

static void waiting_cpu_only_reads_word(struct kunit *test)
{
	struct read_only_waiter reader = {};
	struct test_thread waiter;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	/*
	 * Mark the lock as owned by 1, and later by 2, which has bit 0 clear. A waiter that did
	 * more than read would then set bit 0 and so take the lock.
	 */
	WRITE_ONCE(lock.word, 1);
	test_thread_start(test, &waiter, 1, wait_and_release, &reader);
	while (!READ_ONCE(reader.is_asking))
		usleep_range(1000, 2000);
	/*
	 * Leave the waiter time for its first attempt, which would take a word with bit 0 clear. A
	 * host may stop the waiter's CPU for a while.
	 */
	msleep(1000);
	WRITE_ONCE(lock.word, 2);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&waiter.done));
	KUNIT_EXPECT_EQ(test, READ_ONCE(lock.word), 2UL);
	WRITE_ONCE(lock.word, 0);
	test_thread_join(&waiter);
	KUNIT_EXPECT_EQ(test, reader.word_seen, 1UL);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
}

/* Q11: a free word can be acquired as an ordinary and as a queued lock. */

static void free_word_used_by_ordinary_and_queued(struct kunit *test)
{
	struct klock_queue_handle handle;
	u8 old_irql;

	old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock);
	ke_release_spin_lock(&lock, old_irql);
	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&handle.lock_queue);
	ke_release_in_stack_queued_spin_lock(&handle);
	old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock);
	KUNIT_EXPECT_EQ(test, lock.word, 1UL);
	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
}

static void release_of_free_lock_refused(struct kunit *test)
{
	struct klock_queue_handle handle;
	u8 old_irql = ke_raise_irql_to_dpc_level();

	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, lock.word, 0UL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock, &handle);
	ke_release_spin_lock(&lock, old_irql);
	KUNIT_EXPECT_EQ(test, lock.word, (unsigned long)&handle.lock_queue);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	ke_lower_irql(old_irql);
}

/* Q7: numbered locks. */

static struct kspin_lock_queue *entry_of(unsigned int number)
{
	return &per_cpu_ptr(ke_lock_queues, TEST_CPU)->queue[number];
}

static void numbered_lock_per_cpu_entry_used(struct kunit *test)
{
	unsigned int number;

	for (number = 0; number < 0x11; number++) {
		struct kspin_lock_queue *entry = entry_of(number);
		struct kspin_lock *numbered_lock = (struct kspin_lock *)entry->lock;
		u8 old_irql = ke_acquire_queued_spin_lock(number);

		KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
		KUNIT_EXPECT_EQ(test, numbered_lock->word, (unsigned long)entry);
		KUNIT_EXPECT_EQ(test, entry->lock, (unsigned long)numbered_lock | 2);
		KUNIT_EXPECT_NULL(test, entry->next);
		ke_release_queued_spin_lock(number, old_irql);
		KUNIT_EXPECT_EQ(test, numbered_lock->word, 0UL);
		KUNIT_EXPECT_EQ(test, entry->lock, (unsigned long)numbered_lock);
		KUNIT_EXPECT_NULL(test, entry->next);
		KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	}
}

static void numbered_lock_raised_to_synch(struct kunit *test)
{
	u8 old_irql = ke_acquire_queued_spin_lock_raise_to_synch(5);

	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), SYNCH_LEVEL);
	ke_release_queued_spin_lock(5, old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
}

struct numbered_waiter {
	struct test_thread thread;
	bool owned;
};

static int use_numbered_lock(void *data)
{
	struct numbered_waiter *waiter = data;
	u8 old_irql = ke_acquire_queued_spin_lock(4);

	WRITE_ONCE(waiter->owned, true);
	ke_release_queued_spin_lock(4, old_irql);
	return 0;
}

static void numbered_lock_handed_to_other_cpu(struct kunit *test)
{
	struct numbered_waiter waiter = {};
	struct kspin_lock_queue *entry = entry_of(4);
	u8 old_irql;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	test_thread_start(test, &waiter.thread, 1, use_numbered_lock, &waiter);
	test_thread_join(&waiter.thread);
	KUNIT_EXPECT_TRUE(test, waiter.owned);

	waiter.owned = false;
	test_thread_start(test, &waiter.thread, 1, use_numbered_lock, &waiter);
	old_irql = ke_acquire_queued_spin_lock(4);
	mdelay(20);
	ke_release_queued_spin_lock(4, old_irql);
	KUNIT_EXPECT_NULL(test, entry->next);
	test_thread_join(&waiter.thread);
	KUNIT_EXPECT_TRUE(test, waiter.owned);
}

static void lock_number_out_of_range_refused(struct kunit *test)
{
	u8 old_irql = 0x5A;

	/* The first call is the one that warns. tests/steps/kunit.sh expects its name. */
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_queued_spin_lock(0x11, &old_irql));
	KUNIT_EXPECT_EQ(test, old_irql, 0x5A);
	KUNIT_EXPECT_EQ(test, ke_acquire_queued_spin_lock(0x11), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_acquire_queued_spin_lock_raise_to_synch(0x80000000),
			PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	old_irql = ke_raise_irql_to_dpc_level();
	ke_release_queued_spin_lock(0x11, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_queued_spin_lock(3, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
}

/* Q8: trying numbered locks. */

static int hold_numbered_lock(void *data)
{
	bool *state = data;
	u8 old_irql = ke_acquire_queued_spin_lock(6);

	WRITE_ONCE(state[0], true);
	while (!READ_ONCE(state[1]))
		cpu_relax();
	ke_release_queued_spin_lock(6, old_irql);
	return 0;
}

static void numbered_lock_failed_try_changes_nothing(struct kunit *test)
{
	struct test_thread holder;
	bool state[2] = {};
	u8 old_irql = 0x5A;

	KUNIT_EXPECT_TRUE(test, ke_try_to_acquire_queued_spin_lock(6, &old_irql));
	KUNIT_EXPECT_EQ(test, old_irql, PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), DISPATCH_LEVEL);
	ke_release_queued_spin_lock(6, old_irql);
	KUNIT_EXPECT_TRUE(test, ke_try_to_acquire_queued_spin_lock_raise_to_synch(6, &old_irql));
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), SYNCH_LEVEL);
	ke_release_queued_spin_lock(6, old_irql);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);

	if (num_online_cpus() < 2)
		return;
	test_thread_start(test, &holder, 1, hold_numbered_lock, state);
	while (!READ_ONCE(state[0]))
		schedule_timeout_uninterruptible(1);
	old_irql = 0x5A;
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_queued_spin_lock(6, &old_irql));
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_queued_spin_lock_raise_to_synch(6, &old_irql));
	KUNIT_EXPECT_EQ(test, old_irql, 0x5A);
	KUNIT_EXPECT_EQ(test, ke_get_current_irql(), PASSIVE_LEVEL);
	KUNIT_EXPECT_EQ(test, entry_of(6)->lock & 3, 0UL);
	WRITE_ONCE(state[1], true);
	test_thread_join(&holder);
}

static struct kunit_case spin_lock_test_cases[] = {
	KUNIT_CASE(lock_word_0_lock_free),
	KUNIT_CASE(raising_acquisition_word_and_irql_set),
	KUNIT_CASE(at_dpc_level_irql_unchanged),
	KUNIT_CASE(raise_to_synch_interrupts_disabled),
	KUNIT_CASE(failed_try_changes_nothing),
	KUNIT_CASE(raising_and_non_raising_functions_mixed),
	KUNIT_CASE(waiting_cpu_only_reads_word),
	KUNIT_CASE(free_word_used_by_ordinary_and_queued),
	KUNIT_CASE(release_of_free_lock_refused),
	KUNIT_CASE(numbered_lock_per_cpu_entry_used),
	KUNIT_CASE(numbered_lock_raised_to_synch),
	KUNIT_CASE(numbered_lock_handed_to_other_cpu),
	KUNIT_CASE(lock_number_out_of_range_refused),
	KUNIT_CASE(numbered_lock_failed_try_changes_nothing),
	{}
};

static struct kunit_suite spin_lock_test_suite = {
	.name = "ntklog_ke_spin_lock",
	.init = spin_lock_test_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_test_cases,
};

kunit_test_suite(spin_lock_test_suite);
