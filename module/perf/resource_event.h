/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_EVENT_H
#define _NTKLOG_PERF_RESOURCE_EVENT_H

/* The event of executive resources and of Linux' sleeping locks: WMI_RESOURCE. */

#include <linux/types.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

/**
 * ntklog_get_action_group() - convert a lock class to its event group
 * @action: an action or a lock class; only bits 16 to 19, the number of the class, are used
 *
 * Context: any.
 * Return: the PERF_LINUX_* constant of the class: the index of its mask word and one bit.
 */
static inline u32 ntklog_get_action_group(u32 action)
{
	return (PERF_LINUX_MUTEX & ~0xA0000000) << (((action >> 16) & 0xF) - 1) | 0xA0000000;
}

void ntklog_write_resource_event(const struct wmi_resource64 *record);
void ntklog_write_sleeping_event(const struct wmi_resource64 *record, const void *lock,
				 const struct ntklog_caller *caller,
				 struct ntklog_block_stack *block_stack);

#endif /* _NTKLOG_PERF_RESOURCE_EVENT_H */
