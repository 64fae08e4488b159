/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_READY_THREAD_H
#define _UAPI_NTKLOG_READY_THREAD_H

/* Data of PERFINFO_LOG_TYPE_READY_THREAD: a thread is made ready to run. */

#include <ntklog/layout.h>

/* adjust_reason: NT's ADJUST_REASON */
#define ETW_READY_THREAD_ADJUST_NONE			0
#define ETW_READY_THREAD_ADJUST_UNWAIT			1
#define ETW_READY_THREAD_ADJUST_BOOST			2

/* flags */
#define ETW_READY_THREAD_EXECUTING_DPC			0x01
#define ETW_READY_THREAD_KERNEL_STACK_NOT_RESIDENT	0x02
#define ETW_READY_THREAD_PROCESS_OUT_OF_MEMORY		0x04
#define ETW_READY_THREAD_DIRECT_SWITCH_ATTEMPT		0x08

/**
 * struct etw_ready_thread_event - NT's ETW_READY_THREAD_EVENT
 * @thread_id: thread that is made ready
 * @adjust_reason: ETW_READY_THREAD_ADJUST_*
 * @adjust_increment: boost of the thread's priority; ntklog writes 0
 * @flags: ETW_READY_THREAD_*
 * @spare_byte: 0
 *
 * The thread that makes @thread_id ready is running on the CPU whose buffer has the event.
 */
struct etw_ready_thread_event {
	__u32 thread_id;
	__u8 adjust_reason;
	__s8 adjust_increment;
	__u8 flags;
	__u8 spare_byte;
};

NTKLOG_ASSERT_SIZE(struct etw_ready_thread_event, 0x08);
NTKLOG_ASSERT_OFFSET(struct etw_ready_thread_event, thread_id, 0x00);
NTKLOG_ASSERT_OFFSET(struct etw_ready_thread_event, adjust_reason, 0x04);
NTKLOG_ASSERT_OFFSET(struct etw_ready_thread_event, adjust_increment, 0x05);
NTKLOG_ASSERT_OFFSET(struct etw_ready_thread_event, flags, 0x06);
NTKLOG_ASSERT_OFFSET(struct etw_ready_thread_event, spare_byte, 0x07);

#endif /* _UAPI_NTKLOG_READY_THREAD_H */
