// SPDX-License-Identifier: GPL-2.0-only

#include <ntklog/event.h>

#include "overhead.h"

/* Cycles that an acquisition and its release cost more than without a recording. */
#define SPIN_ACQUISITION_FULL_CYCLES	137
#define SPIN_ACQUISITION_SAMPLED_CYCLES	25
#define SLEEP_ACQUISITION_CYCLES	80

/* A wait calls two probes of the kernel's tracepoints, or the slow path of the hooks. */
#define CONTENTION_CYCLES	300

/* An event, and the note of the lock's class. */
#define EVENT_CYCLES		500

static double cycles_per_spin_lock(uint32_t linux_mode)
{
	switch (linux_mode) {
	case NTKLOG_LINUX_MODE_FULL:
		return SPIN_ACQUISITION_FULL_CYCLES;
	case NTKLOG_LINUX_MODE_SAMPLED:
		return SPIN_ACQUISITION_SAMPLED_CYCLES;
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
	double spins = (double)(counts->spin_acquisitions - before->spin_acquisitions);
	double sleeps = (double)(counts->sleep_acquisitions - before->sleep_acquisitions);
	double contentions = (double)(counts->spin_contentions - before->spin_contentions) +
			     (double)(counts->sleep_contentions - before->sleep_contentions);
	double events = (double)(counts->events - before->events);

	overhead->hook_seconds +=
		(spins * cycles_per_spin_lock(linux_mode) + sleeps * SLEEP_ACQUISITION_CYCLES +
		 contentions * CONTENTION_CYCLES) *
		cycle_seconds;
	overhead->event_seconds += events * EVENT_CYCLES * cycle_seconds;
}
