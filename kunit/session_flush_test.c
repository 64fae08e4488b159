// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <linux/workqueue.h>

#include "../module/etw/control.h"
#include "../module/etw/flush.h"
#include "session_fixture.h"

static void let_flush_timer_fire(int i)
{
	flush_delayed_work(&etw_sessions[i].flush_work);
}

/* Start a session whose flush timer expires only by let_flush_timer_fire(). */
static void start_with_flush_timer(struct kunit *test, int i, u32 buffers)
{
	start_session_by_id(test, i, PERF_SPINLOCK_CNTRS, buffers, ETW_MODE_SEQUENTIAL);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(&etw_sessions[i], ETW_FLUSH_TIMER_MAX), 0);
}

static void stop_and_reset_flush_timer(struct kunit *test, int i)
{
	stop_session_by_id(test, i);
	etw_set_flush_timer(&etw_sessions[i], ETW_FLUSH_TIMER_DEFAULT);
}

static void read_all(int i)
{
	struct rchan_buf *buf = session_rchan_buf(i);

	relay_subbufs_consumed(buf->chan, TEST_CPU,
			       buf->subbufs_produced - buf->subbufs_consumed);
}

static void flush_timer_expires_partly_filled_buffer_finished(struct kunit *test)
{
	int tries = 60000;

	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(&etw_sessions[4], 3600001), -EINVAL);
	start_session_by_id(test, 4, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(&etw_sessions[4], ETW_FLUSH_TIMER_MAX), 0);
	log_event(PERF_SPINLOCK_CNTRS, 1);
	msleep(50);
	KUNIT_EXPECT_EQ(test, etw_get_finished_buffer_count(session_rchan_buf(4)), 0);
	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(&etw_sessions[4], 10), 0);
	while (!etw_get_finished_buffer_count(session_rchan_buf(4)) && tries--)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, etw_get_finished_buffer_count(session_rchan_buf(4)), 1);
	stop_and_reset_flush_timer(test, 4);
}

static void flush_timer_reader_gets_each_event(struct kunit *test)
{
	u64 i;

	start_with_flush_timer(test, 4, 2);
	for (i = 1; i <= 10; i++) {
		log_event(PERF_SPINLOCK_CNTRS, i);
		let_flush_timer_fire(4);
		KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, i);
		let_flush_timer_fire(4);
		KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, i);
		read_all(4);
	}
	/* The timer finishes no second buffer while the first one has not been read. */
	log_event(PERF_SPINLOCK_CNTRS, i);
	let_flush_timer_fire(4);
	log_event(PERF_SPINLOCK_CNTRS, i);
	let_flush_timer_fire(4);
	KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, i);
	read_all(4);
	let_flush_timer_fire(4);
	KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, i + 1);
	stop_and_reset_flush_timer(test, 4);
}

static void flush_timer_without_reader_no_event_lost(struct kunit *test)
{
	static const u32 buffers[] = { 2, 4 };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		start_with_flush_timer(test, 4, buffers[i]);
		for (j = 0; j < EVENTS_PER_BUFFER; j++) {
			log_event(PERF_SPINLOCK_CNTRS, j);
			let_flush_timer_fire(4);
		}
		stop_and_reset_flush_timer(test, 4);
		KUNIT_EXPECT_EQ(test, get_session_counts(4)->lost, 0ull);
		KUNIT_EXPECT_EQ(test, get_session_counts(4)->written, (u64)EVENTS_PER_BUFFER);
		KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, 2);
		KUNIT_EXPECT_EQ(test,
				read_u64(session_buffer_at(4, 1), BUFFER_EVENTS + EVENT_DATA),
				1ull);
	}
}

static void flush_with_last_free_buffer_keeps_it(struct kunit *test)
{
	int i;

	start_session_by_id(test, 4, PERF_SPINLOCK_CNTRS, 3, ETW_MODE_SEQUENTIAL);
	for (i = 0; i < 3; i++) {
		log_event(PERF_SPINLOCK_CNTRS, i);
		KUNIT_EXPECT_EQ(test, etw_flush_session(&etw_sessions[4]), 0);
	}
	KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, 2);
	/* The events that do not fit are lost. */
	for (i = 0; i < EVENTS_PER_BUFFER; i++)
		log_event(PERF_SPINLOCK_CNTRS, 3 + i);
	KUNIT_EXPECT_EQ(test, get_session_counts(4)->lost, 1ull);
	KUNIT_EXPECT_EQ(test, etw_flush_session(&etw_sessions[4]), 0);
	stop_session_by_id(test, 4);
	KUNIT_EXPECT_EQ(test, get_session_counts(4)->written, 2ull + EVENTS_PER_BUFFER);
	KUNIT_EXPECT_EQ(test, session_rchan_buf(4)->subbufs_produced, 3);
	KUNIT_EXPECT_EQ(test, read_u32(session_buffer_at(4, 2), BUFFER_SAVED_OFFSET),
			BUFFER_EVENTS + EVENTS_PER_BUFFER * 0x50);
	KUNIT_EXPECT_EQ(test, read_u16(session_buffer_at(4, 2), BUFFER_FLAG) & 0x02, 0x02);
}

static struct kunit_case session_flush_test_cases[] = {
	KUNIT_CASE(flush_timer_expires_partly_filled_buffer_finished),
	KUNIT_CASE(flush_timer_reader_gets_each_event),
	KUNIT_CASE(flush_timer_without_reader_no_event_lost),
	KUNIT_CASE(flush_with_last_free_buffer_keeps_it),
	{}
};

static struct kunit_suite session_flush_test_suite = {
	.name = "ntklog_session_flush",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = session_flush_test_cases,
};

kunit_test_suite(session_flush_test_suite);
