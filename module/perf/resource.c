// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's instrumentation of executive resources: track what each thread owns or
 * waits for, eight resources deep, and at a final release decide by sampling
 * whether a WMI_RESOURCE is written. Initialisations, changes of the owner to a
 * pointer and excessive waits are always written. What is known of a thread's
 * resources is in its slots: see resource_slots.c.
 */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timex.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../address.h"
#include "../compat.h"
#include "../etw/event.h"
#include "../etw/provider.h"
#include "../trace.h"
#include "resource.h"
#include "resource_slots.h"
#include "want.h"

struct static_key_false perf_resource_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_IF_KUNIT(perf_resource_key);

DEFINE_PER_CPU_ALIGNED(struct perf_resource_cpu, perf_resource_cpu);
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(perf_resource_cpu);

/* NT's public sources have no limits or defaults: 0 would divide by 0. */
static struct event_trace_executive_resource_information perf_resource_words = {
	.event_trace_information_class =
		EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS,
	.release_sampling_rate = 1000,
	.contention_sampling_rate = 1,
	.number_of_excessive_timeouts = 1,
};

#define PERF_RESOURCE_PARAMETER(_name, _member)					\
{										\
	.information = &perf_resource_information,				\
	.name = _name,								\
	.offset = offsetof(struct event_trace_executive_resource_information,	\
			   _member),						\
	.minimum = EVENT_TRACE_EXECUTIVE_RESOURCE_MIN_RATE,			\
}

static const struct perf_parameter
perf_resource_parameters[PERF_RESOURCE_PARAMETERS] = {
	PERF_RESOURCE_PARAMETER("release_sample_rate", release_sampling_rate),
	PERF_RESOURCE_PARAMETER("contention_sample_rate", contention_sampling_rate),
	PERF_RESOURCE_PARAMETER("excessive_timeouts", number_of_excessive_timeouts),
};

struct perf_information perf_resource_information = {
	.lock = __MUTEX_INITIALIZER(perf_resource_information.lock),
	.words = (u32 *)&perf_resource_words,
	.length = sizeof(perf_resource_words),
	.v1_length = sizeof(perf_resource_words),
	.parameters = perf_resource_parameters,
	.parameter_count = ARRAY_SIZE(perf_resource_parameters),
};
EXPORT_SYMBOL_IF_KUNIT(perf_resource_information);

/* Set at load. */
static unsigned long perf_first_timeout, perf_next_timeout;

static void perf_write_resource(const struct wmi_resource64 *record)
{
	unsigned long flags;

	/*
	 * As for spin locks: with interrupts off the flag is only ever seen set
	 * by what the writing itself calls, such as a tracepoint's probe.
	 */
	local_irq_save(flags);
	if (this_cpu_read(perf_resource_cpu.writing)) {
		this_cpu_inc(perf_resource_cpu.suppressed);
	} else {
		this_cpu_write(perf_resource_cpu.writing, true);
		this_cpu_inc(perf_resource_cpu.events);
		etw_log_event(PERF_SYNC_OBJECTS, PERFINFO_LOG_TYPE_RESOURCE,
			      PERFINFO_RESOURCE_VERSION, record, sizeof(*record));
		trace_resource(record);
		this_cpu_write(perf_resource_cpu.writing, false);
	}
	local_irq_restore(flags);
}

/**
 * perf_log_resource_initialize() - write that a resource has been initialised
 * @resource: which
 *
 * Context: IRQL <= DISPATCH_LEVEL, perf_resource_key on.
 */
void perf_log_resource_initialize(const void *resource)
{
	const struct wmi_resource64 record = {
		.thread_id = task_pid_nr(current),
		.resource = ntklog_address((unsigned long)resource),
		.action = WMI_RESOURCE_ACTION_INITIALIZE,
	};

	perf_write_resource(&record);
}

/**
 * perf_log_resource_reinitialize() - write that a resource has been reinitialised
 * @resource: which
 * @owner_entries: owners that there was room for
 * @owners: threads that owned it
 *
 * Context: IRQL <= DISPATCH_LEVEL, perf_resource_key on.
 */
