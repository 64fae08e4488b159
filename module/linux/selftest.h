/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_SELFTEST_H
#define _NTKLOG_LINUX_SELFTEST_H

#include <linux/types.h>

#include "kind.h"

struct seq_file;

#ifdef NTKLOG_CAN_REDIRECT_SPINNING

void ntklog_selftest_init(void);
const char *ntklog_test_replacements(const struct ntklog_lock_functions *functions,
				     struct seq_file *seq);

#else

static inline void ntklog_selftest_init(void)
{
}

static inline const char *
ntklog_test_replacements(const struct ntklog_lock_functions *functions, struct seq_file *seq)
{
	return NULL;
}

#endif

#endif /* _NTKLOG_LINUX_SELFTEST_H */
