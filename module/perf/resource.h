/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RESOURCE_H
#define _NTKLOG_PERF_RESOURCE_H

/*
 * Tracking and sampling of executive resources. An owner is identified by the address of its task,
 * as in struct eresource. The task may have exited, unless it has a slot.
 */

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../ground/clock.h"
#include "information.h"
#include "release_count.h"
#include "resource_cpu.h"
#include "resource_event.h"
#include "resource_parameters.h"
#include "resource_slots.h"

/* Enabled while resources are tracked. */
DECLARE_STATIC_KEY_FALSE(ntklog_resource_key);

extern struct ntklog_parameter_set ntklog_resource_parameter_set;

/**
 * struct ntklog_resource_wait - a wait that may become excessive
 * @timer: expires at each timeout
 * @resource: address of the resource
 * @start_time: clock at the start of the wait
 * @start_cpu: number of the CPU on which the wait started
 * @thread_id: PID of the waiting task
 * @action: WMI_RESOURCE_ACTION_WAIT_FOR_*
 * @timeout_count: number of timeouts so far
 * @has_timer: @timer is set up; false if the wait began while tracking was off
 *
 * On the stack of the waiting task. During the wait only the timer writes @timeout_count.
 */
struct ntklog_resource_wait {
	struct timer_list timer;
	const void *resource;
	u64 start_time;
	u32 start_cpu;
	u32 thread_id;
	u32 action;
	u32 timeout_count;
	bool has_timer;
};

void ntklog_log_resource_initialize(const void *resource);
void ntklog_log_resource_reinitialize(const void *resource, u32 owner_entry_count,
				      u32 owner_count);
void ntklog_log_resource_owner_pointer(const void *resource, u32 action);
void ntklog_drop_resource_slot(const void *resource, unsigned long owner);
void ntklog_start_resource_wait(struct ntklog_resource_wait *wait,
				const void *resource, u32 action);
void ntklog_end_resource_wait(struct ntklog_resource_wait *wait);
void ntklog_log_resource_timeout(struct ntklog_resource_wait *wait);
void ntklog_track_resource_acquire_slow(const void *resource, u32 depth, u32 contention_count,
					const struct ntklog_resource_wait *wait);
bool ntklog_track_resource_release_slow(const void *resource, unsigned long owner,
					bool exclusive, u32 contention_count,
					struct wmi_resource64 *record);

static __always_inline void
ntklog_fill_resource_slot(struct ntklog_resource_slot *slot, const void *resource, u64 acquire_time,
			  u64 wait_time, u32 depth, u32 contention_count)
{
	ntklog_write_u64(slot->acquire_time, acquire_time);
	ntklog_write_u64(slot->wait_time, wait_time);
	WRITE_ONCE(slot->acquire_cpu, smp_processor_id());
	WRITE_ONCE(slot->max_recursion_depth, depth);
	WRITE_ONCE(slot->contention_count, contention_count);
	/* Publish the filled slot. Pairs with the acquire in ntklog_find_resource_slot(). */
	smp_store_release(&slot->lock, resource);
}

/**
 * ntklog_track_resource_acquire() - track an uncontended acquisition
 * @resource: address of the resource, which the current task did not hold before
 * @contention_count: contention count of the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL, ntklog_resource_key on.
 */
static __always_inline void ntklog_track_resource_acquire(const void *resource,
							  u32 contention_count)
{
	struct ntklog_task *record;
	struct ntklog_resource_slot *slot;

	preempt_disable();
	/* A softirq takes the slow path, which sets filled_by_softirq in its slots. */
	if (!ntklog_resource_slots_are_cached() || unlikely(!in_task()))
		goto slow;
	record = __this_cpu_read(ntklog_current.record);
	slot = READ_ONCE(record->next_resource_slot);
	if (unlikely(slot == &record->resource_slots[1 + NTKLOG_TASK_SLOT_COUNT]))
		goto slow;
	WRITE_ONCE(record->next_resource_slot, slot + 1);
	/* A softirq that arrives from here on takes the slot above. */
	barrier();
	ntklog_fill_resource_slot(slot, resource, ntklog_read_cycles(), 0, 1, contention_count);
	preempt_enable();
	return;
slow:
	preempt_enable();
	ntklog_track_resource_acquire_slow(resource, 1, contention_count, NULL);
}

/**
 * ntklog_count_resource_release() - count a final release
 * @exclusive: true for an exclusive owner
 *
 * Context: preemption off until the release has been tracked.
 * Return: true if the countdown has expired: the caller must take the slow path.
 */
static __always_inline bool ntklog_count_resource_release(bool exclusive)
{
	if (exclusive)
		this_cpu_inc(ntklog_resource_cpu.exclusive_releases);
	else
		this_cpu_inc(ntklog_resource_cpu.shared_releases);
	return ntklog_count_down_release(ntklog_resource_cpu.release_count);
}

/**
 * ntklog_track_resource_release() - free the slot of a release that no rule samples
 * @resource: address of the resource, which the current task is about to release
 * @contention_count: contention count of the resource
 *
 * Context: preemption off; ntklog_count_resource_release() has returned false.
 * Return: true if the slot is freed; otherwise call ntklog_track_resource_release_slow().
 */
static __always_inline bool
ntklog_track_resource_release(const void *resource, u32 contention_count)
{
	struct ntklog_task *record;
	struct ntklog_resource_slot *slot;

	if (!ntklog_resource_slots_are_cached() || unlikely(!in_task()))
		return false;
	record = __this_cpu_read(ntklog_current.record);
	slot = READ_ONCE(record->next_resource_slot) - 1;
	if (unlikely(READ_ONCE(slot->lock) != resource ||
		     slot->contention_count != contention_count ||
		     slot->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN))
		return false;
	WRITE_ONCE(slot->lock, NULL);
	/* A softirq takes the slot at next_resource_slot without a test, so free the slot first. */
	barrier();
	WRITE_ONCE(record->next_resource_slot, slot);
	return true;
}

#define PERF_RESOURCE_PARAMETER_COUNT	3

int ntklog_resource_init(unsigned int first_timeout_ms, unsigned int next_timeout_ms);
void ntklog_resource_exit(void);

#endif /* _NTKLOG_PERF_RESOURCE_H */
