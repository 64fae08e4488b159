/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_CLOCK_H
#define _NTKLOG_ETW_CLOCK_H

#include <linux/types.h>

struct etw_run;

s64 etw_filetime(void);
void etw_read_clocks(struct etw_run *run);
void etw_check_clock(void);

#endif /* _NTKLOG_ETW_CLOCK_H */
