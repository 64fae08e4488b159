// SPDX-License-Identifier: GPL-2.0-only

#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/group_mask.h"
#include "session_fixture.h"

void start_session_by_id(struct kunit *test, int id, u32 group, u32 buffers,
			 enum etw_session_mode mode)
{
	struct etw_group_mask_change change = { .replaces_mask = true };
	struct etw_session *session = &etw_sessions[id];

	etw_group_mask_set(&change.groups_to_set, group);
	etw_change_group_mask(session, &change);
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SESSION_BUFFER_SIZE), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, buffers), 0);
	KUNIT_ASSERT_EQ(test, etw_set_mode(session, mode), 0);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(session, 0), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(session), 0);
}

void stop_session_by_id(struct kunit *test, int id)
{
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[id]), 0);
}

void change_groups_of_session(int id, u32 group, bool set)
{
	struct etw_group_mask_change change = {};

	etw_group_mask_set(set ? &change.groups_to_set : &change.groups_to_clear, group);
	etw_change_group_mask(&etw_sessions[id], &change);
}

const struct etw_buffer_cpu *get_session_counts(int id)
{
	return per_cpu_ptr(etw_sessions[id].run->cpus, TEST_CPU);
}

struct rchan_buf *session_rchan_buf(int id)
{
	return etw_get_buffer_of_cpu(etw_sessions[id].run, TEST_CPU);
}

const u8 *session_buffer_at(int id, unsigned int index)
{
	const struct rchan_buf *buf = session_rchan_buf(id);

	return (u8 *)buf->start + index * buf->chan->subbuf_size;
}

const u8 *find_first_event(int id, u16 hook_id)
{
	size_t end = session_rchan_buf(id)->offset, position;

	for (position = BUFFER_EVENTS; position < end;
	     position += ALIGN(read_u16(session_buffer_at(id, 0) + position, EVENT_SIZE), 8))
		if (read_u16(session_buffer_at(id, 0) + position, EVENT_HOOK_ID) == hook_id)
			return session_buffer_at(id, 0) + position;
	return NULL;
}

void log_event(u32 group, u64 number)
{
	u64 bytes[EVENT_LENGTH / 8] = { number };
	unsigned long flags;

	local_irq_save(flags);
	etw_log_event(etw_find_sessions_for_event(group), TEST_HOOK_ID, 1, bytes, EVENT_LENGTH);
	local_irq_restore(flags);
}

/*
 * Like log_event(), but make the event in the buffer of the first session. Returns false if
 * etw_begin_event() has refused that, and etw_log_event() has logged a copy of the event instead.
 */
bool log_event_in_place(u32 group, u64 number)
{
	u64 bytes[EVENT_LENGTH / 8] = { number };
	unsigned long flags;
	bool in_place;
	void *data;
	u64 session_set;

	local_irq_save(flags);
	session_set = etw_find_sessions_for_event(group);
	in_place = etw_begin_event(session_set, TEST_HOOK_ID, 1, EVENT_LENGTH, &data);
	if (in_place) {
		memcpy(data, bytes, EVENT_LENGTH);
		etw_end_event(session_set, data, EVENT_LENGTH);
	} else {
		etw_log_event(session_set, TEST_HOOK_ID, 1, bytes, EVENT_LENGTH);
	}
	local_irq_restore(flags);
	return in_place;
}

/* Set buffers of a gigabyte for each CPU, which is more than a start may allocate. */
void set_buffers_beyond_memory(struct kunit *test, struct etw_session *session)
{
	if ((u64)SZ_1G / PAGE_SIZE * num_online_cpus() < si_mem_available() / 2)
		kunit_skip(test, "too much memory");
	KUNIT_ASSERT_EQ(test, etw_set_buffer_size(session, SZ_1M), 0);
	KUNIT_ASSERT_EQ(test, etw_set_buffers(session, 1024), 0);
}
