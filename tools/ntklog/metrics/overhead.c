// SPDX-License-Identifier: GPL-2.0-only

#include <ntklog/event.h>

#include "overhead.h"

/* Cycles that an acquisition and its release cost more than without a recording. */
#define SPIN_FULL_CYCLES	137
#define SPIN_SAMPLED_CYCLES	25
#define SLEEP_CYCLES		80

/* A wait calls two probes of the kernel's tracepoints, or the slow path of the hooks. */
#define CONTENTION_CYCLES	300

/* An event, and the note of the lock's class. */
#define EVENT_CYCLES		500

static double spin_cycles(uint32_t linux_mode)
{
	switch (linux_mode) {
	case NTKLOG_LINUX_MODE_FULL:
		return SPIN_FULL_CYCLES;
	case NTKLOG_LINUX_MODE_SAMPLED:
		return SPIN_SAMPLED_CYCLES;
	default:
		return 0;
	}
}

/**
 * overhead_add() - add the overhead of an interval, without that of this process
 * @overhead: sums to change
 * @before: counts at the begin of the interval
 * @counts: counts at its end
 * @linux_mode: NTKLOG_LINUX_MODE_* of the interval
 * @cycle_seconds: seconds of a cycle
 */
void overhead_add(struct overhead *overhead, const struct overhead_counts *before,
		  const struct overhead_counts *counts, uint32_t linux_mode,
		  double cycle_seconds)
{
	double spins = (double)(counts->spins - before->spins);
	double sleeps = (double)(counts->sleeps - before->sleeps);
	double contentions = (double)(counts->spin_contentions - before->spin_contentions) +
			     (double)(counts->sleep_contentions - before->sleep_contentions);
	double events = (double)(counts->events - before->events);

	overhead->hooks += (spins * spin_cycles(linux_mode) + sleeps * SLEEP_CYCLES +
			    contentions * CONTENTION_CYCLES) * cycle_seconds;
	overhead->events += events * EVENT_CYCLES * cycle_seconds;
}
