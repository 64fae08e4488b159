// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of the sleeping locks that tasks hold or wait for. ntklog is loaded with linux_locks=0,
 * so the test calls the hooks itself, and marks the groups as observed.
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/instruction_pointer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/etw/control.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/run.h"
#include "../module/etw/snapshot.h"
#include "../module/ground/clock.h"
#include "../module/ground/task_record.h"
#include "../module/ground/thread.h"
#include "../module/perf/sleeping_lock.h"
#include "session_fixture.h"

#define OPEN_HOLD	0xA053
#define LIST_TIME	(EVENT_DATA + 0x00)
#define LOCK		(EVENT_DATA + 0x08)
#define SINCE		(EVENT_DATA + 0x10)
#define WAIT_TIME	(EVENT_DATA + 0x18)
#define CALLER		(EVENT_DATA + 0x20)
#define THREAD_ID	(EVENT_DATA + 0x28)
#define ACTION		(EVENT_DATA + 0x2C)
#define CONTENTIONS	(EVENT_DATA + 0x30)
#define RESERVED	(EVENT_DATA + 0x34)
#define READY		(EVENT_DATA + 0x38)
#define BLOCKED		(EVENT_DATA + 0x40)

/* Stand for locks: the hooks use only their addresses. */
static u32 mutex, rwsem, semaphore;

static struct test_thread holder, waiter;

/* A thread's role in a test: @start and @end are clocks around the calls of hooks in @act. */
struct role {
	void (*act)(void);
	u64 start;
	u64 end;
	struct completion hooks_called;
	struct completion may_end;
};

static struct role holder_role, waiter_role;

/* Valid until the holder ends. */
static struct ntklog_task *holder_record;

static int play_role(void *data)
{
	struct role *role = data;

	role->start = ntklog_read_cycles();
	role->act();
	role->end = ntklog_read_cycles();
	complete(&role->hooks_called);
	wait_for_completion(&role->may_end);
	return 0;
}

static void hold_three_locks(void)
{
	ntklog_track_sleeping_acquire_slow(&mutex, _THIS_IP_, NTKLOG_SLEEPING_CLASS(MUTEX) |
							      NTKLOG_SLEEPING_EXCLUSIVE);
	ntklog_begin_sleeping_wait(&mutex);
	ntklog_end_sleeping_wait(&mutex, 0);
	ntklog_track_sleeping_acquire_slow(&semaphore, _THIS_IP_, NTKLOG_SLEEPING_CLASS(SEMAPHORE) |
								  NTKLOG_SLEEPING_EXCLUSIVE);
	ntklog_track_sleeping_acquire_slow(&rwsem, _THIS_IP_, NTKLOG_SLEEPING_CLASS(RWSEM) |
							      NTKLOG_SLEEPING_SHARED);
	holder_record = ntklog_find_current_record();
}

static void wait_for_mutex(void)
{
	ntklog_track_sleeping_acquire_slow(&mutex, _THIS_IP_, NTKLOG_SLEEPING_CLASS(MUTEX) |
							      NTKLOG_SLEEPING_EXCLUSIVE);
	ntklog_count_sleeping_contention(&mutex, NTKLOG_SLEEPING_CLASS(MUTEX), holder.task);
	ntklog_begin_sleeping_wait(&mutex);
}

static void begin_role(struct kunit *test, struct test_thread *thread, struct role *role,
		       void (*act)(void))
{
	init_completion(&role->hooks_called);
	init_completion(&role->may_end);
	role->act = act;
	test_thread_start(test, thread, TEST_CPU + 1, play_role, role);
	wait_for_completion(&role->hooks_called);
	do {
		msleep(20);
	} while (task_is_running(thread->task) || READ_ONCE(thread->task->on_cpu));
}

static void end_role(struct test_thread *thread, struct role *role)
{
	complete(&role->may_end);
	test_thread_join(thread);
}

