/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_CLOCK_H
#define _NTKLOG_ETW_CLOCK_H

#include <linux/types.h>

/**
 * struct etw_clocks - the clocks at the start of a run
 * @frequency: ticks of the session clock per second
 * @start_clock: session clock at the start
 * @start_time: FILETIME of the same moment
 * @boot_time: FILETIME of the boot
 */
struct etw_clocks {
	u64 frequency;
	u64 start_clock;
	s64 start_time;
	s64 boot_time;
};

s64 etw_filetime(void);
void etw_read_clocks(struct etw_clocks *clocks);
void etw_check_clock(void);

#endif /* _NTKLOG_ETW_CLOCK_H */
