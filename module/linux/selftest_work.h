/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_SELFTEST_WORK_H
#define _NTKLOG_LINUX_SELFTEST_WORK_H

#include <linux/sizes.h>

/* Upper bound of the number of bytes that a self-test prints. */
#define NTKLOG_SELFTEST_OUTPUT_MAX	SZ_32K

struct seq_file;

int ntklog_show_linux_selftest(struct seq_file *seq);
void ntklog_linux_selftest_exit(void);

#endif /* _NTKLOG_LINUX_SELFTEST_WORK_H */
