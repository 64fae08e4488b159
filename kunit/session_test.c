// SPDX-License-Identifier: GPL-2.0-only
/* Several sessions at once, their modes and their settings. */

#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/workqueue.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/event.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/flush.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/logfile.h"
#include "../module/etw/reader.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/etw/snapshot.h"
#include "../module/perf/spin_lock.h"
#include "fixture.h"

#define SIZE		4096
#define TEST_HOOK_ID	0x0FFE
/* 0x50 bytes each: (4096 - 0x48) / 0x50 = 50. */
#define LENGTH		0x40
#define PER_BUFFER	50

static void start(struct kunit *test, int i, u32 group, u32 buffers, enum etw_mode mode)
{
	struct etw_group_change change = { .replace = true };
	struct etw_session *session = &etw_sessions[i];

	etw_group_mask_set(&change.set, group);
	etw_change_group_mask(session, &change);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SIZE), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, buffers), 0);
	KUNIT_ASSERT_EQ(test, etw_set_mode(session, mode), 0);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(session, 0), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
}

static void stop(struct kunit *test, int i)
{
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[i]), 0);
}

static void change_running(int i, u32 group, bool set)
{
	struct etw_group_change change = {};

	etw_group_mask_set(set ? &change.set : &change.clear, group);
	etw_change_group_mask(&etw_sessions[i], &change);
}

static const struct etw_buffer_cpu *counts(int i)
{
	return per_cpu_ptr(etw_sessions[i].run->cpus, TEST_CPU);
}

static struct rchan_buf *test_buffer(int i)
{
	return etw_run_buffer(etw_sessions[i].run, TEST_CPU);
}

static const u8 *buffer(int i, unsigned int index)
{
	const struct rchan_buf *buf = test_buffer(i);

	return (u8 *)buf->start + index * buf->chan->subbuf_size;
}

/* The first event of a hook id in the buffer that is written to first, or NULL. */
static const u8 *find(int i, u16 hook_id)
{
	size_t end = test_buffer(i)->offset, at;

	for (at = BUFFER_EVENTS; at < end;
	     at += ALIGN(get_u16(buffer(i, 0) + at, EVENT_SIZE), 8))
		if (get_u16(buffer(i, 0) + at, EVENT_HOOK_ID) == hook_id)
			return buffer(i, 0) + at;
	return NULL;
}

/* To all sessions that want it. */
static void log_event(u32 group, u64 number)
{
	u64 bytes[LENGTH / 8] = { number };
	unsigned long flags;

	local_irq_save(flags);
	etw_log_event_to(etw_sessions_for_event(group), TEST_HOOK_ID, 1, bytes, LENGTH);
	local_irq_restore(flags);
}

/* Likewise, made in the first session's buffer if that can be. Returns whether it was. */
static bool log_event_in_place(u32 group, u64 number)
{
	u64 bytes[LENGTH / 8] = { number };
	unsigned long flags;
	bool in_place;
	void *data;
	u64 wanted;

	local_irq_save(flags);
	wanted = etw_sessions_for_event(group);
	in_place = etw_begin_event(wanted, TEST_HOOK_ID, 1, LENGTH, &data);
	if (in_place) {
		memcpy(data, bytes, LENGTH);
		etw_end_event(wanted, data, LENGTH);
	} else {
		etw_log_event_to(wanted, TEST_HOOK_ID, 1, bytes, LENGTH);
	}
	local_irq_restore(flags);
	return in_place;
}

/* All kinds of event but spin locks' own: the groups are only names here. */

static void each_session_gets_what_it_wants_with_one_time_stamp(struct kunit *test)
{
	u64 time = 0;
	int i;

	for (i = 0; i < ETW_SESSIONS; i++)
		start(test, i, i % 2 ? PERF_SYNC_OBJECTS : PERF_SPINLOCK_CNTRS, 4,
		      ETW_MODE_SEQUENTIAL);
	log_event(PERF_SPINLOCK_CNTRS, 1);
	for (i = 0; i < ETW_SESSIONS; i++) {
		const u8 *event = find(i, TEST_HOOK_ID);

		if (i % 2) {
			KUNIT_EXPECT_NULL(test, event);
			continue;
		}
		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, get_u64(event, EVENT_DATA), 1ull);
		time = time ?: get_u64(event, EVENT_TIME);
		KUNIT_EXPECT_EQ(test, get_u64(event, EVENT_TIME), time);
		KUNIT_EXPECT_EQ(test, get_u16(buffer(i, 0), BUFFER_LOGGER_ID), i);
	}
	stop(test, 2);
	log_event(PERF_SPINLOCK_CNTRS, 2);
	KUNIT_EXPECT_EQ(test, counts(2)->written, 1ull);
	KUNIT_EXPECT_EQ(test, counts(4)->written, 2ull);
	for (i = 0; i < ETW_SESSIONS; i++)
		if (i != 2)
			stop(test, i);
}

