/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_MACROS_H
#define _NTKLOG_MACROS_H

/* Macros that kernel code has from the kernel's headers. */

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#ifndef __printf
#define __printf(format, first)	__attribute__((__format__(printf, format, first)))
#endif

#endif /* _NTKLOG_MACROS_H */