/* A holder of three locks, a task that waits for one of them, and a lock of the test itself. */
static void begin_roles(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX)), 0);
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(RWSEM)), 0);
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(NTKLOG_SLEEPING_CLASS(SEMAPHORE)), 0);
	begin_role(test, &holder, &holder_role, hold_three_locks);
	begin_role(test, &waiter, &waiter_role, wait_for_mutex);
	ntklog_track_sleeping_acquire_slow(&rwsem, _THIS_IP_, NTKLOG_SLEEPING_CLASS(RWSEM) |
							      NTKLOG_SLEEPING_SHARED);
}

static void end_roles(void)
{
	end_role(&waiter, &waiter_role);
	end_role(&holder, &holder_role);
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(SEMAPHORE));
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(RWSEM));
	ntklog_disable_sleeping_class(NTKLOG_SLEEPING_CLASS(MUTEX));
}

static void observe_mutexes_and_rwsems(struct etw_session *session)
{
	etw_group_mask_set(&session->run->observed_groups, PERF_LINUX_MUTEX);
	etw_group_mask_set(&session->run->observed_groups, PERF_LINUX_RWSEM);
}

static void expect_lock(struct kunit *test, const u8 *event, const void *lock, u32 action,
			struct task_struct *task, const struct role *role)
{
	KUNIT_EXPECT_EQ(test, read_u64(event, LOCK), (u64)(unsigned long)lock);
	KUNIT_EXPECT_EQ(test, read_u32(event, ACTION), action);
	KUNIT_EXPECT_EQ(test, read_u32(event, THREAD_ID), (u32)task_pid_nr(task));
	KUNIT_EXPECT_GE(test, read_u64(event, SINCE), role->start);
	KUNIT_EXPECT_LE(test, read_u64(event, SINCE), role->end);
	KUNIT_EXPECT_NE(test, read_u64(event, CALLER), 0ull);
	KUNIT_EXPECT_GT(test, read_u64(event, BLOCKED), 0ull);
	KUNIT_EXPECT_LE(test, read_u64(event, READY) + read_u64(event, BLOCKED),
			ntklog_read_cycles() - role->start);
	KUNIT_EXPECT_EQ(test, read_u32(event, RESERVED), 0u);
}

/* The order of tasks is that of a hash table; the locks of a task are in the order of slots. */
static void expect_list(struct kunit *test, const u8 *const *events)
{
	bool waiter_comes_first = read_u32(events[1], THREAD_ID) == (u32)task_pid_nr(waiter.task);
	const u8 *wait = events[waiter_comes_first ? 1 : 3];
	const u8 *const *held = events + (waiter_comes_first ? 2 : 1);
	int i;

	KUNIT_EXPECT_EQ(test, read_u32(events[0], EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, read_u16(events[0], EVENT_SIZE), 0x58);
	KUNIT_EXPECT_EQ(test, read_u32(events[0], ACTION), 0u);
	KUNIT_EXPECT_EQ(test, read_u64(events[0], LOCK), 0ull);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_GE(test, read_u64(events[i], LIST_TIME), waiter_role.end);
		KUNIT_EXPECT_EQ(test, read_u64(events[i], LIST_TIME),
				read_u64(events[0], LIST_TIME));
	}
	expect_lock(test, held[0], &mutex, 0x80010021, holder.task, &holder_role);
	KUNIT_EXPECT_NE(test, read_u64(held[0], WAIT_TIME), 0ull);
	KUNIT_EXPECT_EQ(test, read_u32(held[0], CONTENTIONS), 1u);
	expect_lock(test, held[1], &rwsem, 0x80020041, holder.task, &holder_role);
	KUNIT_EXPECT_EQ(test, read_u64(held[1], WAIT_TIME), 0ull);
	KUNIT_EXPECT_EQ(test, read_u32(held[1], CONTENTIONS), 0u);
	expect_lock(test, wait, &mutex, 0x80010024, waiter.task, &waiter_role);
}

