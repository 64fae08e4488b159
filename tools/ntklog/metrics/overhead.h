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
 * @spins: acquisitions of spin locks and rwlocks
 * @sleeps: acquisitions of Linux' locks that sleep, and releases of NT's resources
 * @sleep_contentions: waits that began for Linux' locks that sleep; NT's waits are not counted
 */
struct overhead_counts {
	uint64_t spins;
	uint64_t spin_contentions;
	uint64_t sleeps;
	uint64_t sleep_contentions;
	uint64_t events;
};

/*
 * CPU time, seconds.
 * @hooks: of the hooks in the functions of locks
 * @tool: of this process
 */
struct overhead {
	double hooks;
	double events;
	double tool;
};

void overhead_add(struct overhead *overhead, const struct overhead_counts *before,
		  const struct overhead_counts *counts, uint32_t linux_mode,
		  double cycle_seconds);

#endif /* _NTKLOG_OVERHEAD_H */
