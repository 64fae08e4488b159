// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracking and sampling of executive resources. What is written is looked at as
 * bytes in the session's buffers of the test's processor; the actions that are only
 * tracked are seen by what they leave in the record of the release.
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <ntklog/eresource.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../module/ground/task_table.h"
#include "../module/perf/resource.h"
#include "../module/trace.h"
#include "fixture.h"
#include "resource_fixture.h"

#define RESOURCE_ACQUIRE_TIME	(EVENT_DATA + 0x00)
#define RESOURCE_HOLD_TIME	(EVENT_DATA + 0x08)
#define RESOURCE_WAIT_TIME	(EVENT_DATA + 0x10)
#define RESOURCE_MAX_DEPTH	(EVENT_DATA + 0x18)
#define RESOURCE_THREAD_ID	(EVENT_DATA + 0x1C)
#define RESOURCE_RESOURCE	(EVENT_DATA + 0x20)
#define RESOURCE_ACTION		(EVENT_DATA + 0x28)
#define RESOURCE_CONTENTION	(EVENT_DATA + 0x2C)

#define exclusive	ex_acquire_resource_exclusive_lite
#define shared		ex_acquire_resource_shared_lite
#define behind		ex_acquire_shared_wait_for_exclusive

static void set_parameters(struct kunit *test, u32 release, u32 contention, u32 timeouts)
{
	u32 information[] = { 7, release, contention, timeouts };

	KUNIT_ASSERT_EQ(test, ntklog_set_information(&ntklog_resource_information,
						     information, sizeof(information)),
			0u);
}

/* Every final release is written. */
static void start(struct kunit *test)
{
	set_parameters(test, 1, 1, 1);
	session_start(test, PERF_SYNC_OBJECTS, 4096, 64);
}

/* However long they are: the machine may be busy. */
static void without_excessive_waits(struct kunit *test)
{
	set_parameters(test, 1, 1, U32_MAX);
}

static struct ntklog_resource_cpu *counts(void)
{
	return per_cpu_ptr(&ntklog_resource_cpu, TEST_CPU);
}

static unsigned int events(void)
{
	return session_event_count(0x052B);
}

static const u8 *event(struct kunit *test, unsigned int index)
{
	const u8 *found = session_event(index, 0x052B);

	KUNIT_ASSERT_NOT_NULL(test, found);
	return found;
}

static void release(unsigned int times)
{
	while (times--)
		ex_release_resource_lite(&resource);
}

#define EXPECT_EVENT(test, event, action, max_depth, contention)		\
do {										\
	const u8 *_event = (event);						\
										\
	KUNIT_EXPECT_EQ(test, get_u32(_event, RESOURCE_ACTION), action);	\
	KUNIT_EXPECT_EQ(test, get_u32(_event, RESOURCE_MAX_DEPTH), max_depth);	\
	KUNIT_EXPECT_EQ(test, get_u32(_event, RESOURCE_CONTENTION), contention); \
	KUNIT_EXPECT_EQ(test, get_u64(_event, RESOURCE_RESOURCE),		\
			(u64)(unsigned long)&resource);				\
} while (0)

#define EXPECT_NO_TIMES(test, event)						\
do {										\
	const u8 *_event = (event);						\
										\
	KUNIT_EXPECT_EQ(test, get_u64(_event, RESOURCE_ACQUIRE_TIME), 0ull);	\
	KUNIT_EXPECT_EQ(test, get_u64(_event, RESOURCE_HOLD_TIME), 0ull);	\
	KUNIT_EXPECT_EQ(test, get_u64(_event, RESOURCE_WAIT_TIME), 0ull);	\
} while (0)

/* T1, T2: 0x10008, 0x10018 */

static void initialisations_are_written(struct kunit *test)
{
	static struct eresource other;
	const u8 *written;

	start(test);
	set_parameters(test, U32_MAX, U32_MAX, 1);
	ex_initialize_resource_lite(&other);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	written = event(test, 0);
	KUNIT_EXPECT_EQ(test, get_u32(written, RESOURCE_ACTION), 0x10008u);
	KUNIT_EXPECT_EQ(test, get_u64(written, RESOURCE_RESOURCE), (u64)(unsigned long)&other);
	KUNIT_EXPECT_EQ(test, get_u32(written, RESOURCE_THREAD_ID), (u32)task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, get_u32(written, RESOURCE_MAX_DEPTH), 0u);
	KUNIT_EXPECT_EQ(test, get_u32(written, RESOURCE_CONTENTION), 0u);
	EXPECT_NO_TIMES(test, written);
	/* A deletion is not. */
	ex_delete_resource_lite(&other);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	session_stop(test);
}

