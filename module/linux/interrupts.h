/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_INTERRUPTS_H
#define _NTKLOG_LINUX_INTERRUPTS_H

/* Interrupts, heard of when they begin. */

#include <linux/types.h>

#include "kind.h"

const char *ntklog_why_no_interrupts(void);
int ntklog_hear_of_interrupts(const char **failed);
void ntklog_stop_hearing_of_interrupts(void);
#ifdef NTKLOG_LINUX_LOCKS
bool ntklog_interrupts_are_heard_for_good(void);
#else
static inline bool ntklog_interrupts_are_heard_for_good(void)
{
	return false;
}
#endif

#endif /* _NTKLOG_LINUX_INTERRUPTS_H */
