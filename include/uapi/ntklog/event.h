/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_EVENT_H
#define _UAPI_NTKLOG_EVENT_H

/* Headers of events: NT's trace headers, hook IDs and rundown records. */

#include <ntklog/layout.h>

/* Hook IDs: type in the low byte, group in the high byte. */
#define PERFINFO_LOG_TYPE_CONTEXTSWAP		0x0524
#define PERFINFO_LOG_TYPE_SPINLOCK		0x0529
#define PERFINFO_LOG_TYPE_RESOURCE		0x052B
#define PERFINFO_LOG_TYPE_READY_THREAD		0x0532
#define PERFINFO_LOG_TYPE_SPINLOCK_DC_START	0x0F4B
#define PERFINFO_LOG_TYPE_SPINLOCK_DC_END	0x0F4C
#define PERFINFO_LOG_TYPE_ERESOURCE_DC_START	0x0F4D
#define PERFINFO_LOG_TYPE_ERESOURCE_DC_END	0x0F4E
#define PERFINFO_LOG_TYPE_STACKWALK		0x1820
/* Stacks that are referred to by a key. ntklog reads these events, but does not write them. */
#define PERFINFO_LOG_TYPE_STACKWALK_CREATE	0x1822
#define PERFINFO_LOG_TYPE_STACKWALK_DELETE	0x1823
#define PERFINFO_LOG_TYPE_STACKWALK_RUNDOWN	0x1824
#define PERFINFO_LOG_TYPE_STACKWALK_KEY_KERNEL	0x1825
#define PERFINFO_LOG_TYPE_STACKWALK_KEY_USER	0x1826

#define PERFINFO_SPINLOCK_VERSION		2
#define PERFINFO_RESOURCE_VERSION		2
#define ETW_READY_THREAD_VERSION		2
#define PERFINFO_SPINLOCK_DC_VERSION		3
#define PERFINFO_ERESOURCE_DC_VERSION		2
#define PERFINFO_STACKWALK_VERSION		2

/* Hook IDs of ntklog, in a group of which NT has no event types. */
#define NTKLOG_LOG_TYPE_DC_START		0xA04B
#define NTKLOG_LOG_TYPE_DC_END		0xA04C
#define NTKLOG_LOG_TYPE_STACKS_DC_START		0xA04D
#define NTKLOG_LOG_TYPE_STACKS_DC_END		0xA04E
#define PERFINFO_LOG_TYPE_NTKLOG_OBSERVED	0xA04F
#define NTKLOG_LOG_TYPE_DROPPED_DC_START	0xA050
#define NTKLOG_LOG_TYPE_DROPPED_DC_END		0xA051
#define PERFINFO_LOG_TYPE_NTKLOG_CALLER		0xA052
#define NTKLOG_LOG_TYPE_OPEN_HOLD		0xA053
#define PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK	0xA054
#define NTKLOG_DC_VERSION			1
#define NTKLOG_STACKS_DC_VERSION		1
#define NTKLOG_OBSERVED_VERSION			1
#define NTKLOG_DROPPED_DC_VERSION		2
#define NTKLOG_CALLER_VERSION			2
#define NTKLOG_OPEN_HOLD_VERSION		2
#define NTKLOG_BLOCK_STACK_VERSION		1

/* header_type: kind of header, and pointer size of the data. */
#define TRACE_HEADER_TYPE_SYSTEM32		0x01
#define TRACE_HEADER_TYPE_SYSTEM64		0x02
#define TRACE_HEADER_TYPE_PERFINFO32		0x10
#define TRACE_HEADER_TYPE_PERFINFO64		0x11

/* flags: TRACE_HEADER_FLAG (0x80) and TRACE_HEADER_EVENT_TRACE (0x40). */
#define TRACE_HEADER_FLAGS			0xC0

/* extended_flags: values of the CPU's counters between the trace header and the data. */
#define PERFINFO_EXT_PMC_COUNT			0x07
#define PERFINFO_EXT_PEBS_INDEX			0x80

/* Alignment of an event in its buffer. */
#define TRACE_EVENT_ALIGNMENT			8

