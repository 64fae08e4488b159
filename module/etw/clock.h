/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_CLOCK_H
#define _NTKLOG_ETW_CLOCK_H

#include <linux/types.h>

/* The clocks at the start of a run. @start_time and @boot_time are FILETIMEs. */
struct etw_clock_readings {
	u64 frequency;
	u64 start_clock;
	s64 start_time;
	s64 boot_time;
};

s64 etw_read_filetime(void);
void etw_read_clocks(struct etw_clock_readings *clocks);
void etw_check_clock(void);

#endif /* _NTKLOG_ETW_CLOCK_H */
