// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/timekeeping.h>
#include <uapi/ntklog/logfile.h>

#include "../ground/clock.h"
#include "clock.h"

#define ETW_CLOCK_TRIES	5

static s64 etw_ktime_to_filetime(ktime_t real_time)
{
	return ktime_to_ns(real_time) / 100 + FILETIME_UNIX_EPOCH;
}

/**
 * etw_read_filetime() - get the time of day
 *
 * Context: any but NMI.
 * Return: the time in units of 100 ns since 1601.
 */
s64 etw_read_filetime(void)
{
	return etw_ktime_to_filetime(ktime_get_real());
}

/**
 * etw_read_clocks() - read the session clock and the time of day at a start
 * @clocks: set to the readings
 *
 * A delay between the two readings shifts all times of a file. A host may suspend the virtual CPU
 * in between, so the function reads the clocks several times and keeps the closest pair.
 *
 * Context: any but NMI.
 */
void etw_read_clocks(struct etw_clock_readings *clocks)
{
	u64 least_distance = U64_MAX;
	unsigned long flags;
	int i;

	clocks->frequency = ntklog_get_clock_frequency();
	for (i = 0; i < ETW_CLOCK_TRIES; i++) {
		u64 before, after;
		ktime_t real_time;

		local_irq_save(flags);
		before = ntklog_read_cycles();
		real_time = ktime_get_real();
		after = ntklog_read_cycles();
		local_irq_restore(flags);
		if (after - before >= least_distance)
			continue;
		least_distance = after - before;
		clocks->start_clock = before + least_distance / 2;
		clocks->start_time = etw_ktime_to_filetime(real_time);
	}
	clocks->boot_time = etw_ktime_to_filetime(ktime_sub(ktime_mono_to_any(0, TK_OFFS_REAL),
							    ktime_mono_to_any(0, TK_OFFS_BOOT)));
}

/**
 * etw_check_clock() - warn once if times may be wrong
 *
 * Context: any.
 */
void etw_check_clock(void)
{
	if (ntklog_clock_is_unstable())
		pr_warn_once("the %s is unstable: times of different processors do not compare, and may be wrong\n",
			     NTKLOG_CLOCK_NAME);
}
