/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_SYSTEM_INFORMATION_H
#define _UAPI_NTKLOG_SYSTEM_INFORMATION_H

/* Structures of NtSetSystemInformation() and NtQuerySystemInformation(). */

#include <ntklog/group_mask.h>
#include <ntklog/layout.h>

/* EventTraceInformationClass */
#define EVENT_TRACE_GROUPMASK_INFORMATION_CLASS			1
#define EVENT_TRACE_SPINLOCK_INFORMATION_CLASS			5
#define EVENT_TRACE_STACK_TRACING_INFORMATION_CLASS		6
#define EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS	7

/* Lowest values that NT permits. The hold threshold may also be 0, which turns it off. */
#define EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD		1
#define EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE	1000
#define EVENT_TRACE_SPINLOCK_MIN_CONTENTION_SAMPLE_RATE	1
#define EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD		1000000

/* 0 is refused, because the rates are divisors. */
#define EVENT_TRACE_EXECUTIVE_RESOURCE_MIN_RATE		1

#define STATUS_SUCCESS			0x00000000u
#define STATUS_NOT_IMPLEMENTED		0xC0000002u
#define STATUS_INVALID_INFO_CLASS	0xC0000003u
#define STATUS_INFO_LENGTH_MISMATCH	0xC0000004u
#define STATUS_INVALID_PARAMETER	0xC000000Du
#define STATUS_NO_MEMORY		0xC0000017u
#define STATUS_ACCESS_DENIED		0xC0000022u
#define STATUS_SHARING_VIOLATION	0xC0000043u
#define STATUS_THREAD_IS_TERMINATING	0xC000004Bu

/* NT's EVENT_TRACE_GROUPMASK_INFORMATION. @trace_handle: number of the session. */
struct event_trace_groupmask_information {
	__u32 event_trace_information_class;
	__u32 padding;
	__u64 trace_handle;
	struct perfinfo_groupmask event_trace_group_masks;
};

NTKLOG_ASSERT_SIZE(struct event_trace_groupmask_information, 0x30);
NTKLOG_ASSERT_OFFSET(struct event_trace_groupmask_information,
		     event_trace_information_class, 0x00);
NTKLOG_ASSERT_OFFSET(struct event_trace_groupmask_information, trace_handle, 0x08);
NTKLOG_ASSERT_OFFSET(struct event_trace_groupmask_information,
		     event_trace_group_masks, 0x10);

/* NT's EVENT_TRACE_SYSTEM_EVENT_INFORMATION. @hook_id: the types of event that carry a stack. */
struct event_trace_system_event_information {
	__u32 event_trace_information_class;
	__u32 padding;
	__u64 trace_handle;
	__u32 hook_id[];
};

NTKLOG_ASSERT_SIZE(struct event_trace_system_event_information, 0x10);
NTKLOG_ASSERT_OFFSET(struct event_trace_system_event_information,
		     event_trace_information_class, 0x00);
NTKLOG_ASSERT_OFFSET(struct event_trace_system_event_information, trace_handle, 0x08);
NTKLOG_ASSERT_OFFSET(struct event_trace_system_event_information, hook_id, 0x10);

/* Spin lock parameters up to NT 6.2. */
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
 * struct event_trace_spinlock_information - spin lock parameters since NT 6.3
 * @event_trace_information_class: EVENT_TRACE_SPINLOCK_INFORMATION_CLASS
 * @spin_lock_spin_threshold: lowest SpinCount with which every Nth contended acquisition is
 *	sampled, >= 1
 * @spin_lock_acquire_sample_rate: every Nth uncontended acquisition is sampled, N >= 1000
 * @spin_lock_contention_sample_rate: every Nth contended acquisition is sampled, N >= 1
 * @spin_lock_hold_threshold: holds longer than this are sampled, in cycles, >= 1000000; 0: off
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

/**
 * struct event_trace_executive_resource_information - NT's
 *	EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION
 * @event_trace_information_class: EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS
 * @release_sampling_rate: every Nth final release is sampled, N >= 1
 * @contention_sampling_rate: N >= 1. A final release after a wait is sampled if its number on the
 *	CPU is a multiple of N; any final release, if N, 2N, ... waits began during the hold
 * @number_of_excessive_timeouts: every Nth timeout of a wait is written, N >= 1
 */
struct event_trace_executive_resource_information {
	__u32 event_trace_information_class;
	__u32 release_sampling_rate;
	__u32 contention_sampling_rate;
	__u32 number_of_excessive_timeouts;
};

NTKLOG_ASSERT_SIZE(struct event_trace_executive_resource_information, 0x10);
NTKLOG_ASSERT_OFFSET(struct event_trace_executive_resource_information,
		     event_trace_information_class, 0x00);
NTKLOG_ASSERT_OFFSET(struct event_trace_executive_resource_information,
		     release_sampling_rate, 0x04);
NTKLOG_ASSERT_OFFSET(struct event_trace_executive_resource_information,
		     contention_sampling_rate, 0x08);
NTKLOG_ASSERT_OFFSET(struct event_trace_executive_resource_information,
		     number_of_excessive_timeouts, 0x0C);

/* type: an ERESOURCE */
#define RTL_RESOURCE_TYPE		1

/**
 * struct rtl_process_lock_information64 - a resource, in SystemLocksInformation
 * @address: address of the resource
 * @type: RTL_RESOURCE_TYPE
 * @creator_back_trace_index: 0
 * @padding: zero
 * @owning_thread: thread ID of the exclusive owner; 0: no exclusive owner, an owner pointer, or a
 *	thread that has exited
 * @lock_count: number of owners
 * @contention_count: number of waits that have begun
 * @entry_count: number of acquisitions of all owners that have not been released
 * @recursion_count: number of acquisitions of the exclusive owner; 0: no exclusive owner
 * @number_of_waiting_shared: number of waiters for shared ownership
 * @number_of_waiting_exclusive: number of waiters for exclusive ownership
 */
struct rtl_process_lock_information64 {
	__u64 address;
	__u16 type;
	__u16 creator_back_trace_index;
	__u32 padding;
	__u64 owning_thread;
	__s32 lock_count;
	__u32 contention_count;
	__u32 entry_count;
	__s32 recursion_count;
	__u32 number_of_waiting_shared;
	__u32 number_of_waiting_exclusive;
};

NTKLOG_ASSERT_SIZE(struct rtl_process_lock_information64, 0x30);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, address, 0x00);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, type, 0x08);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64,
		     creator_back_trace_index, 0x0A);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, owning_thread, 0x10);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, lock_count, 0x18);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, contention_count, 0x1C);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, entry_count, 0x20);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64, recursion_count, 0x24);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64,
		     number_of_waiting_shared, 0x28);
NTKLOG_ASSERT_OFFSET(struct rtl_process_lock_information64,
		     number_of_waiting_exclusive, 0x2C);

/* NT's RTL_PROCESS_LOCKS with 64-bit pointers. */
struct rtl_process_locks64 {
	__u32 number_of_locks;
	__u32 padding;
	struct rtl_process_lock_information64 locks[];
};

NTKLOG_ASSERT_OFFSET(struct rtl_process_locks64, number_of_locks, 0x00);
NTKLOG_ASSERT_OFFSET(struct rtl_process_locks64, locks, 0x08);

#endif /* _UAPI_NTKLOG_SYSTEM_INFORMATION_H */
