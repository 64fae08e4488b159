/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_WMI_RESOURCE_H
#define _UAPI_NTKLOG_WMI_RESOURCE_H

/* The data of PERFINFO_LOG_TYPE_RESOURCE, for both pointer sizes. */

#include <ntklog/layout.h>

/*
 * action: what happened. The bits are a reading of the known values: 0x10000 a
 * resource; 1 acquired, 2 released, 4 waited for, 8 initialised; 0x10 again; 0x20
 * exclusive, 0x40 shared; 0x100 owner pointer; 0x200 too long. NT names four of
 * them; those that are only tracked are never in an event.
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

/* Of both: somebody waits too long, and somebody else tells it. */
#define WMI_RESOURCE_ACTION_EXCESSIVE				0x00000200

/* The class of an action: of which kind of object. */
#define WMI_RESOURCE_ACTION_CLASS				0xFFFF0000
#define WMI_RESOURCE_CLASS_RESOURCE				0x00010000

/*
 * Not NT's: Linux' own locks that sleep. What happened is in the low half as for resources, of
 * which these have RELEASE (exclusive and shared, final) and WAIT_EXCESSIVE. max_recursion_depth
 * of a release is 1. thread_id is the thread that acquired it.
 */
#define WMI_RESOURCE_CLASS_LINUX_MUTEX				0x80010000
#define WMI_RESOURCE_CLASS_LINUX_RWSEM				0x80020000
#define WMI_RESOURCE_CLASS_LINUX_SEMAPHORE			0x80030000
#define WMI_RESOURCE_CLASS_LINUX_RT_MUTEX			0x80040000
#define WMI_RESOURCE_CLASS_LINUX_PERCPU_RWSEM			0x80050000
#define WMI_RESOURCE_CLASS_LINUX_WW_MUTEX			0x80060000

/* acquire_time and wait_time that are not known. */
#define WMI_RESOURCE_WAIT_TIME_UNKNOWN				1
#define WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN			2

/**
 * struct wmi_resource64 - NT's WMI_RESOURCE with 64-bit pointers
 * @acquire_time: when ownership began, cycles
 * @hold_time: from then to the release, cycles; 0 if not known. Excessive
 *	wait: how long the wait has lasted
 * @wait_time: before the ownership, cycles; 0: none, 1: not known. Excessive
 *	wait: when the wait began
 * @max_recursion_depth: the most acquisitions that the thread owned at once.
 *	Excessive wait: time-outs so far. Reinitialised: owner entries there were
 * @thread_id: the thread that owned, waits or did it
 * @resource: the resource
 * @action: WMI_RESOURCE_ACTION_*
 * @contention_delta: waits that began on the resource while it was owned.
 *	Reinitialised: threads that owned it
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

/**
 * struct wmi_resource32 - NT's WMI_RESOURCE with 32-bit pointers
 * @acquire_time: as in struct wmi_resource64, and so are all the others
 * @hold_time: see there
 * @wait_time: see there
 * @max_recursion_depth: see there
 * @thread_id: see there
 * @resource: see there
 * @action: see there
 * @contention_delta: see there
 * @padding: zero; NT's structure is a multiple of 8 too
 */
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
