/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_SESSION_FIXTURE_H
#define _NTKLOG_KUNIT_SESSION_FIXTURE_H

#include <kunit/test.h>
#include <linux/percpu.h>
#include <linux/relay.h>

#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "fixture.h"

#define SESSION_BUFFER_SIZE		4096
#define TEST_HOOK_ID	0x0FFE
/* An event takes 0x50 bytes, so a buffer has space for (4096 - 0x48) / 0x50 = 50 events. */
#define EVENT_LENGTH		0x40
#define EVENTS_PER_BUFFER	50

void start_session_by_id(struct kunit *test, int id, u32 group, u32 buffers,
			 enum etw_session_mode mode);
void stop_session_by_id(struct kunit *test, int id);
void change_groups_of_session(int id, u32 group, bool set);
const struct etw_buffer_cpu *get_session_counts(int id);
struct rchan_buf *session_rchan_buf(int id);
const u8 *session_buffer_at(int id, unsigned int index);
const u8 *find_first_event(int id, u16 hook_id);
void log_event(u32 group, u64 number);
bool log_event_in_place(u32 group, u64 number);
void set_buffers_beyond_memory(struct kunit *test, struct etw_session *session);

#endif /* _NTKLOG_KUNIT_SESSION_FIXTURE_H */
