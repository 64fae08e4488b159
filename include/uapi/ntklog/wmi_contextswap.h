/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_WMI_CONTEXTSWAP_H
#define _UAPI_NTKLOG_WMI_CONTEXTSWAP_H

/*
 * Data of PERFINFO_LOG_TYPE_CONTEXTSWAP in its four versions: 1 (NT 5.1 to 5.2), 2 (6.0 to 1607), 3
 * (1703) and 4 (since 1709). It has no pointers, so both pointer sizes have the same layout.
 */

#include <ntklog/layout.h>

/* old_thread_state: NT's KTHREAD_STATE */
#define KTHREAD_STATE_INITIALIZED	0
#define KTHREAD_STATE_READY		1
#define KTHREAD_STATE_RUNNING		2
#define KTHREAD_STATE_STANDBY		3
#define KTHREAD_STATE_TERMINATED	4
#define KTHREAD_STATE_WAITING		5
#define KTHREAD_STATE_TRANSITION	6
#define KTHREAD_STATE_DEFERRED_READY	7
#define KTHREAD_STATE_GATE_WAIT		8

/* old_thread_wait_reason: some values of NT's KWAIT_REASON */
#define KWAIT_REASON_EXECUTIVE		0
#define KWAIT_REASON_DELAY_EXECUTION	4
#define KWAIT_REASON_SUSPENDED		5
#define KWAIT_REASON_USER_REQUEST	6
#define KWAIT_REASON_WR_EXECUTIVE	7
#define KWAIT_REASON_WR_QUEUE		15
#define KWAIT_REASON_WR_MUTEX		29
#define KWAIT_REASON_WR_QUANTUM_END	30
#define KWAIT_REASON_WR_DISPATCH_INT	31
#define KWAIT_REASON_WR_PREEMPTED	32
#define KWAIT_REASON_WR_YIELD_EXECUTION	33

/* old_thread_wait_mode: NT's KPROCESSOR_MODE */
#define KPROCESSOR_MODE_KERNEL		0
#define KPROCESSOR_MODE_USER		1

/* flags: since version 3; in version 2 the same byte is KPROCESSOR_MODE_* alone */
#define WMI_CONTEXTSWAP_OLD_THREAD_WAIT_MODE		0x01
#define WMI_CONTEXTSWAP_OLD_THREAD_BAM_EPP_IMPORTANT	0x02	/* version 3 */
#define WMI_CONTEXTSWAP_NEW_THREAD_BAM_EPP_IMPORTANT	0x04	/* version 3 */
#define WMI_CONTEXTSWAP_OLD_THREAD_BAM_QOS_LEVEL	0x0E	/* version 4 */
#define WMI_CONTEXTSWAP_NEW_THREAD_BAM_QOS_LEVEL	0x70	/* version 4 */

/* NT's WMI_CONTEXTSWAP in version 1: see struct wmi_contextswap. ntklog writes 0 as quantums. */
struct wmi_contextswap_v1 {
	__u32 new_thread_id;
	__u32 old_thread_id;
	__s8 new_thread_priority;
	__s8 old_thread_priority;
	__s8 new_thread_quantum;
	__s8 old_thread_quantum;
	__u8 old_thread_wait_reason;
	__s8 old_thread_wait_mode;
	__u8 old_thread_state;
	__u8 old_thread_ideal_processor;
};

NTKLOG_ASSERT_SIZE(struct wmi_contextswap_v1, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, new_thread_id, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_id, 0x04);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, new_thread_priority, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_priority, 0x09);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, new_thread_quantum, 0x0A);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_quantum, 0x0B);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_wait_reason, 0x0C);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_wait_mode, 0x0D);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_state, 0x0E);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap_v1, old_thread_ideal_processor, 0x0F);

/**
 * struct wmi_contextswap - NT's WMI_CONTEXTSWAP in versions 2 to 4
 * @new_thread_id: thread that starts to run
 * @old_thread_id: thread that stops running
 * @new_thread_priority: 0 to 31
 * @old_thread_priority: 0 to 31
 * @previous_c_state: C-state that the CPU has left, if the old thread is the idle thread; else 0
 * @spare_byte: 0
 * @old_thread_wait_reason: KWAIT_REASON_*
 * @flags: WMI_CONTEXTSWAP_*; in version 2 the wait mode
 * @old_thread_state: KTHREAD_STATE_*
 * @old_thread_ideal_processor: low byte of the CPU on which the old thread prefers to run
 * @new_thread_wait_time: clock ticks that the new thread has waited for the CPU
 * @old_thread_remaining_quantum: remaining time slice of the old thread, in units of 1024 cycles
 */
struct wmi_contextswap {
	__u32 new_thread_id;
	__u32 old_thread_id;
	__s8 new_thread_priority;
	__s8 old_thread_priority;
	__u8 previous_c_state;
	__s8 spare_byte;
	__u8 old_thread_wait_reason;
	__u8 flags;
	__u8 old_thread_state;
	__u8 old_thread_ideal_processor;
	__u32 new_thread_wait_time;
	__s32 old_thread_remaining_quantum;
};

NTKLOG_ASSERT_SIZE(struct wmi_contextswap, 0x18);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, new_thread_id, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, old_thread_id, 0x04);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, new_thread_priority, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, old_thread_priority, 0x09);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, previous_c_state, 0x0A);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, spare_byte, 0x0B);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, old_thread_wait_reason, 0x0C);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, flags, 0x0D);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, old_thread_state, 0x0E);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, old_thread_ideal_processor, 0x0F);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, new_thread_wait_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_contextswap, old_thread_remaining_quantum, 0x14);

#endif /* _UAPI_NTKLOG_WMI_CONTEXTSWAP_H */
