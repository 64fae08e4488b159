/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_WMI_SPINLOCK_H
#define _UAPI_NTKLOG_WMI_SPINLOCK_H

/* Data of PERFINFO_LOG_TYPE_SPINLOCK, for both pointer sizes. */

#include <ntklog/layout.h>

/* acquire_mode */
#define WMI_SPINLOCK_ORDINARY			0
#define WMI_SPINLOCK_QUEUED			1
#define WMI_SPINLOCK_EXECUTIVE_SHARED		2
#define WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE	3
#define WMI_SPINLOCK_EXECUTIVE_CONVERTED	4

/* acquire_mode, execute_dpc and execute_isr as one byte */
#define WMI_SPINLOCK_ACQUIRE_MODE		0x3F
#define WMI_SPINLOCK_EXECUTE_DPC		0x40
#define WMI_SPINLOCK_EXECUTE_ISR		0x80

/* rule: rules of ntklog by which the event was written; 0: only NT's rules, as on NT */
#define WMI_SPINLOCK_RULE_SAMPLED		0x01
#define WMI_SPINLOCK_RULE_WAIT			0x02
/* Every Nth release that left a waiter behind. BLOCKER_ONLY: no other rule sampled it. */
#define WMI_SPINLOCK_RULE_BLOCKER		0x04
#define WMI_SPINLOCK_RULE_BLOCKER_ONLY		0x08
/* With BLOCKER_ONLY: the acquisition was not recorded, so the start of the hold is not known. */
#define WMI_SPINLOCK_RULE_HOLD_UNKNOWN		0x10

/**
 * struct wmi_spinlock64 - NT's WMI_SPINLOCK with 64-bit pointers
 * @spin_lock_address: address of the lock
 * @caller_address: return address of the release function; with WMI_SPINLOCK_RULE_WAIT of the lock
 *	function, or 0 if it is not known
 * @acquire_time: clock at the start of the hold; with WMI_SPINLOCK_RULE_HOLD_UNKNOWN @release_time
 * @release_time: clock immediately before the release; with WMI_SPINLOCK_RULE_WAIT @acquire_time
 * @wait_time_in_cycles: duration of the wait, in cycles
 * @spin_count: number of additional tests of the lock during the wait; 0: uncontended
 * @thread_id: thread that released the lock
 * @interrupt_count: number of interrupts on the CPU from the start of the wait to the release; 0
 *	with WMI_SPINLOCK_RULE_HOLD_UNKNOWN
 * @irql: IRQL at the release, before it is lowered
 * @acquire_depth: number of tracked locks that are held at the release, with this one, 1 to 8; 0:
 *	not known
 * @acquire_mode: WMI_SPINLOCK_ORDINARY ... _EXECUTIVE_CONVERTED
 * @execute_dpc: the release was made while serving a softirq
 * @execute_isr: the release was made in a hard interrupt
 * @flags: the three members above as one byte
 * @rule: WMI_SPINLOCK_RULE_*; not in NT
 * @reserved: zero
 *
 * With WMI_SPINLOCK_RULE_WAIT the acquisition stands for the release in the other members, too.
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

/* NT's WMI_SPINLOCK with 32-bit pointers. The members are those of wmi_spinlock64. */
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
