// SPDX-License-Identifier: GPL-2.0-only

#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/event.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/logfile.h"
#include "../module/perf/spin_lock.h"
#include "session_fixture.h"

static void event_logged_to_subscribed_sessions_with_one_time_stamp(struct kunit *test)
{
	u64 time = 0;
	int i;

	for (i = 0; i < ETW_SESSIONS; i++)
		start_session_by_id(test, i, i % 2 ? PERF_SYNC_OBJECTS : PERF_SPINLOCK_CNTRS, 4,
				    ETW_MODE_SEQUENTIAL);
	log_event(PERF_SPINLOCK_CNTRS, 1);
	for (i = 0; i < ETW_SESSIONS; i++) {
		const u8 *event = find_first_event(i, TEST_HOOK_ID);

		if (i % 2) {
			KUNIT_EXPECT_NULL(test, event);
			continue;
		}
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, read_u64(event, EVENT_DATA), 1ull);
		time = time ?: read_u64(event, EVENT_TIME);
		KUNIT_EXPECT_EQ(test, read_u64(event, EVENT_TIME), time);
		KUNIT_EXPECT_EQ(test, read_u16(session_buffer_at(i, 0), BUFFER_LOGGER_ID), i);
	}
	stop_session_by_id(test, 2);
	log_event(PERF_SPINLOCK_CNTRS, 2);
	KUNIT_EXPECT_EQ(test, get_session_counts(2)->written, 1ull);
	KUNIT_EXPECT_EQ(test, get_session_counts(4)->written, 2ull);
	for (i = 0; i < ETW_SESSIONS; i++)
		if (i != 2)
			stop_session_by_id(test, i);
}

static void event_made_in_place_or_copied_same_bytes(struct kunit *test)
{
	int i;

	for (i = 2; i < 5; i++)
		start_session_by_id(test, i, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	for (i = 0; i < 2 * EVENTS_PER_BUFFER; i++)
		/* The first event of a buffer numbers the buffer, so it is copied. */
		KUNIT_EXPECT_EQ(test, log_event_in_place(PERF_SPINLOCK_CNTRS, i),
				i % EVENTS_PER_BUFFER != 0);
	for (i = 2; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, get_session_counts(i)->generated, 2ull * EVENTS_PER_BUFFER);
		KUNIT_EXPECT_EQ(test, get_session_counts(i)->written, 2ull * EVENTS_PER_BUFFER);
		stop_session_by_id(test, i);
		KUNIT_EXPECT_EQ(test, session_rchan_buf(i)->subbufs_produced, 2);
		KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(i, 0), BUFFER_SEQUENCE), 1ull);
		KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(i, 1), BUFFER_SEQUENCE), 2ull);
		KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(i, 1), BUFFER_EVENTS + EVENT_DATA),
				(u64)EVENTS_PER_BUFFER);
		KUNIT_EXPECT_MEMEQ(test, session_buffer_at(i, 0) + BUFFER_EVENTS,
				   session_buffer_at(2, 0) + BUFFER_EVENTS,
				   SESSION_BUFFER_SIZE - BUFFER_EVENTS);
		KUNIT_EXPECT_MEMEQ(test, session_buffer_at(i, 1) + BUFFER_EVENTS,
				   session_buffer_at(2, 1) + BUFFER_EVENTS,
				   SESSION_BUFFER_SIZE - BUFFER_EVENTS);
	}
}

/* First the session in whose buffer the event is made, then the other one. */
static void full_session_loss_counted_in_it_only(struct kunit *test)
{
	static const u32 buffers[][2] = { { 2, 4 }, { 4, 2 } };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		for (j = 0; j < 2; j++)
			start_session_by_id(test, j, PERF_SPINLOCK_CNTRS, buffers[i][j],
					    ETW_MODE_SEQUENTIAL);
		for (j = 0; j < 3 * EVENTS_PER_BUFFER; j++)
			log_event_in_place(PERF_SPINLOCK_CNTRS, j);
		for (j = 0; j < 2; j++) {
			u64 expected_lost = buffers[i][j] == 2 ? EVENTS_PER_BUFFER : 0;

			KUNIT_EXPECT_EQ(test, get_session_counts(j)->generated,
					3ull * EVENTS_PER_BUFFER);
			KUNIT_EXPECT_EQ(test, get_session_counts(j)->lost, expected_lost);
			KUNIT_EXPECT_EQ(test, get_session_counts(j)->written,
					3ull * EVENTS_PER_BUFFER - expected_lost);
			stop_session_by_id(test, j);
			KUNIT_EXPECT_EQ(test, read_u16(session_buffer_at(j, 1), BUFFER_FLAG) & 0x02,
					expected_lost ? 0x02 : 0);
		}
	}
}