static void an_event_is_the_same_wherever_it_is_made(struct kunit *test)
{
	int i;

	for (i = 2; i < 5; i++)
		start(test, i, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	for (i = 0; i < 2 * PER_BUFFER; i++)
		/* The first event of a buffer gives it its number. */
		KUNIT_EXPECT_EQ(test, log_event_in_place(PERF_SPINLOCK_CNTRS, i),
				i % PER_BUFFER != 0);
	for (i = 2; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, counts(i)->generated, 2ull * PER_BUFFER);
		KUNIT_EXPECT_EQ(test, counts(i)->written, 2ull * PER_BUFFER);
		stop(test, i);
		KUNIT_EXPECT_EQ(test, test_buffer(i)->subbufs_produced, 2);
		KUNIT_EXPECT_EQ(test, get_u64(buffer(i, 0), BUFFER_SEQUENCE), 1ull);
		KUNIT_EXPECT_EQ(test, get_u64(buffer(i, 1), BUFFER_SEQUENCE), 2ull);
		KUNIT_EXPECT_EQ(test, get_u64(buffer(i, 1), BUFFER_EVENTS + EVENT_DATA),
				(u64)PER_BUFFER);
		KUNIT_EXPECT_MEMEQ(test, buffer(i, 0) + BUFFER_EVENTS,
				   buffer(2, 0) + BUFFER_EVENTS, SIZE - BUFFER_EVENTS);
		KUNIT_EXPECT_MEMEQ(test, buffer(i, 1) + BUFFER_EVENTS,
				   buffer(2, 1) + BUFFER_EVENTS, SIZE - BUFFER_EVENTS);
	}
}

/* One has no room any more, first the one in whose buffer events are made, then another. */
static void each_session_counts_its_own_loss(struct kunit *test)
{
	static const u32 buffers[][2] = { { 2, 4 }, { 4, 2 } };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		for (j = 0; j < 2; j++)
			start(test, j, PERF_SPINLOCK_CNTRS, buffers[i][j],
			      ETW_MODE_SEQUENTIAL);
		for (j = 0; j < 3 * PER_BUFFER; j++)
			log_event_in_place(PERF_SPINLOCK_CNTRS, j);
		for (j = 0; j < 2; j++) {
			u64 lost = buffers[i][j] == 2 ? PER_BUFFER : 0;

			KUNIT_EXPECT_EQ(test, counts(j)->generated, 3ull * PER_BUFFER);
			KUNIT_EXPECT_EQ(test, counts(j)->lost, lost);
			KUNIT_EXPECT_EQ(test, counts(j)->written, 3ull * PER_BUFFER - lost);
			stop(test, j);
			KUNIT_EXPECT_EQ(test, get_u16(buffer(j, 1), BUFFER_FLAG) & 0x02,
					lost ? 0x02 : 0);
		}
	}
}

static void nobody_wants_what_nobody_logs(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, log_event_in_place(PERF_SPINLOCK_CNTRS, 1));
	start(test, 3, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	start(test, 6, PERF_SYNC_OBJECTS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SPINLOCK_CNTRS), 1ull << 24);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SYNC_OBJECTS), 1ull << 48);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SPINLOCK), 0ull);
	change_running(3, PERF_SYNC_OBJECTS, true);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SYNC_OBJECTS), 1ull << 48 | 1ull << 24);
	stop(test, 3);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SPINLOCK_CNTRS), 0ull);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SYNC_OBJECTS), 1ull << 48);
	stop(test, 6);
	KUNIT_EXPECT_EQ(test, etw_sessions_for_event(PERF_SYNC_OBJECTS), 0ull);
}

/* Not sampled, but held for longer than HoldThreshold. */
static void hold_for_long(struct kspin_lock *lock)
{
	struct klock_queue_handle handle;
	u64 start;

	ke_acquire_in_stack_queued_spin_lock(lock, &handle);
	start = get_cycles();
	while (get_cycles() - start <= EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD)
		cpu_relax();
	ke_release_in_stack_queued_spin_lock(&handle);
}

static void a_record_says_nothing_of_an_older_one(struct kunit *test)
{
	static struct kspin_lock lock;
	unsigned int found = 0;
	const u8 *current_buffer;
	unsigned long flags;
	u8 bytes[LENGTH];
	size_t at;
	int i;

	ke_initialize_spin_lock(&lock);
	memset(bytes, 0xA5, sizeof(bytes));
	start(test, 3, PERF_SPINLOCK, 2, ETW_MODE_BUFFERING);
	local_irq_save(flags);
	for (i = 0; i < 5 * PER_BUFFER + 1; i++)
		etw_log_event_to(etw_sessions_for_event(PERF_SPINLOCK), TEST_HOOK_ID, 1, bytes,
				 sizeof(bytes));
	local_irq_restore(flags);
	for (i = 0; i < 4; i++)
		hold_for_long(&lock);
	current_buffer = test_buffer(3)->data;
	for (at = BUFFER_EVENTS; at < test_buffer(3)->offset;
	     at += ALIGN(get_u16(current_buffer + at, EVENT_SIZE), 8)) {
		const u8 *event = current_buffer + at;

		if (get_u16(event, EVENT_HOOK_ID) != PERFINFO_LOG_TYPE_SPINLOCK)
			continue;
		found++;
		KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_MARKER), 0xC0110002u);
		KUNIT_EXPECT_EQ(test, get_u16(event, EVENT_SIZE), 0x48);
		KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS), (u64)(uintptr_t)&lock);
		KUNIT_EXPECT_EQ(test, get_u(event, SPINLOCK_RESERVED, 5), 0ull);
	}
	KUNIT_EXPECT_EQ(test, found, 4);
	stop(test, 3);
}

