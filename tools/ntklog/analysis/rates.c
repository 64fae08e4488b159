// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "etl_reader.h"
#include "event_type.h"
#include "grow.h"
#include "rates.h"

/* Bytes at the start of a stream that are searched for a rundown. */
#define RUNDOWN_SEARCH_BYTES	0x1000000

/* Buffers at the start of each CPU that are searched for a rundown. */
#define RUNDOWN_SEARCH_BUFFERS	2

/* @rates: parameters in it; the others are 0 */
struct rates_rundown {
	uint64_t time;
	uint16_t hook_id;
	struct rates rates;
};

static void read_spinlock_rates(struct spinlock_rates *rates,
				const struct etl_event *event)
{
	struct perfinfo_spinlock_dc dc;

	memcpy(&dc, event->data, sizeof(dc));
	/* The least rate of NT is 1. A rate of 0 would make records stand for no acquisition. */
	if (!dc.contention_sample_rate || !dc.acquire_sample_rate)
		return;
	rates->is_known = 1;
	rates->spin_threshold = dc.spin_threshold;
	rates->contention_rate = dc.contention_sample_rate;
	rates->acquire_rate = dc.acquire_sample_rate;
	rates->hold_threshold = dc.hold_threshold;
}

static void read_rules(struct spinlock_rates *rates, const struct etl_event *event)
{
	struct ntklog_dc dc;

	memcpy(&dc, event->data, sizeof(dc));
	rates->has_rules = 1;
	rates->linux_mode = dc.linux_mode;
	rates->blocker_rate = dc.blockers;
}

static void read_resource_rates(struct resource_rates *rates,
				const struct etl_event *event)
{
	struct perfinfo_eresource_dc dc;

	memcpy(&dc, event->data, sizeof(dc));
	if (!dc.release_sampling_rate || !dc.contention_sampling_rate)
		return;
	*rates = (struct resource_rates) {
		.is_known = 1,
		.release_rate = dc.release_sampling_rate,
		.contention_rate = dc.contention_sampling_rate,
		.timeout_rate = dc.number_of_excessive_timeouts,
	};
}

/**
 * hook_is_rates_start() - test whether an event has the parameters that hold from its time on
 * @hook_id: hook id of the event
 *
 * Return: true for a DC_START of spin locks, resources or ntklog.
 */
bool hook_is_rates_start(uint16_t hook_id)
{
	return hook_id == PERFINFO_LOG_TYPE_SPINLOCK_DC_START ||
	       hook_id == NTKLOG_LOG_TYPE_DC_START ||
	       hook_id == PERFINFO_LOG_TYPE_ERESOURCE_DC_START;
}

/**
 * rates_add_rundown() - read sampling parameters from an event
 * @rates: those that the event has are set
 * @event: event
 *
 * Return: false if @event is no rundown of spin locks, resources or ntklog, or is damaged.
 */
bool rates_add_rundown(struct rates *rates, const struct etl_event *event)
{
	const struct event_type *type = event_type_find(event);

	if (!type || !event_has_size(event, type))
		return false;
	switch (type->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK_DC_START:
	case PERFINFO_LOG_TYPE_SPINLOCK_DC_END:
		read_spinlock_rates(&rates->spinlock, event);
		return rates->spinlock.is_known;
	case NTKLOG_LOG_TYPE_DC_START:
	case NTKLOG_LOG_TYPE_DC_END:
		read_rules(&rates->spinlock, event);
		return true;
	case PERFINFO_LOG_TYPE_ERESOURCE_DC_START:
	case PERFINFO_LOG_TYPE_ERESOURCE_DC_END:
		read_resource_rates(&rates->resource, event);
		return rates->resource.is_known;
	default:
		return false;
	}
}

static bool rates_are_same(const struct spinlock_rates *left, const struct spinlock_rates *right)
{
	return left->spin_threshold == right->spin_threshold &&
	       left->contention_rate == right->contention_rate &&
	       left->acquire_rate == right->acquire_rate &&
	       left->hold_threshold == right->hold_threshold;
}

static void add_missing_rates(struct rates *rates, const struct rates *more)
{
	struct spinlock_rates *spinlock = &rates->spinlock;

	if (!spinlock->is_known && more->spinlock.is_known) {
		spinlock->is_known = 1;
		spinlock->spin_threshold = more->spinlock.spin_threshold;
		spinlock->contention_rate = more->spinlock.contention_rate;
		spinlock->acquire_rate = more->spinlock.acquire_rate;
		spinlock->hold_threshold = more->spinlock.hold_threshold;
	}
	if (!spinlock->has_rules && more->spinlock.has_rules) {
		spinlock->has_rules = 1;
		spinlock->linux_mode = more->spinlock.linux_mode;
		spinlock->blocker_rate = more->spinlock.blocker_rate;
	}
	if (!rates->resource.is_known)
		rates->resource = more->resource;
}

