/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_RUNDOWN_H
#define _NTKLOG_LINUX_RUNDOWN_H

#include <linux/types.h>

/* NTKLOG_LINUX_MODE_*; defined in lock_kinds.c, written by locks.c. */
extern u32 ntklog_linux_mode;

/* Returns the steal time of a CPU, in nanoseconds. */
typedef u64 (*ntklog_steal_time_func_t)(int cpu);

extern ntklog_steal_time_func_t ntklog_steal_time_func;

void ntklog_linux_rundown_init(void);

#endif /* _NTKLOG_LINUX_RUNDOWN_H */
