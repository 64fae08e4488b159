/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_WMI_SPINLOCK_H
#define _UAPI_NTKLOG_WMI_SPINLOCK_H

/* The data of PERFINFO_LOG_TYPE_SPINLOCK, for both pointer sizes. */

#include <ntklog/layout.h>

/* acquire_mode */
#define WMI_SPINLOCK_ORDINARY			0
#define WMI_SPINLOCK_QUEUED			1
#define WMI_SPINLOCK_EXECUTIVE_SHARED		2
#define WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE	3
#define WMI_SPINLOCK_EXECUTIVE_CONVERTED	4

/* The same byte as flags */
#define WMI_SPINLOCK_ACQUIRE_MODE		0x3F
#define WMI_SPINLOCK_EXECUTE_DPC		0x40
#define WMI_SPINLOCK_EXECUTE_ISR		0x80

/*
 * rule: why the record was written, if not by NT's rules. Not NT's, whose byte is reserved and 0.
 * Others' readers see records as all are; sums that weigh them by the rates need this.
 */
#define WMI_SPINLOCK_RULE_SAMPLED		0x01
#define WMI_SPINLOCK_RULE_WAIT			0x02
/* One of so many releases that left a waiter behind; and by no other rule. */
#define WMI_SPINLOCK_RULE_BLOCKER		0x04
#define WMI_SPINLOCK_RULE_BLOCKER_ONLY		0x08

/**
 * struct wmi_spinlock64 - NT's WMI_SPINLOCK with 64-bit pointers
 * @spin_lock_address: the lock
 * @caller_address: where the function that released the lock returned to
 * @acquire_time: when ownership began, cycles
 * @release_time: when the lock was about to be let go, cycles
 * @wait_time_in_cycles: from the query to ownership, cycles
 * @spin_count: additional tests of the lock while waiting; 0: uncontended
 * @thread_id: thread that released
 * @interrupt_count: interrupts of the processor from the query to the release
 * @irql: after the release, before it is lowered
 * @acquire_depth: tracked locks at the release, this one included; 1 to 8; 0: not known
 * @acquire_mode: WMI_SPINLOCK_ORDINARY ... _EXECUTIVE_CONVERTED
 * @execute_dpc: released while serving a softirq
 * @execute_isr: released in a hard interrupt
 * @flags: the three above as one byte
 * @rule: WMI_SPINLOCK_RULE_*; not NT's
 * @reserved: zero
 */
struct wmi_spinlock64 {
	__u64 spin_lock_address;
	__u64 caller_address;
	__u64 acquire_time;
	__u64 release_time;
	__u32 wait_time_in_cycles;
	__u32 spin_count;
	__u32 thread_id;
	__u32 interrupt_count;
	__u8 irql;
	__u8 acquire_depth;
	union {
		struct {
			__u8 acquire_mode:6;
			__u8 execute_dpc:1;
			__u8 execute_isr:1;
		};
		__u8 flags;
	};
	__u8 rule;
	__u8 reserved[4];
};

NTKLOG_ASSERT_SIZE(struct wmi_spinlock64, 0x38);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, spin_lock_address, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, caller_address, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, acquire_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, release_time, 0x18);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, wait_time_in_cycles, 0x20);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, spin_count, 0x24);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, thread_id, 0x28);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, interrupt_count, 0x2C);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, irql, 0x30);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, acquire_depth, 0x31);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, flags, 0x32);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock64, rule, 0x33);

/**
 * struct wmi_spinlock32 - NT's WMI_SPINLOCK with 32-bit pointers
 * @spin_lock_address: as in struct wmi_spinlock64, and so are all the others
 * @caller_address: see there
 * @acquire_time: see there
 * @release_time: see there
 * @wait_time_in_cycles: see there
 * @spin_count: see there
 * @thread_id: see there
 * @interrupt_count: see there
 * @irql: see there
 * @acquire_depth: see there
 * @acquire_mode: see there
 * @execute_dpc: see there
 * @execute_isr: see there
 * @flags: see there
 * @rule: see there
 * @reserved: zero
 */
struct wmi_spinlock32 {
	__u32 spin_lock_address;
	__u32 caller_address;
	__u64 acquire_time;
	__u64 release_time;
	__u32 wait_time_in_cycles;
	__u32 spin_count;
	__u32 thread_id;
	__u32 interrupt_count;
	__u8 irql;
	__u8 acquire_depth;
	union {
		struct {
			__u8 acquire_mode:6;
			__u8 execute_dpc:1;
			__u8 execute_isr:1;
		};
		__u8 flags;
	};
	__u8 rule;
	__u8 reserved[4];
};

NTKLOG_ASSERT_SIZE(struct wmi_spinlock32, 0x30);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, spin_lock_address, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, caller_address, 0x04);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, acquire_time, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, release_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, wait_time_in_cycles, 0x18);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, spin_count, 0x1C);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, thread_id, 0x20);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, interrupt_count, 0x24);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, irql, 0x28);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, acquire_depth, 0x29);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, flags, 0x2A);
NTKLOG_ASSERT_OFFSET(struct wmi_spinlock32, rule, 0x2B);

#endif /* _UAPI_NTKLOG_WMI_SPINLOCK_H */
