/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KERNEL_H
#define _NTKLOG_KERNEL_H

/* Access to the module: its files in debugfs, and /dev/ntklog. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "macros.h"

#define KERNEL_SESSIONS	8

/* Bytes for the text of a file in debugfs that holds a few lines. */
#define KERNEL_TEXT	4096

#define PATH_SIZE	512

const char *kernel_directory(void);
const char *kernel_proc_directory(void);
const char *kernel_system_directory(void);
int kernel_check(void);
__printf(3, 4)
int kernel_read(char *text, size_t size, const char *format, ...);
__printf(2, 3)
int kernel_write(const char *text, const char *format, ...);
int kernel_set_system_information(const void *information, size_t size, uint32_t *status);

#endif /* _NTKLOG_KERNEL_H */
