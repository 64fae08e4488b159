// SPDX-License-Identifier: GPL-2.0-only
/* The events of a file as holds and context switches: see charge_events.h. */

#include <string.h>

#include <ntklog/event.h>
#include <ntklog/wmi_contextswap.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "charge_events.h"
#include "charge_thread.h"
#include "whole_ticks.h"

/* Convert cycles into ticks of the session clock. */
static uint64_t cycles_to_ticks(const struct etl_file *file, uint64_t cycles)
{
	if (file->perf_freq == file->cycle_freq)
		return cycles;
	return floor_ticks((double)cycles * (double)file->perf_freq / (double)file->cycle_freq);
}

/*
 * Return when the hold ended: by the record, if its clock is the session clock and had run for
 * @ticks, the wait and the hold, by then; or by the event.
 */
static uint64_t release_time_of(const struct record_source *source, uint64_t release_cycles,
				uint64_t ticks)
{
	if (source->file->perf_freq == source->file->cycle_freq && release_cycles >= ticks &&
	    release_cycles && release_cycles <= source->event->time_stamp)
		return release_cycles;
	return source->event->time_stamp;
}

/* Return the time @ticks before @time, but not before the clock. */
static uint64_t time_before(uint64_t time, uint64_t ticks)
{
	return time > ticks ? time - ticks : 0;
}

static void set_hold_times(struct charge_hold *hold, const struct record_source *source,
			   uint64_t release_cycles, uint64_t held_cycles, uint64_t waited_cycles)
{
	uint64_t held = cycles_to_ticks(source->file, held_cycles);
	uint64_t waited = cycles_to_ticks(source->file, waited_cycles);

	hold->log_time = source->event->time_stamp;
	hold->release_time = release_time_of(source, release_cycles, held + waited);
	/* wmi_record_read() accepts times that are 1 % too long: a wait may begin before 0. */
	hold->acquire_time = time_before(hold->release_time, held);
	hold->wait_start = time_before(hold->acquire_time, waited);
}

/* Copy the innermost functions of a stack to @frames. Returns NULL if there is no stack. */
static const uint64_t *copy_frames(uint64_t *frames, const struct stack *stack)
{
	size_t count = stack && stack->state == STACK_FOUND ? stack->count : 0;

	if (!count)
		return NULL;
	memset(frames, 0, CHARGE_FRAMES_MAX * sizeof(*frames));
	if (count > CHARGE_FRAMES_MAX)
		count = CHARGE_FRAMES_MAX;
	return memcpy(frames, stack->addresses, count * sizeof(*frames));
}

/**
 * convert_spinlock_to_hold() - read a hold from the record of a spin lock
 * @dest: set to the hold, without its class and its weight
 * @source: event that the record was read from
 * @record: the record, with the lock's own address
 * @rule: WMI_SPINLOCK_RULE_*
 */
void convert_spinlock_to_hold(struct hold_with_stacks *dest, const struct record_source *source,
			      const struct spinlock_record *record, uint8_t rule)
{
	bool has_hold = !(rule & WMI_SPINLOCK_RULE_WAIT);

	dest->hold = (struct charge_hold) {
		.frames = copy_frames(dest->frames, source->stack),
		.lock = record->lock,
		.caller = record->caller,
		.thread_id = record->thread_id,
		.is_shared = record->mode == WMI_SPINLOCK_EXECUTIVE_SHARED,
		.start_is_unknown = rule & WMI_SPINLOCK_RULE_HOLD_UNKNOWN,
		.release_left_waiter = rule & WMI_SPINLOCK_RULE_BLOCKER &&
			       record->mode == WMI_SPINLOCK_QUEUED,
		.in_softirq = record->dpc,
		.in_interrupt = record->isr,
		.cpu = source->event->processor,
		.irql = record->irql,
		.was_interrupted = record->interrupt_count,
	};
	set_hold_times(&dest->hold, source, record->release_time,
		       has_hold ? record->release_time - record->acquire_time : 0,
		       record->spin_count ? record->wait_time : 0);
}

/**
 * convert_resource_to_hold() - read a hold from the record of a lock that tasks sleep for
 * @dest: set to the hold, without its class and its weight
 * @source: event that the record was read from
 * @record: the record, with the lock's own address; it tells of a hold if it is of a last release
 */