/**
 * struct perfinfo_trace_header - NT's PERFINFO_TRACE_HEADER
 * @version: version of the event
 * @extended_flags: PERFINFO_EXT_*, 0 unless extended items follow
 * @header_type: TRACE_HEADER_TYPE_PERFINFO32 or _PERFINFO64
 * @flags: TRACE_HEADER_FLAGS
 * @size: size of this header and the data in bytes, without padding
 * @hook_id: type of the event, PERFINFO_LOG_TYPE_*
 * @time_stamp: value of the session clock
 */
struct perfinfo_trace_header {
	__u8 version;
	__u8 extended_flags;
	__u8 header_type;
	__u8 flags;
	__u16 size;
	__u16 hook_id;
	__u64 time_stamp;
};

NTKLOG_ASSERT_SIZE(struct perfinfo_trace_header, 0x10);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, version, 0x00);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, extended_flags, 0x01);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, header_type, 0x02);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, flags, 0x03);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, size, 0x04);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, hook_id, 0x06);
NTKLOG_ASSERT_OFFSET(struct perfinfo_trace_header, time_stamp, 0x08);

/**
 * struct system_trace_header - NT's SYSTEM_TRACE_HEADER
 * @version: version of the event
 * @header_type: TRACE_HEADER_TYPE_SYSTEM32 or _SYSTEM64
 * @flags: TRACE_HEADER_FLAGS
 * @size: size of this header and the data in bytes, without padding
 * @hook_id: type of the event
 * @thread_id: thread that started the session
 * @process_id: process that started the session
 * @system_time: value of the session clock at the start of the session
 * @kernel_time: kernel time of the thread, in clock ticks; ntklog writes 0
 * @user_time: user time of the thread, in clock ticks; ntklog writes 0
 *
 * Header of the events in the first buffer of a file.
 */
struct system_trace_header {
	__u16 version;
	__u8 header_type;
	__u8 flags;
	__u16 size;
	__u16 hook_id;
	__u32 thread_id;
	__u32 process_id;
	__s64 system_time;
	__u32 kernel_time;
	__u32 user_time;
};

NTKLOG_ASSERT_SIZE(struct system_trace_header, 0x20);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, version, 0x00);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, header_type, 0x02);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, flags, 0x03);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, size, 0x04);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, hook_id, 0x06);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, thread_id, 0x08);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, process_id, 0x0C);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, system_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, kernel_time, 0x18);
NTKLOG_ASSERT_OFFSET(struct system_trace_header, user_time, 0x1C);

/*
 * Data of the spin lock rundown events. The order differs from that of
 * EVENT_TRACE_SPINLOCK_INFORMATION.
 */
struct perfinfo_spinlock_dc {
	__u32 spin_threshold;
	__u32 contention_sample_rate;
	__u32 acquire_sample_rate;
	__u32 hold_threshold;
};

NTKLOG_ASSERT_SIZE(struct perfinfo_spinlock_dc, 0x10);
NTKLOG_ASSERT_OFFSET(struct perfinfo_spinlock_dc, spin_threshold, 0x00);
NTKLOG_ASSERT_OFFSET(struct perfinfo_spinlock_dc, contention_sample_rate, 0x04);
NTKLOG_ASSERT_OFFSET(struct perfinfo_spinlock_dc, acquire_sample_rate, 0x08);
NTKLOG_ASSERT_OFFSET(struct perfinfo_spinlock_dc, hold_threshold, 0x0C);

/* linux_mode */
#define NTKLOG_LINUX_MODE_FULL		0
#define NTKLOG_LINUX_MODE_SAMPLED	1
#define NTKLOG_LINUX_MODE_WAITS		2
#define NTKLOG_LINUX_MODE_HOLDERS	3

/**
 * struct ntklog_dc - data of the rundown events of settings that NT does not have
 * @linux_mode: NTKLOG_LINUX_MODE_*
 * @blockers: sample rate N of releases that leave a waiter behind: every Nth is sampled; 0: off
 */
struct ntklog_dc {
	__u32 linux_mode;
	__u32 blockers;
};