static void the_global_mask_is_the_union(struct kunit *test)
{
	struct perfinfo_groupmask mask;

	start(test, 1, PERF_SPINLOCK, 4, ETW_MODE_SEQUENTIAL);
	start(test, 5, PERF_SYNC_OBJECTS, 4, ETW_MODE_SEQUENTIAL);
	mask = etw_global_group_mask();
	KUNIT_EXPECT_EQ(test, mask.masks[1], 0x00030000u);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	stop(test, 1);
	mask = etw_global_group_mask();
	KUNIT_EXPECT_EQ(test, mask.masks[1], 0x00020000u);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	stop(test, 5);
}

static u64 written_everywhere(int i)
{
	u64 written = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		written += per_cpu_ptr(etw_sessions[i].run->cpus, cpu)->written;
	return written;
}

static void a_mask_changes_while_the_session_runs(struct kunit *test)
{
	u64 before;

	start(test, 3, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	before = written_everywhere(3);
	/* Its observation and its rundown, at its begin and at its end. */
	change_running(3, PERF_SPINLOCK, true);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_EXPECT_EQ(test, written_everywhere(3), before + 2);
	change_running(3, PERF_SPINLOCK, true);
	KUNIT_EXPECT_EQ(test, written_everywhere(3), before + 2);
	log_event(PERF_SPINLOCK, 7);
	change_running(3, PERF_SPINLOCK, false);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_EXPECT_EQ(test, written_everywhere(3), before + 5);
	log_event(PERF_SPINLOCK, 8);
	KUNIT_EXPECT_EQ(test, written_everywhere(3), before + 5);
	stop(test, 3);
}

static void later_versions_are_told_from_the_first(struct kunit *test)
{
	u32 session, version;

	KUNIT_EXPECT_FALSE(test, 0x0101010101010101 & ETW_LATER_WANTED);
	for (session = 0; session < ETW_SESSIONS; session++)
		for (version = 2; version <= ETW_EVENT_VERSIONS; version++)
			KUNIT_EXPECT_TRUE(test, (u64)version << session * ETW_WANTED_SHIFT &
						ETW_LATER_WANTED);
}

static void each_session_gets_its_version(struct kunit *test)
{
	static const u8 first[8] = { 1 }, later[16] = { 2 };
	unsigned long flags;
	u64 wanted;
	int i;

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(&etw_sessions[i], i + 1), 0);
		start(test, i, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	}
	KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(&etw_sessions[0], 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(&etw_sessions[0], 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_sessions_by_version(etw_sessions_for_event(PERF_CONTEXT_SWITCH)),
			0);
	local_irq_save(flags);
	wanted = etw_sessions_by_version(etw_sessions_for_event(PERF_SPINLOCK_CNTRS));
	KUNIT_EXPECT_EQ(test, wanted, 0x04030201);
	KUNIT_EXPECT_TRUE(test,
			  etw_versions_above_1_wanted(etw_sessions_for_event(PERF_SPINLOCK_CNTRS)));
	/* The first session alone. */
	KUNIT_EXPECT_FALSE(test, etw_versions_above_1_wanted(1));
	/* Too late for this event. */
	etw_set_contextswap_version(&etw_sessions[3], 1);
	etw_log_event_versions(wanted, TEST_HOOK_ID, first, sizeof(first), later,
			       sizeof(later));
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, etw_sessions_by_version(etw_sessions_for_event(PERF_SPINLOCK_CNTRS)),
			0x01030201);
	for (i = 0; i < 4; i++) {
		const u8 *event = find(i, TEST_HOOK_ID);

		KUNIT_ASSERT_NOT_NULL(test, event);
		KUNIT_EXPECT_EQ(test, get_u8(event, EVENT_VERSION), i + 1);
		KUNIT_EXPECT_EQ(test, get_u8(event, EVENT_DATA), i ? 2 : 1);
		KUNIT_EXPECT_EQ(test, get_u16(event, EVENT_SIZE), i ? 0x20 : 0x18);
		stop(test, i);
		etw_set_contextswap_version(&etw_sessions[i], 4);
	}
}

/* Names */

static void names_are_unique(struct kunit *test)
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
	start(test, 6, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop(test, 6);
	/* The longest name fits into the least header. */
	kvfree(etw_make_header_buffer(session->run, &(size_t){ 0 }));
	KUNIT_EXPECT_EQ(test, etw_set_name(session, "System Logger 6"), 0);
}

/* A gigabyte for each of more processors than there is memory for. */
static void want_too_much_memory(struct kunit *test, struct etw_session *session)
{
	if ((u64)SZ_1G / PAGE_SIZE * num_online_cpus() < si_mem_available() / 2)
		kunit_skip(test, "too much memory");
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SZ_1M), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, 1024), 0);
}

