/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_WMI_RESOURCE_H
#define _UAPI_NTKLOG_WMI_RESOURCE_H

/* Data of PERFINFO_LOG_TYPE_RESOURCE, for both pointer sizes. */

#include <ntklog/layout.h>

/*
 * action. NT names four of these values; the meaning of the bits is derived from them: 0x10000
 * resource; 1 acquire, 2 release, 4 wait, 8 initialise; 0x10 repeated; 0x20 exclusive, 0x40 shared;
 * 0x100 owner pointer; 0x200 excessive. NT only tracks the changes marked "tracked": no event has
 * these values.
 */
#define WMI_RESOURCE_ACTION_INITIALIZE				0x00010008
#define WMI_RESOURCE_ACTION_REINITIALIZE			0x00010018
#define WMI_RESOURCE_ACTION_ACQUIRE_EXCLUSIVE			0x00010021 /* tracked */
#define WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE		0x00010022
#define WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE			0x00010024 /* tracked */
#define WMI_RESOURCE_ACTION_REACQUIRE_EXCLUSIVE			0x00010031 /* tracked */
#define WMI_RESOURCE_ACTION_RELEASE_EXCLUSIVE			0x00010032 /* tracked */
#define WMI_RESOURCE_ACTION_ACQUIRE_SHARED			0x00010041 /* tracked */
#define WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED		0x00010042
#define WMI_RESOURCE_ACTION_WAIT_FOR_SHARED			0x00010044 /* tracked */
#define WMI_RESOURCE_ACTION_REACQUIRE_SHARED			0x00010051 /* tracked */
#define WMI_RESOURCE_ACTION_RELEASE_SHARED			0x00010052 /* tracked */
#define WMI_RESOURCE_ACTION_OWNER_POINTER_EXCLUSIVE		0x00010120
#define WMI_RESOURCE_ACTION_OWNER_POINTER_SHARED		0x00010140
#define WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE	0x00010224
#define WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED		0x00010244

/* Bit that both excessive waits have. Their events are written while the wait continues. */
#define WMI_RESOURCE_ACTION_EXCESSIVE				0x00000200

/* Bits of the action that are the class of the object. */
#define WMI_RESOURCE_ACTION_CLASS				0xFFFF0000
#define WMI_RESOURCE_CLASS_RESOURCE				0x00010000

/*
 * Classes of Linux' sleeping locks. The low half of the action is as for resources: final releases
 * and excessive waits. max_recursion_depth of a release is 1. thread_id is the thread that acquired
 * the lock, or waits for it.
 *
 * WMI_RESOURCE_ACTION_LINUX_BLOCKER: bit of a final release that is written only because it leaves
 * a waiter behind, and that NT's rules would not have written.
 */
#define WMI_RESOURCE_ACTION_LINUX_BLOCKER			0x00000400
#define WMI_RESOURCE_CLASS_LINUX_MUTEX				0x80010000
#define WMI_RESOURCE_CLASS_LINUX_RWSEM				0x80020000
#define WMI_RESOURCE_CLASS_LINUX_SEMAPHORE			0x80030000
#define WMI_RESOURCE_CLASS_LINUX_RT_MUTEX			0x80040000
#define WMI_RESOURCE_CLASS_LINUX_PERCPU_RWSEM			0x80050000
#define WMI_RESOURCE_CLASS_LINUX_WW_MUTEX			0x80060000

/* Values of acquire_time and wait_time that are not known. */
#define WMI_RESOURCE_WAIT_TIME_UNKNOWN				1
#define WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN			2

/**
 * struct wmi_resource64 - NT's WMI_RESOURCE with 64-bit pointers
 * @acquire_time: clock at the start of the hold; 2: not known
 * @hold_time: duration of the hold in cycles; 0: not known. Excessive wait: duration of the wait so
 *	far
 * @wait_time: duration of the wait before the hold in cycles; 0: none, 1: not known. Excessive
 *	wait: clock at its start
 * @max_recursion_depth: most acquisitions that the owner held at once. Excessive wait: number of
 *	timeouts so far. Reinitialisation: number of owner entries
 * @thread_id: thread that held the resource, waits for it, or made the change
 * @resource: address of the resource
 * @action: WMI_RESOURCE_ACTION_*
 * @contention_delta: number of waits that began during the hold. Reinitialisation: number of owners
 */
struct wmi_resource64 {
	__u64 acquire_time;
	__u64 hold_time;
	__u64 wait_time;
	__u32 max_recursion_depth;
	__u32 thread_id;
	__u64 resource;
	__u32 action;
	__u32 contention_delta;
};

NTKLOG_ASSERT_SIZE(struct wmi_resource64, 0x30);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, acquire_time, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, hold_time, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, wait_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, max_recursion_depth, 0x18);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, thread_id, 0x1C);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, resource, 0x20);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, action, 0x28);
NTKLOG_ASSERT_OFFSET(struct wmi_resource64, contention_delta, 0x2C);

/* WMI_RESOURCE with 32-bit pointers, and the members of wmi_resource64; @padding is zero. */
struct wmi_resource32 {
	__u64 acquire_time;
	__u64 hold_time;
	__u64 wait_time;
	__u32 max_recursion_depth;
	__u32 thread_id;
	__u32 resource;
	__u32 action;
	__u32 contention_delta;
	__u32 padding;
};

NTKLOG_ASSERT_SIZE(struct wmi_resource32, 0x30);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, acquire_time, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, hold_time, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, wait_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, max_recursion_depth, 0x18);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, thread_id, 0x1C);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, resource, 0x20);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, action, 0x24);
NTKLOG_ASSERT_OFFSET(struct wmi_resource32, contention_delta, 0x28);

#endif /* _UAPI_NTKLOG_WMI_RESOURCE_H */