NTKLOG_ASSERT_SIZE(struct ntklog_dc, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_dc, linux_mode, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_dc, blockers, 0x04);

/* stacks: types of event that carry a stack */
#define NTKLOG_STACKS_CONTEXTSWAP		0x00000001
#define NTKLOG_STACKS_SPINLOCK			0x00000002
#define NTKLOG_STACKS_RESOURCE			0x00000004

/* Data of the rundown events of stacks. */
struct ntklog_stacks_dc {
	__u32 stacks;
};

NTKLOG_ASSERT_SIZE(struct ntklog_stacks_dc, 0x04);
NTKLOG_ASSERT_OFFSET(struct ntklog_stacks_dc, stacks, 0x00);

/**
 * struct ntklog_observed - data of the event that delimits the time in which a group is observed
 * @group: one event group, PERF_* of group_mask.h
 * @observed: 1: the group is observed from here on; 0: no longer
 */
struct ntklog_observed {
	__u32 group;
	__u32 observed;
};

NTKLOG_ASSERT_SIZE(struct ntklog_observed, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_observed, group, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_observed, observed, 0x04);

/**
 * struct ntklog_dropped_dc - data of the rundown events of blockers that were not written
 * @spin_locks: number of releases of spin locks, since the module was loaded, that left a waiter
 *	behind and were not written because of the limit
 * @sleeping_locks: number of such releases of Linux' sleeping locks
 * @steal_time: the kernel's steal time of all CPUs, in nanoseconds
 */
struct ntklog_dropped_dc {
	__u64 spin_locks;
	__u64 sleeping_locks;
	__u64 steal_time;
};

NTKLOG_ASSERT_SIZE(struct ntklog_dropped_dc, 0x18);
NTKLOG_ASSERT_OFFSET(struct ntklog_dropped_dc, spin_locks, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_dropped_dc, sleeping_locks, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_dropped_dc, steal_time, 0x10);

/* Size of version 1 of the event, which ends before @steal_time. */
#define NTKLOG_DROPPED_DC_V1_SIZE	0x10

/**
 * struct ntklog_caller - data of the event that tells where a sleeping lock was acquired
 * @lock: address of the lock, as in the record that follows
 * @caller: return address of the lock function with which the task acquired or waits for the lock
 * @hold_ready: time of the hold in which the task was ready to run and had no CPU
 * @hold_blocked: time of the hold in which the task was blocked, also for another lock
 * @wait_ready: time of the wait before the hold in which the task was ready and had no CPU
 * @wait_last_ready: the part of @wait_ready just before the task last got a CPU
 * @wait_blocked: time of the wait before the hold in which the task was blocked
 *
 * Times are in cycles, as in WMI_RESOURCE. They are 0 if the record is of an excessive wait, and
 * those of the wait are 0 if there was no wait. The task was running for the rest of the hold and
 * of the wait.
 *
 * Written before each PERFINFO_LOG_TYPE_RESOURCE of a Linux lock. The event belongs to the
 * record of the same CPU with the same lock and the same time stamp, either of which may be lost.
 */
struct ntklog_caller {
	__u64 lock;
	__u64 caller;
	__u64 hold_ready;
	__u64 hold_blocked;
	__u64 wait_ready;
	__u64 wait_last_ready;
	__u64 wait_blocked;
};

NTKLOG_ASSERT_SIZE(struct ntklog_caller, 0x38);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, lock, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, caller, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, hold_ready, 0x10);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, hold_blocked, 0x18);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, wait_ready, 0x20);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, wait_last_ready, 0x28);
NTKLOG_ASSERT_OFFSET(struct ntklog_caller, wait_blocked, 0x30);

/* Version 1 of struct ntklog_caller, as older versions of ntklog write it. */
struct ntklog_caller_v1 {
	__u64 lock;
	__u64 caller;
};

NTKLOG_ASSERT_SIZE(struct ntklog_caller_v1, 0x10);

/* Number of return addresses in a struct ntklog_block_stack. */
#define NTKLOG_BLOCK_FRAMES		12

