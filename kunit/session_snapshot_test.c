// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/timex.h>
#include <uapi/ntklog/event.h>

#include "../module/etw/control.h"
#include "../module/etw/flush.h"
#include "../module/etw/reader.h"
#include "../module/etw/snapshot.h"
#include "../module/perf/spin_lock.h"
#include "session_fixture.h"

static void buffering_mode_full_oldest_buffer_overwritten(struct kunit *test)
{
	struct rchan_buf *buf;
	u64 i;

	start_session_by_id(test, 1, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	/* Write ten buffers, of which the last four are kept. */
	for (i = 0; i < 10 * EVENTS_PER_BUFFER; i++)
		log_event(PERF_SPINLOCK_CNTRS, i);
	KUNIT_EXPECT_EQ(test, get_session_counts(1)->lost, 0ull);
	KUNIT_EXPECT_EQ(test, get_session_counts(1)->written, 10ull * EVENTS_PER_BUFFER);
	KUNIT_EXPECT_EQ(test, get_session_counts(1)->overwritten, 6ull);
	KUNIT_EXPECT_EQ(test, etw_flush_session(&etw_sessions[1]), -EINVAL);
	stop_session_by_id(test, 1);
	buf = session_rchan_buf(1);
	KUNIT_EXPECT_EQ(test, buf->subbufs_produced, 10);
	KUNIT_EXPECT_EQ(test, buf->subbufs_consumed, 6);
	/* The run has four buffers: buffers 7 to 10 have the indexes 2, 3, 0 and 1. */
	KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(1, 2), BUFFER_SEQUENCE), 7ull);
	KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(1, 1), BUFFER_SEQUENCE), 10ull);
	KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(1, 2), BUFFER_EVENTS + EVENT_DATA),
			6ull * EVENTS_PER_BUFFER);
}

static void check_snapshot(struct kunit *test, const u8 *snapshot, size_t size,
			   u64 first, u64 last, u32 buffers_lost)
{
	size_t buffers = size / SESSION_BUFFER_SIZE, i;

	KUNIT_EXPECT_EQ(test, size % SESSION_BUFFER_SIZE, 0ul);
	KUNIT_EXPECT_EQ(test, read_u16(snapshot, BUFFER_TYPE), 4);
	/* LogFileMode, BuffersWritten, BuffersLost */
	KUNIT_EXPECT_EQ(test, read_u32(snapshot, 0x68 + 0x20), 0x02000400u);
	KUNIT_EXPECT_EQ(test, read_u32(snapshot, 0x68 + 0x24), (u32)buffers);
	KUNIT_EXPECT_EQ(test, read_u32(snapshot, 0x68 + 0x114), buffers_lost);
	for (i = 1; i < buffers; i++) {
		const u8 *bytes = snapshot + i * SESSION_BUFFER_SIZE;

		if (i > 1)
			KUNIT_EXPECT_GT(test, read_u64(bytes, BUFFER_SEQUENCE),
					read_u64(bytes - SESSION_BUFFER_SIZE, BUFFER_SEQUENCE));
		KUNIT_EXPECT_EQ(test, read_u16(bytes, BUFFER_FLAG),
				i == buffers - 1 ? 0x21 : 0x20);
	}
	KUNIT_EXPECT_EQ(test, read_u64(snapshot + SESSION_BUFFER_SIZE, BUFFER_EVENTS + EVENT_DATA),
			first);
	i = (buffers - 1) * SESSION_BUFFER_SIZE;
	i += read_u32(snapshot + i, BUFFER_SAVED_OFFSET) - 0x50;
	KUNIT_EXPECT_EQ(test, read_u64(snapshot + i, EVENT_DATA), last);
}