static void a_reinitialisation_tells_of_the_owners(struct kunit *test)
{
	users[0].quiet = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	start(test);
	ex_reinitialize_resource_lite(&resource);
	/* One entry of its own, and a first table of four. */
	EXPECT_EVENT(test, event(test, 0), 0x10018u, 5u, 2u);
	EXPECT_NO_TIMES(test, event(test, 0));
	ex_reinitialize_resource_lite(&resource);
	EXPECT_EVENT(test, event(test, 1), 0x10018u, 5u, 0u);
	KUNIT_EXPECT_EQ(test, get_u32(event(test, 1), RESOURCE_THREAD_ID),
			(u32)task_pid_nr(current));
	session_stop(test);
}

/* T3, T4: 0x10021, 0x10022; every byte */

static void every_byte_of_a_release_is_nts(struct kunit *test)
{
	u64 before, owned, released, after;
	const u8 *written;

	start(test);
	before = get_cycles();
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	owned = get_cycles();
	KUNIT_EXPECT_EQ(test, events(), 0u);
	udelay(9);
	released = get_cycles();
	release(1);
	after = get_cycles();
	KUNIT_EXPECT_EQ(test, events(), 1u);
	written = event(test, 0);
	KUNIT_EXPECT_EQ(test, get_u32(written, EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, get_u16(written, EVENT_SIZE), 0x40);
	KUNIT_EXPECT_EQ(test, get_u16(written, EVENT_HOOK_ID), 0x052B);
	KUNIT_EXPECT_GE(test, get_u64(written, EVENT_TIME), released);
	KUNIT_EXPECT_LE(test, get_u64(written, EVENT_TIME), after);
	EXPECT_EVENT(test, written, 0x10022u, 1u, 0u);
	KUNIT_EXPECT_GE(test, get_u64(written, RESOURCE_ACQUIRE_TIME), before);
	KUNIT_EXPECT_LE(test, get_u64(written, RESOURCE_ACQUIRE_TIME), owned);
	KUNIT_EXPECT_GE(test, get_u64(written, RESOURCE_HOLD_TIME), released - owned);
	KUNIT_EXPECT_LE(test, get_u64(written, RESOURCE_HOLD_TIME), after - before);
	KUNIT_EXPECT_EQ(test, get_u64(written, RESOURCE_WAIT_TIME), 0ull);
	KUNIT_EXPECT_EQ(test, get_u32(written, RESOURCE_THREAD_ID), (u32)task_pid_nr(current));
	session_stop(test);
}

/* T8, T9: 0x10041, 0x10042 */

static void a_shared_release_is_written(struct kunit *test)
{
	start(test);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 2u);
	EXPECT_EVENT(test, event(test, 0), 0x10042u, 1u, 0u);
	EXPECT_EVENT(test, event(test, 1), 0x10042u, 1u, 0u);
	KUNIT_EXPECT_GT(test, get_u64(event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	user_call(test, 0, user_release, false);
	/* The user's is on its own processor. */
	KUNIT_EXPECT_EQ(test, events(), 2u);
	session_stop(test);
}

/* T6, T7, T11, T12: 0x10031, 0x10032, 0x10051, 0x10052 */

static void only_the_last_release_is_written_with_the_greatest_depth(struct kunit *test)
{
	start(test);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, false));
	release(2);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 0u);
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	EXPECT_EVENT(test, event(test, 0), 0x10022u, 3u, 0u);

	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, behind(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 2u);
	EXPECT_EVENT(test, event(test, 1), 0x10042u, 2u, 0u);
	session_stop(test);
}

static void a_conversion_is_released_as_shared(struct kunit *test)
{
	start(test);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	ex_convert_exclusive_to_shared_lite(&resource);
	KUNIT_EXPECT_EQ(test, events(), 0u);
	release(1);
	EXPECT_EVENT(test, event(test, 0), 0x10042u, 1u, 0u);
	KUNIT_EXPECT_GT(test, get_u64(event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	session_stop(test);
}

static void acquired_again_and_the_first_not_known(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	start(test);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(3);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	EXPECT_EVENT(test, event(test, 0), 0x10042u, 3u, 0u);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_ACQUIRE_TIME), 2ull);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_WAIT_TIME), 1ull);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	session_stop(test);
}

/* T5, T10: 0x10024, 0x10044 */

