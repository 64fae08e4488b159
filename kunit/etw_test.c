// SPDX-License-Identifier: GPL-2.0-only

#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <asm/tsc.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/flush.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/logfile.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/perf/spin_lock.h"
#include "fixture.h"

#define SESSION		(&etw_sessions[0])
#define TEST_HOOK_ID	0x0FFE
#define SESSION_BUFFER_SIZE		4096

static struct etw_buffer_cpu *get_buffer_cpu(void)
{
	return per_cpu_ptr(SESSION->run->cpus, TEST_CPU);
}

static void log_event_of_length(u16 length)
{
	u8 bytes[64];

	memset(bytes, 0x33, sizeof(bytes));
	etw_log_session_event(SESSION, TEST_HOOK_ID, 1, bytes, length);
}

static void check_rundown(struct kunit *test, u16 hook_id)
{
	unsigned int cpu = etw_find_last_file_cpu(SESSION->run), position = BUFFER_EVENTS;
	const u8 *event;

	KUNIT_ASSERT_GE(test, count_finished_buffers(cpu), 1);
	do {
		event = get_session_buffer(cpu, 0) + position;
		position += ALIGN(read_u16(event, EVENT_SIZE), 8);
	} while (read_u16(event, EVENT_HOOK_ID) != hook_id && position < SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110003u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x20);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), hook_id);
	/* SpinThreshold, ContentionSampleRate, AcquireSampleRate, HoldThreshold */
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x00), 2);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x04), 3);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x08), 4000);
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_DATA + 0x0C), 5000000);
}

static void rundown_at_start_and_stop_has_parameters(struct kunit *test)
{
	u32 parameters[] = { 5, 2, 4000, 3, 5000000 };

	KUNIT_ASSERT_EQ(test,
			ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, parameters,
						    0x14),
			STATUS_SUCCESS);
	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 4);
	stop_session_0(test);
	check_rundown(test, 0x0F4B);
	check_rundown(test, 0x0F4C);
}

static void group_not_enabled_no_rundown_written(struct kunit *test)
{
	int cpu;

	start_session_0(test, PERF_SPINLOCK_CNTRS, SESSION_BUFFER_SIZE, 4);
	stop_session_0(test);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, count_finished_buffers(cpu), 0);
}

static void buffer_header_bytes_match_nt_layout(struct kunit *test)
{
	const u8 *buffer;
	u64 before, after;

	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	before = get_cycles();
	log_event_of_length(8);
	stop_session_0(test);
	after = get_cycles();
	buffer = get_session_buffer(TEST_CPU, 0);

	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 1);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_SIZE), SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_SAVED_OFFSET), 0x48 + 0x18);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_CURRENT_OFFSET), 0x48 + 0x18);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_OFFSET), 0x48 + 0x18);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_REFERENCE_COUNT), 0);
	KUNIT_EXPECT_GT(test, read_u64(buffer, BUFFER_TIME_STAMP), before);
	KUNIT_EXPECT_LT(test, read_u64(buffer, BUFFER_TIME_STAMP), after);
	KUNIT_EXPECT_EQ(test, read_u64(buffer, BUFFER_SEQUENCE), 1);
	KUNIT_EXPECT_EQ(test, read_u64(buffer, BUFFER_CLOCK) & 7, 3);
	KUNIT_EXPECT_EQ(test, read_u64(buffer, BUFFER_CLOCK) >> 3, (u64)tsc_khz * 1000);
	KUNIT_EXPECT_EQ(test, read_u16(buffer, BUFFER_PROCESSOR), TEST_CPU);
	KUNIT_EXPECT_EQ(test, read_u16(buffer, BUFFER_LOGGER_ID), 0);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_STATE), 3);
	KUNIT_EXPECT_EQ(test, read_u16(buffer, BUFFER_TYPE), 0);
	KUNIT_EXPECT_EQ(test, read_u64(buffer, BUFFER_START_TIME),
			(u64)SESSION->run->clocks.start_time);
	KUNIT_EXPECT_EQ(test, read_u64(buffer, BUFFER_START_CLOCK),
			SESSION->run->clocks.start_clock);
}