static void buffers_for_which_there_is_no_memory_are_refused(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[7];

	want_too_much_memory(test, session);
	KUNIT_EXPECT_EQ(test, etw_start_session(session), -ENOMEM);
	KUNIT_EXPECT_FALSE(test, session->logging);
	KUNIT_EXPECT_EQ(test, etw_stop_session(session), -EINVAL);
	start(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop(test, 7);
}

static void a_start_without_memory_leaves_what_nobody_has_read(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[7];
	u8 *before, *after;
	size_t size;

	start(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	log_event(PERF_SPINLOCK_CNTRS, 7);
	stop(test, 7);
	before = etw_make_header_buffer(session->run, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(before));
	want_too_much_memory(test, session);
	KUNIT_EXPECT_EQ(test, etw_start_session(session), -ENOMEM);
	after = etw_make_header_buffer(session->run, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(after));
	KUNIT_ASSERT_EQ(test, size, SIZE);
	KUNIT_EXPECT_MEMEQ(test, before, after, size);
	kvfree(before);
	kvfree(after);
	KUNIT_EXPECT_EQ(test, test_buffer(7)->subbufs_produced, 1);
	KUNIT_EXPECT_EQ(test, get_u64(buffer(7, 0), BUFFER_EVENTS + EVENT_DATA), 7ull);
	start(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop(test, 7);
}

/* Modes */

static void buffering_overwrites_the_oldest(struct kunit *test)
{
	struct rchan_buf *buf;
	u64 i;

	start(test, 1, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	/* Ten buffers, of which four are kept. */
	for (i = 0; i < 10 * PER_BUFFER; i++)
		log_event(PERF_SPINLOCK_CNTRS, i);
	KUNIT_EXPECT_EQ(test, counts(1)->lost, 0ull);
	KUNIT_EXPECT_EQ(test, counts(1)->written, 10ull * PER_BUFFER);
	KUNIT_EXPECT_EQ(test, counts(1)->overwritten, 6ull);
	KUNIT_EXPECT_EQ(test, etw_flush_session(&etw_sessions[1]), -EINVAL);
	stop(test, 1);
	buf = test_buffer(1);
	KUNIT_EXPECT_EQ(test, buf->subbufs_produced, 10);
	KUNIT_EXPECT_EQ(test, buf->subbufs_consumed, 6);
	/* The seventh to the tenth, in the places of the third, fourth, first, second. */
	KUNIT_EXPECT_EQ(test, get_u64(buffer(1, 2), BUFFER_SEQUENCE), 7ull);
	KUNIT_EXPECT_EQ(test, get_u64(buffer(1, 1), BUFFER_SEQUENCE), 10ull);
	KUNIT_EXPECT_EQ(test, get_u64(buffer(1, 2), BUFFER_EVENTS + EVENT_DATA),
			6ull * PER_BUFFER);
}

static void check_snapshot(struct kunit *test, const u8 *snapshot, size_t size,
			   u64 first, u64 last, u32 overwritten)
{
	size_t buffers = size / SIZE, i;

	KUNIT_EXPECT_EQ(test, size % SIZE, 0ul);
	KUNIT_EXPECT_EQ(test, get_u16(snapshot, BUFFER_TYPE), 4);
	/* LogFileMode, BuffersWritten, BuffersLost: see header_buffer_is_nts() */
	KUNIT_EXPECT_EQ(test, get_u32(snapshot, 0x68 + 0x20), 0x02000400u);
	KUNIT_EXPECT_EQ(test, get_u32(snapshot, 0x68 + 0x24), (u32)buffers);
	KUNIT_EXPECT_EQ(test, get_u32(snapshot, 0x68 + 0x114), overwritten);
	for (i = 1; i < buffers; i++) {
		const u8 *bytes = snapshot + i * SIZE;

		if (i > 1)
			KUNIT_EXPECT_GT(test, get_u64(bytes, BUFFER_SEQUENCE),
					get_u64(bytes - SIZE, BUFFER_SEQUENCE));
		KUNIT_EXPECT_EQ(test, get_u16(bytes, BUFFER_FLAG),
				i == buffers - 1 ? 0x21 : 0x20);
	}
	KUNIT_EXPECT_EQ(test, get_u64(snapshot + SIZE, BUFFER_EVENTS + EVENT_DATA), first);
	i = (buffers - 1) * SIZE;
	i += get_u32(snapshot + i, BUFFER_SAVED_OFFSET) - 0x50;
	KUNIT_EXPECT_EQ(test, get_u64(snapshot + i, EVENT_DATA), last);
}

static void a_snapshot_is_a_file_and_the_session_goes_on(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	u8 *snapshot;
	size_t size;
	u64 i;

	start(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	for (i = 0; i < 5 * PER_BUFFER + 10; i++)
		log_event(PERF_SPINLOCK_CNTRS, i);
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	/* Two overwritten: four are left, the last part filled. */
	check_snapshot(test, snapshot, size, 2 * PER_BUFFER, i - 1, 2);
	KUNIT_EXPECT_EQ(test, size, 5ul * SIZE);
	kvfree(snapshot);

	log_event(PERF_SPINLOCK_CNTRS, i);
	stop(test, 2);
	/* Once more, now that it has stopped: one more of the oldest is gone. */
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	check_snapshot(test, snapshot, size, 3 * PER_BUFFER, i, 3);
	kvfree(snapshot);
	KUNIT_EXPECT_EQ(test, counts(2)->generated, counts(2)->written + counts(2)->lost);
}

/* The parameters, where a stop would tell them; NULL: no such event in the buffer. */
static const u8 *find_in_buffer(const u8 *bytes, u16 hook_id)
{
	size_t end = get_u32(bytes, BUFFER_SAVED_OFFSET), at;

	for (at = BUFFER_EVENTS; at < end; at += ALIGN(get_u16(bytes + at, EVENT_SIZE), 8))
		if (get_u16(bytes + at, EVENT_HOOK_ID) == hook_id)
			return bytes + at;
	return NULL;
}

static void a_snapshot_ends_with_the_rundown(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	u32 set[] = { 5, 2, 4000, 3, 5000000 };
	const u8 *last, *event;
	u8 *snapshot, *again;
	size_t size, size_again;
	u64 i, sequence;

	KUNIT_ASSERT_EQ(test, ntklog_set_information(&ntklog_spin_lock_information, set, 0x14),
			STATUS_SUCCESS);
	start(test, 2, PERF_SPINLOCK, 4, ETW_MODE_BUFFERING);
	change_running(2, PERF_SYNC_OBJECTS, true);
	change_running(2, PERF_SPINLOCK_CNTRS, true);
	/* What the start has written is overwritten, wherever that was. */
	for (i = 0; i < 6 * PER_BUFFER; i++)
		log_event(PERF_SPINLOCK_CNTRS, i);
	sequence = atomic64_read(&session->run->sequence_number);
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	last = snapshot + size - SIZE;
	KUNIT_EXPECT_EQ(test, get_u32(snapshot, 0x68 + 0x24), (u32)(size / SIZE));
	KUNIT_EXPECT_EQ(test, get_u32(last, BUFFER_SIZE), SIZE);
	KUNIT_EXPECT_EQ(test, get_u32(last, BUFFER_SAVED_OFFSET), 0x48 + 0x20 + 0x20);
	KUNIT_EXPECT_EQ(test, get_u32(last, BUFFER_OFFSET), 0x48 + 0x20 + 0x20);
	KUNIT_EXPECT_EQ(test, get_u16(last, BUFFER_FLAG), 0x21);
	KUNIT_EXPECT_EQ(test, get_u16(last - SIZE, BUFFER_FLAG), 0x20);
	KUNIT_EXPECT_EQ(test, get_u64(last, BUFFER_SEQUENCE), sequence + 1);
	KUNIT_EXPECT_EQ(test, get_u16(last, BUFFER_LOGGER_ID), 2);
	KUNIT_EXPECT_EQ(test, get_u32(last, BUFFER_STATE), 3);
	KUNIT_EXPECT_EQ(test, get_u16(last, BUFFER_PROCESSOR),
			etw_last_file_cpu(session->run));
	KUNIT_EXPECT_EQ(test, last[SIZE - 1], 0xFF);
	event = find_in_buffer(last, 0x0F4C);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_MARKER), 0xC0110003u);
	KUNIT_EXPECT_EQ(test, get_u16(event, EVENT_SIZE), 0x20);
	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_DATA + 0x00), 2);
	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_DATA + 0x04), 3);
	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_DATA + 0x08), 4000);
	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_DATA + 0x0C), 5000000);
	/* After all that the session has written, and before the buffer was closed. */
	KUNIT_EXPECT_GE(test, get_u64(event, EVENT_TIME),
			get_u64(last - SIZE, BUFFER_TIME_STAMP));
	KUNIT_EXPECT_LE(test, get_u64(event, EVENT_TIME),
			get_u64(last, BUFFER_TIME_STAMP));
	event = find_in_buffer(last, 0x0F4E);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, get_u16(event, EVENT_SIZE), 0x1C);

	/* It is not the session's: nothing was overwritten for it, and no number was taken. */
	KUNIT_EXPECT_EQ(test, (u64)atomic64_read(&session->run->sequence_number), sequence);
	again = etw_make_snapshot(session, &size_again);
	KUNIT_ASSERT_FALSE(test, IS_ERR(again));
	KUNIT_ASSERT_EQ(test, size_again, size);
	KUNIT_EXPECT_MEMEQ(test, again + SIZE, snapshot + SIZE, size - 2 * SIZE);
	kvfree(again);
	kvfree(snapshot);
	stop(test, 2);

	/* The stop's own is there already. */
	snapshot = etw_make_snapshot(session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	for (i = 0, event = NULL; i < size / SIZE; i++)
		if (i && find_in_buffer(snapshot + i * SIZE, 0x0F4C)) {
			KUNIT_EXPECT_NULL(test, event);
			event = find_in_buffer(snapshot + i * SIZE, 0x0F4C);
		}
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_DATA + 0x08), 4000);
	kvfree(snapshot);
}

