// SPDX-License-Identifier: GPL-2.0-only

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/identity.h>

#include "../etw/event.h"
#include "../ground/address.h"
#include "../ground/clock.h"
#include "../ground/identity.h"
#include "../trace.h"
#include "resource_cpu.h"
#include "resource_event.h"
#include "stack.h"

/* Called with interrupts off. */
static struct etw_logged_event ntklog_log_resource_record(u64 sessions,
							  const struct wmi_resource64 *record)
{
	void *data;

	if (!etw_begin_event(sessions, PERFINFO_LOG_TYPE_RESOURCE, PERFINFO_RESOURCE_VERSION,
			     sizeof(*record), &data))
		return etw_log_event(sessions, PERFINFO_LOG_TYPE_RESOURCE,
				     PERFINFO_RESOURCE_VERSION, record, sizeof(*record));
	memcpy(data, record, sizeof(*record));
	return etw_end_event(sessions, data, sizeof(*record));
}

/*
 * Log the record of a Linux lock, and before it events with data that a WMI_RESOURCE does not have.
 * A reader of the file recognizes by the equal time stamps that the events belong together, even if
 * other events were lost. Called with interrupts off.
 */
static noinline struct etw_logged_event
ntklog_log_sleeping_event(u64 sessions, const struct wmi_resource64 *record,
			  const struct ntklog_caller *caller,
			  struct ntklog_block_stack *block_stack)
{
	struct ntklog_caller event = *caller;
	const u64 time = ntklog_read_cycles();
	u64 sessions_with_stacks;

	event.lock = record->resource;
	event.caller = ntklog_get_displayed_address(caller->caller);
	etw_log_event_with_time(time, sessions, PERFINFO_LOG_TYPE_NTKLOG_CALLER,
				NTKLOG_CALLER_VERSION, &event, sizeof(event));
	if (block_stack) {
		block_stack->lock = record->resource;
		sessions_with_stacks = etw_find_stack_sessions_for_event(ETW_STACKED_RESOURCE,
									 sessions);
		etw_log_event_with_time(time, sessions_with_stacks,
					PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK,
					NTKLOG_BLOCK_STACK_VERSION, block_stack,
					sizeof(*block_stack));
	}
	return etw_log_event_with_time(time, sessions, PERFINFO_LOG_TYPE_RESOURCE,
				       PERFINFO_RESOURCE_VERSION, record, sizeof(*record));
}

/* Inline, so that the compiler drops the parts that one of the two callers does not need. */
static __always_inline void ntklog_write_wmi_resource(const struct wmi_resource64 *record,
						      u32 group,
						      const struct ntklog_caller *caller,
						      struct ntklog_block_stack *block_stack,
						      unsigned long lock)
{
	struct etw_logged_event logged_event;
	unsigned long flags;
	u64 sessions;

	/* Code that the writing itself calls may find the flag set, such as a probe. */
	local_irq_save(flags);
	if (this_cpu_read(ntklog_resource_cpu.is_writing)) {
		this_cpu_inc(ntklog_resource_cpu.suppressed_count);
	} else {
		this_cpu_write(ntklog_resource_cpu.is_writing, true);
		this_cpu_inc(ntklog_resource_cpu.event_count);
		/* An identity is valid from its own time on: record it before the event. */
		if (lock)
			ntklog_record_identity(lock, caller->caller,
					       NTKLOG_IDENTITY_OF_CLASS(record->action));
		sessions = etw_find_sessions_for_event(group);
		logged_event = lock ?
			ntklog_log_sleeping_event(sessions, record, caller, block_stack) :
			ntklog_log_resource_record(sessions, record);
		if (record->action & WMI_RESOURCE_ACTION_EXCESSIVE)
			ntklog_count_left_out_stack(ETW_STACKED_RESOURCE, logged_event);
		else
			ntklog_write_stack(ETW_STACKED_RESOURCE, logged_event, 0,
					   group != PERF_SYNC_OBJECTS);
		if (group == PERF_SYNC_OBJECTS)
			trace_resource(record);
		else
			trace_linux_resource(record, ntklog_get_displayed_address(caller->caller));
		this_cpu_write(ntklog_resource_cpu.is_writing, false);
	}
	local_irq_restore(flags);
}

/**
 * ntklog_write_resource_event() - write the event of an executive resource
 * @record: the record
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ntklog_write_resource_event(const struct wmi_resource64 *record)
{
	ntklog_write_wmi_resource(record, PERF_SYNC_OBJECTS, NULL, NULL, 0);
}

/**
 * ntklog_write_sleeping_event() - write the event of a Linux lock
 * @record: the record
 * @lock: address of the lock, not in its displayed form
 * @caller: data of an event, without the lock, and with the caller's raw address
 * @block_stack: data of the event PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK, except the lock; or NULL
 *
 * Context: task; locks may be held.
 */
void ntklog_write_sleeping_event(const struct wmi_resource64 *record, const void *lock,
				 const struct ntklog_caller *caller,
				 struct ntklog_block_stack *block_stack)
{
	ntklog_write_wmi_resource(record, ntklog_get_action_group(record->action), caller,
				  block_stack, (unsigned long)lock);
}
