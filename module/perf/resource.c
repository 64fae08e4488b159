// SPDX-License-Identifier: GPL-2.0-only
/* Executive resources: tracking and sampling, as NT does it. See resource_slots.h. */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../etw/group_mask.h"
#include "../ground/address.h"
#include "../ground/compat.h"
#include "../ground/each_cpu.h"
#include "../trace.h"
#include "event_group.h"
#include "resource.h"
#include "sleeping_lock.h"

struct static_key_false ntklog_resource_key = STATIC_KEY_FALSE_INIT;

static void ntklog_apply_release_rate_on_cpu(int cpu)
{
	struct ntklog_release_count *count = &per_cpu_ptr(&ntklog_resource_cpu, cpu)->release_count;

	ntklog_restart_release_countdown(count, ntklog_get_release_count(count));
	count = &per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu)->release_count;
	ntklog_restart_release_countdown(count, ntklog_get_release_count(count));
}

static void ntklog_apply_release_rate(void)
{
	ntklog_update_each_cpu(ntklog_apply_release_rate_on_cpu);
}

#define PERF_RESOURCE_PARAMETER(_name, _member)					\
{										\
	.parameter_set = &ntklog_resource_parameter_set,			\
	.name = _name,								\
	.offset = offsetof(struct event_trace_executive_resource_information,	\
			   _member),						\
	.minimum = EVENT_TRACE_EXECUTIVE_RESOURCE_MIN_RATE,			\
}

static const struct ntklog_parameter
ntklog_resource_parameters[PERF_RESOURCE_PARAMETER_COUNT] = {
	PERF_RESOURCE_PARAMETER("release_sample_rate", release_sampling_rate),
	PERF_RESOURCE_PARAMETER("contention_sample_rate", contention_sampling_rate),
	PERF_RESOURCE_PARAMETER("excessive_timeouts", number_of_excessive_timeouts),
};

struct ntklog_parameter_set ntklog_resource_parameter_set = {
	.lock = __MUTEX_INITIALIZER(ntklog_resource_parameter_set.lock),
	.words = (u32 *)&ntklog_resource_parameter_values,
	.length = sizeof(ntklog_resource_parameter_values),
	.v1_length = sizeof(ntklog_resource_parameter_values),
	.parameters = ntklog_resource_parameters,
	.parameter_count = ARRAY_SIZE(ntklog_resource_parameters),
	.on_change = ntklog_apply_release_rate,
};

/* Set in an owner pointer, clear in the address of a task. Owner pointers have no slots. */
#define PERF_OWNER_POINTER_BITS	3ul

/* Durations until the first and until each further timeout of a wait. Written at module load. */
static unsigned long ntklog_first_timeout_jiffies, ntklog_next_timeout_jiffies;

/**
 * ntklog_log_resource_initialize() - write the event of an initialisation
 * @resource: address of the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL, ntklog_resource_key on.
 */
void ntklog_log_resource_initialize(const void *resource)
{
	const struct wmi_resource64 record = {
		.thread_id = task_pid_nr(current),
		.resource = ntklog_get_displayed_address((unsigned long)resource),
		.action = WMI_RESOURCE_ACTION_INITIALIZE,
	};

	ntklog_write_resource_event(&record);
}

/**
 * ntklog_log_resource_reinitialize() - write the event of a reinitialisation
 * @resource: address of the resource
 * @owner_entry_count: number of owner entries that the resource had
 * @owner_count: number of owners that it had
 *
 * Context: IRQL <= DISPATCH_LEVEL, ntklog_resource_key on.
 */
void ntklog_log_resource_reinitialize(const void *resource, u32 owner_entry_count,
				      u32 owner_count)
{
	const struct wmi_resource64 record = {
		.max_recursion_depth = owner_entry_count,
		.thread_id = task_pid_nr(current),
		.resource = ntklog_get_displayed_address((unsigned long)resource),
		.action = WMI_RESOURCE_ACTION_REINITIALIZE,
		.contention_delta = owner_count,
	};

	ntklog_write_resource_event(&record);
}