static void stopped_session_lists_observed_locks_of_other_tasks(struct kunit *test)
{
	const u8 *events[4];
	unsigned int i;

	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 8);
	begin_roles(test);
	observe_mutexes_and_rwsems(&etw_sessions[0]);
	stop_session_0(test);
	KUNIT_ASSERT_EQ(test, count_session_events(OPEN_HOLD), 4u);
	for (i = 0; i < 4; i++)
		events[i] = get_session_event(i, OPEN_HOLD);
	expect_list(test, events);
	end_roles();
}

static void session_without_sleeping_locks_lists_none(struct kunit *test)
{
	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 8);
	begin_roles(test);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, count_session_events(OPEN_HOLD), 0u);
	end_roles();
}

static unsigned int find_in_snapshot(const u8 *file, size_t size, const u8 **events,
				     unsigned int count)
{
	unsigned int found_count = 0;
	size_t buffer, position;

	for (buffer = SESSION_BUFFER_SIZE; buffer < size; buffer += SESSION_BUFFER_SIZE) {
		const u8 *bytes = file + buffer;

		for (position = BUFFER_EVENTS; position < read_u32(bytes, BUFFER_SAVED_OFFSET);
		     position += ALIGN(read_u16(bytes + position, EVENT_SIZE), 8)) {
			if (read_u16(bytes + position, EVENT_HOOK_ID) != OPEN_HOLD)
				continue;
			if (found_count < count)
				events[found_count] = bytes + position;
			found_count++;
		}
	}
	return found_count;
}

static void snapshot_of_started_session_has_list(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	const u8 *events[4];
	unsigned int found_count;
	size_t size;
	u8 *file;

	start_session_by_id(test, 2, PERF_SPINLOCK, 4, ETW_MODE_BUFFERING);
	begin_roles(test);
	observe_mutexes_and_rwsems(session);
	file = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	found_count = find_in_snapshot(file, size, events, ARRAY_SIZE(events));
	KUNIT_EXPECT_EQ(test, found_count, 4u);
	if (found_count == 4)
		expect_list(test, events);
	kvfree(file);
	stop_session_by_id(test, 2);
	end_roles();
}

static void lock_whose_wait_begins_or_ends_is_not_listed(struct kunit *test)
{
	struct ntklog_sleeping_slot *slot;
	unsigned int i;

	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 8);
	begin_roles(test);
	observe_mutexes_and_rwsems(&etw_sessions[0]);
	slot = &holder_record->sleeping_slots[1];
	KUNIT_EXPECT_PTR_EQ(test, slot->lock, (const void *)&mutex);
	raw_write_seqcount_begin(&slot->wait_sequence);
	stop_session_0(test);
	raw_write_seqcount_end(&slot->wait_sequence);
	/* The first event is that of the list. */
	KUNIT_EXPECT_EQ(test, count_session_events(OPEN_HOLD), 3u);
	for (i = 1; i < count_session_events(OPEN_HOLD); i++)
		KUNIT_EXPECT_TRUE(test,
				  read_u64(get_session_event(i, OPEN_HOLD), LOCK) !=
				  (u64)(unsigned long)&mutex ||
				  read_u32(get_session_event(i, OPEN_HOLD), THREAD_ID) ==
				  (u32)task_pid_nr(waiter.task));
	end_roles();
}

static struct kunit_case held_locks_cases[] = {
	KUNIT_CASE(stopped_session_lists_observed_locks_of_other_tasks),
	KUNIT_CASE(session_without_sleeping_locks_lists_none),
	KUNIT_CASE(snapshot_of_started_session_has_list),
	KUNIT_CASE(lock_whose_wait_begins_or_ends_is_not_listed),
	{}
};

static struct kunit_suite held_locks_suite = {
	.name = "ntklog_held_locks",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = held_locks_cases,
};

kunit_test_suite(held_locks_suite);