/* Once somebody waits, and a little later. */
static bool release_later(struct eresource *resource, bool wait)
{
	while (!ex_get_exclusive_waiter_count(resource) &&
	       !ex_get_shared_waiter_count(resource))
		usleep_range(100, 200);
	msleep(20);
	return user_release(resource, wait);
}

static void check_wait(struct kunit *test,
		       bool (*acquire)(struct eresource *resource, bool wait), u32 action)
{
	u64 before, after, wait_time;
	const u8 *written;

	start(test);
	without_excessive_waits(test);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	user_begin(test, 0, release_later, false);
	before = get_cycles();
	KUNIT_EXPECT_TRUE(test, acquire(&resource, true));
	after = get_cycles();
	user_end(test, 0);
	KUNIT_EXPECT_EQ(test, events(), 0u);
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	written = event(test, 0);
	/* What began before the acquisition is not contention of it. */
	EXPECT_EVENT(test, written, action, 1u, 0u);
	wait_time = get_u64(written, RESOURCE_WAIT_TIME);
	KUNIT_EXPECT_GT(test, wait_time, 1ull);
	KUNIT_EXPECT_LE(test, wait_time, after - before);
	KUNIT_EXPECT_GE(test, get_u64(written, RESOURCE_ACQUIRE_TIME), before + wait_time);
	session_stop(test);
}

static void the_wait_for_exclusive_is_timed(struct kunit *test)
{
	check_wait(test, exclusive, 0x10022);
}

static void the_wait_for_shared_is_timed(struct kunit *test)
{
	check_wait(test, shared, 0x10042);
}

static struct task_struct *mover;

/* As release_later(), but who waits has to wake on TEST_CPU. */
static bool move_and_release(struct eresource *resource, bool wait)
{
	while (!ex_get_exclusive_waiter_count(resource))
		usleep_range(100, 200);
	msleep(20);
	set_cpus_allowed_ptr(mover, cpumask_of(TEST_CPU));
	return user_release(resource, wait);
}

static void a_wait_across_processors_is_not_known(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	start(test);
	without_excessive_waits(test);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	mover = current;
	set_cpus_allowed_ptr(current, cpumask_of(1));
	user_begin(test, 0, move_and_release, false);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	user_end(test, 0);
	release(1);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_WAIT_TIME), 1ull);
	/* It has been held here only. */
	KUNIT_EXPECT_GT(test, get_u64(event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	session_stop(test);
}

static void a_hold_across_processors_is_not_known(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	start(test);
	set_cpus_allowed_ptr(current, cpumask_of(1));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	set_cpus_allowed_ptr(current, cpumask_of(TEST_CPU));
	release(1);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	KUNIT_EXPECT_GT(test, get_u64(event(test, 0), RESOURCE_ACQUIRE_TIME), 2ull);
	session_stop(test);
}

static void contention_while_owned_is_counted(struct kunit *test)
{
	start(test);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	user_wait_exclusive(test, 0);
	user_wait_shared(test, 1, shared);
	user_wait_shared(test, 2, shared);
	release(1);
	EXPECT_EVENT(test, event(test, 0), 0x10022u, 1u, 3u);
	user_end(test, 1);
	user_call(test, 1, user_release, false);
	user_end(test, 2);
	user_call(test, 2, user_release, false);
	user_end(test, 0);
	user_call(test, 0, user_release, false);
	/* The next owner starts anew. */
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
	EXPECT_EVENT(test, event(test, 1), 0x10022u, 1u, 0u);
	session_stop(test);
}

/* T13, T14, T20: 0x10120, 0x10140 */

static int pointed_to;

static bool release_for_pointer(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)&pointed_to | 3);
	return true;
}

static void an_owner_pointer_is_written_and_its_release_is_not(struct kunit *test)
{
	u64 unmatched, pointer_releases;

	start(test);
	set_parameters(test, 1, 1, 1);
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	ex_set_resource_owner_pointer(&resource, &pointed_to);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	EXPECT_EVENT(test, event(test, 0), 0x10120u, 0u, 0u);
	EXPECT_NO_TIMES(test, event(test, 0));
	KUNIT_EXPECT_EQ(test, get_u32(event(test, 0), RESOURCE_THREAD_ID),
			(u32)task_pid_nr(current));
	unmatched = counts()->unmatched;
	pointer_releases = counts()->pointer_releases;
	release_for_pointer(&resource, false);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched);
	KUNIT_EXPECT_EQ(test, counts()->pointer_releases, pointer_releases + 1);

	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	ex_set_resource_owner_pointer_ex(&resource, &pointed_to, 0);
	EXPECT_EVENT(test, event(test, 1), 0x10140u, 0u, 0u);
	EXPECT_NO_TIMES(test, event(test, 1));
	user_call(test, 0, release_for_pointer, false);
	KUNIT_EXPECT_EQ(test, events(), 2u);

	/* The slot is free: the thread's next acquisition is a first one. */
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	EXPECT_EVENT(test, event(test, 2), 0x10042u, 1u, 0u);
	session_stop(test);
}

