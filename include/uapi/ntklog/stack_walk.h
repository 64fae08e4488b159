/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_STACK_WALK_H
#define _UAPI_NTKLOG_STACK_WALK_H

/* The data of PERFINFO_LOG_TYPE_STACKWALK: how a thread has got to an event. */

#include <ntklog/layout.h>

/* Addresses of one event: ntklog's at most, and NT's. */
#define NTKLOG_STACK_WALK_MAX		64
#define STACK_WALK_MAX			192

/**
 * struct stack_walk_event - what the data begins with, with pointers of either size
 * @event_time_stamp: time stamp of the event that it belongs to
 * @stack_process: whose stack it is
 * @stack_thread: likewise
 *
 * Addresses follow, as many as there is room for, the innermost first; or, of
 * PERFINFO_LOG_TYPE_STACKWALK_KEY_*, one key.
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