void convert_resource_to_hold(struct hold_with_stacks *dest, const struct record_source *source,
			      const struct resource_record *record)
{
	bool is_timed = record->acquire_time > WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN;
	struct charge_hold *hold = &dest->hold;

	*hold = (struct charge_hold) {
		.frames = copy_frames(dest->frames, source->stack),
		.lock = record->resource,
		.caller = record->caller,
		.thread_id = record->thread_id,
		.cpu = source->event->processor,
		.kind = record->kind,
		.is_sleeping_lock = true,
		.is_shared = record->action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED,
	};
	if (record->has_off_cpu_times) {
		hold->has_off_cpu_times = true;
		hold->ready_ticks = cycles_to_ticks(source->file, record->hold_ready_cycles);
		hold->blocked_ticks = cycles_to_ticks(source->file, record->hold_blocked_cycles);
		hold->ready_ticks_at_end = cycles_to_ticks(source->file,
							   record->wait_last_ready_cycles);
		hold->blocked_ticks_in_wait = cycles_to_ticks(source->file,
							      record->wait_blocked_cycles);
	}
	if (record->block_stack) {
		hold->block_frames = memcpy(dest->block_frames, record->block_stack->frames,
					    sizeof(dest->block_frames));
		hold->longest_block_ticks = cycles_to_ticks(source->file,
							    record->block_stack->blocked);
	}
	set_hold_times(hold, source, is_timed ? record->acquire_time + record->hold_time : 0,
		       record->hold_time,
		       record->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN ? record->wait_time : 0);
}

/**
 * charge_add_open_hold() - add a hold or a wait that had not ended when the recording stopped
 * @sums: open
 * @file: file of the event
 * @event: the event; the hold or wait is counted up to its @list_time
 * @class: key of the lock's class, or the address of a lock that has none
 * @has_off_cpu_times: the event has the times without a CPU
 * @weight: 1; 0: the wait is not counted
 */
void charge_add_open_hold(struct charge_sums *sums, const struct etl_file *file,
			  const struct ntklog_open_hold *event, uint64_t class,
			  bool has_off_cpu_times, uint64_t weight)
{
	uint64_t since = event->since < event->list_time ? event->since : event->list_time;
	uint64_t waited_cycles = event->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN ?
			  cycles_to_ticks(file, event->wait_time) : 0;
	struct charge_hold hold = {
		.lock = event->lock,
		.class = class,
		.caller = event->caller,
		.thread_id = event->thread_id,
		.weight = weight,
		.kind = resource_kind_find(event->action),
		.is_sleeping_lock = true,
		.is_shared = open_hold_is_shared(event),
		.acquire_time = since,
		.release_time = event->list_time,
		.log_time = event->list_time,
	};

	hold.wait_start = waited_cycles < since ? since - waited_cycles : since;
	if (open_hold_is_waiting(event)) {
		hold.wait_start = since;
		hold.acquire_time = event->list_time;
	} else if (has_off_cpu_times) {
		hold.has_off_cpu_times = true;
		hold.ready_ticks = cycles_to_ticks(file, event->ready);
		hold.blocked_ticks = cycles_to_ticks(file, event->blocked);
	}
	charging_thread_add_hold(sums, &hold);
}

/**
 * charge_add_contextswap() - add a context switch
 * @sums: open
 * @source: event that the record was read from
 * @record: the record
 */
void charge_add_contextswap(struct charge_sums *sums, const struct record_source *source,
			    const struct contextswap_record *record)
{
	bool is_ready = record->old_thread_state == KTHREAD_STATE_READY ||
			record->old_thread_state == KTHREAD_STATE_RUNNING ||
			record->old_thread_state == KTHREAD_STATE_STANDBY ||
			record->old_thread_state == KTHREAD_STATE_DEFERRED_READY;
	uint64_t frames[CHARGE_FRAMES_MAX];
	struct charge_absence absence = {
		.frames = copy_frames(frames, source->stack),
		.thread_id = record->old_thread_id,
		.preempter_id = is_ready ? record->new_thread_id : 0,
		.from = source->event->time_stamp,
		.ready_from = is_ready ? source->event->time_stamp : UINT64_MAX,
	};
	double ready_for = (double)record->new_thread_wait_time * (double)source->file->tick_ns *
			   (double)source->file->perf_freq / 1e9;

	charging_thread_add_switch(sums, &absence, record->new_thread_id, floor_ticks(ready_for));
}
