/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_H
#define _NTKLOG_PERF_RESOURCE_H

/*
 * Tracking and sampling of executive resources, for the resources (the hooks), the
 * files (parameters and counters) and the tracepoint.
 *
 * A thread is named by the address of its task, which is what the resources have;
 * it is never followed.
 */

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/timer.h>
#include <linux/types.h>

#include "information.h"

/* On while resources are tracked: the only thing that they look at. */
DECLARE_STATIC_KEY_FALSE(perf_resource_key);

/**
 * struct perf_resource_cpu - what a processor counts of resources
 * @exclusive_releases: final releases of exclusive owners; wraps
 * @shared_releases: of shared owners; wraps
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
struct perf_resource_cpu {
	u32 exclusive_releases;
	u32 shared_releases;
	u64 untracked;
	u64 unmatched;
	u64 pointer_releases;
	u64 suppressed;
	u64 events;
	bool writing;
};

DECLARE_PER_CPU_ALIGNED(struct perf_resource_cpu, perf_resource_cpu);

/**
 * struct perf_resource_wait - a wait that may become excessive
 * @timer: looks after the wait, which itself sleeps on
 * @resource: that is waited for
 * @start_time: of the wait, TSC cycles
 * @processor: where it began
 * @thread_id: who waits
 * @action: WMI_RESOURCE_ACTION_WAIT_FOR_*
 * @timeouts: so far
 * @on: the timer is set up; false from who waits untracked
 *
 * On the stack of who waits. The timer alone writes @timeouts.
 */
struct perf_resource_wait {
	struct timer_list timer;
	const void *resource;
	u64 start_time;
	u32 processor;
	u32 thread_id;
	u32 action;
	u32 timeouts;
	bool on;
};

void perf_log_resource_initialize(const void *resource);
void perf_log_resource_reinitialize(const void *resource, u32 owner_entries,
				    u32 owners);
void perf_log_resource_owner_pointer(const void *resource, unsigned long thread,
				     u32 action);
void perf_start_resource_wait(struct perf_resource_wait *wait,
			      const void *resource, u32 action);
void perf_end_resource_wait(struct perf_resource_wait *wait);
void perf_log_resource_timeout(struct perf_resource_wait *wait);
void perf_track_resource_acquire(const void *resource, u32 action, u32 depth,
				 u32 contention_count);
void perf_track_resource_release(const void *resource, unsigned long thread,
				 u32 action, u64 release_time,
				 u32 contention_count);

/* EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION. */
extern struct perf_information perf_resource_information;

#define PERF_RESOURCE_PARAMETERS	3

int perf_resource_init(unsigned int first_timeout_ms, unsigned int next_timeout_ms);
void perf_resource_exit(void);

#endif /* _NTKLOG_PERF_RESOURCE_H */
