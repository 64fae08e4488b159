/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_PARAMETERS_H
#define _NTKLOG_PERF_RESOURCE_PARAMETERS_H

/*
 * Sample rates of executive resources and of Linux' sleeping locks. Written with the lock of
 * ntklog_resource_parameter_set held; read by the hooks with READ_ONCE().
 */

#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct etw_rundown_event;

extern struct event_trace_executive_resource_information ntklog_resource_parameter_values;

void ntklog_fill_resource_rundown(struct etw_rundown_event *event, bool is_end);

#endif /* _NTKLOG_PERF_RESOURCE_PARAMETERS_H */
