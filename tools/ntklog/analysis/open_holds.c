// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_resource.h>

#include "charge_events.h"
#include "open_holds.h"
#include "resource_kind.h"
#include "wmi_record.h"

/**
 * open_holds_begin_list() - drop the entries of an older list
 * @holds: the list
 * @data: data of an event of a list
 */
void open_holds_begin_list(struct open_holds *holds, const void *data)
{
	struct ntklog_open_hold event;

	/* Events of all versions begin with the members of version 1. */
	memcpy(&event, data, NTKLOG_OPEN_HOLD_V1_SIZE);
	if (event.list_time <= holds->list_time)
		return;
	holds->list_time = event.list_time;
	holds->count = 0;
	holds->dropped_count = 0;
}

/**
 * open_holds_add() - add an entry to the list
 * @holds: the list
 * @hold: the entry; an event that only begins a list, or is of an older list, is ignored
 */
void open_holds_add(struct open_holds *holds, const struct open_hold *hold)
{
	if (!(hold->event.action & ~WMI_RESOURCE_ACTION_CLASS) ||
	    hold->event.list_time != holds->list_time)
		return;
	if (!holds->entries)
		holds->entries = calloc(OPEN_HOLDS_MAX, sizeof(*holds->entries));
	holds->no_memory |= !holds->entries;
	if (holds->entries && holds->count < OPEN_HOLDS_MAX)
		holds->entries[holds->count++] = *hold;
	else
		holds->dropped_count++;
}

/**
 * open_holds_drop_entry() - drop one entry of a lock and a task, because it has ended
 * @holds: the list
 * @lock: address of the lock
 * @thread_id: the task
 */
void open_holds_drop_entry(struct open_holds *holds, uint64_t lock, uint32_t thread_id)
{
	size_t i;

	for (i = 0; i < holds->count; i++) {
		const struct ntklog_open_hold *event = &holds->entries[i].event;

		if (event->lock == lock && event->thread_id == thread_id)
			break;
	}
	if (i < holds->count)
		holds->entries[i] = holds->entries[--holds->count];
}

static int compare_entries(const void *a, const void *b)
{
	const struct ntklog_open_hold *left = &((const struct open_hold *)a)->event;
	const struct ntklog_open_hold *right = &((const struct open_hold *)b)->event;

	if (left->lock != right->lock)
		return left->lock < right->lock ? -1 : 1;
	if (left->since != right->since)
		return left->since < right->since ? -1 : 1;
	return left->thread_id < right->thread_id ? -1 : left->thread_id > right->thread_id;
}

/*
 * Drop the holds that an exclusive hold of the same lock follows. They have ended, but the module
 * may still list a hold if another task released the lock. A hold of a semaphore drops no others,
 * because a semaphore may have several holders.
 */
static void drop_ended_holds(struct open_holds *holds)
{
	const struct open_hold *exclusive = NULL;
	size_t kept = holds->count, i;

	/* The entries are sorted: of a lock the youngest is the last one. */
	for (i = holds->count; i-- > 0;) {
		const struct ntklog_open_hold *event = &holds->entries[i].event;
		uint32_t class = event->action & WMI_RESOURCE_ACTION_CLASS;
		bool is_held = !open_hold_is_waiting(event);

		if (is_held && exclusive && exclusive->event.lock == event->lock)
			continue;
		holds->entries[--kept] = holds->entries[i];
		if (is_held && !open_hold_is_shared(event) &&
		    class != WMI_RESOURCE_CLASS_LINUX_SEMAPHORE)
			exclusive = &holds->entries[kept];
	}
	holds->count -= kept;
	memmove(holds->entries, holds->entries + kept, holds->count * sizeof(*holds->entries));
}

/* Count the waiters and holders of each lock. The entries are sorted by lock. */
static void count_tasks(struct open_holds *holds)
{
	size_t begin, end, i;

	for (begin = 0; begin < holds->count; begin = end) {
		size_t waiters = 0;

		for (end = begin; end < holds->count && holds->entries[end].event.lock ==
						       holds->entries[begin].event.lock; end++)
			waiters += open_hold_is_waiting(&holds->entries[end].event);
		for (i = begin; i < end; i++) {
			holds->entries[i].waiter_count = waiters;
			holds->entries[i].holder_count = end - begin - waiters;
		}
	}
}

