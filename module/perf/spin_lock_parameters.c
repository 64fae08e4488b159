// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cache.h>
#include <linux/export.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../etw/provider.h"
#include "spin_lock_parameters.h"

struct event_trace_spinlock_information ntklog_spin_lock_parameter_values = {
	.event_trace_information_class = EVENT_TRACE_SPINLOCK_INFORMATION_CLASS,
	.spin_lock_spin_threshold = EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD,
	.spin_lock_acquire_sample_rate = EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE,
	.spin_lock_contention_sample_rate =
		EVENT_TRACE_SPINLOCK_MIN_CONTENTION_SAMPLE_RATE,
	.spin_lock_hold_threshold = EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD,
};

u32 ntklog_spin_lock_blocker_rate __read_mostly;

/**
 * ntklog_fill_spin_lock_rundown() - fill the event that records the spin lock parameters
 * @event: filled in
 * @is_end: the validity of the parameters ends, otherwise it begins
 *
 * Context: as for etw_provider.rundown.
 */
void ntklog_fill_spin_lock_rundown(struct etw_rundown_event *event, bool is_end)
{
	const struct event_trace_spinlock_information *parameters =
		&ntklog_spin_lock_parameter_values;
	struct perfinfo_spinlock_dc record = {
		.spin_threshold =
			READ_ONCE(parameters->spin_lock_spin_threshold),
		.contention_sample_rate =
			READ_ONCE(parameters->spin_lock_contention_sample_rate),
		.acquire_sample_rate =
			READ_ONCE(parameters->spin_lock_acquire_sample_rate),
		.hold_threshold =
			READ_ONCE(parameters->spin_lock_hold_threshold),
	};

	etw_fill_rundown_event(event, is_end ? PERFINFO_LOG_TYPE_SPINLOCK_DC_END :
					    PERFINFO_LOG_TYPE_SPINLOCK_DC_START,
			       PERFINFO_SPINLOCK_DC_VERSION, &record, sizeof(record));
}