static void events_aligned_to_8_rest_of_buffer_ff(struct kunit *test)
{
	static const u16 event_lengths[] = { 1, 7, 8, 9, 15, 16, 0 };
	size_t i, position = BUFFER_EVENTS;
	const u8 *buffer;

	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	for (i = 0; i < ARRAY_SIZE(event_lengths); i++)
		log_event_of_length(event_lengths[i]);
	stop_session_0(test);

	buffer = get_session_buffer(TEST_CPU, 0);
	for (i = 0; i < ARRAY_SIZE(event_lengths); i++) {
		const u8 *event = buffer + position;
		size_t size = 0x10 + event_lengths[i], j;

		KUNIT_EXPECT_EQ(test, position % 8, 0);
		KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), size);
		KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), TEST_HOOK_ID);
		for (j = 0x10; j < size; j++)
			KUNIT_EXPECT_EQ(test, event[j], 0x33);
		for (; j < ALIGN(size, 8); j++)
			KUNIT_EXPECT_EQ(test, event[j], 0);
		position += ALIGN(size, 8);
	}
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_SAVED_OFFSET), position);
	KUNIT_EXPECT_NULL(test,
			  memchr_inv(buffer + position, 0xFF, SESSION_BUFFER_SIZE - position));
}

/* An event takes 0x50 bytes: (4096 - 0x48) / 0x50 = 50, and 0x18 bytes remain. */
#define FILLING_EVENT_LENGTH	0x40
#define EVENTS_PER_BUFFER	50

static void full_buffer_finished_next_one_used(struct kunit *test)
{
	const u8 *buffer, *next;
	int i;

	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	for (i = 0; i < EVENTS_PER_BUFFER; i++)
		log_event_of_length(FILLING_EVENT_LENGTH);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 0);
	log_event_of_length(FILLING_EVENT_LENGTH);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 1);

	buffer = get_session_buffer(TEST_CPU, 0);
	KUNIT_EXPECT_EQ(test, read_u32(buffer, BUFFER_SAVED_OFFSET), SESSION_BUFFER_SIZE - 0x18);
	KUNIT_EXPECT_NULL(test, memchr_inv(buffer + SESSION_BUFFER_SIZE - 0x18, 0xFF, 0x18));
	KUNIT_EXPECT_EQ(test, read_u64(buffer, BUFFER_SEQUENCE), 1);
	KUNIT_EXPECT_EQ(test, read_u16(buffer, BUFFER_FLAG), 0x20);
	stop_session_0(test);
	next = get_session_buffer(TEST_CPU, 1);
	KUNIT_EXPECT_EQ(test, read_u64(next, BUFFER_SEQUENCE), 2);
	KUNIT_EXPECT_EQ(test, read_u32(next, BUFFER_SAVED_OFFSET), 0x48 + 0x50);
	KUNIT_EXPECT_EQ(test, count_session_events(TEST_HOOK_ID), EVENTS_PER_BUFFER + 1);
}

static void event_of_remaining_size_fits_in_buffer(struct kunit *test)
{
	int i;

	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	for (i = 0; i < EVENTS_PER_BUFFER; i++)
		log_event_of_length(FILLING_EVENT_LENGTH);
	/* The remaining 0x18 bytes hold a header and 8 bytes. */
	log_event_of_length(8);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 1);
	KUNIT_EXPECT_EQ(test, read_u32(get_session_buffer(TEST_CPU, 0), BUFFER_SAVED_OFFSET),
			SESSION_BUFFER_SIZE);
}

