// SPDX-License-Identifier: GPL-2.0-only
/* The event of executive resources and of Linux' sleeping locks: see resource_event.h. */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/identity.h>

#include "../etw/event.h"
#include "../ground/address.h"
#include "../ground/compat.h"
#include "../ground/identity.h"
#include "../trace.h"
#include "resource_cpu.h"
#include "resource_event.h"
#include "stack.h"

/* Write the caller of the lock function, which a WMI_RESOURCE does not have. Interrupts are off. */
static void ntklog_write_caller(u64 sessions, u64 lock, unsigned long caller)
{
	const struct ntklog_caller event = {
		.lock = lock,
		.caller = ntklog_address(caller),
	};

	etw_log_event_to(sessions, PERFINFO_LOG_TYPE_NTKLOG_CALLER, NTKLOG_CALLER_VERSION, &event,
			 sizeof(event));
}

/*
 * Write an event. @caller and @lock belong to a Linux lock; they are 0 for NT's resources, which
 * have a tracepoint of their own.
 */
static void ntklog_write_event(const struct wmi_resource64 *record, u32 group, unsigned long caller,
			       unsigned long lock)
{
	struct etw_logged logged;
	unsigned long flags;
	void *data;
	u64 sessions;

	/*
	 * With interrupts off, the flag is seen set only by code that the writing itself calls,
	 * such as a probe of the tracepoint.
	 */
	local_irq_save(flags);
	if (this_cpu_read(ntklog_resource_cpu.writing)) {
		this_cpu_inc(ntklog_resource_cpu.suppressed);
	} else {
		this_cpu_write(ntklog_resource_cpu.writing, true);
		this_cpu_inc(ntklog_resource_cpu.events);
		/*
		 * Record the identity before the event takes its time stamp: an identity is valid
		 * from its own time on.
		 */
		if (lock)
			ntklog_record_identity(lock, caller,
					       NTKLOG_IDENTITY_OF_CLASS(record->action));
		sessions = etw_sessions_for_event(group);
		if (lock)
			ntklog_write_caller(sessions, record->resource, caller);
		if (etw_begin_event(sessions, PERFINFO_LOG_TYPE_RESOURCE, PERFINFO_RESOURCE_VERSION,
				    sizeof(*record), &data)) {
			memcpy(data, record, sizeof(*record));
			logged = etw_end_event(sessions, data, sizeof(*record));
		} else {
			logged = etw_log_event_to(sessions, PERFINFO_LOG_TYPE_RESOURCE,
						  PERFINFO_RESOURCE_VERSION, record,
						  sizeof(*record));
		}
		if (record->action & WMI_RESOURCE_ACTION_EXCESSIVE)
			ntklog_count_omitted_stack(ETW_STACKED_RESOURCE, logged);
		else
			ntklog_write_stack(ETW_STACKED_RESOURCE, logged, 0,
					   group != PERF_SYNC_OBJECTS);
		if (group == PERF_SYNC_OBJECTS)
			trace_resource(record);
		else
			trace_linux_resource(record, ntklog_address(caller));
		this_cpu_write(ntklog_resource_cpu.writing, false);
	}
	local_irq_restore(flags);
}

/**
 * ntklog_write_resource() - write the event of an executive resource
 * @record: the record
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ntklog_write_resource(const struct wmi_resource64 *record)
{
	ntklog_write_event(record, PERF_SYNC_OBJECTS, 0, 0);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_write_resource);

/**
 * ntklog_write_sleeping_lock() - write the event of a Linux lock
 * @record: the record
 * @lock: address of the lock; the record may have it hidden
 * @caller: return address of the lock function
 *
 * Context: task, preemption off; locks may be held.
 */
void ntklog_write_sleeping_lock(const struct wmi_resource64 *record, const void *lock,
				unsigned long caller)
{
	ntklog_write_event(record, ntklog_sleeping_group(record->action), caller,
			   (unsigned long)lock);
}