static struct task_struct *test_task;

static bool release_for_test(struct eresource *resource, bool wait)
{
	ex_release_resource_for_thread_lite(resource, (unsigned long)test_task);
	return true;
}

static void a_release_for_another_thread_is_that_threads(struct kunit *test)
{
	users[0].quiet = true;
	start(test);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, shared, true));
	ex_release_resource_for_thread_lite(&resource, user_thread(test, 0));
	EXPECT_EVENT(test, event(test, 0), 0x10042u, 1u, 0u);
	KUNIT_EXPECT_EQ(test, get_u32(event(test, 0), RESOURCE_THREAD_ID),
			(u32)task_pid_nr(users[0].task));
	session_stop(test);
}

static u64 wait_began, wait_ended;

static int own_wait_and_release(void *data)
{
	struct completion *owned = data;

	/* Is made to wait for itself, and runs as soon as it is woken. */
	lockdep_off();
	sched_set_fifo(current);
	shared(&resource, true);
	complete(owned);
	wait_began = get_cycles();
	exclusive(&resource, true);
	wait_ended = get_cycles();
	release(1);
	return 0;
}

static void a_release_for_a_waiting_thread_ends_its_first_ownership(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(owned);
	struct test_thread thread;
	u64 before, after;
	u64 unmatched;

	start(test);
	without_excessive_waits(test);
	unmatched = counts()->unmatched;
	before = get_cycles();
	test_thread_start(test, &thread, TEST_CPU, own_wait_and_release, &owned);
	wait_for_completion(&owned);
	while (!ex_get_exclusive_waiter_count(&resource))
		usleep_range(100, 200);
	msleep(20);
	ex_release_resource_for_thread_lite(&resource, (unsigned long)thread.task);
	after = get_cycles();
	test_thread_join(&thread);
	KUNIT_EXPECT_EQ(test, events(), 2u);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched);
	/* In the order of their being written: the waiter runs first. */
	EXPECT_EVENT(test, event(test, 0), 0x10022u, 1u, 0u);
	KUNIT_EXPECT_GT(test, get_u64(event(test, 0), RESOURCE_WAIT_TIME), 1ull);
	KUNIT_EXPECT_LE(test, get_u64(event(test, 0), RESOURCE_WAIT_TIME),
			wait_ended - wait_began);
	KUNIT_EXPECT_GE(test, get_u64(event(test, 0), RESOURCE_ACQUIRE_TIME),
			wait_began + get_u64(event(test, 0), RESOURCE_WAIT_TIME));
	EXPECT_EVENT(test, event(test, 1), 0x10042u, 1u, 1u);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 1), RESOURCE_WAIT_TIME), 0ull);
	KUNIT_EXPECT_GE(test, get_u64(event(test, 1), RESOURCE_ACQUIRE_TIME), before);
	KUNIT_EXPECT_LE(test, get_u64(event(test, 1), RESOURCE_ACQUIRE_TIME), wait_began);
	KUNIT_EXPECT_LE(test, get_u64(event(test, 1), RESOURCE_HOLD_TIME), after - before);
	session_stop(test);
}

static void what_others_release_leaves_no_slot(struct kunit *test)
{
	static struct eresource other;
	u64 untracked;
	int i;

	ex_initialize_resource_lite(&other);
	/* Lockdep does not see that somebody else releases. */
	lockdep_off();
	users[0].quiet = true;
	test_task = current;
	start(test);
	untracked = counts()->untracked;
	KUNIT_EXPECT_TRUE(test, exclusive(&other, false));
	for (i = 0; i < 20; i++) {
		KUNIT_EXPECT_TRUE(test, shared(&resource, true));
		if (i % 2) {
			user_call(test, 0, release_for_test, false);
		} else {
			ex_reinitialize_resource_lite(&resource);
			KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
			release(1);
		}
	}
	ex_release_resource_lite(&other);
	KUNIT_EXPECT_EQ(test, counts()->untracked, untracked);
	session_stop(test);
	lockdep_on();
	ex_delete_resource_lite(&other);
}

