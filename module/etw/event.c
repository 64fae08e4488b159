// SPDX-License-Identifier: GPL-2.0-only
/* Log an event into the buffers of each session that wants it. */

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <uapi/ntklog/event.h>

#include "../ground/compat.h"
#include "buffer.h"
#include "event.h"
#include "session.h"

u64 etw_sessions_by_group[PERF_NUM_MASKS][ETW_GROUPS_IN_MASK];
EXPORT_SYMBOL_IF_KUNIT(etw_sessions_by_group);
struct etw_buffer_cpu __percpu *etw_run_cpus[ETW_SESSIONS];
EXPORT_SYMBOL_IF_KUNIT(etw_run_cpus);
union etw_versions etw_contextswap_versions;
EXPORT_SYMBOL_IF_KUNIT(etw_contextswap_versions);

/**
 * etw_publish_sessions() - publish which sessions log which groups
 *
 * Context: thread; etw_mutex held.
 */
void etw_publish_sessions(void)
{
	int word, bit, i;

	for (word = 0; word < PERF_NUM_MASKS; word++) {
		for (bit = 0; bit < ETW_GROUPS_IN_MASK; bit++) {
			u64 sessions = 0;

			for (i = 0; i < ETW_SESSIONS; i++)
				if (etw_sessions[i].logging &&
				    etw_sessions[i].settings.group_mask.masks[word] & BIT(bit))
					sessions |= 1ULL << i * ETW_WANTED_SHIFT;
			/*
			 * Publishes the session's run and settings. Pairs with
			 * etw_sessions_for_event().
			 */
			ntklog_write_u64_release(etw_sessions_by_group[word][bit], sessions);
		}
	}
}

/* Log an event with its header to sessions. Interrupts are off. */
static struct etw_logged etw_log_header_to(u64 sessions,
					   const struct perfinfo_trace_header *header,
					   const void *data)
{
	struct etw_logged logged = { .time = header->time_stamp };

	for (; sessions; sessions &= sessions - 1)
		if (etw_buffer_write(etw_sessions[etw_first_session(sessions)].run, header, data))
			logged.sessions |= sessions & -sessions;
	return logged;
}

/**
 * etw_log_event_to() - log an event to sessions
 * @sessions: sessions that etw_sessions_for_event() has returned, a byte of 1 for each
 * @hook_id: PERFINFO_LOG_TYPE_* or NTKLOG_LOG_TYPE_*
 * @version: version of the event
 * @data: its data
 * @length: bytes of @data
 *
 * Context: interrupts off since etw_sessions_for_event(). Takes no lock, does not allocate. A
 * session without space loses the event and counts it.
 * Return: the sessions that have the event, and its time stamp.
 */
struct etw_logged etw_log_event_to(u64 sessions, u16 hook_id, u8 version, const void *data,
				   u16 length)
{
	struct perfinfo_trace_header header;

	/*
	 * Interrupts are off from reading the clock until the event is written, so that time stamps
	 * in a buffer do not decrease.
	 */
	lockdep_assert_irqs_disabled();
	etw_make_trace_header(&header, hook_id, version, length);
	return etw_log_header_to(sessions, &header, data);
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_event_to);

/**
 * etw_log_event_at() - log an event with the time stamp of another event to sessions
 * @time: the time stamp, read by the caller; no event with a later one has been logged on this CPU
 * @sessions: as for etw_log_event_to()
 * @hook_id: as for etw_log_event_to()
 * @version: as for etw_log_event_to()
 * @data: as for etw_log_event_to()
 * @length: as for etw_log_event_to()
 *
 * Context: as for etw_log_event_to(); interrupts off since @time was read.
 * Return: the sessions that have the event, and @time.
 */
struct etw_logged etw_log_event_at(u64 time, u64 sessions, u16 hook_id, u8 version,
				   const void *data, u16 length)
{
	struct perfinfo_trace_header header;

	lockdep_assert_irqs_disabled();
	etw_make_trace_header(&header, hook_id, version, length);
	header.time_stamp = time;
	return etw_log_header_to(sessions, &header, data);
}

static_assert(ETW_SESSIONS * ETW_WANTED_SHIFT <= 64);
static_assert(ETW_EVENT_VERSIONS == 4);

/**
 * etw_log_event_versions() - log an event to each session in the session's version
 * @wanted: the sessions and their versions, from etw_sessions_by_version()
 * @hook_id: PERFINFO_LOG_TYPE_*
 * @first: data of version 1
 * @first_length: bytes of @first
 * @later: data of the later versions
 * @later_length: bytes of @later
 *
 * Context: as for etw_log_event_to().
 * Return: the sessions that have the event, and its time stamp.
 */
struct etw_logged etw_log_event_versions(u64 wanted, u16 hook_id, const void *first,
					 u16 first_length, const void *later,
					 u16 later_length)
{
	struct etw_session *session = etw_sessions;
	struct perfinfo_trace_header header;
	struct etw_logged logged = {};

	lockdep_assert_irqs_disabled();
	etw_make_trace_header(&header, hook_id, 0, 0);
	logged.time = header.time_stamp;
	for (; wanted; wanted >>= ETW_WANTED_SHIFT, session++) {
		header.version = wanted & ETW_WANTED_MASK;
		if (!header.version)
			continue;
		header.size = sizeof(header) +
			      (header.version == 1 ? first_length : later_length);
		if (etw_buffer_write(session->run, &header, header.version == 1 ? first : later))
			logged.sessions |= 1ULL << session->id * ETW_WANTED_SHIFT;
	}
	return logged;
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_event_versions);

/**
 * etw_log_session_event() - log an event to one session without regard to its mask
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
	is_written = etw_buffer_write(session->run, &header, data);
	local_irq_restore(flags);
	return is_written;
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_session_event);