static void sessions_for_event_follow_masks_and_starts(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, log_event_in_place(PERF_SPINLOCK_CNTRS, 1));
	start_session_by_id(test, 3, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	start_session_by_id(test, 6, PERF_SYNC_OBJECTS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SPINLOCK_CNTRS), 1ull << 24);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SYNC_OBJECTS), 1ull << 48);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SPINLOCK), 0ull);
	change_groups_of_session(3, PERF_SYNC_OBJECTS, true);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SYNC_OBJECTS),
			1ull << 48 | 1ull << 24);
	stop_session_by_id(test, 3);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SPINLOCK_CNTRS), 0ull);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SYNC_OBJECTS), 1ull << 48);
	stop_session_by_id(test, 6);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(PERF_SYNC_OBJECTS), 0ull);
}

/* Hold a lock longer than HoldThreshold, so that its release is written without being sampled. */
static void hold_for_long(struct kspin_lock *lock)
{
	struct klock_queue_handle handle;
	u64 acquire_time;

	ke_acquire_in_stack_queued_spin_lock(lock, &handle);
	acquire_time = get_cycles();
	while (get_cycles() - acquire_time <= EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD)
		cpu_relax();
	ke_release_in_stack_queued_spin_lock(&handle);
}

static void reused_buffer_event_has_no_old_bytes(struct kunit *test)
{
	static struct kspin_lock lock;
	unsigned int found = 0;
	const u8 *current_buffer;
	unsigned long flags;
	u8 bytes[EVENT_LENGTH];
	size_t position;
	int i;

	ke_initialize_spin_lock(&lock);
	memset(bytes, 0xA5, sizeof(bytes));
	start_session_by_id(test, 3, PERF_SPINLOCK, 2, ETW_MODE_BUFFERING);
	local_irq_save(flags);
	for (i = 0; i < 5 * EVENTS_PER_BUFFER + 1; i++)
		etw_log_event(etw_find_sessions_for_event(PERF_SPINLOCK), TEST_HOOK_ID, 1, bytes,
			      sizeof(bytes));
	local_irq_restore(flags);
	for (i = 0; i < 4; i++)
		hold_for_long(&lock);
	current_buffer = session_rchan_buf(3)->data;
	for (position = BUFFER_EVENTS; position < session_rchan_buf(3)->offset;
	     position += ALIGN(read_u16(current_buffer + position, EVENT_SIZE), 8)) {
		const u8 *event = current_buffer + position;

		if (read_u16(event, EVENT_HOOK_ID) != PERFINFO_LOG_TYPE_SPINLOCK)
			continue;
		found++;
		KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110002u);
		KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x48);
		KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS), (u64)(uintptr_t)&lock);
		KUNIT_EXPECT_EQ(test, read_little_endian(event, SPINLOCK_RESERVED, 5), 0ull);
	}
	KUNIT_EXPECT_EQ(test, found, 4);
	stop_session_by_id(test, 3);
}

static void global_mask_is_union_of_started_sessions(struct kunit *test)
{
	struct perfinfo_groupmask mask;

	start_session_by_id(test, 1, PERF_SPINLOCK, 4, ETW_MODE_SEQUENTIAL);
	start_session_by_id(test, 5, PERF_SYNC_OBJECTS, 4, ETW_MODE_SEQUENTIAL);
	mask = etw_get_global_group_mask();
	KUNIT_EXPECT_EQ(test, mask.masks[1], 0x00030000u);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	stop_session_by_id(test, 1);
	mask = etw_get_global_group_mask();
	KUNIT_EXPECT_EQ(test, mask.masks[1], 0x00020000u);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	stop_session_by_id(test, 5);
}