static void snapshot_of_running_session_is_file_session_continues(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	u8 *snapshot;
	size_t size;
	u64 i;

	start_session_by_id(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	for (i = 0; i < 5 * EVENTS_PER_BUFFER + 10; i++)
		log_event(PERF_SPINLOCK_CNTRS, i);
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	/* Two buffers were overwritten. Four are left, the last one partly filled. */
	check_snapshot(test, snapshot, size, 2 * EVENTS_PER_BUFFER, i - 1, 2);
	KUNIT_EXPECT_EQ(test, size, 5ul * SESSION_BUFFER_SIZE);
	kvfree(snapshot);

	log_event(PERF_SPINLOCK_CNTRS, i);
	stop_session_by_id(test, 2);
	/* The stop has finished another buffer, which has overwritten the oldest one. */
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	check_snapshot(test, snapshot, size, 3 * EVENTS_PER_BUFFER, i, 3);
	kvfree(snapshot);
	KUNIT_EXPECT_EQ(test, get_session_counts(2)->generated,
			get_session_counts(2)->written + get_session_counts(2)->lost);
}

static const u8 *find_in_buffer(const u8 *bytes, u16 hook_id)
{
	size_t end = read_u32(bytes, BUFFER_SAVED_OFFSET), position;

	for (position = BUFFER_EVENTS; position < end;
	     position += ALIGN(read_u16(bytes + position, EVENT_SIZE), 8))
		if (read_u16(bytes + position, EVENT_HOOK_ID) == hook_id)
			return bytes + position;
	return NULL;
}

static void snapshot_ends_with_rundown(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	u32 set[] = { 5, 2, 4000, 3, 5000000 };
	const u8 *last, *event;
	u8 *snapshot, *again;
	size_t size, size_again;
	u64 i, sequence;

	KUNIT_ASSERT_EQ(test,
			ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, set, 0x14),
			STATUS_SUCCESS);
	start_session_by_id(test, 2, PERF_SPINLOCK, 4, ETW_MODE_BUFFERING);
	change_groups_of_session(2, PERF_SYNC_OBJECTS, true);
	change_groups_of_session(2, PERF_SPINLOCK_CNTRS, true);
	/* Overwrite the rundown of the start, if it is in a buffer of TEST_CPU. */
	for (i = 0; i < 6 * EVENTS_PER_BUFFER; i++)
		log_event(PERF_SPINLOCK_CNTRS, i);
	sequence = atomic64_read(&session->run->sequence_number);
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	last = snapshot + size - SESSION_BUFFER_SIZE;
	KUNIT_EXPECT_EQ(test, read_u32(snapshot, 0x68 + 0x24), (u32)(size / SESSION_BUFFER_SIZE));
	KUNIT_EXPECT_EQ(test, read_u32(last, BUFFER_SIZE), SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, read_u32(last, BUFFER_SAVED_OFFSET), 0x48 + 0x20 + 0x20);
	KUNIT_EXPECT_EQ(test, read_u32(last, BUFFER_OFFSET), 0x48 + 0x20 + 0x20);
	KUNIT_EXPECT_EQ(test, read_u16(last, BUFFER_FLAG), 0x21);
	KUNIT_EXPECT_EQ(test, read_u16(last - SESSION_BUFFER_SIZE, BUFFER_FLAG), 0x20);
	KUNIT_EXPECT_EQ(test, read_u64(last, BUFFER_SEQUENCE), sequence + 1);
	KUNIT_EXPECT_EQ(test, read_u16(last, BUFFER_LOGGER_ID), 2);
	KUNIT_EXPECT_EQ(test, read_u32(last, BUFFER_STATE), 3);
	KUNIT_EXPECT_EQ(test, read_u16(last, BUFFER_PROCESSOR),
			etw_find_last_file_cpu(session->run));
	KUNIT_EXPECT_EQ(test, last[SESSION_BUFFER_SIZE - 1], 0xFF);
	event = find_in_buffer(last, 0x0F4C);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110003u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x20);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x00), 2);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x04), 3);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x08), 4000);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x0C), 5000000);
	/*
	 * The rundown is not earlier than the session's events, and not later than the buffer's
	 * end.
	 */
	KUNIT_EXPECT_GE(test, read_u64(event, EVENT_TIME),
			read_u64(last - SESSION_BUFFER_SIZE, BUFFER_TIME_STAMP));
	KUNIT_EXPECT_LE(test, read_u64(event, EVENT_TIME),
			read_u64(last, BUFFER_TIME_STAMP));
	event = find_in_buffer(last, 0x0F4E);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x1C);

	/* The rundown is no event of the session: it takes no buffer and no number. */
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&session->run->sequence_number), sequence);
	again = etw_make_snapshot(session, &size_again);
	KUNIT_ASSERT_FALSE(test, IS_ERR(again));
	KUNIT_ASSERT_EQ(test, size_again, size);
	KUNIT_EXPECT_MEMEQ(test, again + SESSION_BUFFER_SIZE, snapshot + SESSION_BUFFER_SIZE,
			   size - 2 * SESSION_BUFFER_SIZE);
	kvfree(again);
	kvfree(snapshot);
	stop_session_by_id(test, 2);

	/* The stop has written a rundown, so the snapshot adds none. */
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	for (i = 0, event = NULL; i < size / SESSION_BUFFER_SIZE; i++)
		if (i && find_in_buffer(snapshot + i * SESSION_BUFFER_SIZE, 0x0F4C)) {
			KUNIT_EXPECT_NULL(test, event);
			event = find_in_buffer(snapshot + i * SESSION_BUFFER_SIZE, 0x0F4C);
		}
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x08), 4000);
	kvfree(snapshot);
}

#define WRITER_CPU	1
#define SNAPSHOTS	200

/* @count is the number of the next event, written by the thread; @must_stop is set by the test. */
struct event_writer {
	u64 count;
	bool must_stop;
};

