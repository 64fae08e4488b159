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

static s64 etw_ktime_to_filetime(ktime_t real)
{
	return ktime_to_ns(real) / 100 + FILETIME_UNIX_EPOCH;
}

/**
 * etw_filetime() - get the time of day
 *
 * Context: any but NMI.
 * Return: the time in units of 100 ns since 1601.
 */
s64 etw_filetime(void)
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
void etw_read_clocks(struct etw_clocks *clocks)
{
	u64 closest = U64_MAX;
	unsigned long flags;
	int i;

	clocks->frequency = ntklog_clock_frequency();
	for (i = 0; i < ETW_CLOCK_TRIES; i++) {
		u64 before, after;
		ktime_t real;

		local_irq_save(flags);
		before = ntklog_cycles();
		real = ktime_get_real();
		after = ntklog_cycles();
		local_irq_restore(flags);
		if (after - before >= closest)
			continue;
		closest = after - before;
		clocks->start_clock = before + closest / 2;
		clocks->start_time = etw_ktime_to_filetime(real);
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
