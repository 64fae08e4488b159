// SPDX-License-Identifier: GPL-2.0-only

#include <uapi/ntklog/event.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../etw/provider.h"
#include "resource_parameters.h"

struct event_trace_executive_resource_information ntklog_resource_parameter_values = {
	.event_trace_information_class =
		EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS,
	.release_sampling_rate = 1000,
	.contention_sampling_rate = 1,
	.number_of_excessive_timeouts = 1,
};

/**
 * ntklog_fill_resource_rundown() - fill the event that records the resource parameters
 * @event: filled in
 * @is_end: the validity of the parameters ends, otherwise it begins
 *
 * Context: as for etw_provider.rundown.
 */
void ntklog_fill_resource_rundown(struct etw_rundown_event *event, bool is_end)
{
	struct perfinfo_eresource_dc record = {
		.release_sampling_rate =
			READ_ONCE(ntklog_resource_parameter_values.release_sampling_rate),
		.contention_sampling_rate =
			READ_ONCE(ntklog_resource_parameter_values.contention_sampling_rate),
		.number_of_excessive_timeouts =
			READ_ONCE(ntklog_resource_parameter_values.number_of_excessive_timeouts),
	};

	etw_fill_rundown_event(event, is_end ? PERFINFO_LOG_TYPE_ERESOURCE_DC_END :
					    PERFINFO_LOG_TYPE_ERESOURCE_DC_START,
			       PERFINFO_ERESOURCE_DC_VERSION, &record, sizeof(record));
}
