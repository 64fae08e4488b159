/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_GROUP_MASK_H
#define _UAPI_NTKLOG_GROUP_MASK_H

/* Which kinds of event are wanted: NT's group masks. */

#include <ntklog/layout.h>

/*
 * The top three bits of a mask value are an index into masks[], the rest are
 * the bits to test there.
 */
#define PERF_MASK_INDEX(group)		((group) >> 29)
#define PERF_MASK_BITS(group)		((group) & 0x1FFFFFFF)

#define PERF_CONTEXT_SWITCH		0x20000004
#define PERF_COMPACT_CSWITCH		0x20000100
#define PERF_SPINLOCK			0x20010000
#define PERF_SYNC_OBJECTS		0x20020000
#define PERF_SPINLOCK_CNTRS		0x20200000
#define PERF_SPININSTR			0x20210000

/*
 * Not NT's: Linux' own locks. NT has no groups in masks[5]. The events of the first two are those
 * of NT's spin locks, the events of the others are those of NT's resources.
 */
#define PERF_LINUX_SPINLOCK		0xA0000001
#define PERF_LINUX_RWLOCK		0xA0000002
#define PERF_LINUX_MUTEX		0xA0000004
#define PERF_LINUX_RWSEM		0xA0000008
#define PERF_LINUX_SEMAPHORE		0xA0000010
#define PERF_LINUX_RT_MUTEX		0xA0000020
#define PERF_LINUX_PERCPU_RWSEM		0xA0000040
#define PERF_LINUX_WW_MUTEX		0xA0000080

/* In masks[0], NT's documented EnableFlags; maps to PERF_CONTEXT_SWITCH. */
#define EVENT_TRACE_FLAG_CSWITCH	0x00000010

#define PERF_NUM_MASKS			8

/**
 * struct perfinfo_groupmask - NT's PERFINFO_GROUPMASK
 * @masks: bits by PERF_MASK_INDEX()
 */
struct perfinfo_groupmask {
	__u32 masks[PERF_NUM_MASKS];
};

NTKLOG_ASSERT_SIZE(struct perfinfo_groupmask, 0x20);
NTKLOG_ASSERT_OFFSET(struct perfinfo_groupmask, masks, 0x00);
NTKLOG_ASSERT(PERF_SPININSTR == (PERF_SPINLOCK | PERF_SPINLOCK_CNTRS));

#endif /* _UAPI_NTKLOG_GROUP_MASK_H */
