// SPDX-License-Identifier: GPL-2.0-only

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/wmi_resource.h>

#include "event_type.h"
#include "grow.h"
#include "search.h"
#include "stack_rundowns.h"
#include "wmi_record.h"

/*
 * Greatest number of rundowns, which limits the memory that a damaged file can make the tool use.
 */
#define STACK_RUNDOWNS_MAX	0x4000

/* @stacks: NTKLOG_STACKS_*, the events that have a stack from then on */
struct stack_rundown {
	uint64_t time;
	uint32_t stacks;
};

/**
 * event_is_stack_rundown() - test whether an event is a rundown of stacks
 * @event: event of any type
 *
 * Return: true if the event is a rundown of stacks.
 */
bool event_is_stack_rundown(const struct etl_event *event)
{
	/* The types of events are searched for the few events with these ids. */
	return (event->hook_id == NTKLOG_LOG_TYPE_STACKS_DC_START ||
		event->hook_id == NTKLOG_LOG_TYPE_STACKS_DC_END) &&
	       event_type_find(event) && event->data_size == sizeof(struct ntklog_stacks_dc);
}

static size_t count_rundowns_until(const struct stack_rundowns *rundowns, uint64_t time)
{
	return count_until_time(rundowns->rundowns, rundowns->count, sizeof(*rundowns->rundowns),
				time);
}

/**
 * stack_rundowns_add() - add a rundown
 * @rundowns: rundowns of the file
 * @event: a rundown of stacks; ignored if one of the same time was added before
 */
void stack_rundowns_add(struct stack_rundowns *rundowns, const struct etl_event *event)
{
	size_t at = count_rundowns_until(rundowns, event->time_stamp);
	struct stack_rundown *more;
	struct ntklog_stacks_dc dc;

	if (at && rundowns->rundowns[at - 1].time == event->time_stamp)
		return;
	if (rundowns->count == STACK_RUNDOWNS_MAX) {
		rundowns->is_full = true;
		return;
	}
	more = grow_by_one(rundowns->rundowns, rundowns->count, sizeof(*more));
	if (!more)
		return;
	memcpy(&dc, event->data, sizeof(dc));
	rundowns->rundowns = more;
	memmove(more + at + 1, more + at, (rundowns->count - at) * sizeof(*more));
	more[at] = (struct stack_rundown) { event->time_stamp, dc.stacks };
	rundowns->count++;
}

/**
 * stack_rundowns_say_stack() - test whether an event was written with a stack
 * @rundowns: rundowns of the file
 * @event: event of any type
 *
 * The rundown before the event decides. A flight recorder may have overwritten it; then the first
 * rundown after the event decides.
 *
 * Return: true if the event was written with a stack; false also if there is no rundown.
 */
bool stack_rundowns_say_stack(const struct stack_rundowns *rundowns,
			      const struct etl_event *event)
{
	const struct event_type *type;
	struct resource_record resource;
	uint32_t stack_bits;
	size_t at;

	if (!rundowns->count)
		return false;
	at = count_rundowns_until(rundowns, event->time_stamp);
	stack_bits = rundowns->rundowns[at ? at - 1 : 0].stacks;
	type = event_type_find(event);
	if (!type || !event_has_size(event, type))
		return false;
	switch (type->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		return stack_bits & NTKLOG_STACKS_SPINLOCK;
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		/*
		 * Another thread, or a timer, writes the event of an excessive wait for the waiter.
		 */
		return stack_bits & NTKLOG_STACKS_RESOURCE &&
		       !(resource.action & WMI_RESOURCE_ACTION_EXCESSIVE);
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		return stack_bits & NTKLOG_STACKS_CONTEXTSWAP;
	default:
		return false;
	}
}

/**
 * stack_rundowns_free() - free the rundowns
 * @rundowns: rundowns of the file
 */
void stack_rundowns_free(struct stack_rundowns *rundowns)
{
	free(rundowns->rundowns);
}