/* T15, T16: 0x10224, 0x10244 */

static unsigned int events_to_wait_for;

static bool release_when_written(struct eresource *resource, bool wait)
{
	int tries = 60000;

	while (events() < events_to_wait_for && tries--)
		usleep_range(500, 1000);
	return user_release(resource, wait) && tries > 0;
}

static void check_excessive(struct kunit *test,
			    bool (*acquire)(struct eresource *resource, bool wait),
			    u32 action, u32 each, unsigned int wanted)
{
	u64 last = 0, before;
	unsigned int i;

	start(test);
	set_parameters(test, U32_MAX, U32_MAX, each);
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	events_to_wait_for = wanted;
	user_begin(test, 0, release_when_written, false);
	before = get_cycles();
	KUNIT_EXPECT_TRUE(test, acquire(&resource, true));
	KUNIT_EXPECT_TRUE(test, user_end(test, 0));
	KUNIT_EXPECT_GE(test, events(), wanted);
	for (i = 0; i < wanted; i++) {
		const u8 *written = event(test, i);

		EXPECT_EVENT(test, written, action, each * (i + 1), 0u);
		KUNIT_EXPECT_EQ(test, get_u64(written, RESOURCE_ACQUIRE_TIME), 0ull);
		KUNIT_EXPECT_GT(test, get_u64(written, RESOURCE_HOLD_TIME), last);
		last = get_u64(written, RESOURCE_HOLD_TIME);
		KUNIT_EXPECT_GE(test, get_u64(written, RESOURCE_WAIT_TIME), before);
		KUNIT_EXPECT_LE(test, get_u64(written, RESOURCE_WAIT_TIME) + last,
				get_u64(written, EVENT_TIME));
		KUNIT_EXPECT_EQ(test, get_u32(written, RESOURCE_THREAD_ID),
				(u32)task_pid_nr(current));
	}
	release(1);
	session_stop(test);
}

static void an_excessive_wait_for_exclusive_is_written(struct kunit *test)
{
	check_excessive(test, exclusive, 0x10224, 1, 3);
}

static void an_excessive_wait_for_shared_is_written(struct kunit *test)
{
	check_excessive(test, shared, 0x10244, 1, 2);
}

static void each_so_many_th_time_out_is_written(struct kunit *test)
{
	check_excessive(test, exclusive, 0x10224, 2, 2);
}

static void a_time_out_on_another_processor_does_not_know_how_long(struct kunit *test)
{
	struct ntklog_resource_wait wait = {
		.resource = &resource,
		.start_time = get_cycles(),
		.processor = TEST_CPU + 1,
		.thread_id = 4711,
		.action = 0x10024,
		.on = true,
	};

	start(test);
	ntklog_log_resource_timeout(&wait);
	EXPECT_EVENT(test, event(test, 0), 0x10224u, 1u, 0u);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_HOLD_TIME), 0ull);
	KUNIT_EXPECT_EQ(test, get_u64(event(test, 0), RESOURCE_WAIT_TIME), wait.start_time);
	KUNIT_EXPECT_EQ(test, get_u32(event(test, 0), RESOURCE_THREAD_ID), 4711u);
	session_stop(test);
}

/* T17 */

static void the_ninth_is_counted_and_locks_all_the_same(struct kunit *test)
{
	static struct eresource nine[9];
	u64 untracked, unmatched;
	int i;

	for (i = 0; i < 9; i++)
		ex_initialize_resource_lite(&nine[i]);
	start(test);
	untracked = counts()->untracked;
	unmatched = counts()->unmatched;
	/* One class of lockdep's: trying is not ordered. */
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_TRUE(test, exclusive(&nine[i], false));
	KUNIT_EXPECT_EQ(test, counts()->untracked, untracked + 1);
	KUNIT_EXPECT_TRUE(test, ex_is_resource_acquired_exclusive_lite(&nine[8]));
	for (i = 8; i >= 0; i--)
		ex_release_resource_lite(&nine[i]);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched + 1);
	KUNIT_EXPECT_EQ(test, events(), 8u);
	/* In any order; and the slots are free again. */
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, exclusive(&nine[i], false));
	for (i = 0; i < 8; i++)
		ex_release_resource_lite(&nine[i]);
	KUNIT_EXPECT_EQ(test, events(), 16u);
	KUNIT_EXPECT_EQ(test, counts()->untracked, untracked + 1);
	for (i = 0; i < 9; i++)
		ex_delete_resource_lite(&nine[i]);
	session_stop(test);
}