static void no_free_buffer_events_counted_lost(struct kunit *test)
{
	const u8 *last;
	u8 *header;
	size_t size;
	int i;

	start_session_0(test, 0, SESSION_BUFFER_SIZE, 2);
	for (i = 0; i < 2 * EVENTS_PER_BUFFER; i++)
		log_event_of_length(FILLING_EVENT_LENGTH);
	KUNIT_EXPECT_EQ(test, get_buffer_cpu()->lost, 0);
	for (i = 0; i < 7; i++)
		log_event_of_length(FILLING_EVENT_LENGTH);
	log_event_of_length(8);
	stop_session_0(test);

	KUNIT_EXPECT_EQ(test, get_buffer_cpu()->generated, 2 * EVENTS_PER_BUFFER + 8);
	KUNIT_EXPECT_EQ(test, get_buffer_cpu()->written, 2 * EVENTS_PER_BUFFER + 1);
	KUNIT_EXPECT_EQ(test, get_buffer_cpu()->lost, 7);
	KUNIT_EXPECT_EQ(test, count_session_events(TEST_HOOK_ID), 2 * EVENTS_PER_BUFFER + 1);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 2);
	KUNIT_EXPECT_EQ(test, read_u16(get_session_buffer(TEST_CPU, 0), BUFFER_FLAG), 0x20);
	last = get_session_buffer(TEST_CPU, 1);
	KUNIT_EXPECT_EQ(test, read_u16(last, BUFFER_FLAG) & 0x02, 0x02);

	header = etw_make_header_buffer(SESSION->run, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(header));
	/*
	 * BuffersWritten and EventsLost. The buffer of the CPU whose file is the last has no event.
	 */
	KUNIT_EXPECT_EQ(test, read_u32(header, 0x68 + 0x24), 4);
	KUNIT_EXPECT_EQ(test, read_u32(header, 0x68 + 0x30), 7);
	kvfree(header);
}

static void flush_of_partly_filled_buffer_finishes_it(struct kunit *test)
{
	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	log_event_of_length(8);
	KUNIT_EXPECT_EQ(test, etw_flush_session(SESSION), 0);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 1);
	KUNIT_EXPECT_EQ(test, etw_flush_session(SESSION), 0);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 1);
	log_event_of_length(8);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 2);
	KUNIT_EXPECT_EQ(test, read_u64(get_session_buffer(TEST_CPU, 1), BUFFER_SEQUENCE), 2);
}

static void last_buffer_of_file_marked(struct kunit *test)
{
	unsigned int cpu;

	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 4);
	log_event_of_length(8);
	stop_session_0(test);
	cpu = etw_find_last_file_cpu(SESSION->run);
	if (cpu != TEST_CPU)
		KUNIT_EXPECT_EQ(test, read_u16(get_session_buffer(TEST_CPU, 0), BUFFER_FLAG), 0x20);
	KUNIT_EXPECT_EQ(test, read_u16(get_session_buffer(cpu, count_finished_buffers(cpu) - 1),
				       BUFFER_FLAG), 0x21);
}

static void time_stamps_in_buffer_monotonic(struct kunit *test)
{
	u64 last = 0;
	int i;

	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	for (i = 0; i < EVENTS_PER_BUFFER; i++)
		log_event_of_length(8);
	for (i = 0; i < EVENTS_PER_BUFFER; i++) {
		u64 now = read_u64(get_session_event(i, TEST_HOOK_ID), EVENT_TIME);

		KUNIT_EXPECT_GE(test, now, last);
		last = now;
	}
	stop_session_0(test);
}

static void header_buffer_bytes_match_nt_layout(struct kunit *test)
{
	static const char name[] = "NT Kernel Logger";
	const u8 *event, *data;
	u8 *header;
	size_t size, i, position;

	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 4);
	stop_session_0(test);
	header = etw_make_header_buffer(SESSION->run, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(header));
	KUNIT_EXPECT_EQ(test, size, SESSION_BUFFER_SIZE);

	KUNIT_EXPECT_EQ(test, read_u32(header, BUFFER_SIZE), SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, read_u16(header, BUFFER_TYPE), 4);
	KUNIT_EXPECT_EQ(test, read_u16(header, BUFFER_FLAG), 0x21);
	KUNIT_EXPECT_EQ(test, read_u32(header, BUFFER_STATE), 3);
	KUNIT_EXPECT_EQ(test, read_u64(header, BUFFER_SEQUENCE), 0);
	KUNIT_EXPECT_EQ(test, read_u64(header, BUFFER_TIME_STAMP), 0);
	KUNIT_EXPECT_EQ(test, read_u64(header, BUFFER_CLOCK), 0);

	event = header + BUFFER_EVENTS;
	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0020002u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), 0x0000);
	KUNIT_EXPECT_EQ(test, read_u32(event, 0x08), task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u32(event, 0x0C), task_tgid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u64(event, 0x10), SESSION->run->clocks.start_clock);
	data = event + 0x20;
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x00), SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x04), 0x0501000Au);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x0C), num_possible_cpus());
	KUNIT_EXPECT_GE(test, read_u64(data, 0x10), read_u64(data, 0x108));
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x20), 0x02000001u);
	/* The header buffer and the buffer with the rundown. */
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x24), 2);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x28), 1);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x2C), 8);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x30), 0);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x34), tsc_khz / 1000);
	KUNIT_EXPECT_LT(test, read_u64(data, 0xF8), read_u64(data, 0x108));
	KUNIT_EXPECT_EQ(test, read_u64(data, 0x100), (u64)tsc_khz * 1000);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x110), 3);
	KUNIT_EXPECT_EQ(test, read_u32(data, 0x114), 0);
	for (i = 0; i < sizeof(name); i++)
		KUNIT_EXPECT_EQ(test, read_u16(data, 0x118 + 2 * i), name[i]);

	position = BUFFER_EVENTS + ALIGN(read_u16(event, EVENT_SIZE), 8);
	event = header + position;
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), 0x0005);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x44);
	KUNIT_EXPECT_EQ(test, read_u32(event, 0x20 + 4), 0x00010000);
	KUNIT_EXPECT_EQ(test, read_u32(event, 0x40), 0x46);
	position += 0x48;
	event = header + position;
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), 0x0050);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x50);
	position += 0x50;
	KUNIT_EXPECT_EQ(test, read_u32(header, BUFFER_SAVED_OFFSET), position);
	KUNIT_EXPECT_NULL(test,
			  memchr_inv(header + position, 0xFF, SESSION_BUFFER_SIZE - position));
	kvfree(header);
}

