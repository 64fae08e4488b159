/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_EVENT_H
#define _NTKLOG_ETW_EVENT_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>

#include "../ground/clock.h"
#include "../ground/word.h"
#include "buffer.h"
#include "session.h"

/* Versions of an event of which each session has one. */
#define ETW_EVENT_VERSIONS	4

/*
 * Who wants an event: a byte for each session, from the lowest on, with 1, or of an event
 * that has versions the version that it wants, or 0.
 */
#define ETW_WANTED_SHIFT	8
#define ETW_WANTED_MASK		0xFF

/* Does anybody want another version than the first? Such numbers have bit 1 or 2. */
#define ETW_LATER_WANTED	0x0606060606060606ULL

#define ETW_GROUPS_IN_MASK	32

/*
 * Who wants the events of a group, by the bit of the group mask. Written with etw_mutex
 * held: a session's byte is set with release when all of the session is ready, and cleared
 * before anything of it goes. Read with acquire by who logs.
 */
extern u64 etw_sessions_by_group[PERF_NUM_MASKS][ETW_GROUPS_IN_MASK];

/**
 * struct etw_logged - where an event has gone
 * @sessions: that have room for it, a byte of 1 for each
 * @time: its time stamp
 */
struct etw_logged {
	u64 sessions;
	u64 time;
};

/* What etw_reserve() needs of each session's run. Written before the session's bytes. */
extern struct etw_buffer_cpu __percpu *etw_run_cpus[ETW_SESSIONS];

/*
 * In which version after the first each session wants context swaps, 0 being that. Written by any,
 * a byte at a time.
 */
extern union etw_versions {
	u8 of_session[ETW_SESSIONS];
	u64 all;
} etw_contextswap_versions;

/**
 * etw_sessions_for_event() - who wants an event
 * @group: the group mask that enables it, one bit
 *
 * Context: interrupts off, which is the RCU read side for etw_stop_session(), until the
 * event has been logged.
 * Return: a byte for each session; see ETW_WANTED_SHIFT.
 */
static __always_inline u64 etw_sessions_for_event(u32 group)
{
	u32 bit = __builtin_ctz(PERF_MASK_BITS(group));

	/*
	 * All of a session after its byte. Pairs with the release in
	 * etw_publish_wanting_sessions().
	 */
	return ntklog_read_u64_acquire(etw_sessions_by_group[PERF_MASK_INDEX(group)][bit]);
}

/**
 * etw_sessions_by_version() - in which version is an event wanted that has versions?
 * @wanted: by whom, from etw_sessions_for_event()
 *
 * What sessions want may change until it is logged: each gets what it has wanted here, and
 * nobody needs to make more.
 *
 * Context: as etw_sessions_for_event().
 * Return: a byte for each session; see ETW_WANTED_SHIFT.
 */
static __always_inline u64 etw_sessions_by_version(u64 wanted)
{
	BUILD_BUG_ON(ETW_EVENT_VERSIONS > 4);
	return wanted + (wanted * 3 & ntklog_read_u64(etw_contextswap_versions.all));
}

/**
 * etw_versions_above_1_wanted() - is an event wanted in another version than the first?
 * @wanted: by whom, from etw_sessions_for_event()
 *
 * Context: as etw_sessions_for_event().
 * Return: whether etw_sessions_by_version() would have one.
 */
static __always_inline bool etw_versions_above_1_wanted(u64 wanted)
{
	/* Plain, so that it is compared where it is; it changes a byte at a time. */
	return wanted * 3 & data_race(etw_contextswap_versions.all);
}

static __always_inline unsigned long etw_first_session(u64 wanted)
{
	return __ffs64(wanted) / ETW_WANTED_SHIFT;
}

/* Each byte, and the time of now. */
static __always_inline void etw_make_trace_header(struct perfinfo_trace_header *header,
						  u16 hook_id, u8 version, u16 length)
{
	header->version = version;
	header->extended_flags = 0;
	header->header_type = TRACE_HEADER_TYPE_PERFINFO64;
	header->flags = TRACE_HEADER_FLAGS;
	header->size = sizeof(*header) + length;
	header->hook_id = hook_id;
	ntklog_store_time(&header->time_stamp, ntklog_read_time());
}

/**
 * etw_begin_event() - begin an event where it is to be, in the first session's buffer
 * @wanted: by whom, from etw_sessions_for_event(), with nothing but 1 in its bytes
 * @hook_id: which event
 * @version: its version
 * @length: bytes of its data, a multiple of TRACE_EVENT_ALIGNMENT
 * @data: set to where that goes, all of which has to be written: there is something else
 *
 * Context: interrupts off, not NMI, up to etw_end_event(), which need not be called where nobody
 * else wants the event; nothing in between logs.
 * Return: whether it has begun; if not, nothing has happened, and it is for
 * etw_log_event_to() to see to it.
 */
static __always_inline bool etw_begin_event(u64 wanted, u16 hook_id, u8 version, u16 length,
					    void **data)
{
	struct perfinfo_trace_header *header;
	void *event;

	BUILD_BUG_ON(length % TRACE_EVENT_ALIGNMENT);
	/* From the time stamp on: time stamps in a buffer only go up. */
	lockdep_assert_irqs_disabled();
	if (unlikely(!wanted || !etw_reserve(etw_run_cpus[etw_first_session(wanted)],
					     sizeof(*header) + length, &event)))
		return false;
	header = event;
	etw_make_trace_header(header, hook_id, version, length);
	*data = header + 1;
	return true;
}

/**
 * etw_end_event() - the event is made; copy it for the other sessions that want it
 * @wanted: by whom, as etw_begin_event() was told
 * @data: where that has said that it goes
 * @length: bytes of it, likewise
 *
 * Context: as etw_begin_event(). A session without room loses the event and counts it.
 * Return: where it is now.
 */
static __always_inline struct etw_logged etw_end_event(u64 wanted, const void *data, u16 length)
{
	const struct perfinfo_trace_header *header = data - sizeof(*header);
	struct etw_logged logged = { .sessions = wanted & -wanted, .time = header->time_stamp };

	/* Each byte is 1: this is one session less. */
	while (unlikely(wanted &= wanted - 1)) {
		unsigned long id = etw_first_session(wanted);
		void *event;

		if (likely(etw_reserve(etw_run_cpus[id], sizeof(*header) + length, &event)))
			memcpy(event, header, sizeof(*header) + length);
		else if (!etw_buffer_write(etw_sessions[id].run, header, data))
			continue;
		logged.sessions |= wanted & -wanted;
	}
	return logged;
}

struct etw_logged etw_log_event_versions(u64 wanted, u16 hook_id, const void *first,
					 u16 first_length, const void *later,
					 u16 later_length);
struct etw_logged etw_log_event_to(u64 sessions, u16 hook_id, u8 version, const void *data,
				   u16 length);
void etw_log_session_event(struct etw_session *session, u16 hook_id, u8 version,
			   const void *data, u16 length);

#endif /* _NTKLOG_ETW_EVENT_H */
