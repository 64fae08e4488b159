/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_LAYOUT_H
#define _UAPI_NTKLOG_LAYOUT_H

/*
 * How the wire headers prove what they say. Every layout in this directory is
 * little-endian and carries, next to its definition, the size and the offsets
 * that NT's documents give for it; a compiler that lays it out otherwise does
 * not compile it. Works for the kernel and for user space, in C11 and in C++11.
 */

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>	/* static_assert() of C11; C++ has it by itself */
#include <stddef.h>
#endif

#define NTKLOG_ASSERT(condition) static_assert(condition, #condition)

#define NTKLOG_ASSERT_SIZE(type, size) NTKLOG_ASSERT(sizeof(type) == (size))
#define NTKLOG_ASSERT_OFFSET(type, member, offset) \
	NTKLOG_ASSERT(offsetof(type, member) == (offset))

#endif /* _UAPI_NTKLOG_LAYOUT_H */