/**
 * ntklog_drop_resource_slot() - free an owner's slot of a resource, without an event
 * @resource: address of the resource, whose inner lock is held
 * @owner: the owner: any task, or an owner pointer
 *
 * Context: preemption off, ntklog_resource_key on.
 */
void ntklog_drop_resource_slot(const void *resource, unsigned long owner)
{
	struct ntklog_task *record = ntklog_find_record_with_slots(owner);
	struct ntklog_resource_slot *slot = ntklog_find_resource_slot(record, resource);

	if (slot)
		ntklog_free_resource_slot(record, slot);
}

/**
 * ntklog_log_resource_owner_pointer() - write the event of a new owner pointer
 * @resource: address of the resource
 * @action: WMI_RESOURCE_ACTION_OWNER_POINTER_*
 *
 * Context: IRQL <= DISPATCH_LEVEL, ntklog_resource_key on.
 */
void ntklog_log_resource_owner_pointer(const void *resource, u32 action)
{
	const struct wmi_resource64 record = {
		.thread_id = task_pid_nr(current),
		.resource = ntklog_get_displayed_address((unsigned long)resource),
		.action = action,
	};

	ntklog_write_resource_event(&record);
}

/**
 * ntklog_log_resource_timeout() - count a timeout of a wait, and write the event of every Nth
 * @wait: the wait
 *
 * Context: softirq, in the timer of the wait.
 */
void ntklog_log_resource_timeout(struct ntklog_resource_wait *wait)
{
	u32 timeout_rate =
		READ_ONCE(ntklog_resource_parameter_values.number_of_excessive_timeouts);
	struct wmi_resource64 record = {
		.wait_time = wait->start_time,
		.max_recursion_depth = ++wait->timeout_count,
		.thread_id = wait->thread_id,
		.resource = ntklog_get_displayed_address((unsigned long)wait->resource),
		.action = wait->action == WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE ?
			  WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE :
			  WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED,
	};

	if (!static_branch_likely(&ntklog_resource_key) || wait->timeout_count % timeout_rate)
		return;
	/* On another CPU HoldTime stays 0, because the clocks of two CPUs may differ. */
	if (wait->start_cpu == smp_processor_id())
		record.hold_time = ntklog_read_cycles() - wait->start_time;
	ntklog_write_resource_event(&record);
}

static void ntklog_handle_resource_timeout(struct timer_list *timer)
{
	struct ntklog_resource_wait *wait =
		container_of(timer, struct ntklog_resource_wait, timer);

	ntklog_log_resource_timeout(wait);
	mod_timer(timer, jiffies + ntklog_next_timeout_jiffies);
}

/**
 * ntklog_start_resource_wait() - record the start of a wait, and start its timer
 * @wait: on the stack of the task, until ntklog_end_resource_wait()
 * @resource: address of the resource
 * @action: WMI_RESOURCE_ACTION_WAIT_FOR_*
 *
 * A timer counts the timeouts, so that the hung task detector sees one long sleep.
 *
 * Context: task, ntklog_resource_key on.
 */
void ntklog_start_resource_wait(struct ntklog_resource_wait *wait,
				const void *resource, u32 action)
{
	/* start_time and start_cpu must belong to the same CPU. */
	preempt_disable();
	wait->start_time = ntklog_read_cycles();
	wait->start_cpu = smp_processor_id();
	preempt_enable();
	wait->resource = resource;
	wait->thread_id = task_pid_nr(current);
	wait->action = action;
	wait->timeout_count = 0;
	wait->has_timer = true;
	/* Pinned, so that the handler usually runs on this CPU and reads the same clock. */
	timer_setup_on_stack(&wait->timer, ntklog_handle_resource_timeout, TIMER_PINNED);
	mod_timer(&wait->timer, jiffies + ntklog_first_timeout_jiffies);
}