static u64 count_written_events(int i)
{
	u64 written = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		written += per_cpu_ptr(etw_sessions[i].run->cpus, cpu)->written;
	return written;
}

static void running_session_mask_changed_group_enabled(struct kunit *test)
{
	u64 before;

	start_session_by_id(test, 3, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	before = count_written_events(3);
	/* The group's begin and end each write an event of its observation and a rundown. */
	change_groups_of_session(3, PERF_SPINLOCK, true);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_EXPECT_EQ(test, count_written_events(3), before + 2);
	change_groups_of_session(3, PERF_SPINLOCK, true);
	KUNIT_EXPECT_EQ(test, count_written_events(3), before + 2);
	log_event(PERF_SPINLOCK, 7);
	change_groups_of_session(3, PERF_SPINLOCK, false);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_EXPECT_EQ(test, count_written_events(3), before + 5);
	log_event(PERF_SPINLOCK, 8);
	KUNIT_EXPECT_EQ(test, count_written_events(3), before + 5);
	stop_session_by_id(test, 3);
}

static void version_above_1_found_in_each_session(struct kunit *test)
{
	u32 session, version;

	KUNIT_EXPECT_FALSE(test, 0x0101010101010101 & ETW_VERSION_ABOVE_1_BITS);
	for (session = 0; session < ETW_SESSIONS; session++)
		for (version = 2; version <= ETW_EVENT_VERSIONS; version++)
			KUNIT_EXPECT_TRUE(test, (u64)version << session * ETW_SESSION_BITS &
					  ETW_VERSION_ABOVE_1_BITS);
}

static void sessions_of_other_versions_each_gets_its_own(struct kunit *test)
{
	static const u8 first[8] = { 1 }, later[16] = { 2 };
	u64 session_set, versions;
	unsigned long flags;
	int i;

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(&etw_sessions[i], i + 1), 0);
		start_session_by_id(test, i, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	}
	KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(&etw_sessions[0], 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(&etw_sessions[0], 5), -EINVAL);
	versions = etw_get_contextswap_versions(etw_find_sessions_for_event(PERF_CONTEXT_SWITCH));
	KUNIT_EXPECT_EQ(test, versions, 0);
	local_irq_save(flags);
	versions = etw_get_contextswap_versions(etw_find_sessions_for_event(PERF_SPINLOCK_CNTRS));
	KUNIT_EXPECT_EQ(test, versions, 0x04030201);
	session_set = etw_find_sessions_for_event(PERF_SPINLOCK_CNTRS);
	KUNIT_EXPECT_TRUE(test, etw_has_contextswap_version_above_1(session_set));
	KUNIT_EXPECT_FALSE(test, etw_has_contextswap_version_above_1(1));
	/*
	 * Another CPU changes the version of session 3 to 1 after this event has read the sessions.
	 * etw_set_contextswap_version() would sleep here.
	 */
	WRITE_ONCE(etw_contextswap_versions.by_session[3], 0);
	etw_log_event_in_versions(versions, TEST_HOOK_ID, first, sizeof(first), later,
				  sizeof(later));
	local_irq_restore(flags);
	versions = etw_get_contextswap_versions(etw_find_sessions_for_event(PERF_SPINLOCK_CNTRS));
	KUNIT_EXPECT_EQ(test, versions, 0x01030201);
	for (i = 0; i < 4; i++) {
		const u8 *event = find_first_event(i, TEST_HOOK_ID);

		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, read_u8(event, EVENT_VERSION), i + 1);
		KUNIT_EXPECT_EQ(test, read_u8(event, EVENT_DATA), i ? 2 : 1);
		KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), i ? 0x20 : 0x18);
		stop_session_by_id(test, i);
		etw_set_contextswap_version(&etw_sessions[i], 4);
	}
}

