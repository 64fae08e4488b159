/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_LAYOUT_H
#define _UAPI_NTKLOG_LAYOUT_H

/*
 * Layouts of the files and ioctls, which are little-endian. The headers compile in the kernel and
 * in user space, as C11 and C++11.
 */

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
#include <assert.h>	/* static_assert() of C11; C++ has it built in */
#include <stddef.h>
#endif

#define NTKLOG_ASSERT(condition) static_assert(condition, #condition)

#define NTKLOG_ASSERT_SIZE(type, size) NTKLOG_ASSERT(sizeof(type) == (size))
#define NTKLOG_ASSERT_OFFSET(type, member, offset) \
	NTKLOG_ASSERT(offsetof(type, member) == (offset))

#endif /* _UAPI_NTKLOG_LAYOUT_H */
