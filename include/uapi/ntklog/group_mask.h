/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_GROUP_MASK_H
#define _UAPI_NTKLOG_GROUP_MASK_H

/* NT's group masks: each bit is an event group. */

#include <ntklog/layout.h>

/* The top three bits of a group are an index into masks[], the others the bits in that word. */
#define PERF_MASK_INDEX(group)		((group) >> 29)
#define PERF_MASK_BITS(group)		((group) & 0x1FFFFFFF)

#define PERF_CONTEXT_SWITCH		0x20000004
#define PERF_COMPACT_CSWITCH		0x20000100
#define PERF_DISPATCHER			0x20000200
#define PERF_SPINLOCK			0x20010000
#define PERF_SYNC_OBJECTS		0x20020000
#define PERF_SPINLOCK_CNTRS		0x20200000
#define PERF_SPININSTR			0x20210000

/* Groups of Linux' locks, in masks[5], where NT has no groups. */
#define PERF_LINUX_SPINLOCK		0xA0000001
#define PERF_LINUX_RWLOCK		0xA0000002
#define PERF_LINUX_MUTEX		0xA0000004
#define PERF_LINUX_RWSEM		0xA0000008
#define PERF_LINUX_SEMAPHORE		0xA0000010
#define PERF_LINUX_RT_MUTEX		0xA0000020
#define PERF_LINUX_PERCPU_RWSEM		0xA0000040
#define PERF_LINUX_WW_MUTEX		0xA0000080

/* Bits of masks[0], NT's documented EnableFlags. */
#define EVENT_TRACE_FLAG_CSWITCH	0x00000010	/* PERF_CONTEXT_SWITCH */
#define EVENT_TRACE_FLAG_DISPATCHER	0x00000800	/* PERF_DISPATCHER */

#define PERF_NUM_MASKS			8

/* NT's PERFINFO_GROUPMASK. */
struct perfinfo_groupmask {
	__u32 masks[PERF_NUM_MASKS];
};

NTKLOG_ASSERT_SIZE(struct perfinfo_groupmask, 0x20);
NTKLOG_ASSERT_OFFSET(struct perfinfo_groupmask, masks, 0x00);
NTKLOG_ASSERT(PERF_SPININSTR == (PERF_SPINLOCK | PERF_SPINLOCK_CNTRS));

#endif /* _UAPI_NTKLOG_GROUP_MASK_H */