static void events_while_a_snapshot_is_taken_are_counted(struct kunit *test)
{
	start(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	log_event(PERF_SPINLOCK_CNTRS, 1);
	/* As etw_make_snapshot() does. */
	WRITE_ONCE(etw_sessions[2].run->frozen, true);
	synchronize_rcu();
	etw_flush_buffers(etw_sessions[2].run, ETW_FLUSH_SNAPSHOT);
	log_event(PERF_SPINLOCK_CNTRS, 2);
	KUNIT_EXPECT_FALSE(test, log_event_in_place(PERF_SPINLOCK_CNTRS, 2));
	KUNIT_EXPECT_EQ(test, counts(2)->lost, 2ull);
	WRITE_ONCE(etw_sessions[2].run->frozen, false);
	KUNIT_EXPECT_FALSE(test, log_event_in_place(PERF_SPINLOCK_CNTRS, 3));
	KUNIT_EXPECT_TRUE(test, log_event_in_place(PERF_SPINLOCK_CNTRS, 4));
	stop(test, 2);
	KUNIT_EXPECT_EQ(test, counts(2)->generated, 5ull);
	KUNIT_EXPECT_EQ(test, counts(2)->written, 3ull);
	KUNIT_EXPECT_EQ(test, counts(2)->lost, 2ull);
	/* The flag is in the buffer that was written to next. */
	KUNIT_EXPECT_EQ(test, get_u16(buffer(2, 0), BUFFER_FLAG) & 0x02, 0);
	KUNIT_EXPECT_EQ(test, get_u16(buffer(2, 1), BUFFER_FLAG) & 0x02, 0x02);
	KUNIT_EXPECT_EQ(test, get_u64(buffer(2, 1), BUFFER_EVENTS + EVENT_DATA), 3ull);
}

static void a_snapshot_is_not_larger_than_what_can_be_allocated(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	size_t size, produced;
	struct rchan_buf *buf;

	KUNIT_ASSERT_EQ(test, etw_set_mode(session, ETW_MODE_BUFFERING), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SZ_1M), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, 2), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
	stop(test, 2);
	/* Memory for so many is not to be had here: they are only said to be there. */
	buf = test_buffer(2);
	produced = buf->subbufs_produced;
	buf->subbufs_produced = buf->subbufs_consumed + 2048;
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_make_snapshot(session, &size)), -EFBIG);
	buf->subbufs_produced = produced;
}

