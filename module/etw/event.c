// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <uapi/ntklog/event.h>

#include "buffer.h"
#include "event.h"
#include "session.h"

u64 etw_sessions_by_group[PERF_NUM_MASKS][ETW_GROUPS_IN_WORD];
struct etw_buffer_cpu __percpu *etw_run_cpus[ETW_SESSIONS];
union etw_versions etw_contextswap_versions;

/**
 * etw_publish_sessions() - publish which sessions log which groups
 *
 * Context: task; etw_mutex held.
 */
void etw_publish_sessions(void)
{
	int word, bit, i;

	for (word = 0; word < PERF_NUM_MASKS; word++) {
		for (bit = 0; bit < ETW_GROUPS_IN_WORD; bit++) {
			u64 sessions = 0;

			for (i = 0; i < ETW_SESSIONS; i++)
				if (etw_sessions[i].is_logging &&
				    etw_sessions[i].settings.group_mask.masks[word] & BIT(bit))
					sessions |= 1ULL << i * ETW_SESSION_BITS;
			/*
			 * Publishes the session's run and settings. Pairs with
			 * etw_find_sessions_for_event().
			 */
			ntklog_write_u64_release(etw_sessions_by_group[word][bit], sessions);
		}
	}
}

/* Called with interrupts off. */
static struct etw_logged_event
etw_log_header_to_sessions(u64 sessions, const struct perfinfo_trace_header *header,
			   const void *data)
{
	struct etw_logged_event logged = { .time = header->time_stamp };

	for (; sessions; sessions &= sessions - 1)
		if (etw_write_event(etw_sessions[etw_find_first_session(sessions)].run, header,
				    data))
			logged.sessions |= sessions & -sessions;
	return logged;
}

/**
 * etw_log_event() - log an event to sessions
 * @sessions: sessions that etw_find_sessions_for_event() has returned, a byte of 1 for each
 * @hook_id: PERFINFO_LOG_TYPE_* or NTKLOG_LOG_TYPE_*
 * @version: version of the event
 * @data: its data
 * @length: bytes of @data
 *
 * Context: interrupts off since etw_find_sessions_for_event().
 * Return: the sessions that have the event, and its time stamp.
 */
struct etw_logged_event etw_log_event(u64 sessions, u16 hook_id, u8 version, const void *data,
				      u16 length)
{
	struct perfinfo_trace_header header;

	lockdep_assert_irqs_disabled();
	etw_make_trace_header(&header, hook_id, version, length);
	return etw_log_header_to_sessions(sessions, &header, data);
}

/**
 * etw_log_event_with_time() - log an event with the time stamp of another event to sessions
 * @time: the time stamp; no event with a later time stamp has been logged on this CPU
 * @sessions: as for etw_log_event()
 * @hook_id: as for etw_log_event()
 * @version: as for etw_log_event()
 * @data: as for etw_log_event()
 * @length: as for etw_log_event()
 *
 * Context: as for etw_log_event(); interrupts off since @time was read.
 * Return: the sessions that have the event, and @time.
 */
struct etw_logged_event etw_log_event_with_time(u64 time, u64 sessions, u16 hook_id, u8 version,
						const void *data, u16 length)
{
	struct perfinfo_trace_header header;

	lockdep_assert_irqs_disabled();
	etw_make_trace_header(&header, hook_id, version, length);
	header.time_stamp = time;
	return etw_log_header_to_sessions(sessions, &header, data);
}

static_assert(ETW_SESSIONS * ETW_SESSION_BITS <= 64);
static_assert(ETW_EVENT_VERSIONS == 4);

/**
 * etw_log_event_in_versions() - log an event to each session in the session's version
 * @sessions: the sessions and their versions, from etw_get_contextswap_versions()
 * @hook_id: PERFINFO_LOG_TYPE_*
 * @version_1_data: data of version 1
 * @version_1_length: bytes of @version_1_data
 * @later_versions_data: data of the later versions
 * @later_versions_length: bytes of @later_versions_data
 *
 * Context: as for etw_log_event().
 * Return: the sessions that have the event, and its time stamp.
 */
struct etw_logged_event
etw_log_event_in_versions(u64 sessions, u16 hook_id, const void *version_1_data,
			  u16 version_1_length, const void *later_versions_data,
			  u16 later_versions_length)
{
	struct etw_session *session = etw_sessions;
	struct perfinfo_trace_header header;
	struct etw_logged_event logged = {};

	lockdep_assert_irqs_disabled();
	etw_make_trace_header(&header, hook_id, 0, 0);
	logged.time = header.time_stamp;
	for (; sessions; sessions >>= ETW_SESSION_BITS, session++) {
		header.version = sessions & ETW_SESSION_MASK;
		if (!header.version)
			continue;
		header.size = sizeof(header) +
			      (header.version == 1 ? version_1_length : later_versions_length);
		if (etw_write_event(session->run, &header,
				    header.version == 1 ? version_1_data : later_versions_data))
			logged.sessions |= 1ULL << session->id * ETW_SESSION_BITS;
	}
	return logged;
}

/**
 * etw_log_session_event() - log an event to one session, whether or not its group mask asks for it
 * @session: a session that is being started, is started, or is being stopped
 * @hook_id: PERFINFO_LOG_TYPE_* or NTKLOG_LOG_TYPE_*
 * @version: version of the event
 * @data: its data
 * @length: bytes of @data
 *
 * Context: any but NMI.
 * Return: true if the event is written; false if it is lost, and counted as such.
 */
bool etw_log_session_event(struct etw_session *session, u16 hook_id, u8 version,
			   const void *data, u16 length)
{
	struct perfinfo_trace_header header;
	unsigned long flags;
	bool is_written;

	local_irq_save(flags);
	etw_make_trace_header(&header, hook_id, version, length);
	is_written = etw_write_event(session->run, &header, data);
	local_irq_restore(flags);
	return is_written;
}
