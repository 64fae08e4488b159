// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's traces. Each CPU has a track of the spin locks that it waited for and held, and a
 * track of the tasks that it ran. Each task has a track of its resources. Each class of locks has
 * a track of waits, at most PERFETTO_LANES_MAX at once, and a counter of the waiters. A flow leads
 * from a hold to the end of the wait of the next owner, if the wait overlaps the hold. The hold of
 * a spin lock without a known start is an instant, at its release. Slices of a track have to nest.
 * A lock that is not released in the reverse order of the acquisitions goes to another lane, which
 * is a track of that name with a number. Holds and waits that had not ended are slices up to the
 * time of their list.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/event.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "charge_order.h"
#include "message.h"
#include "output_file.h"
#include "perfetto_packet.h"
#include "wmi_record.h"

/* Binary logarithm of the number of entries of last_holds. */
#define LAST_HOLDS_BITS	13

/*
 * Slices that wait for late ones are among fewer than this many of the newest: see
 * release_sorter_next().
 */
#define SLICES_KEPT	(3 * RELEASE_SORTER_MAX)

/* @flow_number: number of the flow that begins in the hold, or 0 if a wait has ended it */
struct last_hold {
	uint64_t lock;
	uint64_t flow_number;
	int64_t begin_ns;
	int64_t end_ns;
};

/*
 * @start_is_unknown: the start of the hold is not known, so that an instant shows its release
 * @wait: slice of the wait, with its arguments; without a wait both times are the hold's begin
 */
struct lock_slices {
	enum track_group group;
	uint64_t track_owner;
	uint64_t lock;
	uint32_t thread_id;
	bool has_wait;
	bool has_hold;
	bool start_is_unknown;
	struct perfetto_slice wait;
	struct perfetto_slice hold;
};

/*
 * @release_sorter: order of the releases, in ns
 * @slices: by the number of the record: slices that wait for late ones
 * @last_holds: by a hash of the lock's address: the last hold of a lock of this hash
 * @running_tasks: by CPU: the task that runs there, or 0 if it is not known, and since when, ns
 */
struct perfetto_conversion {
	struct perfetto_writer perfetto;
	double ns_per_tick;
	struct release_sorter release_sorter;
	struct lock_slices *slices[SLICES_KEPT];
	uint64_t slice_count;
	uint64_t last_flow_number;
	struct last_hold last_holds[1 << LAST_HOLDS_BITS];
	struct {
		uint32_t thread_id;
		int64_t since_ns;
	} running_tasks[UINT16_MAX + 1];
};

/* A damaged frequency makes any time possible. Limit it to a century, which fits in int64_t. */
static int64_t round_to_ns(double ns)
{
	static const double century = 3.15576e18;

	return (int64_t)fmax(-century, fmin(ns, century));
}

static int64_t ticks_to_ns(const struct perfetto_conversion *state, uint64_t time_stamp)
{
	const struct etl_file *file = state->perfetto.conversion->file;

	return round_to_ns((double)(int64_t)(time_stamp - file->start_clock) *
			   state->ns_per_tick);
}

static int64_t cycles_to_ns(const struct perfetto_conversion *state, uint64_t cycles)
{
	return round_to_ns(etl_cycles_ns(state->perfetto.conversion->file, (double)cycles));
}

/*
 * Return when a lock was released: the time in the record, if the session's clock counts cycles
 * and the event is not much later; otherwise the time of the event.
 */
static int64_t compute_release_ns(const struct perfetto_conversion *state,
				  const struct etl_event *event, uint64_t release_time)
{
	const struct etl_file *file = state->perfetto.conversion->file;

	if (file->perf_freq == file->cycle_freq && release_time <= event->time_stamp &&
	    event->time_stamp - release_time < file->perf_freq / CHARGE_LATE_PER_SECOND)
		return ticks_to_ns(state, release_time);
	return ticks_to_ns(state, event->time_stamp);
}

/*
 * Return when a lock was acquired whose hold time is not known. If the session's clock does not
 * count cycles, or the time is not known either, return the time of the event: the wait ended no
 * later.
 */