/**
 * open_hold_wait_ns() - get the wait of an entry, which is not over or was before the hold
 * @event: the entry
 * @file: file of the event
 *
 * Return: nanoseconds; 0: the entry has no wait.
 */
double open_hold_wait_ns(const struct ntklog_open_hold *event, const struct etl_file *file)
{
	if (open_hold_is_waiting(event))
		return event->since < event->list_time ?
			(double)(event->list_time - event->since) * 1e9 / (double)file->perf_freq :
			0;
	return event->wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN ?
		etl_cycles_ns(file, (double)event->wait_time) : 0;
}

/* Sum up the waits for the wanted locks, also those before holds that had not ended. */
static void sum_waits(struct open_holds *holds, const struct etl_file *file)
{
	size_t i;

	for (i = 0; i < holds->count; i++) {
		double ns = open_hold_wait_ns(&holds->entries[i].event, file);

		if (!holds->entries[i].is_wanted)
			continue;
		holds->wait_count += ns > 0;
		holds->wait_ns += ns;
	}
}

static bool add_to_graph(struct open_holds *holds, const struct open_hold *hold,
			 const struct etl_file *file)
{
	const struct ntklog_open_hold *event = &hold->event;
	enum resource_kind kind = resource_kind_find(event->action);
	/* Another entry of the list may have ended before this hold or wait began. */
	bool began_while_listing = event->since > event->list_time;
	double ns_per_tick = 1e9 / (double)file->perf_freq;
	const struct graph_slot slot = {
		.address = event->lock,
		.kind = kind < RESOURCE_KINDS ? resource_kinds[kind].name : "lock",
		.class = hold->class,
		.is_exclusive = !open_hold_is_shared(event),
		.is_waiting = open_hold_is_waiting(event),
		.began_while_listing = began_while_listing,
		.age_ns = began_while_listing ? 0 :
			  (double)(event->list_time - event->since) * ns_per_tick,
		.contention_count = event->contentions,
		.task = wait_graph_find_task(&holds->graph, event->thread_id),
	};

	return slot.task && wait_graph_add_slot(&holds->graph, &slot);
}

static bool make_graph(struct open_holds *holds, const struct etl_file *file)
{
	size_t i;

	for (i = 0; i < holds->count; i++)
		if (!add_to_graph(holds, &holds->entries[i], file))
			return false;
	return wait_graph_finish(&holds->graph);
}

/*
 * Add the holds, or the waits if @is_waiting, to the charges. Without @is_counted the waits are not
 * summed up, but charger_find_chain() finds them.
 */
static void charge_entries(const struct open_holds *holds, const struct etl_file *file,
			   struct charge_sums *sums, bool is_waiting, bool is_counted)
{
	size_t i;

	for (i = 0; i < holds->count; i++) {
		const struct open_hold *hold = &holds->entries[i];

		if (open_hold_is_waiting(&hold->event) == is_waiting)
			charge_add_open_hold(sums, file, &hold->event, hold->class,
					     hold->has_off_cpu_times, is_counted &&
					     hold->is_wanted);
	}
}

/**
 * open_holds_finish() - sort the list, drop ended holds, find deadlocks, and charge the waits
 * @holds: the list
 * @file: file of the events
 * @sums: sums of all records; no wait is charged if charge_sums_open() was not called
 */
void open_holds_finish(struct open_holds *holds, const struct etl_file *file,
		       struct charge_sums *sums)
{
	if (!holds->count)
		return;
	qsort(holds->entries, holds->count, sizeof(*holds->entries), compare_entries);
	drop_ended_holds(holds);
	count_tasks(holds);
	sum_waits(holds, file);
	holds->no_memory |= !make_graph(holds, file);
	if (!sums->charger)
		return;
	/*
	 * Before a wait is charged, add the holds that it is charged to, and all waits, which its
	 * chain of holders may contain.
	 */
	charge_entries(holds, file, sums, false, true);
	charge_entries(holds, file, sums, true, false);
	charge_sums_flush(sums);
	charge_entries(holds, file, sums, true, true);
}

/**
 * open_holds_free() - free the list
 * @holds: all zero afterwards
 */
void open_holds_free(struct open_holds *holds)
{
	wait_graph_free(&holds->graph);
	free(holds->entries);
	memset(holds, 0, sizeof(*holds));
}