/**
 * ntklog_end_resource_wait() - stop the timer of a wait
 * @wait: the wait; nothing is done if it has no timer
 *
 * Context: task; ntklog_resource_key may have been disabled since the start.
 */
void ntklog_end_resource_wait(struct ntklog_resource_wait *wait)
{
	if (!wait->has_timer)
		return;
	timer_delete_sync(&wait->timer);
	timer_destroy_on_stack(&wait->timer);
}

/* @wait: NULL if the task has not waited. @now: the current time, in cycles. */
static u64 ntklog_get_resource_wait_time(const struct ntklog_resource_wait *wait, u64 now)
{
	if (!wait)
		return 0;
	if (!wait->has_timer || wait->start_cpu != smp_processor_id())
		return WMI_RESOURCE_WAIT_TIME_UNKNOWN;
	return now - wait->start_time;
}

/**
 * ntklog_track_resource_acquire_slow() - slow path of a tracked acquisition
 * @resource: address of the resource, which the current task has acquired
 * @depth: number of acquisitions that the task holds now
 * @contention_count: contention count of the resource
 * @wait: the wait; NULL if the task has not waited
 *
 * Context: IRQL <= DISPATCH_LEVEL, ntklog_resource_key on.
 */
void ntklog_track_resource_acquire_slow(const void *resource, u32 depth, u32 contention_count,
					const struct ntklog_resource_wait *wait)
{
	struct ntklog_task *record;
	struct ntklog_resource_slot *slot = NULL;
	u64 now;

	preempt_disable();
	if (!ntklog_resources_are_tracked())
		goto out;
	record = ntklog_get_record_with_slots();
	if (record && depth > 1)
		slot = ntklog_find_resource_slot(record, resource);
	/*
	 * A softirq acquires the resource again that the interrupted task owns without a slot. The
	 * softirq must take no slot: its release is not the final one and would not free the slot.
	 */
	if (depth > 1 && !slot && !in_task())
		goto out;
	if (slot) {
		WRITE_ONCE(slot->max_recursion_depth, max(slot->max_recursion_depth, depth));
		goto out;
	}
	if (record)
		slot = ntklog_alloc_resource_slot(record, resource);
	if (!slot) {
		this_cpu_inc(ntklog_resource_cpu.untracked_count);
		goto out;
	}
	now = ntklog_read_cycles();
	if (depth > 1)
		ntklog_fill_resource_slot(slot, resource, WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN,
					  WMI_RESOURCE_WAIT_TIME_UNKNOWN, depth,
					  contention_count);
	else
		ntklog_fill_resource_slot(slot, resource, now,
					  ntklog_get_resource_wait_time(wait, now), 1,
					  contention_count);
out:
	preempt_enable();
}

/**
 * ntklog_track_resource_release_slow() - slow path of a final release: free the owner's slot
 * @resource: address of the resource. Its inner lock is held, unless the owner is the current task
 * @owner: the owner: any task, or an owner pointer
 * @exclusive: the owner holds the resource exclusively
 * @contention_count: contention count of the resource
 * @record: filled in, if the release is sampled and the owner has a slot
 *
 * Context: preemption off since ntklog_count_resource_release(), ntklog_resource_key on.
 * Return: true if @record is filled in, and the caller must write it after the release.
 */
bool ntklog_track_resource_release_slow(const void *resource, unsigned long owner,
					bool exclusive, u32 contention_count,
					struct wmi_resource64 *record)
{
	struct ntklog_task *owner_record = ntklog_find_record_with_slots(owner);
	struct ntklog_resource_slot *slot = ntklog_find_resource_slot(owner_record, resource);
	u32 contention_delta = slot ? contention_count - READ_ONCE(slot->contention_count) : 0;
	bool is_sampled = ntklog_sample_release(&this_cpu_ptr(&ntklog_resource_cpu)->release_count,
						slot ? ntklog_read_u64(slot->wait_time) : 0,
						contention_delta);

