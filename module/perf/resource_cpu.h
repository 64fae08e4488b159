/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_CPU_H
#define _NTKLOG_PERF_RESOURCE_CPU_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "release_count.h"

/**
 * struct ntklog_resource_cpu - per-CPU counters of executive resources
 * @exclusive_releases: final releases of exclusive owners; wraps
 * @shared_releases: final releases of shared owners; wraps
 * @release_count: all final releases, and the countdown to the next sampled one
 * @untracked_count: acquisitions that got no slot
 * @unmatched_count: final releases for owners without a slot of the resource
 * @owner_pointer_releases: final releases for owner pointers, which have no slots
 * @suppressed_count: events not written, because this CPU was writing another one
 * @event_count: events passed to the sessions and to the tracepoint
 * @is_writing: this CPU is writing an event, with interrupts off
 *
 * The CPU itself writes these members, by single instructions or with interrupts off; for
 * @release_count of an offline CPU see release_count.h. Any CPU may read them.
 */
struct ntklog_resource_cpu {
	u32 exclusive_releases;
	u32 shared_releases;
	struct ntklog_release_count release_count;
	u64 untracked_count;
	u64 unmatched_count;
	u64 owner_pointer_releases;
	u64 suppressed_count;
	u64 event_count;
	bool is_writing;
};

DECLARE_PER_CPU_ALIGNED(struct ntklog_resource_cpu, ntklog_resource_cpu);

#endif /* _NTKLOG_PERF_RESOURCE_CPU_H */