/**
 * struct ntklog_block_stack - data of the event that tells where a holder was blocked for longest
 * @lock: address of the lock, as in the record that follows
 * @since: when the block began, in cycles, as in WMI_RESOURCE
 * @blocked: how long the task was blocked then, in cycles
 * @frames: return addresses of the task's stack, the innermost first; 0 ends them, if there are
 *	fewer
 *
 * Written for the sessions that log the stacks of PERFINFO_LOG_TYPE_RESOURCE, between the event of
 * the caller and the record, with the same time stamp.
 */
struct ntklog_block_stack {
	__u64 lock;
	__u64 since;
	__u64 blocked;
	__u64 frames[NTKLOG_BLOCK_FRAMES];
};

NTKLOG_ASSERT_SIZE(struct ntklog_block_stack, 0x78);
NTKLOG_ASSERT_OFFSET(struct ntklog_block_stack, lock, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_block_stack, since, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_block_stack, blocked, 0x10);
NTKLOG_ASSERT_OFFSET(struct ntklog_block_stack, frames, 0x18);

/* action of struct ntklog_open_hold: the lower half; the upper half is the class of WMI_RESOURCE */
#define NTKLOG_OPEN_LIST		0x0000
#define NTKLOG_OPEN_HELD_EXCLUSIVE	0x0021
#define NTKLOG_OPEN_WAITS_EXCLUSIVE	0x0024
#define NTKLOG_OPEN_HELD_SHARED		0x0041
#define NTKLOG_OPEN_WAITS_SHARED	0x0044

/**
 * struct ntklog_open_hold - data of the event of a sleeping lock that a task holds or waits for
 * @list_time: session clock when the list of these events began; the same in each event of a list
 * @lock: address of the lock
 * @since: session clock when the hold began, or when the wait began
 * @wait_time: duration of the wait before the hold, in cycles; 0: none, or the task waits
 * @caller: return address of the lock function with which the task acquired or waits for the lock
 * @thread_id: the task
 * @action: NTKLOG_OPEN_* and the class of the lock
 * @contentions: number of waits for the lock that began during the hold
 * @reserved: 0
 * @ready: time since @since in which the task was ready to run and had no CPU, in cycles
 * @blocked: time since @since in which the task was blocked, in cycles
 *
 * A list begins with an event whose action is NTKLOG_OPEN_LIST and whose other members but
 * @list_time are 0. Events follow for the tracked holds and waits of the groups that the session
 * observes, except those of the task that stops the session or takes the snapshot. A hold or wait
 * that begins or ends meanwhile may be missing.
 */
struct ntklog_open_hold {
	__u64 list_time;
	__u64 lock;
	__u64 since;
	__u64 wait_time;
	__u64 caller;
	__u32 thread_id;
	__u32 action;
	__u32 contentions;
	__u32 reserved;
	__u64 ready;
	__u64 blocked;
};

NTKLOG_ASSERT_SIZE(struct ntklog_open_hold, 0x48);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, list_time, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, lock, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, since, 0x10);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, wait_time, 0x18);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, caller, 0x20);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, thread_id, 0x28);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, action, 0x2C);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, contentions, 0x30);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, reserved, 0x34);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, ready, 0x38);
NTKLOG_ASSERT_OFFSET(struct ntklog_open_hold, blocked, 0x40);

/* Size of version 1 of the event, which ends before @ready: older versions of ntklog write it. */
#define NTKLOG_OPEN_HOLD_V1_SIZE	0x38

/* Data of the resource rundown events. */
struct perfinfo_eresource_dc {
	__u32 release_sampling_rate;
	__u32 contention_sampling_rate;
	__u32 number_of_excessive_timeouts;
};

NTKLOG_ASSERT_SIZE(struct perfinfo_eresource_dc, 0x0C);
NTKLOG_ASSERT_OFFSET(struct perfinfo_eresource_dc, release_sampling_rate, 0x00);
NTKLOG_ASSERT_OFFSET(struct perfinfo_eresource_dc, contention_sampling_rate, 0x04);
NTKLOG_ASSERT_OFFSET(struct perfinfo_eresource_dc, number_of_excessive_timeouts, 0x08);

#endif /* _UAPI_NTKLOG_EVENT_H */