static void started_session_changes_refused(struct kunit *test)
{
	start_session_0(test, PERF_SPINLOCK, SESSION_BUFFER_SIZE, 4);
	KUNIT_EXPECT_EQ(test, etw_start_session(SESSION), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_name(SESSION, "other"), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_mode(SESSION, ETW_MODE_BUFFERING), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_buffer_size(SESSION, 8192), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_buffers(SESSION, 8), -EBUSY);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffer_size, SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffers, 4);
	KUNIT_EXPECT_EQ(test, SESSION->settings.group_mask.masks[1], 0x00010000);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, etw_stop_session(SESSION), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_flush_session(SESSION), -EINVAL);
}

static void restarted_session_buffers_and_counts_reset(struct kunit *test)
{
	start_session_0(test, 0, SESSION_BUFFER_SIZE, 4);
	log_event_of_length(8);
	stop_session_0(test);
	start_session_0(test, 0, 2 * SESSION_BUFFER_SIZE, 2);
	KUNIT_EXPECT_EQ(test, get_buffer_cpu()->generated, 0);
	KUNIT_EXPECT_EQ(test, count_finished_buffers(TEST_CPU), 0);
	log_event_of_length(8);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, read_u64(get_session_buffer(TEST_CPU, 0), BUFFER_SEQUENCE), 1);
	KUNIT_EXPECT_EQ(test, read_u32(get_session_buffer(TEST_CPU, 0), BUFFER_SIZE),
			2 * SESSION_BUFFER_SIZE);
}

static void buffer_sizes_out_of_range_refused(struct kunit *test)
{
	static const u32 buffer_sizes[] = { 0, 1, 4095, 4097, 6144, 1048577, 2097152, U32_MAX };
	static const u32 buffer_counts[] = { 0, 1, 1025, U32_MAX };
	size_t i;

	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(SESSION, SESSION_BUFFER_SIZE), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(SESSION, 4), 0);
	for (i = 0; i < ARRAY_SIZE(buffer_sizes); i++)
		KUNIT_EXPECT_EQ(test, etw_set_buffer_size(SESSION, buffer_sizes[i]), -EINVAL);
	for (i = 0; i < ARRAY_SIZE(buffer_counts); i++)
		KUNIT_EXPECT_EQ(test, etw_set_buffers(SESSION, buffer_counts[i]), -EINVAL);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffer_size, SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffers, 4);
}

static struct perfinfo_groupmask mask_of_words(u32 word1, u32 word0)
{
	return (struct perfinfo_groupmask) { .masks = { word0, word1 } };
}

static int parse_and_apply(const char *text, struct perfinfo_groupmask *mask)
{
	struct etw_group_mask_change change;
	char text_copy[80];
	int err;

	strscpy(text_copy, text, sizeof(text_copy));
	err = etw_group_change_parse(text_copy, &change);
	if (!err)
		etw_group_change_apply(&change, mask);
	return err;
}