static int read_all_buffers(void *data)
{
	struct rchan_buf *buf = data;

	/* As a reader gives one back that it has copied. */
	while (READ_ONCE(buf->subbufs_consumed) != READ_ONCE(buf->subbufs_produced)) {
		udelay(9);
		WRITE_ONCE(buf->subbufs_consumed, buf->subbufs_consumed + 1);
	}
	return 0;
}

static void a_snapshot_of_what_is_being_read_has_each_buffer_once(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[2];
	struct test_thread reader;
	unsigned int round;
	u64 i;

	for (round = 0; round < 6; round++) {
		size_t size, taken = 0;

		start(test, 2, PERF_SPINLOCK_CNTRS, 64, ETW_MODE_BUFFERING);
		for (i = 0; i < 64 * PER_BUFFER; i++)
			log_event(PERF_SPINLOCK_CNTRS, i);
		stop(test, 2);
		test_thread_start(test, &reader, 1, read_all_buffers, test_buffer(2));
		do {
			u8 *snapshot = etw_make_snapshot(session, &size);

			KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
			/* BuffersWritten: see header_buffer_is_nts() */
			KUNIT_EXPECT_EQ(test, get_u32(snapshot, 0x68 + 0x24), (u32)(size / SIZE));
			for (i = 2; i < size / SIZE; i++)
				KUNIT_EXPECT_GT(test,
						get_u64(snapshot + i * SIZE, BUFFER_SEQUENCE),
						get_u64(snapshot + (i - 1) * SIZE,
							BUFFER_SEQUENCE));
			kvfree(snapshot);
			taken++;
		} while (size > SIZE);
		test_thread_join(&reader);
		KUNIT_EXPECT_GE(test, taken, (size_t)1);
	}
}

static void a_recorder_whose_snapshot_was_taken_makes_room(struct kunit *test)
{
	struct etw_session *session = &etw_sessions[7];
	struct etw_run *run;
	size_t size;

	start(test, 7, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_BUFFERING);
	log_event(PERF_SPINLOCK_CNTRS, 7);
	stop(test, 7);
	run = session->run;
	KUNIT_EXPECT_FALSE(test, run->in_snapshot);
	kvfree(etw_make_snapshot(session, &size));
	KUNIT_EXPECT_TRUE(test, run->in_snapshot);
	/* Nothing is kept for the start that then finds no memory. */
	want_too_much_memory(test, session);
	KUNIT_EXPECT_EQ(test, etw_start_session(session), -ENOMEM);
	KUNIT_EXPECT_NULL(test, session->run);
	start(test, 7, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	stop(test, 7);
}

static void a_sequential_session_has_no_snapshot(struct kunit *test)
{
	size_t size;

	start(test, 2, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_make_snapshot(&etw_sessions[2], &size)), -EINVAL);
	stop(test, 2);
}

/* Flushes */

/* Its time has come. */
static void let_flush_timer_fire(int i)
{
	flush_delayed_work(&etw_sessions[i].flush_work);
}

/* A session whose flush timer fires when it is told to. */
static void start_with_flush_timer(struct kunit *test, int i, u32 buffers)
{
	start(test, i, PERF_SPINLOCK_CNTRS, buffers, ETW_MODE_SEQUENTIAL);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(&etw_sessions[i], ETW_FLUSH_TIMER_MAX), 0);
}

static void stop_with_flush_timer(struct kunit *test, int i)
{
	stop(test, i);
	etw_set_flush_timer(&etw_sessions[i], ETW_FLUSH_TIMER_DEFAULT);
}

static void read_all(int i)
{
	struct rchan_buf *buf = test_buffer(i);

	relay_subbufs_consumed(buf->chan, TEST_CPU,
			       buf->subbufs_produced - buf->subbufs_consumed);
}

static void the_flush_timer_fires(struct kunit *test)
{
	int tries = 60000;

	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(&etw_sessions[4], 3600001), -EINVAL);
	start(test, 4, PERF_SPINLOCK_CNTRS, 4, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(&etw_sessions[4], ETW_FLUSH_TIMER_MAX), 0);
	log_event(PERF_SPINLOCK_CNTRS, 1);
	msleep(50);
	KUNIT_EXPECT_EQ(test, READ_ONCE(test_buffer(4)->subbufs_produced), 0);
	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(&etw_sessions[4], 10), 0);
	while (!READ_ONCE(test_buffer(4)->subbufs_produced) && tries--)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, READ_ONCE(test_buffer(4)->subbufs_produced), 1);
	stop_with_flush_timer(test, 4);
}

