/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WINDOW_H
#define _NTKLOG_WINDOW_H

/* The window of a report: the time that the user has selected with --from and --to. */

#include <ntklog/etl.h>
#include <ntklog/event.h>
#include <ntklog/wmi_contextswap.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "filter.h"

/**
 * window_can_skip_event() - test whether an event matters only to the window that it lies in
 * @hook_id: hook id of the event
 *
 * Return: true, unless the event says something of other times, as the rundown of the rates does.
 */
static inline bool window_can_skip_event(uint16_t hook_id)
{
	switch (hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
	case PERFINFO_LOG_TYPE_RESOURCE:
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
	case PERFINFO_LOG_TYPE_READY_THREAD:
	case PERFINFO_LOG_TYPE_NTKLOG_CALLER:
	case PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK:
	case NTKLOG_LOG_TYPE_OPEN_HOLD:
		return true;
	default:
		return false;
	}
}

void window_skip_buffers(const struct selection *selection, const struct etl_file *file,
			 struct etl_merge *merge);

#endif /* _NTKLOG_WINDOW_H */
