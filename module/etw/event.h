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

/* Number of versions of the context switch event. A session logs one of them. */
#define ETW_EVENT_VERSIONS	4

/*
 * A set of sessions is a u64 with a byte for each session, session 0 in the lowest. The byte is 0
 * if the session does not log the event; otherwise 1, or the version that the session logs.
 */
#define ETW_SESSION_BITS	8
#define ETW_SESSION_MASK		0xFF

/* Bits that are set in a byte of a set only if the version is above 1: 2, 3 or 4. */
#define ETW_VERSION_ABOVE_1_BITS	0x0606060606060606ULL

#define ETW_GROUPS_IN_WORD	32

/*
 * The sessions that log a group, by word and bit of the group mask. Written with etw_mutex held: a
 * session's byte is set with release when its run is ready, and cleared before the run is finished.
 * Loggers read the byte with acquire.
 */
extern u64 etw_sessions_by_group[PERF_NUM_MASKS][ETW_GROUPS_IN_WORD];

/* The sessions that have an event, a byte of 1 for each, and the time stamp of the event. */
struct etw_logged_event {
	u64 sessions;
	u64 time;
};

/*
 * etw_run::cpus of each session's run, for etw_reserve_event(). Written before the session's bytes
 * in etw_sessions_by_group are set.
 */
extern struct etw_buffer_cpu __percpu *etw_run_cpus[ETW_SESSIONS];

/*
 * Version of each session's context switch events, minus 1, as bytes and as a set of sessions. Each
 * byte is written separately.
 */
extern union etw_versions {
	u8 by_session[ETW_SESSIONS];
	u64 as_set;
} etw_contextswap_versions;

/**
 * etw_find_sessions_for_event() - get the sessions that log an event
 * @group: the event's group, one bit of a group mask
 *
 * Context: interrupts off until the event has been logged, which is the RCU read side for
 * etw_stop_session_locked().
 * Return: the set of sessions, with a byte of 1 for each; see ETW_SESSION_BITS.
 */
static __always_inline u64 etw_find_sessions_for_event(u32 group)
{
	u32 bit = __builtin_ctz(PERF_MASK_BITS(group));

	/* Read the byte before the run and the settings. Pairs with etw_publish_sessions(). */
	return ntklog_read_u64_acquire(etw_sessions_by_group[PERF_MASK_INDEX(group)][bit]);
}

/**
 * etw_get_contextswap_versions() - get the version in which each session logs context switches
 * @sessions: the sessions that log the context switch, from etw_find_sessions_for_event()
 *
 * Context: as for etw_find_sessions_for_event().
 * Return: @sessions, with the version instead of 1 in each byte; see ETW_SESSION_BITS.
 */
static __always_inline u64 etw_get_contextswap_versions(u64 sessions)
{
	BUILD_BUG_ON(ETW_EVENT_VERSIONS > 4);
	return sessions + (sessions * 3 & ntklog_read_u64(etw_contextswap_versions.as_set));
}

/**
 * etw_has_contextswap_version_above_1() - test whether a session logs a later version than 1
 * @sessions: the sessions that log the context switch, from etw_find_sessions_for_event()
 *
 * Context: as for etw_find_sessions_for_event().
 * Return: true if etw_get_contextswap_versions() would return a version above 1.
 */
static __always_inline bool etw_has_contextswap_version_above_1(u64 sessions)
{
	/* A plain load, which the compiler can compare in memory. A byte changes atomically. */
	return sessions * 3 & data_race(etw_contextswap_versions.as_set);
}

static __always_inline unsigned long etw_find_first_session(u64 sessions)
{
	return __ffs64(sessions) / ETW_SESSION_BITS;
}

/* Write all fields of the header of an event, with the present time. */
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
 * etw_begin_event() - begin an event in the buffer of the first session that logs it
 * @sessions: the sessions that log the event, from etw_find_sessions_for_event()
 * @hook_id: PERFINFO_LOG_TYPE_* or NTKLOG_LOG_TYPE_*
 * @version: version of the event
 * @length: bytes of its data, a multiple of TRACE_EVENT_ALIGNMENT
 * @data: set to the address at which the caller writes the data. The caller must write each byte,
 *	because the buffer still has old contents
 *
 * Context: interrupts off, not NMI, up to etw_end_event(), or up to the last byte if @sessions is
 * one session. No other event is logged in between.
 * Return: true if the event has begun. Otherwise the caller logs it by etw_log_event() or
 * etw_log_event_in_versions().
 */
static __always_inline bool etw_begin_event(u64 sessions, u16 hook_id, u8 version, u16 length,
					    void **data)
{
	struct perfinfo_trace_header *header;
	void *event;

	BUILD_BUG_ON(length % TRACE_EVENT_ALIGNMENT);
	/*
	 * Interrupts are off from reading the clock until the event is written, so that time stamps
	 * in a buffer do not decrease.
	 */
	lockdep_assert_irqs_disabled();
	if (unlikely(!sessions || !etw_reserve_event(etw_run_cpus[etw_find_first_session(sessions)],
						     sizeof(*header) + length, &event)))
		return false;
	header = event;
	etw_make_trace_header(header, hook_id, version, length);
	*data = header + 1;
	return true;
}

/**
 * etw_end_event() - copy a finished event to the other sessions that log it
 * @sessions: the same as for etw_begin_event()
 * @data: the address that etw_begin_event() has set, where the caller has written the data
 * @length: the same as for etw_begin_event()
 *
 * Context: as for etw_begin_event(). A session without space loses the event and counts it.
 * Return: the sessions that have the event, and its time stamp.
 */
static __always_inline struct etw_logged_event
etw_end_event(u64 sessions, const void *data, u16 length)
{
	const struct perfinfo_trace_header *header = data - sizeof(*header);
	struct etw_logged_event logged = {
		.sessions = sessions & -sessions,
		.time = header->time_stamp,
	};

	/* Each byte is 0 or 1. The expression clears the lowest 1, and so removes a session. */
	while (unlikely(sessions &= sessions - 1)) {
		unsigned long id = etw_find_first_session(sessions);
		void *event;

		if (likely(etw_reserve_event(etw_run_cpus[id], sizeof(*header) + length, &event)))
			memcpy(event, header, sizeof(*header) + length);
		else if (!etw_write_event(etw_sessions[id].run, header, data))
			continue;
		logged.sessions |= sessions & -sessions;
	}
	return logged;
}

struct etw_logged_event
etw_log_event_in_versions(u64 sessions, u16 hook_id, const void *version_1_data,
			  u16 version_1_length, const void *later_versions_data,
			  u16 later_versions_length);
struct etw_logged_event etw_log_event(u64 sessions, u16 hook_id, u8 version, const void *data,
				      u16 length);
struct etw_logged_event etw_log_event_with_time(u64 time, u64 sessions, u16 hook_id, u8 version,
						const void *data, u16 length);
void etw_publish_sessions(void);
bool etw_log_session_event(struct etw_session *session, u16 hook_id, u8 version,
			   const void *data, u16 length);

#endif /* _NTKLOG_ETW_EVENT_H */