static void session_name_used_or_invalid_refused(struct kunit *test)
{
	char name[NTKLOG_SESSION_NAME_SIZE + 1];
	struct etw_session *session = &etw_sessions[6];

	KUNIT_EXPECT_STREQ(test, etw_sessions[0].settings.name, "NT Kernel Logger");
	KUNIT_EXPECT_STREQ(test, session->settings.name, "System Logger 6");
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "locks of my driver"), 0);
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "locks of my driver"), 0);
	KUNIT_EXPECT_EQ(test, etw_set_name(&etw_sessions[7], "locks of my driver"), -EEXIST);
	KUNIT_EXPECT_STREQ(test, etw_sessions[7].settings.name, "System Logger 7");
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "NT Kernel Logger"), -EEXIST);
	KUNIT_EXPECT_EQ(test, etw_set_name(session, ""), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "two\nlines"), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "\xc3\xa4"), -EINVAL);
	memset(name, 'n', NTKLOG_SESSION_NAME_SIZE);
	name[NTKLOG_SESSION_NAME_SIZE] = '\0';
	KUNIT_EXPECT_EQ(test, etw_set_name(session, name), -EINVAL);
	KUNIT_EXPECT_STREQ(test, session->settings.name, "locks of my driver");
	name[NTKLOG_SESSION_NAME_SIZE - 1] = '\0';
	KUNIT_EXPECT_EQ(test, etw_set_name(session, name), 0);
	start_session_by_id(test, 6, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop_session_by_id(test, 6);
	/* The longest name fits into the smallest header. */
	kvfree(etw_make_header_buffer(session->run, &(size_t){ 0 }));
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "System Logger 6"), 0);
}

static void start_without_memory_refused(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[7];

	set_buffers_beyond_memory(test, session);
	KUNIT_EXPECT_EQ(test, etw_start_session(session), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, session->is_logging);
	KUNIT_EXPECT_EQ(test, etw_stop_session(session), -EINVAL);
	start_session_by_id(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop_session_by_id(test, 7);
}

static void start_without_memory_unread_events_kept(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[7];
	u8 *before, *after;
	size_t header_size;

	start_session_by_id(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	log_event(PERF_SPINLOCK_CNTRS, 7);
	stop_session_by_id(test, 7);
	before = etw_make_header_buffer(session->run, &header_size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(before));
	set_buffers_beyond_memory(test, session);
	KUNIT_EXPECT_EQ(test, etw_start_session(session), -ENOMEM);
	after = etw_make_header_buffer(session->run, &header_size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(after));
	KUNIT_ASSERT_EQ(test, header_size, SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_MEMEQ(test, before, after, header_size);
	kvfree(before);
	kvfree(after);
	KUNIT_EXPECT_EQ(test, session_rchan_buf(7)->subbufs_produced, 1);
	KUNIT_EXPECT_EQ(test, read_u64(session_buffer_at(7, 0), BUFFER_EVENTS + EVENT_DATA), 7ull);
	start_session_by_id(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop_session_by_id(test, 7);
}

static struct kunit_case session_test_cases[] = {
	KUNIT_CASE(event_logged_to_subscribed_sessions_with_one_time_stamp),
	KUNIT_CASE(event_made_in_place_or_copied_same_bytes),
	KUNIT_CASE(full_session_loss_counted_in_it_only),
	KUNIT_CASE(sessions_for_event_follow_masks_and_starts),
	KUNIT_CASE(reused_buffer_event_has_no_old_bytes),
	KUNIT_CASE(global_mask_is_union_of_started_sessions),
	KUNIT_CASE(running_session_mask_changed_group_enabled),
	KUNIT_CASE(version_above_1_found_in_each_session),
	KUNIT_CASE(sessions_of_other_versions_each_gets_its_own),
	KUNIT_CASE(session_name_used_or_invalid_refused),
	KUNIT_CASE(start_without_memory_refused),
	KUNIT_CASE(start_without_memory_unread_events_kept),
	{}
};

static struct kunit_suite session_test_suite = {
	.name = "ntklog_session",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = session_test_cases,
};

kunit_test_suite(session_test_suite);
