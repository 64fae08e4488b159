// SPDX-License-Identifier: GPL-2.0-only
/* What ties the session clock, the TSC, to the time of day. */

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#include <asm/tsc.h>
#include <uapi/ntklog/logfile.h>

#include "clock.h"
#include "run.h"

/**
 * etw_filetime() - the time of day
 *
 * Context: any but NMI.
 * Return: in units of 100 ns since 1601.
 */
s64 etw_filetime(void)
{
	return ktime_to_ns(ktime_get_real()) / 100 + FILETIME_UNIX_EPOCH;
}

/**
 * etw_read_clocks() - the clocks of a start
 * @run: that starts
 *
 * Context: any but NMI.
 */
void etw_read_clocks(struct etw_run *run)
{
	run->clock_frequency = (u64)tsc_khz * 1000;
	run->start_clock = get_cycles();
	run->start_time = etw_filetime();
	run->boot_time = run->start_time - ktime_to_ns(ktime_get_boottime()) / 100;
}