static int64_t compute_acquire_ns(const struct perfetto_conversion *state,
				  const struct etl_event *event, uint64_t acquire_time)
{
	const struct etl_file *file = state->perfetto.conversion->file;

	if (file->perf_freq == file->cycle_freq && acquire_time <= event->time_stamp &&
	    acquire_time > WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN)
		return ticks_to_ns(state, acquire_time);
	return ticks_to_ns(state, event->time_stamp);
}

/*
 * Begin a flow in the hold of a record. End the flow of the hold before it, if the wait of the
 * record overlaps that hold.
 */
static void set_flows(struct perfetto_conversion *state, struct lock_slices *slices)
{
	uint64_t mixed = slices->lock * UINT64_C(0x9E3779B97F4A7C15);
	struct last_hold *last = &state->last_holds[mixed >> (64 - LAST_HOLDS_BITS)];

	if (slices->has_wait && last->lock == slices->lock &&
	    last->end_ns > slices->wait.begin_ns && last->begin_ns <= slices->wait.end_ns) {
		slices->wait.previous_flow_number = last->flow_number;
		last->flow_number = 0;
	}
	if (!slices->has_hold)
		return;
	slices->hold.next_flow_number = ++state->last_flow_number;
	*last = (struct last_hold) {
		.lock = slices->lock, .flow_number = slices->hold.next_flow_number,
		.begin_ns = slices->hold.begin_ns, .end_ns = slices->hold.end_ns,
	};
}

/* Put the wait to the track of the class, if it has a free lane, and count the waiter. */
static void put_class_wait(struct perfetto_conversion *state, uint64_t class, uint32_t thread_id,
			   int64_t wait, int64_t hold)
{
	struct perfetto_writer *perfetto = &state->perfetto;
	struct perfetto_slice slice = {
		.category = PERFETTO_CLASS_WAIT, .begin_ns = wait, .end_ns = hold,
	};
	struct perfetto_track *track;

	slice.track = perfetto_find_lane(perfetto, PERFETTO_CLASSES, class, wait, wait, hold);
	if (slice.track) {
		slice.name = perfetto_intern(perfetto, PERFETTO_TASK_NAME, thread_id);
		perfetto_put_slice(perfetto, &slice);
	}
	track = perfetto_track_find(&perfetto->tracks, PERFETTO_CLASSES, class);
	if (track && hold > 0)
		timeline_add_span(&perfetto->tracks.timelines, &track->wait_timeline, hold,
				  hold - wait, (double)(hold - wait));
}

static void put_slices(struct perfetto_writer *perfetto, struct lock_slices *slices)
{
	if (slices->has_wait)
		perfetto_put_slice(perfetto, &slices->wait);
	if (slices->start_is_unknown)
		perfetto_put_instant(perfetto, &slices->hold);
	else if (slices->has_hold)
		perfetto_put_slice(perfetto, &slices->hold);
}

/* Put slices in the order of the releases, so that each flow ends at the next owner. */
static void put_ordered_slices(struct perfetto_conversion *state, bool takes_all)
{
	uint64_t number;

	while (release_sorter_next(&state->release_sorter, takes_all, &number)) {
		struct lock_slices *slices = state->slices[number % SLICES_KEPT];

		set_flows(state, slices);
		put_slices(&state->perfetto, slices);
		free(slices);
	}
}