void perf_log_resource_reinitialize(const void *resource, u32 owner_entries,
				    u32 owners)
{
	const struct wmi_resource64 record = {
		.max_recursion_depth = owner_entries,
		.thread_id = task_pid_nr(current),
		.resource = ntklog_address((unsigned long)resource),
		.action = WMI_RESOURCE_ACTION_REINITIALIZE,
		.contention_delta = owners,
	};

	perf_write_resource(&record);
}

/**
 * perf_log_resource_owner_pointer() - forget and write that a pointer owns now
 * @resource: which
 * @thread: who owned it until now
 * @action: WMI_RESOURCE_ACTION_OWNER_POINTER_*
 *
 * Context: IRQL <= DISPATCH_LEVEL, perf_resource_key on.
 */
void perf_log_resource_owner_pointer(const void *resource, unsigned long thread,
				     u32 action)
{
	const struct wmi_resource64 record = {
		.thread_id = task_pid_nr(current),
		.resource = ntklog_address((unsigned long)resource),
		.action = action,
	};
	struct perf_resource_bucket *bucket = perf_resource_bucket(thread);
	struct perf_resource_slot *slot;
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	slot = perf_find_resource_slot(perf_find_resource_thread(bucket, thread),
				       resource, action);
	if (slot)
		slot->state = PERF_RESOURCE_FREE;
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	perf_write_resource(&record);
}

/**
 * perf_log_resource_timeout() - a wait has timed out once more
 * @wait: the wait
 *
 * Context: softirq of the wait's timer.
 */
void perf_log_resource_timeout(struct perf_resource_wait *wait)
{
	u32 number = READ_ONCE(perf_resource_words.number_of_excessive_timeouts);
	struct wmi_resource64 record = {
		.wait_time = wait->start_time,
		.max_recursion_depth = ++wait->timeouts,
		.thread_id = wait->thread_id,
		.resource = ntklog_address((unsigned long)wait->resource),
		.action = wait->action == WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE ?
			  WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE :
			  WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED,
	};

	if (!static_branch_likely(&perf_resource_key) || wait->timeouts % number)
		return;
	/* The clocks of two processors need not agree. */
	if (wait->processor == smp_processor_id())
		record.hold_time = get_cycles() - wait->start_time;
	perf_write_resource(&record);
}
EXPORT_SYMBOL_IF_KUNIT(perf_log_resource_timeout);

static void perf_resource_wait_timer(struct timer_list *timer)
{
	struct perf_resource_wait *wait =
		container_of(timer, struct perf_resource_wait, timer);

	perf_log_resource_timeout(wait);
	mod_timer(timer, jiffies + perf_next_timeout);
}

/**
 * perf_start_resource_wait() - the current thread is about to wait
 * @wait: on its stack, until perf_end_resource_wait()
 * @resource: that it waits for
 * @action: WMI_RESOURCE_ACTION_WAIT_FOR_*
 *
 * NT's waiter wakes up to look at the time. Here a timer does, and the waiter
 * sleeps in one piece: what looks for hung tasks sees a long wait for what it is.
 *
 * Context: thread, perf_resource_key on.
 */
void perf_start_resource_wait(struct perf_resource_wait *wait,
			      const void *resource, u32 action)
{
	struct perf_resource_bucket *bucket =
		perf_resource_bucket((unsigned long)current);
	struct perf_resource_slot *slot;
	unsigned long flags;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	wait->start_time = get_cycles();
	wait->processor = smp_processor_id();
	slot = perf_make_resource_slot(perf_make_resource_thread(bucket), resource,
				       action);
	/* A shared owner may wait behind somebody: it owns all the same. */
	if (slot && slot->state <= PERF_RESOURCE_WAITING) {
		slot->state = PERF_RESOURCE_WAITING;
		slot->wait_time = wait->start_time;
		slot->processor = wait->processor;
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);

	wait->resource = resource;
	wait->thread_id = task_pid_nr(current);
	wait->action = action;
	wait->timeouts = 0;
	wait->on = true;
	/* Pinned: one clock from the start to the time-outs, if it can be. */
	timer_setup_on_stack(&wait->timer, perf_resource_wait_timer, TIMER_PINNED);
	mod_timer(&wait->timer, jiffies + perf_first_timeout);
}
EXPORT_SYMBOL_IF_KUNIT(perf_start_resource_wait);

