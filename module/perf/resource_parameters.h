/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_PARAMETERS_H
#define _NTKLOG_PERF_RESOURCE_PARAMETERS_H

/* The sample rates of executive resources and of Linux' sleeping locks. */

#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct etw_rundown_event;

extern struct event_trace_executive_resource_information ntklog_resource_words;

void ntklog_resource_rundown(struct etw_rundown_event *event, bool end);

#endif /* _NTKLOG_PERF_RESOURCE_PARAMETERS_H */