static int write_events(void *data)
{
	struct event_writer *writer = data;

	while (!READ_ONCE(writer->must_stop)) {
		log_event(PERF_SPINLOCK_CNTRS, writer->count);
		WRITE_ONCE(writer->count, writer->count + 1);
		cond_resched();
	}
	return 0;
}

/* Return how many events of a snapshot do not have the number of the previous event plus 1. */
static size_t count_number_gaps(const u8 *snapshot, size_t size)
{
	u64 expected = 0;
	size_t gap_count = 0, i, position;

	for (i = SESSION_BUFFER_SIZE; i < size; i += SESSION_BUFFER_SIZE) {
		for (position = BUFFER_EVENTS;
		     position < read_u32(snapshot + i, BUFFER_SAVED_OFFSET);
		     position += ALIGN(read_u16(snapshot + i + position, EVENT_SIZE) ?: 8, 8)) {
			u64 number = read_u64(snapshot + i + position, EVENT_DATA);

			gap_count += number != expected &&
				(i > SESSION_BUFFER_SIZE || position > BUFFER_EVENTS);
			expected = number + 1;
		}
	}
	return gap_count;
}

static void events_during_snapshot_written_and_copies_whole(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	const struct etw_buffer_cpu *counts;
	struct event_writer writer = {};
	struct test_thread thread;
	size_t copied_buffers = 0, size, i;
	u64 start;

	start_session_by_id(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	counts = per_cpu_ptr(session->run->cpus, WRITER_CPU);
	test_thread_start(test, &thread, WRITER_CPU, write_events, &writer);
	for (i = 0; i < SNAPSHOTS; i++) {
		u8 *snapshot, *last_buffer;
		u64 first, last;

		start = READ_ONCE(writer.count);
		while (READ_ONCE(writer.count) < start + 5 * EVENTS_PER_BUFFER)
			cond_resched();
		snapshot = etw_make_snapshot(session, &size);
		if (IS_ERR(snapshot)) {
			KUNIT_FAIL(test, "snapshot %zu: %ld", i, PTR_ERR(snapshot));
			break;
		}
		/* BuffersWritten, BuffersLost */
		KUNIT_EXPECT_EQ(test, read_u32(snapshot, 0x68 + 0x24),
				(u32)(size / SESSION_BUFFER_SIZE));
		if (size > SESSION_BUFFER_SIZE) {
			first = read_u64(snapshot + SESSION_BUFFER_SIZE, BUFFER_SEQUENCE);
			last = read_u64(snapshot + size - SESSION_BUFFER_SIZE, BUFFER_SEQUENCE);
			KUNIT_EXPECT_EQ(test, last - first + 2, (u64)(size / SESSION_BUFFER_SIZE));
			KUNIT_EXPECT_EQ(test, first - 1, (u64)read_u32(snapshot, 0x68 + 0x114));
			last_buffer = snapshot + size - SESSION_BUFFER_SIZE;
			KUNIT_EXPECT_EQ(test, read_u16(last_buffer, BUFFER_FLAG), 0x21);
			KUNIT_EXPECT_EQ(test, count_number_gaps(snapshot, size), 0ul);
			copied_buffers += size / SESSION_BUFFER_SIZE - 1;
		}
		kvfree(snapshot);
	}
	WRITE_ONCE(writer.must_stop, true);
	test_thread_join(&thread);
	stop_session_by_id(test, 2);
	KUNIT_EXPECT_GE(test, copied_buffers, (size_t)SNAPSHOTS);
	KUNIT_EXPECT_EQ(test, counts->lost, 0ull);
	KUNIT_EXPECT_EQ(test, counts->generated, writer.count);
	KUNIT_EXPECT_EQ(test, counts->written, writer.count);
}

static void snapshot_too_large_refused(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	size_t size, produced;
	struct rchan_buf *buf;

	KUNIT_ASSERT_EQ(test, etw_set_mode(session, ETW_MODE_BUFFERING), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SZ_1M), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, 2), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
	stop_session_by_id(test, 2);
	/* The machine may lack the memory for so many buffers, so only set the count. */
	buf = session_rchan_buf(2);
	produced = buf->subbufs_produced;
	buf->subbufs_produced = buf->subbufs_consumed + 2048;
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_make_snapshot(session, &size)), -EFBIG);
	buf->subbufs_produced = produced;
}