/* T18 */

static void a_release_of_what_was_owned_before_is_counted_only(struct kunit *test)
{
	u64 unmatched;

	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	start(test);
	unmatched = counts()->unmatched;
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 0u);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched + 1);
	session_stop(test);
}

static void slots_of_an_earlier_tracking_are_free(struct kunit *test)
{
	static struct eresource eight[8];
	u64 untracked, unmatched;
	int i;

	for (i = 0; i < 8; i++)
		ex_initialize_resource_lite(&eight[i]);
	start(test);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_TRUE(test, exclusive(&eight[i], false));
	session_stop(test);
	start(test);
	untracked = counts()->untracked;
	unmatched = counts()->unmatched;
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	KUNIT_EXPECT_EQ(test, counts()->untracked, untracked);
	for (i = 0; i < 8; i++) {
		ex_release_resource_lite(&eight[i]);
		ex_delete_resource_lite(&eight[i]);
	}
	KUNIT_EXPECT_EQ(test, events(), 1u);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched + 8);
	session_stop(test);
}

/* T19 */

static void slots_go_with_their_thread(struct kunit *test)
{
	unsigned long thread;
	int tries = 60000;
	u64 unmatched;
	u32 threads;

	start(test);
	threads = ntklog_thread_count();
	users[0].quiet = true;
	KUNIT_EXPECT_TRUE(test, user_call(test, 0, exclusive, true));
	KUNIT_EXPECT_EQ(test, ntklog_thread_count(), threads + 1);
	thread = user_thread(test, 0);
	user_exit(test, 0);
	/* Its end is told of before it is at its end. */
	while (ntklog_thread_count() != threads && tries--)
		usleep_range(500, 1000);
	KUNIT_EXPECT_EQ(test, ntklog_thread_count(), threads);
	/* What it left owned is released for it, and nothing is known of that. */
	unmatched = counts()->unmatched;
	ex_release_resource_for_thread_lite(&resource, thread);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched + 1);
	KUNIT_EXPECT_EQ(test, events(), 0u);
	session_stop(test);
}

/* The rules of sampling, at their limits */

/*
 * Is a final release written, with this processor's count of them and what else
 * the rules look at as given?
 */
static bool release_writes(u64 releases, u64 wait_time, u32 contention_delta)
{
	const struct ntklog_resource_wait wait = {
		.start_time = get_cycles() - wait_time,
		.processor = TEST_CPU,
		.on = true,
	};
	unsigned int before = events();
	struct wmi_resource64 record;
	unsigned long flags;
	bool sampled;

	ntklog_track_resource_acquire_slow(&resource, 1, U32_MAX, wait_time ? &wait : NULL);
	preempt_disable();
	local_irq_save(flags);
	ntklog_restart_release_countdown(&counts()->releases, releases - 1);
	local_irq_restore(flags);
	ntklog_count_resource_release(true);
	sampled = ntklog_track_resource_release_by_other(&resource, (unsigned long)current, true,
							 U32_MAX + contention_delta, &record);
	preempt_enable();
	if (sampled)
		ntklog_write_resource(&record);
	return events() != before;
}

static void releases_are_sampled_by_their_count(struct kunit *test)
{
	start(test);
	set_parameters(test, 1500, U32_MAX, 1);
	KUNIT_EXPECT_FALSE(test, release_writes(1499, 0, 0));
	KUNIT_EXPECT_TRUE(test, release_writes(1500, 0, 0));
	KUNIT_EXPECT_FALSE(test, release_writes(1501, 0, 0));
	KUNIT_EXPECT_TRUE(test, release_writes(3000, 0, 0));
	session_stop(test);
}

static void waits_are_sampled_by_the_count_of_releases(struct kunit *test)
{
	start(test);
	set_parameters(test, U32_MAX, 7, 1);
	KUNIT_EXPECT_FALSE(test, release_writes(706, 2, 0));
	KUNIT_EXPECT_TRUE(test, release_writes(707, 2, 0));
	KUNIT_EXPECT_FALSE(test, release_writes(708, 2, 0));
	/* Not waited for: the rule is not for it. */
	KUNIT_EXPECT_FALSE(test, release_writes(707, 0, 0));
	session_stop(test);
}

