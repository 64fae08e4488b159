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

/* Interrupts off, which is also the RCU read side for etw_stop_session(). */
static __always_inline void
etw_log_header(u32 group, struct perfinfo_trace_header *header,
	       const struct etw_event_version *versions, const void *data)
{
	unsigned long logging;

	/* Pairs with the release in etw_set_logging(). */
	logging = smp_load_acquire(&etw_logging);
	/* Few of few: no call for each bit. */
	for (; logging; logging &= logging - 1) {
		struct etw_session *session = &etw_sessions[__ffs(logging)];

		if (!etw_group_mask_test(&session->group_mask, group))
			continue;
		if (versions) {
			const struct etw_event_version *version =
				&versions[READ_ONCE(session->contextswap_version) - 1];

			header->version = version - versions + 1;
			header->size = sizeof(*header) + version->length;
			data = version->data;
		}
		etw_buffer_write(session->run, header, data);
	}
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

	/* From the time stamp to the copy: time stamps in a buffer only go up. */
	lockdep_assert_irqs_disabled();
	header = etw_trace_header(hook_id, version, length);
	etw_log_header(group, &header, NULL, data);
}
EXPORT_SYMBOL_IF_KUNIT(etw_log_event);

/**
 * etw_log_event_versions() - log an event, to each session in its version
 * @group: the group mask that enables it
 * @hook_id: which event
 * @versions: its data in version 1, 2, ...; ETW_EVENT_VERSIONS of them
 *
 * Context: as etw_log_event().
 */
void etw_log_event_versions(u32 group, u16 hook_id,
			    const struct etw_event_version *versions)
{
	struct perfinfo_trace_header header;

	lockdep_assert_irqs_disabled();
	header = etw_trace_header(hook_id, 0, 0);
	etw_log_header(group, &header, versions, NULL);
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