/* Return 0 for a time before the trace's start: the order has no negative times. */
static uint64_t ns_for_order(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

static void add_to_order(struct perfetto_conversion *state, const struct etl_event *event,
			 const struct lock_slices *slices)
{
	struct lock_slices *kept = malloc(sizeof(*kept));

	if (!kept) {
		state->perfetto.no_memory = true;
		return;
	}
	*kept = *slices;
	state->slices[state->slice_count % SLICES_KEPT] = kept;
	release_sorter_add(&state->release_sorter, ns_for_order(slices->hold.end_ns),
			   ns_for_order(ticks_to_ns(state, event->time_stamp)),
			   state->slice_count++);
	put_ordered_slices(state, false);
}

/* @time_stamp: time of the event, session clock */
static void name_lock_slices(struct perfetto_conversion *state, uint64_t time_stamp,
			     struct lock_slices *slices)
{
	struct perfetto_slice *wait = &slices->wait, *hold = &slices->hold;
	struct perfetto_writer *perfetto = &state->perfetto;
	uint64_t class = names_find_lock_key(perfetto->conversion->names, slices->lock,
					     time_stamp);
	struct perfetto_slice *last = slices->has_hold ? hold : wait;

	wait->category = PERFETTO_WAIT;
	hold->category = slices->start_is_unknown ? PERFETTO_RELEASE : PERFETTO_HOLD;
	wait->track = perfetto_find_lane(perfetto, slices->group, slices->track_owner,
					 wait->begin_ns, wait->end_ns, hold->end_ns);
	hold->track = wait->track;
	last->stack = perfetto_intern_stack(perfetto, perfetto->conversion->stack);
	if (slices->has_wait) {
		wait->name = perfetto_intern(perfetto, PERFETTO_WAIT_NAME, class);
		put_class_wait(state, class, slices->thread_id, wait->begin_ns, wait->end_ns);
	}
	if (slices->has_hold)
		hold->name = perfetto_intern(perfetto, slices->start_is_unknown ?
					     PERFETTO_RELEASE_NAME : PERFETTO_LOCK_NAME, class);
}

static void put_lock_slices(struct perfetto_conversion *state, const struct etl_event *event,
			    struct lock_slices *slices)
{
	name_lock_slices(state, event->time_stamp, slices);
	add_to_order(state, event, slices);
}

static void add_caller(struct perfetto_writer *perfetto, struct perfetto_slice *slice,
		       const struct spinlock_record *record)
{
	/* A record of a wait has no caller if the kernel did not tell it. */
	if (record->caller)
		perfetto_add_text(slice, PERFETTO_CALLER,
				  perfetto_intern(perfetto, PERFETTO_CODE_TEXT, record->caller));
	perfetto_add_number(slice, PERFETTO_THREAD, record->thread_id);
	if (record->depth)
		perfetto_add_number(slice, PERFETTO_DEPTH, record->depth);
	perfetto_add_bool(slice, PERFETTO_DPC, record->dpc);
	perfetto_add_bool(slice, PERFETTO_ISR, record->isr);
}

static void put_spinlock(struct perfetto_conversion *state, const struct etl_event *event)
{
	struct lock_slices slices = {
		.group = PERFETTO_SPINLOCKS, .track_owner = event->processor,
	};
	struct perfetto_slice *wait = &slices.wait, *hold = &slices.hold;
	struct spinlock_record record;
	uint8_t rule;

	spinlock_record_read(&record, event);
	rule = find_spinlock_rule(&state->perfetto.conversion->rates, &record);
	slices.lock = record.lock;
	slices.thread_id = record.thread_id;
	slices.has_hold = !(rule & WMI_SPINLOCK_RULE_WAIT);
	slices.start_is_unknown = slices.has_hold && rule & WMI_SPINLOCK_RULE_HOLD_UNKNOWN;
	slices.has_wait = record.spin_count || !slices.has_hold;
	hold->end_ns = compute_release_ns(state, event, record.release_time);
	hold->begin_ns = hold->end_ns - (slices.start_is_unknown ? 0 :
		cycles_to_ns(state, record.release_time - record.acquire_time));
	wait->end_ns = hold->begin_ns;
	wait->begin_ns =
		wait->end_ns - (slices.has_wait ? cycles_to_ns(state, record.wait_time) : 0);
	if (slices.has_wait)
		perfetto_add_number(wait, PERFETTO_SPINS, record.spin_count);
	/* If the hold is not known the wait gets the arguments of the hold. */
	add_caller(&state->perfetto, slices.has_hold ? hold : wait, &record);
	put_lock_slices(state, event, &slices);
}

static void add_kind(struct perfetto_writer *perfetto, struct perfetto_slice *slice,
		     enum resource_kind kind, bool is_shared)
{
	const char *class = is_shared ? "shared" : "exclusive";

	if (kind != RESOURCE_KIND_NT && kind < RESOURCE_KINDS)
		perfetto_add_text(slice, PERFETTO_KIND,
				  perfetto_intern(perfetto, PERFETTO_TEXT,
						  (uintptr_t)resource_kinds[kind].name));
	perfetto_add_text(slice, PERFETTO_CLASS,
			  perfetto_intern(perfetto, PERFETTO_TEXT, (uintptr_t)class));
}

static void put_resource(struct perfetto_conversion *state, const struct etl_event *event)
{
	struct lock_slices slices = { .group = PERFETTO_RESOURCES, .has_hold = true };
	struct perfetto_slice *wait = &slices.wait, *hold = &slices.hold;
	struct resource_record record;
	bool is_timed, is_shared;

	resource_record_read(&record, event);
	kept_callers_complete_record(state->perfetto.conversion->callers, event, &record);
	if (record.action != WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED &&
	    record.action != WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE)
		return;
	slices.track_owner = record.thread_id;
	slices.lock = record.resource;
	slices.thread_id = record.thread_id;
	slices.has_wait = record.wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN;
	is_timed = record.acquire_time > WMI_RESOURCE_ACQUIRE_TIME_UNKNOWN && record.hold_time;
	hold->end_ns = compute_release_ns(state, event,
					  is_timed ? record.acquire_time + record.hold_time : 0);
	hold->begin_ns = hold->end_ns - cycles_to_ns(state, record.hold_time);
	wait->end_ns = slices.has_wait && !record.hold_time ?
		compute_acquire_ns(state, event, record.acquire_time) : hold->begin_ns;
	wait->begin_ns =
		wait->end_ns - (slices.has_wait ? cycles_to_ns(state, record.wait_time) : 0);
	is_shared = record.action == WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED;
	add_kind(&state->perfetto, wait, record.kind, is_shared);
	add_kind(&state->perfetto, hold, record.kind, is_shared);
	if (record.caller)
		perfetto_add_text(hold, PERFETTO_CALLER,
				  perfetto_intern(&state->perfetto, PERFETTO_CODE_TEXT,
						  record.caller));
	perfetto_add_number(hold, PERFETTO_CONTENTION, record.contention_delta);
	put_lock_slices(state, event, &slices);
}

static void add_open_hold(struct perfetto_conversion *state, const struct etl_event *event)
{
	struct open_hold hold = { 0 };

	memcpy(&hold.event, event->data, event->data_size);
	open_holds_add(&state->perfetto.conversion->open_holds, &hold);
}

/* Put a hold or a wait that had not ended. No flow leads to or from it. */
static void put_open_hold(struct perfetto_conversion *state, const struct ntklog_open_hold *event)
{
	struct lock_slices slices = {
		.group = PERFETTO_RESOURCES, .track_owner = event->thread_id,
		.lock = event->lock, .thread_id = event->thread_id,
		.has_hold = !open_hold_is_waiting(event),
	};
	struct perfetto_slice *wait = &slices.wait, *hold = &slices.hold;
	struct perfetto_slice *last = slices.has_hold ? hold : wait;
	enum resource_kind kind = resource_kind_find(event->action);
	struct perfetto_writer *perfetto = &state->perfetto;

	hold->end_ns = ticks_to_ns(state, event->list_time);
	hold->begin_ns = event->since < event->list_time ? ticks_to_ns(state, event->since) :
							   hold->end_ns;
	wait->begin_ns = hold->begin_ns;
	wait->end_ns = hold->begin_ns;
	slices.has_wait = true;
	if (!slices.has_hold) {
		hold->begin_ns = hold->end_ns;
		wait->end_ns = hold->end_ns;
	} else if (event->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN) {
		wait->begin_ns -= cycles_to_ns(state, event->wait_time);
	} else {
		slices.has_wait = false;
	}
	add_kind(perfetto, wait, kind, open_hold_is_shared(event));
	add_kind(perfetto, hold, kind, open_hold_is_shared(event));
	if (event->caller)
		perfetto_add_text(last, PERFETTO_CALLER,
				  perfetto_intern(perfetto, PERFETTO_CODE_TEXT, event->caller));
	perfetto_add_bool(last, PERFETTO_OPEN, true);
	name_lock_slices(state, event->list_time, &slices);
	put_slices(perfetto, &slices);
}

static void put_open_holds(struct perfetto_conversion *state)
{
	struct conversion *conversion = state->perfetto.conversion;
	static struct charge_sums no_charges;
	size_t i;

	open_holds_finish(&conversion->open_holds, conversion->file, &no_charges);
	state->perfetto.no_memory |= conversion->open_holds.no_memory;
	for (i = 0; i < conversion->open_holds.count; i++) {
		if (perfetto_must_renew_interned(&state->perfetto))
			perfetto_renew_interned(&state->perfetto);
		put_open_hold(state, &conversion->open_holds.entries[i].event);
	}
}

static void put_switch(struct perfetto_conversion *state, const struct etl_event *event)
{
	int64_t now = ticks_to_ns(state, event->time_stamp);
	struct perfetto_writer *perfetto = &state->perfetto;
	struct perfetto_slice slice = { .category = PERFETTO_RUN, .end_ns = now };
	struct contextswap_record record;
	uint32_t cpu = event->processor;

	contextswap_record_read(&record, event);
	if (record.old_thread_id && state->running_tasks[cpu].since_ns <= now &&
	    state->running_tasks[cpu].thread_id == record.old_thread_id) {
		slice.begin_ns = state->running_tasks[cpu].since_ns;
		slice.track = perfetto_find_lane(perfetto, PERFETTO_THREADS, cpu, slice.begin_ns,
						 slice.begin_ns, now);
		slice.name = perfetto_intern(perfetto, PERFETTO_TASK_NAME, record.old_thread_id);
		slice.stack = perfetto_intern_stack(perfetto, perfetto->conversion->stack);
		perfetto_add_number(&slice, PERFETTO_STATE, record.old_thread_state);
		perfetto_add_number(&slice, PERFETTO_WAIT_REASON, record.old_thread_wait_reason);
		perfetto_put_slice(perfetto, &slice);
	}
	state->running_tasks[cpu].thread_id = record.new_thread_id;
	state->running_tasks[cpu].since_ns = now;
}

static void put_events(struct perfetto_conversion *state)
{
	struct perfetto_writer *perfetto = &state->perfetto;
	const struct event_type *type;
	const struct etl_event *event;

	while (!ferror(perfetto->out.stream) &&
	       (event = conversion_next(perfetto->conversion, &type))) {
		if (perfetto_must_renew_interned(perfetto)) {
			put_ordered_slices(state, true);
			perfetto_renew_interned(perfetto);
		}
		if (event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK)
			put_spinlock(state, event);
		else if (event->hook_id == PERFINFO_LOG_TYPE_RESOURCE)
			put_resource(state, event);
		else if (event->hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP)
			put_switch(state, event);
		else if (event->hook_id == NTKLOG_LOG_TYPE_OPEN_HOLD)
			add_open_hold(state, event);
	}
	put_ordered_slices(state, true);
	put_open_holds(state);
}

/**
 * convert_to_perfetto() - write a trace for Perfetto
 * @conversion: trace to convert
 * @path: path of the file to write; "-" is the standard output
 *
 * Return: 0, or -1 after a message.
 */
int convert_to_perfetto(struct conversion *conversion, const char *path)
{
	struct perfetto_conversion *state = calloc(1, sizeof(*state));
	FILE *stream = state ? output_open(path) : NULL;
	struct perfetto_writer *perfetto;
	int err = 0;

	if (!state)
		message("%s: %s", path, strerror(ENOMEM));
	if (!stream) {
		free(state);
		return -1;
	}
	perfetto = &state->perfetto;
	perfetto->conversion = conversion;
	conversion->keeps_callers = true;
	perfetto->out.stream = stream;
	release_sorter_init(&state->release_sorter, 1000000000);
	state->ns_per_tick = 1e9 / (double)conversion->file->perf_freq;
	perfetto->start_ns = round_to_ns((double)conversion->file->start_clock *
					 state->ns_per_tick);
	perfetto_put_groups(perfetto);
	put_events(state);
	perfetto_put_counters(perfetto);
	out_flush(&perfetto->out);
	if (conversion->no_memory || perfetto->no_memory || perfetto->tracks.timelines.no_memory) {
		message("%s: %s", path, strerror(ENOMEM));
		err = -1;
	}
	err = output_close(stream, path, err);
	perfetto_free_interned(perfetto);
	perfetto_tracks_free(&perfetto->tracks);
	free(state);
	return err;
}