static void the_flush_timer_serves_a_reader(struct kunit *test)
{
	u64 i;

	start_with_flush_timer(test, 4, 2);
	for (i = 1; i <= 10; i++) {
		log_event(PERF_SPINLOCK_CNTRS, i);
		let_flush_timer_fire(4);
		KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, i);
		/* Nothing new: nothing more. */
		let_flush_timer_fire(4);
		KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, i);
		read_all(4);
	}
	/* A reader that is late has to wait for the next time, not for the next event. */
	log_event(PERF_SPINLOCK_CNTRS, i);
	let_flush_timer_fire(4);
	log_event(PERF_SPINLOCK_CNTRS, i);
	let_flush_timer_fire(4);
	KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, i);
	read_all(4);
	let_flush_timer_fire(4);
	KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, i + 1);
	stop_with_flush_timer(test, 4);
}

/* As in the users' guide: start, wait, stop, read. */
static void the_flush_timer_loses_nothing_without_a_reader(struct kunit *test)
{
	static const u32 buffers[] = { 2, 4 };
	int i, j;

	for (i = 0; i < ARRAY_SIZE(buffers); i++) {
		start_with_flush_timer(test, 4, buffers[i]);
		for (j = 0; j < PER_BUFFER; j++) {
			log_event(PERF_SPINLOCK_CNTRS, j);
			let_flush_timer_fire(4);
		}
		stop_with_flush_timer(test, 4);
		KUNIT_EXPECT_EQ(test, counts(4)->lost, 0ull);
		KUNIT_EXPECT_EQ(test, counts(4)->written, (u64)PER_BUFFER);
		KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, 2);
		KUNIT_EXPECT_EQ(test, get_u64(buffer(4, 1), BUFFER_EVENTS + EVENT_DATA), 1ull);
	}
}

static void a_flush_leaves_the_last_free_buffer(struct kunit *test)
{
	int i;

	start(test, 4, PERF_SPINLOCK_CNTRS, 3, ETW_MODE_SEQUENTIAL);
	for (i = 0; i < 3; i++) {
		log_event(PERF_SPINLOCK_CNTRS, i);
		KUNIT_EXPECT_EQ(test, etw_flush_session(&etw_sessions[4]), 0);
	}
	KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, 2);
	/* It takes what fits, says what was lost, and is readable at the end. */
	for (i = 0; i < PER_BUFFER; i++)
		log_event(PERF_SPINLOCK_CNTRS, 3 + i);
	KUNIT_EXPECT_EQ(test, counts(4)->lost, 1ull);
	KUNIT_EXPECT_EQ(test, etw_flush_session(&etw_sessions[4]), 0);
	stop(test, 4);
	KUNIT_EXPECT_EQ(test, counts(4)->written, 2ull + PER_BUFFER);
	KUNIT_EXPECT_EQ(test, test_buffer(4)->subbufs_produced, 3);
	KUNIT_EXPECT_EQ(test, get_u32(buffer(4, 2), BUFFER_SAVED_OFFSET),
			BUFFER_EVENTS + PER_BUFFER * 0x50);
	KUNIT_EXPECT_EQ(test, get_u16(buffer(4, 2), BUFFER_FLAG) & 0x02, 0x02);
}

/* A stop */

/* No provider has it: nothing is patched when it goes on or off. */
#define TEST_GROUP	0x40000001

struct in_flight {
	struct etw_session *session;
	bool is_there;
	bool may_go_on;
};

/* A logger that has seen that the session logs, and takes its time. */
static int log_in_flight(void *data)
{
	struct in_flight *in_flight = data;
	u64 bytes[LENGTH / 8] = {};
	int i;

	preempt_disable();
	WRITE_ONCE(in_flight->is_there, true);
	while (!READ_ONCE(in_flight->may_go_on))
		cpu_relax();
	for (i = 0; i < 4 * PER_BUFFER; i++)
		etw_log_session_event(in_flight->session, TEST_HOOK_ID, 1, bytes, LENGTH);
	preempt_enable();
	return 0;
}

static int stop_in_flight(void *data)
{
	struct in_flight *in_flight = data;

	return etw_stop_session(in_flight->session);
}

