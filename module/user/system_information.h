/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SYSTEM_INFORMATION_H
#define _NTKLOG_SYSTEM_INFORMATION_H

#include <linux/types.h>

/* Upper bound of the bytes that are copied from the caller's buffer. */
#define NTKLOG_INFORMATION_SIZE_MAX	0x40

u32 ntklog_query_system_information(u32 information_class, const void *in,
				    size_t in_length, size_t length, bool is_privileged,
				    void **out, size_t *return_length);
u32 ntklog_set_system_information(u32 information_class, const void *in,
				  size_t length, bool is_privileged);

#endif /* _NTKLOG_SYSTEM_INFORMATION_H */
