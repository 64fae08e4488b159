/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_LAYOUT_H
#define _UAPI_NTKLOG_LAYOUT_H

/*
 * How the wire headers prove what they say. Every layout in this directory is
 * little-endian and carries, next to its definition, the size and the offsets
 * that NT's documents give for it; a compiler that lays it out otherwise does
 * not compile it. Works for the kernel and for user space, in C and in C++.
 */

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

#if defined(__cplusplus) || defined(__KERNEL__)
#define NTKLOG_ASSERT(condition) static_assert(condition, #condition)
#else
#define NTKLOG_ASSERT(condition) _Static_assert(condition, #condition)
#endif

#define NTKLOG_ASSERT_SIZE(type, size) NTKLOG_ASSERT(sizeof(type) == (size))
#define NTKLOG_ASSERT_OFFSET(type, member, offset) \
	NTKLOG_ASSERT(offsetof(type, member) == (offset))

#endif /* _UAPI_NTKLOG_LAYOUT_H */
