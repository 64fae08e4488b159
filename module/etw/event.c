// SPDX-License-Identifier: GPL-2.0-only
/* From a record to an event in the buffers of every session that wants it. */

#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/timex.h>
#include <uapi/ntklog/event.h>

#include "../compat.h"
#include "buffer.h"
#include "event.h"
#include "provider.h"
#include "session.h"

static struct perfinfo_trace_header etw_trace_header(u16 hook_id, u8 version,
						     u16 length)
{
	return (struct perfinfo_trace_header) {
		.version = version,
		.header_type = TRACE_HEADER_TYPE_PERFINFO64,
		.flags = TRACE_HEADER_FLAGS,
		.size = sizeof(struct perfinfo_trace_header) + length,
		.hook_id = hook_id,
		.time_stamp = get_cycles(),
	};
}

/* A bit for each. Interrupts off, which is the RCU read side for etw_stop_session(). */
static __always_inline unsigned long etw_logging_sessions(void)
{
	/* All of a session after its bit. Pairs with the release in etw_set_logging(). */
	return smp_load_acquire(&etw_logging);
}

/**
 * etw_log_event() - log an event to all sessions that want it
 * @group: the group mask that enables it
 * @hook_id: which event
 * @version: its version
 * @data: its data
 * @length: bytes of @data
 *
 * Context: interrupts off. Takes no lock, does not allocate. A session without
 * room loses the event and counts it.
 */
void etw_log_event(u32 group, u16 hook_id, u8 version, const void *data,
		   u16 length)
{
	struct perfinfo_trace_header header;
	unsigned long logging;

	/* From the time stamp to the copy: time stamps in a buffer only go up. */
	lockdep_assert_irqs_disabled();
	header = etw_trace_header(hook_id, version, length);
	/* Few of few: no call for each bit. */
	for (logging = etw_logging_sessions(); logging; logging &= logging - 1) {
		struct etw_session *session = &etw_sessions[__ffs(logging)];

		if (etw_group_mask_test(&session->group_mask, group))
			etw_buffer_write(session->run, &header, data);
	}
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_event);

/**
 * etw_event_wanted() - who wants an event that has versions, and in which
 * @group: the group mask that enables it
 *
 * What sessions want may change until it is logged: each gets what it has wanted here, and
 * nobody needs to make more.
 *
 * Context: interrupts off, until the event has been logged.
 * Return: a byte for each session; see ETW_WANTED_SHIFT.
 */
u64 etw_event_wanted(u32 group)
{
	unsigned long logging = etw_logging_sessions();
	u64 wanted = 0;

	for (; logging; logging &= logging - 1) {
		unsigned int id = __ffs(logging);
		const struct etw_session *session = &etw_sessions[id];

		if (etw_group_mask_test(&session->group_mask, group))
			wanted |= (u64)READ_ONCE(session->contextswap_version) <<
				  id * ETW_WANTED_SHIFT;
	}
	return wanted;
}
EXPORT_SYMBOL_IF_KUNIT(etw_event_wanted);

static_assert(ETW_SESSIONS * ETW_WANTED_SHIFT <= 64);
static_assert(ETW_EVENT_VERSIONS == 4);

/**
 * etw_log_event_versions() - log an event, to each session in its version
 * @wanted: by whom, from etw_event_wanted()
 * @hook_id: which event
 * @first: its data in version 1
 * @first_length: bytes of @first
 * @later: its data in the others
 * @later_length: bytes of @later
 *
 * Context: as etw_log_event().
 */
void etw_log_event_versions(u64 wanted, u16 hook_id, const void *first, u16 first_length,
			    const void *later, u16 later_length)
{
	struct etw_session *session = etw_sessions;
	struct perfinfo_trace_header header;

	lockdep_assert_irqs_disabled();
	header = etw_trace_header(hook_id, 0, 0);
	for (; wanted; wanted >>= ETW_WANTED_SHIFT, session++) {
		header.version = wanted & ETW_WANTED_MASK;
		if (!header.version)
			continue;
		header.size = sizeof(header) +
			      (header.version == 1 ? first_length : later_length);
		etw_buffer_write(session->run, &header, header.version == 1 ? first : later);
	}
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_event_versions);

/**
 * etw_log_session_event() - log an event to one session, whatever its mask
 * @session: a session that is being started, runs, or is being stopped
 * @hook_id: which event
 * @version: its version
 * @data: its data
 * @length: bytes of @data
 *
 * Context: any but NMI.
 */
void etw_log_session_event(struct etw_session *session, u16 hook_id, u8 version,
			   const void *data, u16 length)
{
	struct perfinfo_trace_header header;
	unsigned long flags;

	local_irq_save(flags);
	header = etw_trace_header(hook_id, version, length);
	etw_buffer_write(session->run, &header, data);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_session_event);