static void contended_ones_are_sampled_by_their_contention(struct kunit *test)
{
	start(test);
	set_parameters(test, U32_MAX, 3, 1);
	KUNIT_EXPECT_FALSE(test, release_writes(1000, 0, 0));
	KUNIT_EXPECT_FALSE(test, release_writes(1000, 0, 2));
	KUNIT_EXPECT_TRUE(test, release_writes(1000, 0, 3));
	KUNIT_EXPECT_FALSE(test, release_writes(1000, 0, 4));
	KUNIT_EXPECT_TRUE(test, release_writes(1000, 0, 6));
	session_stop(test);
}

static void an_unknown_wait_is_no_wait(struct kunit *test)
{
	start(test);
	set_parameters(test, U32_MAX, 1, 1);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	session_stop(test);
	start(test);
	set_parameters(test, U32_MAX, 1, 1);
	/* Acquired again: WaitTime 1. */
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(2);
	KUNIT_EXPECT_EQ(test, events(), 0u);
	session_stop(test);
}

static void releases_are_counted_by_kind(struct kunit *test)
{
	struct ntklog_resource_cpu before;

	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
	start(test);
	before = *counts();
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(2);
	KUNIT_EXPECT_EQ(test, counts()->exclusive_releases, before.exclusive_releases + 1);
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, counts()->shared_releases, before.shared_releases + 1);
	KUNIT_EXPECT_EQ(test, counts()->exclusive_releases, before.exclusive_releases + 1);
	session_stop(test);
	/* Off: nothing. */
	before = *counts();
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, counts()->shared_releases, before.shared_releases);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, before.unmatched);
}

/* Softirqs */

static struct eresource of_softirq[2], of_thread[8];

/* On top of this thread, and in its name. */
static void take_two_in_softirq(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(SOFTIRQ_OFFSET);
	exclusive(&of_softirq[0], false);
	exclusive(&of_softirq[1], false);
	ex_release_resource_lite(&of_softirq[0]);
	ex_release_resource_lite(&of_softirq[1]);
	__preempt_count_sub(SOFTIRQ_OFFSET);
	local_irq_restore(flags);
}

static void a_softirq_gives_back_what_it_took_in_any_order(struct kunit *test)
{
	static struct lock_class_key softirq_keys[2], thread_keys[8];
	u64 untracked = counts()->untracked, unmatched = counts()->unmatched;
	size_t i;

	/* Each a class of its own, for lockdep. */
	for (i = 0; i < ARRAY_SIZE(of_softirq); i++)
		__ex_initialize_resource_lite(&of_softirq[i], "of_softirq", &softirq_keys[i]);
	for (i = 0; i < ARRAY_SIZE(of_thread); i++)
		__ex_initialize_resource_lite(&of_thread[i], "of_thread", &thread_keys[i]);
	start(test);
	for (i = 0; i < 20; i++)
		take_two_in_softirq();
	/* All of the thread's slots are there. */
	for (i = 0; i < ARRAY_SIZE(of_thread); i++)
		exclusive(&of_thread[i], true);
	for (i = 0; i < ARRAY_SIZE(of_thread); i++)
		ex_release_resource_lite(&of_thread[i]);
	session_stop(test);
	KUNIT_EXPECT_EQ(test, counts()->untracked, untracked);
	KUNIT_EXPECT_EQ(test, counts()->unmatched, unmatched);
	for (i = 0; i < ARRAY_SIZE(of_softirq); i++)
		ex_delete_resource_lite(&of_softirq[i]);
	for (i = 0; i < ARRAY_SIZE(of_thread); i++)
		ex_delete_resource_lite(&of_thread[i]);
}

/* The rundown, and the other sink */

static void the_rundown_tells_the_parameters(struct kunit *test)
{
	static const u32 expected[] = { 11, 12, 13 };

	set_parameters(test, 11, 12, 13);
	session_start(test, PERF_SYNC_OBJECTS, 4096, 8);
	session_stop(test);
	/* Where it is written is the session's choice, not always here. */
	if (session_event(0, 0x0F4D)) {
		KUNIT_EXPECT_EQ(test, get_u16(session_event(0, 0x0F4D), EVENT_SIZE), 0x1C);
		KUNIT_EXPECT_EQ(test, get_u8(session_event(0, 0x0F4D), EVENT_VERSION), 2);
		KUNIT_EXPECT_MEMEQ(test, session_event(0, 0x0F4D) + EVENT_DATA, expected, 12);
		KUNIT_EXPECT_MEMEQ(test, session_event(0, 0x0F4E) + EVENT_DATA, expected, 12);
	}
	KUNIT_EXPECT_NULL(test, session_event(0, 0x0F4B));
}

