/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_RUNDOWN_H
#define _NTKLOG_LINUX_RUNDOWN_H

/*
 * Rundown events of the mode, the rate of blockers, and the rates of sleeping locks. For locks.c.
 */

#include <linux/types.h>

/* NTKLOG_LINUX_MODE_*; defined in lock_kinds.c, written by locks.c. */
extern u32 ntklog_linux_mode;

void ntklog_linux_rundown_init(void);

#endif /* _NTKLOG_LINUX_RUNDOWN_H */
