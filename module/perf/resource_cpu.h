/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_CPU_H
#define _NTKLOG_PERF_RESOURCE_CPU_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "release_count.h"

/**
 * struct ntklog_resource_cpu - what a processor counts of resources
 * @exclusive_releases: final releases of exclusive owners; wraps
 * @shared_releases: of shared owners; wraps
 * @releases: both, counted down
 * @untracked: operations that found eight slots taken, none spare for a new
 *	thread, or a thread that was at its end
 * @unmatched: final releases by threads that found no slot of their resource
 * @pointer_releases: final releases under an owner pointer, which has no slots
 * @suppressed: events not written since another was being written
 * @events: events written to whatever sinks there are
 * @writing: an event is being written; interrupts are off meanwhile
 *
 * Written by its own processor only, with single instructions, read by any.
 */
struct ntklog_resource_cpu {
	u32 exclusive_releases;
	u32 shared_releases;
	struct ntklog_release_count releases;
	u64 untracked;
	u64 unmatched;
	u64 pointer_releases;
	u64 suppressed;
	u64 events;
	bool writing;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_resource_cpu, ntklog_resource_cpu);

#endif /* _NTKLOG_PERF_RESOURCE_CPU_H */