static void check_end(struct kunit *test, enum etw_mode mode)
{
	struct in_flight in_flight = { .session = &etw_sessions[5] };
	struct test_thread logger, stopper;
	struct etw_reader *reader;

	start(test, 5, TEST_GROUP, 2, mode);
	reader = etw_open_reader(in_flight.session->run, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	test_thread_start(test, &logger, 1, log_in_flight, &in_flight);
	while (!READ_ONCE(in_flight.is_there))
		schedule_timeout_interruptible(1);
	test_thread_start(test, &stopper, 2, stop_in_flight, &in_flight);
	while (READ_ONCE(in_flight.session->logging))
		schedule_timeout_interruptible(1);
	/* No logger comes any more, but one is still there. */
	KUNIT_EXPECT_EQ(test, (__force u32)etw_poll_buffers(reader, NULL, NULL), 0u);
	KUNIT_EXPECT_EQ(test, etw_read_buffers(reader, NULL, 1),
			mode == ETW_MODE_BUFFERING ? -EBUSY : 0);
	WRITE_ONCE(in_flight.may_go_on, true);
	test_thread_join(&logger);
	test_thread_join(&stopper);
	KUNIT_EXPECT_FALSE(test, etw_session_is_started(in_flight.session));
	KUNIT_EXPECT_EQ(test, (__force u32)etw_poll_buffers(reader, NULL, NULL),
			(__force u32)(EPOLLHUP | EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, etw_read_buffers(reader, NULL, 0), 0);
	etw_close_reader(reader);
}

static void a_run_ends_when_the_last_logger_has_left(struct kunit *test)
{
	check_end(test, ETW_MODE_SEQUENTIAL);
	check_end(test, ETW_MODE_BUFFERING);
}

static void a_reader_keeps_the_run_that_it_has_opened(struct kunit *test)
{
	struct etw_reader *reader;
	struct etw_run *run;

	start(test, 5, TEST_GROUP, 2, ETW_MODE_SEQUENTIAL);
	log_event(TEST_GROUP, 5);
	run = etw_sessions[5].run;
	reader = etw_open_reader(run, TEST_CPU);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	stop(test, 5);
	/* What is new is another's, and of another mode. */
	start(test, 5, TEST_GROUP, 4, ETW_MODE_BUFFERING);
	KUNIT_EXPECT_PTR_NE(test, etw_sessions[5].run, run);
	KUNIT_EXPECT_EQ(test, (__force u32)etw_poll_buffers(reader, NULL, NULL),
			(__force u32)(EPOLLHUP | EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, etw_read_buffers(reader, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, get_u64(etw_run_buffer(run, TEST_CPU)->start,
				      BUFFER_EVENTS + EVENT_DATA), 5ull);
	etw_close_reader(reader);
	stop(test, 5);
}

/* A start */

static void the_time_of_the_boot_is_one(struct kunit *test)
{
	u64 first = 0;
	size_t size;
	u8 *header;
	int i;

	for (i = 0; i < 6; i++) {
		start(test, i % 2, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
		stop(test, i % 2);
		header = etw_make_header_buffer(etw_sessions[i % 2].run, &size);
		KUNIT_ASSERT_FALSE(test, IS_ERR(header));
		/* BootTime: see header_buffer_is_nts() */
		first = first ?: get_u64(header, 0x68 + 0xF8);
		KUNIT_EXPECT_EQ(test, get_u64(header, 0x68 + 0xF8), first);
		kvfree(header);
	}
}

#if IS_ENABLED(CONFIG_KPROBES) && IS_ENABLED(CONFIG_X86)
static struct task_struct *clock_reader;
static int clock_readings, clock_readings_with_interrupts;

static int see_clock_reading(struct kprobe *probe, struct pt_regs *regs)
{
	if (current != clock_reader)
		return 0;
	clock_readings++;
	if (regs->flags & X86_EFLAGS_IF)
		clock_readings_with_interrupts++;
	return 0;
}

/* What a start reads the wall clock with. */
static struct kprobe clock_probe = {
	.symbol_name = "ktime_get_with_offset",
	.pre_handler = see_clock_reading,
};

static void the_clocks_of_a_start_are_read_in_one_go(struct kunit *test)
{
	clock_reader = current;
	clock_readings = 0;
	clock_readings_with_interrupts = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&clock_probe), 0);
	start(test, 1, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	unregister_kprobe(&clock_probe);
	KUNIT_EXPECT_GT(test, clock_readings, 0);
	KUNIT_EXPECT_EQ(test, clock_readings_with_interrupts, 0);
	stop(test, 1);
}
#else
static void the_clocks_of_a_start_are_read_in_one_go(struct kunit *test)
{
	kunit_skip(test, "no kprobes");
}
#endif

static struct kunit_case session_test_cases[] = {
	KUNIT_CASE(each_session_gets_what_it_wants_with_one_time_stamp),
	KUNIT_CASE(an_event_is_the_same_wherever_it_is_made),
	KUNIT_CASE(each_session_counts_its_own_loss),
	KUNIT_CASE(nobody_wants_what_nobody_logs),
	KUNIT_CASE(a_record_says_nothing_of_an_older_one),
	KUNIT_CASE(the_global_mask_is_the_union),
	KUNIT_CASE(a_mask_changes_while_the_session_runs),
	KUNIT_CASE(later_versions_are_told_from_the_first),
	KUNIT_CASE(each_session_gets_its_version),
	KUNIT_CASE(names_are_unique),
	KUNIT_CASE(buffers_for_which_there_is_no_memory_are_refused),
	KUNIT_CASE(a_start_without_memory_leaves_what_nobody_has_read),
	KUNIT_CASE(buffering_overwrites_the_oldest),
	KUNIT_CASE(a_snapshot_is_a_file_and_the_session_goes_on),
	KUNIT_CASE(a_snapshot_ends_with_the_rundown),
	KUNIT_CASE(events_while_a_snapshot_is_taken_are_counted),
	KUNIT_CASE(a_snapshot_is_not_larger_than_what_can_be_allocated),
	KUNIT_CASE(a_snapshot_of_what_is_being_read_has_each_buffer_once),
	KUNIT_CASE(a_recorder_whose_snapshot_was_taken_makes_room),
	KUNIT_CASE(a_sequential_session_has_no_snapshot),
	KUNIT_CASE(the_flush_timer_fires),
	KUNIT_CASE(the_flush_timer_serves_a_reader),
	KUNIT_CASE(the_flush_timer_loses_nothing_without_a_reader),
	KUNIT_CASE(a_flush_leaves_the_last_free_buffer),
	KUNIT_CASE(a_run_ends_when_the_last_logger_has_left),
	KUNIT_CASE(a_reader_keeps_the_run_that_it_has_opened),
	KUNIT_CASE(the_time_of_the_boot_is_one),
	KUNIT_CASE(the_clocks_of_a_start_are_read_in_one_go),
	{}
};

static struct kunit_suite session_test_suite = {
	.name = "ntklog_session",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = session_test_cases,
};

kunit_test_suite(session_test_suite);