static void snapshot_beyond_half_of_memory_refused_before_flush(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	size_t size, buffers;

	/*
	 * The buffers take two fifths of the available memory, and a snapshot needs two fifths
	 * again, which is more than half of the rest.
	 */
	buffers = si_mem_available() * 2 / 5 / (SZ_1M / PAGE_SIZE) / num_online_cpus();
	if (buffers > 1024)
		kunit_skip(test, "too much memory");
	start_session_by_id(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	stop_session_by_id(test, 2);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SZ_1M), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, buffers), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
	log_event(PERF_SPINLOCK_CNTRS, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_make_snapshot(session, &size)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, session_rchan_buf(2)->subbufs_produced, 0ul);
	KUNIT_EXPECT_TRUE(test, log_event_in_place(PERF_SPINLOCK_CNTRS, 2));
	stop_session_by_id(test, 2);
	/* Free the memory for the other tests. */
	start_session_by_id(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	stop_session_by_id(test, 2);
}

static int read_all_buffers(void *data)
{
	struct rchan_buf *buf = data;

	/* Give each finished buffer back, as a reader does when it has copied the buffer. */
	while (etw_get_consumed_buffer_count(buf) != etw_get_finished_buffer_count(buf)) {
		udelay(9);
		WRITE_ONCE(buf->subbufs_consumed, buf->subbufs_consumed + 1);
	}
	return 0;
}

static void snapshot_during_read_each_buffer_once(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	struct etw_reader *open_reader;
	struct test_thread reader;
	unsigned int round;
	u64 i;

	for (round = 0; round < 6; round++) {
		size_t size, taken = 0;

		start_session_by_id(test, 2, PERF_SPINLOCK_CNTRS, 64, ETW_MODE_BUFFERING);
		for (i = 0; i < 64 * EVENTS_PER_BUFFER; i++)
			log_event(PERF_SPINLOCK_CNTRS, i);
		stop_session_by_id(test, 2);
		open_reader = etw_open_reader(session->run, TEST_CPU);
		KUNIT_ASSERT_FALSE(test, IS_ERR(open_reader));
		test_thread_start(test, &reader, 1, read_all_buffers, session_rchan_buf(2));
		do {
			u8 *snapshot = etw_make_snapshot(session, &size);

			KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
			/* BuffersWritten */
			KUNIT_EXPECT_EQ(test, read_u32(snapshot, 0x68 + 0x24),
					(u32)(size / SESSION_BUFFER_SIZE));
			for (i = 2; i < size / SESSION_BUFFER_SIZE; i++)
				KUNIT_EXPECT_GT(test,
						read_u64(snapshot + i * SESSION_BUFFER_SIZE,
							 BUFFER_SEQUENCE),
						read_u64(snapshot + (i - 1) * SESSION_BUFFER_SIZE,
							 BUFFER_SEQUENCE));
			kvfree(snapshot);
			taken++;
		} while (size > SESSION_BUFFER_SIZE);
		test_thread_join(&reader);
		etw_close_reader(open_reader);
		KUNIT_EXPECT_GE(test, taken, (size_t)1);
	}
}

static void run_in_snapshot_freed_at_next_start(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[7];
	struct etw_run *run;
	size_t size;

	start_session_by_id(test, 7, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	log_event(PERF_SPINLOCK_CNTRS, 7);
	stop_session_by_id(test, 7);
	run = session->run;
	KUNIT_EXPECT_FALSE(test, run->is_in_snapshot);
	kvfree(etw_make_snapshot(session, &size));
	KUNIT_EXPECT_TRUE(test, run->is_in_snapshot);
	/* The run in the snapshot is freed, so the failed start leaves no run. */
	set_buffers_beyond_memory(test, session);
	KUNIT_EXPECT_EQ(test, etw_start_session(session), -ENOMEM);
	KUNIT_EXPECT_NULL(test, session->run);
	start_session_by_id(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop_session_by_id(test, 7);
}

static void snapshot_of_sequential_session_refused(struct kunit *test)
{
	size_t size;

	start_session_by_id(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_make_snapshot(&etw_sessions[2], &size)), -EINVAL);
	stop_session_by_id(test, 2);
}

static struct kunit_case session_snapshot_test_cases[] = {
	KUNIT_CASE(buffering_mode_full_oldest_buffer_overwritten),
	KUNIT_CASE(snapshot_of_running_session_is_file_session_continues),
	KUNIT_CASE(snapshot_ends_with_rundown),
	KUNIT_CASE(events_during_snapshot_written_and_copies_whole),
	KUNIT_CASE(snapshot_too_large_refused),
	KUNIT_CASE(snapshot_beyond_half_of_memory_refused_before_flush),
	KUNIT_CASE(snapshot_during_read_each_buffer_once),
	KUNIT_CASE(run_in_snapshot_freed_at_next_start),
	KUNIT_CASE(snapshot_of_sequential_session_refused),
	{}
};

static struct kunit_suite session_snapshot_test_suite = {
	.name = "ntklog_session_snapshot",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = session_snapshot_test_cases,
};

kunit_test_suite(session_snapshot_test_suite);
