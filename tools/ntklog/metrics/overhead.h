/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_OVERHEAD_H
#define _NTKLOG_OVERHEAD_H

/*
 * The overhead of a recording: the module's counts times estimated costs, and the CPU time of this
 * process.
 */

#include <stdint.h>

/*
 * Numbers since the start.
 * @spin_acquisitions: acquisitions of spin locks and rwlocks
 * @sleep_acquisitions: acquisitions of Linux' locks that sleep, and releases of NT's resources
 * @sleep_contentions: waits that began for Linux' locks that sleep; NT's waits are not counted
 */
struct overhead_counts {
	uint64_t spin_acquisitions;
	uint64_t spin_contentions;
	uint64_t sleep_acquisitions;
	uint64_t sleep_contentions;
	uint64_t events;
};

/*
 * CPU time, seconds.
 * @hook_seconds: of the hooks in the functions of locks
 * @tool_seconds: of this process
 */
struct overhead {
	double hook_seconds;
	double event_seconds;
	double tool_seconds;
};

void overhead_add(struct overhead *overhead, const struct overhead_counts *before,
		  const struct overhead_counts *counts, uint32_t linux_mode,
		  double cycle_seconds);

#endif /* _NTKLOG_OVERHEAD_H */