/**
 * perf_end_resource_wait() - the current thread has waited
 * @wait: if it is not on, nothing is done
 *
 * Context: thread; perf_resource_key may have gone off meanwhile.
 */
void perf_end_resource_wait(struct perf_resource_wait *wait)
{
	if (!wait->on)
		return;
	timer_delete_sync(&wait->timer);
	timer_destroy_on_stack(&wait->timer);
}
EXPORT_SYMBOL_IF_KUNIT(perf_end_resource_wait);

/**
 * perf_track_resource_acquire() - the current thread has acquired a resource
 * @resource: which
 * @action: WMI_RESOURCE_ACTION_ACQUIRE_* or _REACQUIRE_*
 * @depth: acquisitions that it owns now
 * @contention_count: of the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL, perf_resource_key on.
 */
void perf_track_resource_acquire(const void *resource, u32 action, u32 depth,
				 u32 contention_count)
{
	bool again = action == WMI_RESOURCE_ACTION_REACQUIRE_EXCLUSIVE ||
		     action == WMI_RESOURCE_ACTION_REACQUIRE_SHARED;
	struct perf_resource_bucket *bucket =
		perf_resource_bucket((unsigned long)current);
	struct perf_resource_slot *slot;
	unsigned long flags;
	u64 now;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	slot = perf_make_resource_slot(perf_make_resource_thread(bucket), resource,
				       action);
	if (!slot)
		goto out;
	now = get_cycles();
	if (again && slot->state > PERF_RESOURCE_WAITING) {
		slot->state = PERF_RESOURCE_REACQUIRED;
		slot->max_recursion_depth = max(slot->max_recursion_depth, depth);
		goto out;
	}
	if (again) {
		slot->acquire_time = WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN;
		slot->wait_time = WMI_RESOURCE_WAIT_TIME_UNKNOWN;
	} else {
		slot->acquire_time = now;
		if (slot->state != PERF_RESOURCE_WAITING)
			slot->wait_time = 0;
		else if (slot->processor != smp_processor_id())
			slot->wait_time = WMI_RESOURCE_WAIT_TIME_UNKNOWN;
		else
			slot->wait_time = now - slot->wait_time;
	}
	slot->state = again ? PERF_RESOURCE_REACQUIRED : PERF_RESOURCE_ACQUIRED;
	slot->processor = smp_processor_id();
	slot->max_recursion_depth = depth;
	slot->contention_count = contention_count;
out:
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(perf_track_resource_acquire);

/* Final releases of this processor, the present one included. */
static u32 perf_count_resource_release(u32 action)
{
	if (action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE)
		this_cpu_inc(perf_resource_cpu.exclusive_releases);
	else
		this_cpu_inc(perf_resource_cpu.shared_releases);
	return this_cpu_read(perf_resource_cpu.exclusive_releases) +
		this_cpu_read(perf_resource_cpu.shared_releases);
}

static bool perf_resource_sampled(const struct wmi_resource64 *record, u32 releases)
{
	u32 contention_rate =
		READ_ONCE(perf_resource_words.contention_sampling_rate);

	if (record->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN &&
	    releases % contention_rate == 0)
		return true;
	if (record->contention_delta &&
	    record->contention_delta % contention_rate == 0)
		return true;
	return releases % READ_ONCE(perf_resource_words.release_sampling_rate) == 0;
}

/**
 * perf_track_resource_release() - a resource has been released
 * @resource: which
 * @thread: the owner that has released it, or for which it was released
 * @action: WMI_RESOURCE_ACTION_RELEASE_* or, if that was its last acquisition,
 *	_COMPLETE_RELEASE_*
 * @release_time: TSC before the release
 * @contention_count: of the resource, before the release
 *
 * Context: IRQL <= DISPATCH_LEVEL, perf_resource_key on.
 */
void perf_track_resource_release(const void *resource, unsigned long thread,
				 u32 action, u64 release_time, u32 contention_count)
{
	bool complete = action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE ||
			action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED;
	struct perf_resource_bucket *bucket = perf_resource_bucket(thread);
	struct wmi_resource64 record = {
		.resource = ntklog_address((unsigned long)resource),
		.action = action,
	};
	struct perf_resource_thread *owner;
	struct perf_resource_slot *slot;
	unsigned long flags;
	bool sampled = false;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	owner = perf_find_resource_thread(bucket, thread);
	slot = perf_find_resource_slot(owner, resource, action);
	if (slot && slot->state == PERF_RESOURCE_WAITING)
		slot = NULL;
	if (!complete) {
		if (slot)
			slot->state = PERF_RESOURCE_RELEASED_ONCE;
		goto out;
	}
	if (slot) {
		record.acquire_time = slot->acquire_time;
		record.wait_time = slot->wait_time;
		record.max_recursion_depth = slot->max_recursion_depth;
		record.thread_id = owner->thread_id;
		record.contention_delta = contention_count - slot->contention_count;
		if (slot->acquire_time > WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN &&
		    slot->processor == smp_processor_id())
			record.hold_time = release_time - slot->acquire_time;
		slot->state = PERF_RESOURCE_FREE;
		sampled = perf_resource_sampled(&record,
						perf_count_resource_release(action));
	} else {
		perf_count_resource_release(action);
		this_cpu_inc(perf_resource_cpu.unmatched);
	}
out:
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	if (sampled)
		perf_write_resource(&record);
}
EXPORT_SYMBOL_IF_KUNIT(perf_track_resource_release);

/* One at a time: see struct perf_want. */
static void perf_update_resource_key(const struct perfinfo_groupmask *wanted)
{
	bool track = etw_group_mask_test(wanted, PERF_SYNC_OBJECTS);

	if (track == static_key_enabled(&perf_resource_key))
		return;
	if (track) {
		/* What was tracked before is no more known to be true. */
		perf_forget_resource_slots();
		static_branch_enable(&perf_resource_key);
	} else {
		static_branch_disable(&perf_resource_key);
	}
}

static void perf_resource_rundown(struct etw_session *session, bool end)
{
	struct perfinfo_eresource_dc record = {
		.release_sampling_rate =
			READ_ONCE(perf_resource_words.release_sampling_rate),
		.contention_sampling_rate =
			READ_ONCE(perf_resource_words.contention_sampling_rate),
		.number_of_excessive_timeouts =
			READ_ONCE(perf_resource_words.number_of_excessive_timeouts),
	};

	etw_log_session_event(session,
			      end ? PERFINFO_LOG_TYPE_ERESOURCE_DC_END :
				    PERFINFO_LOG_TYPE_ERESOURCE_DC_START,
			      PERFINFO_ERESOURCE_DC_VERSION, &record,
			      sizeof(record));
}

static struct perf_want perf_resource_want = {
	.provider = {
		.group = PERF_SYNC_OBJECTS,
		.rundown = perf_resource_rundown,
	},
	.update = perf_update_resource_key,
	PERF_WANT_INITIALIZER(perf_resource_want),
};

/* The tracepoint's. */
int perf_resource_tracepoint_reg(void)
{
	return perf_want_register(&perf_resource_want);
}

void perf_resource_tracepoint_unreg(void)
{
	perf_want_unregister(&perf_resource_want);
}

/**
 * perf_resource_init() - make those who want the events turn the tracking on
 * @first_timeout_ms: after which a wait is excessive, milliseconds
 * @next_timeout_ms: from then on, each of these
 *
 * Context: load, before there is a session.
 * Return: 0, -EINVAL for a time that is 0 or over an hour, or an error of
 * perf_resource_slots_init().
 */
int __init perf_resource_init(unsigned int first_timeout_ms,
			      unsigned int next_timeout_ms)
{
	int err;

	if (!first_timeout_ms || !next_timeout_ms ||
	    first_timeout_ms > 3600 * MSEC_PER_SEC ||
	    next_timeout_ms > 3600 * MSEC_PER_SEC)
		return -EINVAL;
	perf_first_timeout = msecs_to_jiffies(first_timeout_ms);
	perf_next_timeout = msecs_to_jiffies(next_timeout_ms);
	err = perf_resource_slots_init();
	if (!err)
		perf_want_init(&perf_resource_want);
	return err;
}

/**
 * perf_resource_exit() - end what perf_resource_init() began
 *
 * Context: unload, when no user of the module and no session is left, or a load
 * that failed after perf_resource_init().
 */
void perf_resource_exit(void)
{
	/* Those who turn the tracking on make entries for the slots. */
	perf_want_exit(&perf_resource_want);
	perf_resource_slots_exit();
}
