/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KERNEL_H
#define _NTKLOG_KERNEL_H

/*
 * The module, as the commands use it: its files in debugfs, and /dev/ntklog. What goes
 * wrong is told with what would mend it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "macros.h"

#define KERNEL_SESSIONS	8

/* Of a file in debugfs that holds a line or some. */
#define KERNEL_TEXT	4096

/* Of a path of the module's, or of /proc. */
#define PATH_SIZE	512

const char *kernel_directory(void);
const char *kernel_proc(void);
const char *kernel_system(void);
int kernel_check(void);
__printf(3, 4)
int kernel_read(char *text, size_t size, const char *format, ...);
__printf(2, 3)
int kernel_write(const char *text, const char *format, ...);
int kernel_set_information(const void *information, size_t size, uint32_t *status);

#endif /* _NTKLOG_KERNEL_H */
