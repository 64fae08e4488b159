/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_SYSTEM_INFORMATION_H
#define _UAPI_NTKLOG_SYSTEM_INFORMATION_H

/*
 * What NT takes and gives through NtSetSystemInformation() and
 * NtQuerySystemInformation() with SystemPerformanceTraceInformation.
 */

#include <ntklog/layout.h>

/* EventTraceInformationClass */
#define EVENT_TRACE_GROUPMASK_INFORMATION_CLASS			1
#define EVENT_TRACE_SPINLOCK_INFORMATION_CLASS			5
#define EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS	7

#define STATUS_SUCCESS			0x00000000u
#define STATUS_NOT_IMPLEMENTED		0xC0000002u
#define STATUS_INFO_LENGTH_MISMATCH	0xC0000004u
#define STATUS_INVALID_PARAMETER	0xC000000Du
#define STATUS_ACCESS_DENIED		0xC0000022u

/**
 * struct event_trace_spinlock_information_v1 - until NT 6.2
 * @event_trace_information_class: EVENT_TRACE_SPINLOCK_INFORMATION_CLASS
 * @spin_lock_spin_threshold: fewest spins for a contended sample, >= 1
 * @spin_lock_acquire_sample_rate: 1 of so many uncontended, >= 1000
 * @spin_lock_contention_sample_rate: 1 of so many contended, >= 1
 */
struct event_trace_spinlock_information_v1 {
	__u32 event_trace_information_class;
	__u32 spin_lock_spin_threshold;
	__u32 spin_lock_acquire_sample_rate;
	__u32 spin_lock_contention_sample_rate;
};

NTKLOG_ASSERT_SIZE(struct event_trace_spinlock_information_v1, 0x10);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information_v1,
		     event_trace_information_class, 0x00);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information_v1,
		     spin_lock_spin_threshold, 0x04);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information_v1,
		     spin_lock_acquire_sample_rate, 0x08);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information_v1,
		     spin_lock_contention_sample_rate, 0x0C);

/**
 * struct event_trace_spinlock_information - since NT 6.3
 * @event_trace_information_class: EVENT_TRACE_SPINLOCK_INFORMATION_CLASS
 * @spin_lock_spin_threshold: fewest spins for a contended sample, >= 1
 * @spin_lock_acquire_sample_rate: 1 of so many uncontended, >= 1000
 * @spin_lock_contention_sample_rate: 1 of so many contended, >= 1
 * @spin_lock_hold_threshold: TSC cycles, 0 (off) or >= 1000000
 */
struct event_trace_spinlock_information {
	__u32 event_trace_information_class;
	__u32 spin_lock_spin_threshold;
	__u32 spin_lock_acquire_sample_rate;
	__u32 spin_lock_contention_sample_rate;
	__u32 spin_lock_hold_threshold;
};

NTKLOG_ASSERT_SIZE(struct event_trace_spinlock_information, 0x14);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information,
		     event_trace_information_class, 0x00);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information,
		     spin_lock_spin_threshold, 0x04);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information,
		     spin_lock_acquire_sample_rate, 0x08);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information,
		     spin_lock_contention_sample_rate, 0x0C);
NTKLOG_ASSERT_OFFSET(struct event_trace_spinlock_information,
		     spin_lock_hold_threshold, 0x10);

#endif /* _UAPI_NTKLOG_SYSTEM_INFORMATION_H */