static struct eresource *probed_resource;
static unsigned int probes;

static void probe(void *data, const struct wmi_resource64 *record)
{
	probes++;
	/* As a BPF program's helper might. */
	if (probed_resource && ex_try_to_acquire_resource_exclusive_lite(probed_resource))
		ex_release_resource_lite(probed_resource);
}

static void a_resource_used_by_the_writer_writes_nothing(struct kunit *test)
{
	static struct eresource inner;
	u64 suppressed;

	ex_initialize_resource_lite(&inner);
	start(test);
	probed_resource = &inner;
	probes = 0;
	KUNIT_ASSERT_EQ(test, register_trace_resource(probe, NULL), 0);
	suppressed = counts()->suppressed;
	KUNIT_EXPECT_TRUE(test, exclusive(&resource, true));
	release(1);
	unregister_trace_resource(probe, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, probes, 1u);
	KUNIT_EXPECT_EQ(test, events(), 1u);
	KUNIT_EXPECT_EQ(test, counts()->suppressed, suppressed + 1);
	session_stop(test);
	ex_delete_resource_lite(&inner);
}

static void the_tracepoint_alone_turns_tracking_on(struct kunit *test)
{
	set_parameters(test, 1, 1, 1);
	probed_resource = NULL;
	probes = 0;
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_resource_key));
	KUNIT_ASSERT_EQ(test, register_trace_resource(probe, NULL), 0);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_resource_key));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	unregister_trace_resource(probe, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, probes, 1u);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_resource_key));
	KUNIT_EXPECT_TRUE(test, shared(&resource, true));
	release(1);
	KUNIT_EXPECT_EQ(test, probes, 1u);
}

static struct kunit_case perf_resource_test_cases[] = {
	KUNIT_CASE(initialisations_are_written),
	KUNIT_CASE(a_reinitialisation_tells_of_the_owners),
	KUNIT_CASE(every_byte_of_a_release_is_nts),
	KUNIT_CASE(a_shared_release_is_written),
	KUNIT_CASE(only_the_last_release_is_written_with_the_greatest_depth),
	KUNIT_CASE(a_conversion_is_released_as_shared),
	KUNIT_CASE(acquired_again_and_the_first_not_known),
	KUNIT_CASE(the_wait_for_exclusive_is_timed),
	KUNIT_CASE(the_wait_for_shared_is_timed),
	KUNIT_CASE(a_wait_across_processors_is_not_known),
	KUNIT_CASE(a_hold_across_processors_is_not_known),
	KUNIT_CASE(contention_while_owned_is_counted),
	KUNIT_CASE(an_owner_pointer_is_written_and_its_release_is_not),
	KUNIT_CASE(a_release_for_another_thread_is_that_threads),
	KUNIT_CASE(a_release_for_a_waiting_thread_ends_its_first_ownership),
	KUNIT_CASE(what_others_release_leaves_no_slot),
	KUNIT_CASE(an_excessive_wait_for_exclusive_is_written),
	KUNIT_CASE(an_excessive_wait_for_shared_is_written),
	KUNIT_CASE(each_so_many_th_time_out_is_written),
	KUNIT_CASE(a_time_out_on_another_processor_does_not_know_how_long),
	KUNIT_CASE(the_ninth_is_counted_and_locks_all_the_same),
	KUNIT_CASE(a_release_of_what_was_owned_before_is_counted_only),
	KUNIT_CASE(slots_of_an_earlier_tracking_are_free),
	KUNIT_CASE(slots_go_with_their_thread),
	KUNIT_CASE(releases_are_sampled_by_their_count),
	KUNIT_CASE(waits_are_sampled_by_the_count_of_releases),
	KUNIT_CASE(contended_ones_are_sampled_by_their_contention),
	KUNIT_CASE(an_unknown_wait_is_no_wait),
	KUNIT_CASE(releases_are_counted_by_kind),
	KUNIT_CASE(a_softirq_gives_back_what_it_took_in_any_order),
	KUNIT_CASE(the_rundown_tells_the_parameters),
	KUNIT_CASE(a_resource_used_by_the_writer_writes_nothing),
	KUNIT_CASE(the_tracepoint_alone_turns_tracking_on),
	{}
};

static struct kunit_suite perf_resource_test_suite = {
	.name = "ntklog_perf_resource",
	.init = resource_fixture_init,
	.exit = resource_fixture_exit,
	.test_cases = perf_resource_test_cases,
};

kunit_test_suite(perf_resource_test_suite);