static void look_for_rundown(struct rates *rates, struct etl_reader *reader,
			     struct etl_cursor *cursor, uint64_t number)
{
	struct etl_event event;
	struct rates more;

	if (!etl_read_buffer(reader, cursor, number))
		return;
	while (cursor->next_offset < cursor->end_offset &&
	       etl_parse_event(reader, cursor, &event) == 1) {
		more = (struct rates) { 0 };
		if (rates_add_rundown(&more, &event))
			add_missing_rates(rates, &more);
	}
}

static bool rates_are_known(const struct rates *rates)
{
	return rates->spinlock.is_known && rates->spinlock.has_rules && rates->resource.is_known;
}

/* Wait for another buffer of a stream to search, unless the rates are known. */
static bool wait_for_rundown(const struct rates *rates, struct etl_reader *reader)
{
	if (!reader->input || reader->input->memory_bytes >= RUNDOWN_SEARCH_BYTES ||
	    rates_are_known(rates))
		return false;
	return etl_add_next_buffer(reader);
}

/**
 * rates_find() - find the first sampling parameters in a file
 * @rates: parameters, all zero; set to those that are found
 * @file: open file, whose position stays; its error too, unless it is a stream
 *
 * The first buffers of each CPU are searched, and then the last ones; of a stream the first
 * RUNDOWN_SEARCH_BYTES.
 */
void rates_find(struct rates *rates, struct etl_file *file)
{
	struct etl_reader *reader = etl_reader_of(file), copy = *reader;
	struct etl_cursor cursor = { 0 };
	uint64_t *last = calloc(ETL_PROCESSORS_MAX, sizeof(*last));
	uint8_t *seen = calloc(ETL_PROCESSORS_MAX, sizeof(*seen));
	size_t i;

	if (!last || !seen)
		goto out;
	for (i = 1; i < file->buffers || wait_for_rundown(rates, reader); i++) {
		unsigned int processor = reader->index_entries[i].processor;

		if (seen[processor] < RUNDOWN_SEARCH_BUFFERS) {
			seen[processor]++;
			look_for_rundown(rates, &copy, &cursor, reader->index_entries[i].number);
		} else {
			last[processor] = reader->index_entries[i].number;
		}
	}
	for (i = 0; i < ETL_PROCESSORS_MAX && !rates_are_known(rates); i++)
		if (last[i])
			look_for_rundown(rates, &copy, &cursor, last[i]);
out:
	free(cursor.buffer);
	free(seen);
	free(last);
}

/*
 * Keep the module's counts of dropped blockers in two events: the first one, if it was written at
 * the start of the session, and the last one. Events are added in the order of time.
 */
static void add_dropped_counts(struct dropped_counts *dropped, const struct etl_event *event)
{
	struct ntklog_dropped_dc dc = { 0 };

	/* Version 1 has no steal time. */
	memcpy(&dc, event->data, event->data_size);
	if (event->hook_id == NTKLOG_LOG_TYPE_DROPPED_DC_START && !dropped->has_start &&
	    !dropped->has_end) {
		dropped->has_start = true;
		dropped->start = dc;
	}
	dropped->has_end = true;
	dropped->end = dc;
}

/**
 * rates_get_dropped_blockers() - count the releases that left a waiter behind and are not in a file
 * @history: history of the file
 *
 * Return: the number of these releases; if the file has lost its start, at most that many.
 */
uint64_t rates_get_dropped_blockers(const struct rates_history *history)
{
	const struct dropped_counts *dropped = &history->dropped;

	return dropped->end.spin_locks - dropped->start.spin_locks +
	       dropped->end.sleeping_locks - dropped->start.sleeping_locks;
}

/**
 * rates_get_steal_ns() - return for how long the host stopped virtual CPUs during a recording
 * @history: history of the file
 *
 * Return: the sum over all CPUs, nanoseconds; 0 if it is not known.
 */
uint64_t rates_get_steal_ns(const struct rates_history *history)
{
	const struct dropped_counts *dropped = &history->dropped;

	return dropped->has_start && dropped->end.steal_time > dropped->start.steal_time ?
	       dropped->end.steal_time - dropped->start.steal_time : 0;
}

/**
 * rates_history_add() - note the parameters in an event, if it is a rundown
 * @history: history to change
 * @event: event
 */