	if (!ntklog_resources_are_tracked())
		return false;
	if (!slot) {
		if (owner & PERF_OWNER_POINTER_BITS)
			this_cpu_inc(ntklog_resource_cpu.owner_pointer_releases);
		else
			this_cpu_inc(ntklog_resource_cpu.unmatched_count);
		return false;
	}
	if (is_sampled) {
		*record = (struct wmi_resource64) {
			.acquire_time = ntklog_read_u64(slot->acquire_time),
			.wait_time = ntklog_read_u64(slot->wait_time),
			.max_recursion_depth = READ_ONCE(slot->max_recursion_depth),
			/* A task that has a slot has not exited. */
			.thread_id = task_pid_nr((struct task_struct *)owner),
			.resource = ntklog_get_displayed_address((unsigned long)resource),
			.action = exclusive ?
				  WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE :
				  WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED,
			.contention_delta = contention_delta,
		};
		if (record->acquire_time > WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN &&
		    READ_ONCE(slot->acquire_cpu) == smp_processor_id())
			record->hold_time = ntklog_read_cycles() - record->acquire_time;
	}
	ntklog_free_resource_slot(owner_record, slot);
	return is_sampled;
}

static void ntklog_update_resource_key(struct ntklog_event_group *group,
				       const struct perfinfo_groupmask *wanted_groups)
{
	bool needs_tracking = etw_group_mask_test(wanted_groups, PERF_SYNC_OBJECTS);

	if (needs_tracking == ntklog_resources_are_tracked())
		return;
	if (needs_tracking) {
		static_branch_enable(&ntklog_resource_key);
		/* All CPUs run the patched code now. */
		ntklog_start_resource_tracking();
	} else {
		ntklog_stop_resource_tracking();
		static_branch_disable(&ntklog_resource_key);
	}
}

static struct ntklog_event_group ntklog_resource_group = {
	.provider = {
		.group = PERF_SYNC_OBJECTS,
		.rundown = ntklog_fill_resource_rundown,
	},
	.update = ntklog_update_resource_key,
	NTKLOG_EVENT_GROUP_INITIALIZER(ntklog_resource_group),
};

int ntklog_resource_tracepoint_reg(void)
{
	return ntklog_event_group_record_first_probe(&ntklog_resource_group);
}

void ntklog_resource_tracepoint_unreg(void)
{
	ntklog_event_group_record_no_probe(&ntklog_resource_group);
}

/**
 * ntklog_resource_init() - let subscribers turn the tracking of resources on
 * @first_timeout_ms: time until the first timeout of a wait, in milliseconds
 * @next_timeout_ms: time between further timeouts, in milliseconds
 *
 * Also initialises the tracking of Linux' sleeping locks.
 *
 * Context: module load, before a session exists.
 * Return: 0, or -EINVAL for a time that is 0 or longer than an hour.
 */
int __init ntklog_resource_init(unsigned int first_timeout_ms,
				unsigned int next_timeout_ms)
{
	int cpu;

	if (!first_timeout_ms || !next_timeout_ms ||
	    first_timeout_ms > 3600 * MSEC_PER_SEC ||
	    next_timeout_ms > 3600 * MSEC_PER_SEC)
		return -EINVAL;
	ntklog_first_timeout_jiffies = msecs_to_jiffies(first_timeout_ms);
	ntklog_next_timeout_jiffies = msecs_to_jiffies(next_timeout_ms);
	for_each_possible_cpu(cpu)
		ntklog_restart_release_countdown(&per_cpu_ptr(&ntklog_resource_cpu, cpu)
							  ->release_count,
						 0);
	ntklog_sleeping_locks_init(first_timeout_ms, next_timeout_ms);
	ntklog_event_group_init(&ntklog_resource_group);
	return 0;
}

/**
 * ntklog_resource_exit() - turn the tracking of resources off for good
 *
 * Context: module unload, when no session is left; or a load that failed.
 */
void ntklog_resource_exit(void)
{
	ntklog_event_group_exit(&ntklog_resource_group);
}