static void group_mask_changed_by_name_and_number(struct kunit *test)
{
	/* Each row changes the mask that the previous row has set. */
	static const struct {
		const char *text;
		u32 word1, word0;
	} changes[] = {
		{ "PERF_SPINLOCK", 0x00010000 },
		{ "0x20200000", 0x00200000 },
		{ "PERF_SPININSTR", 0x00210000 },
		{ "PERF_SPINLOCK PERF_SPINLOCK_CNTRS", 0x00210000 },
		{ "+PERF_SYNC_OBJECTS", 0x00230000 },
		{ "-0x20200000 +PERF_CONTEXT_SWITCH", 0x00030004 },
		{ "-PERF_SPININSTR", 0x00020004 },
		{ "+PERF_SPININSTR -PERF_SYNC_OBJECTS", 0x00210004 },
		{ "EVENT_TRACE_FLAG_CSWITCH", 0x00000004, 0x10 },
		{ "+PERF_SPINLOCK", 0x00010004, 0x10 },
		{ "-PERF_CONTEXT_SWITCH", 0x00010000, 0 },
		{ "+0x10", 0x00010004, 0x10 },
		{ "-EVENT_TRACE_FLAG_CSWITCH -PERF_SPINLOCK", 0, 0 },
		{ "PERF_CONTEXT_SWITCH", 0x00000004, 0 },
		{ "+EVENT_TRACE_FLAG_DISPATCHER", 0x00000204, 0x800 },
		{ "-PERF_DISPATCHER", 0x00000004, 0 },
		{ "PERF_DISPATCHER 0x10", 0x00000204, 0x10 },
		{ "-0x800", 0x00000004, 0x10 },
	};
	static const char * const wrong[] = {
		"", " ", "PERF_SPINLOC", "PERF_SPINLOCK,PERF_SPINLOCK_CNTRS",
		"perf_spinlock", "0x20010001", "0x", "536936448", "0x120010000",
		"PERF_SPINLOCK x", "-1", "+", "-", "++PERF_SPINLOCK", "+ PERF_SPINLOCK",
		"PERF_SPINLOCK +PERF_SYNC_OBJECTS", "+PERF_SPINLOCK -PERF_SPININSTR",
	};
	struct perfinfo_groupmask mask = {}, expected;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		expected = mask_of_words(changes[i].word1, changes[i].word0);
		KUNIT_EXPECT_EQ_MSG(test, parse_and_apply(changes[i].text, &mask), 0, "'%s'",
				    changes[i].text);
		KUNIT_EXPECT_MEMEQ_MSG(test, &mask, &expected, sizeof(mask), "'%s'",
				       changes[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_EQ_MSG(test, parse_and_apply(wrong[i], &mask), -EINVAL,
				    "'%s'", wrong[i]);
	KUNIT_EXPECT_MEMEQ(test, &mask, &expected, sizeof(mask));
}

static struct kunit_case etw_test_cases[] = {
	KUNIT_CASE(rundown_at_start_and_stop_has_parameters),
	KUNIT_CASE(group_not_enabled_no_rundown_written),
	KUNIT_CASE(buffer_header_bytes_match_nt_layout),
	KUNIT_CASE(events_aligned_to_8_rest_of_buffer_ff),
	KUNIT_CASE(full_buffer_finished_next_one_used),
	KUNIT_CASE(event_of_remaining_size_fits_in_buffer),
	KUNIT_CASE(no_free_buffer_events_counted_lost),
	KUNIT_CASE(flush_of_partly_filled_buffer_finishes_it),
	KUNIT_CASE(last_buffer_of_file_marked),
	KUNIT_CASE(time_stamps_in_buffer_monotonic),
	KUNIT_CASE(header_buffer_bytes_match_nt_layout),
	KUNIT_CASE(started_session_changes_refused),
	KUNIT_CASE(restarted_session_buffers_and_counts_reset),
	KUNIT_CASE(buffer_sizes_out_of_range_refused),
	KUNIT_CASE(group_mask_changed_by_name_and_number),
	{}
};

static struct kunit_suite etw_test_suite = {
	.name = "ntklog_etw",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = etw_test_cases,
};

kunit_test_suite(etw_test_suite);