void rates_history_add(struct rates_history *history, const struct etl_event *event)
{
	struct rates_rundown *more, rundown = {
		.time = event->time_stamp, .hook_id = event->hook_id,
	};

	if (event->hook_id == NTKLOG_LOG_TYPE_DROPPED_DC_START ||
	    event->hook_id == NTKLOG_LOG_TYPE_DROPPED_DC_END) {
		add_dropped_counts(&history->dropped, event);
		return;
	}
	if (!rates_add_rundown(&rundown.rates, event))
		return;
	more = grow_by_one(history->rundowns, history->rundown_count, sizeof(*more));
	if (!more) {
		history->no_memory = true;
		return;
	}
	history->rundowns = more;
	history->rundowns[history->rundown_count++] = rundown;
}

/* Sort by time. At one time the old values (DC_END) come before the new ones (DC_START). */
static int compare_rundowns(const void *a, const void *b)
{
	const struct rates_rundown *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return (int)hook_is_rates_start(left->hook_id) - (int)hook_is_rates_start(right->hook_id);
}

/* Overwrite those parameters of @rates that @more has. Returns true if one of them differs. */
static bool change_rates(struct rates *rates, const struct rates *more)
{
	const struct rates before = *rates;

	if (more->spinlock.is_known && !rates_are_same(&rates->spinlock, &more->spinlock))
		rates->spinlock.is_known = 0;
	if (more->spinlock.has_rules &&
	    (rates->spinlock.linux_mode != more->spinlock.linux_mode ||
	     rates->spinlock.blocker_rate != more->spinlock.blocker_rate))
		rates->spinlock.has_rules = 0;
	if (more->resource.is_known &&
	    memcmp(&rates->resource, &more->resource, sizeof(more->resource)))
		rates->resource.is_known = 0;
	add_missing_rates(rates, more);
	return memcmp(rates, &before, sizeof(before));
}

static void add_rates_interval(struct rates_history *history, uint64_t from,
			       const struct rates *rates)
{
	struct rates_interval *more =
		grow_by_one(history->intervals, history->interval_count, sizeof(*more));

	if (!more) {
		history->no_memory = true;
		return;
	}
	history->intervals = more;
	history->intervals[history->interval_count++] = (struct rates_interval) { from, *rates };
}

/**
 * rates_history_finish() - divide the time into stretches
 * @history: history to which nothing is added any more
 *
 * A DC_START begins a stretch if it changes a parameter. A DC_END tells the parameters before it:
 * where it differs from the last DC_START, the change happened at a time that is not known.
 */
void rates_history_finish(struct rates_history *history)
{
	struct rates current;
	size_t i, j;

	history->is_finished = true;
	if (history->rundown_count)
		qsort(history->rundowns, history->rundown_count, sizeof(*history->rundowns),
		      compare_rundowns);
	for (i = 0; i < history->rundown_count; i++) {
		const struct rates_rundown *rundown = &history->rundowns[i];

		if (!history->interval_count)
			add_rates_interval(history, 0, &rundown->rates);
		if (!history->interval_count)
			return;
		for (j = 0; j < history->interval_count; j++)
			add_missing_rates(&history->intervals[j].rates, &rundown->rates);
		current = history->intervals[history->interval_count - 1].rates;
		if (!change_rates(&current, &rundown->rates))
			continue;
		if (hook_is_rates_start(rundown->hook_id))
			add_rates_interval(history, rundown->time, &current);
		else
			history->has_unknown_change = true;
	}
}

/**
 * rates_at() - find the parameters that held at a time
 * @history: finished history with at least one stretch
 * @time: session clock
 *
 * Return: the parameters.
 */
const struct rates *rates_at(const struct rates_history *history, uint64_t time)
{
	size_t i = history->interval_count - 1;

	while (i && history->intervals[i].from > time)
		i--;
	return &history->intervals[i].rates;
}

static void raise_maximum(uint32_t *highest, uint32_t value)
{
	if (*highest < value)
		*highest = value;
}

/**
 * rates_find_highest() - find the highest rate of each kind
 * @history: history, after rates_history_finish()
 * @highest: in: rates that count too; out: the highest rates
 */
void rates_find_highest(const struct rates_history *history, struct rates *highest)
{
	size_t i;

	for (i = 0; i < history->interval_count; i++) {
		const struct rates *rates = &history->intervals[i].rates;

		raise_maximum(&highest->spinlock.acquire_rate, rates->spinlock.acquire_rate);
		raise_maximum(&highest->spinlock.contention_rate, rates->spinlock.contention_rate);
		raise_maximum(&highest->spinlock.blocker_rate, rates->spinlock.blocker_rate);
		raise_maximum(&highest->resource.release_rate, rates->resource.release_rate);
		raise_maximum(&highest->resource.contention_rate, rates->resource.contention_rate);
	}
}

/**
 * rates_history_free() - free the history
 * @history: history; empty afterwards
 */
void rates_history_free(struct rates_history *history)
{
	free(history->rundowns);
	free(history->intervals);
	*history = (struct rates_history) { 0 };
}
