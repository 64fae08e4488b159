// SPDX-License-Identifier: GPL-2.0-only
/* What ties the session clock to the time of day. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/timekeeping.h>
#include <uapi/ntklog/logfile.h>

#include "../ground/clock.h"
#include "clock.h"
#include "run.h"

/* Most of what the two clocks of a start can be apart by chance is gone after so many. */
#define ETW_CLOCK_TRIES	5

static s64 etw_timespec_to_filetime(ktime_t real)
{
	return ktime_to_ns(real) / 100 + FILETIME_UNIX_EPOCH;
}

/**
 * etw_filetime() - the time of day
 *
 * Context: any but NMI.
 * Return: in units of 100 ns since 1601.
 */
s64 etw_filetime(void)
{
	return etw_timespec_to_filetime(ktime_get_real());
}

/**
 * etw_read_clocks() - the clocks of a start
 * @run: that starts
 *
 * Every time in the file is counted from this pair of clocks, so whatever comes between
 * the two puts the whole file off. Interrupts are off; against what that does not help
 * with, a host that runs another virtual processor, the closest of a few pairs is taken.
 *
 * The time of the boot is what Linux keeps, not a difference of two readings: the same
 * number until somebody sets the clock, which moves it, as it does on NT.
 *
 * Context: any but NMI.
 */
void etw_read_clocks(struct etw_run *run)
{
	u64 closest = U64_MAX;
	unsigned long flags;
	int i;

	run->clock_frequency = ntklog_clock_frequency();
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
		run->start_clock = before + closest / 2;
		run->start_time = etw_timespec_to_filetime(real);
	}
	run->boot_time = etw_timespec_to_filetime(ktime_sub(ktime_mono_to_any(0, TK_OFFS_REAL),
							    ktime_mono_to_any(0, TK_OFFS_BOOT)));
}

/**
 * etw_check_clock() - tell, once, that times may be wrong
 *
 * Files say that there is one clock. Linux may have found that it differs from processor to
 * processor, or stops: at the boot, or at any time later.
 *
 * Context: any.
 */
void etw_check_clock(void)
{
	if (ntklog_clock_is_unstable())
		pr_warn_once("the %s is unstable: times of different processors do not compare, and may be wrong\n",
			     NTKLOG_CLOCK_NAME);
}
