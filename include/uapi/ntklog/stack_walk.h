/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_STACK_WALK_H
#define _UAPI_NTKLOG_STACK_WALK_H

/* Data of PERFINFO_LOG_TYPE_STACKWALK: the stack of another event. */

#include <ntklog/layout.h>

/* Most addresses that an event can have: written by ntklog, and written by NT. */
#define NTKLOG_STACK_WALK_MAX		64
#define STACK_WALK_MAX			192

/**
 * struct stack_walk_event - start of the data, with pointers of either size
 * @event_time_stamp: time stamp of the event to which the stack belongs
 * @stack_process: process whose stack it is
 * @stack_thread: thread whose stack it is
 *
 * Addresses follow up to the end of the event, innermost first. In events of type
 * PERFINFO_LOG_TYPE_STACKWALK_KEY_* a key of a stack follows instead.
 */
struct stack_walk_event {
	__u64 event_time_stamp;
	__u32 stack_process;
	__u32 stack_thread;
};

NTKLOG_ASSERT_SIZE(struct stack_walk_event, 0x10);
NTKLOG_ASSERT_OFFSET(struct stack_walk_event, event_time_stamp, 0x00);
NTKLOG_ASSERT_OFFSET(struct stack_walk_event, stack_process, 0x08);
NTKLOG_ASSERT_OFFSET(struct stack_walk_event, stack_thread, 0x0C);

#endif /* _UAPI_NTKLOG_STACK_WALK_H */
