/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_MACROS_H
#define _NTKLOG_MACROS_H

/* What the kernel's headers give to kernel code. */

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#ifndef __printf
#define __printf(format, first)	__attribute__((__format__(printf, format, first)))
#endif

#endif /* _NTKLOG_MACROS_H */
