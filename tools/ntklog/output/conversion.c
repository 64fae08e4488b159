// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include <ntklog/event.h>
#include <ntklog/wmi_resource.h>

#include "analysis.h"
#include "convert.h"
#include "wmi_record.h"

/**
 * conversion_find_rates() - find the sample rates before the events are read
 * @conversion: conversion of an open file, whose position stays
 */
void conversion_find_rates(struct conversion *conversion)
{
	static struct analysis analysis;

	analysis_find_rates(&analysis, conversion->file);
	conversion->rates = analysis.spinlocks.rates;
	analysis_free(&analysis);
}

/* Drop the open holds that an event of the selected time replaces or ends. */
static void follow_open_holds(struct conversion *conversion, const struct etl_event *event)
{
	struct resource_record record;

	if (event->hook_id == NTKLOG_LOG_TYPE_OPEN_HOLD) {
		open_holds_begin_list(&conversion->open_holds, event->data);
	} else if (event->hook_id == PERFINFO_LOG_TYPE_RESOURCE && conversion->open_holds.count) {
		resource_record_read(&record, event);
		if (resource_record_is_release(&record))
			open_holds_drop_entry(&conversion->open_holds, record.resource,
					      record.thread_id);
	}
}

/**
 * conversion_next() - get the next known event that the selection matches
 * @conversion: conversion of the trace
 * @type: set to the type of the event
 *
 * Damaged events are left out, and the first one is described in the file's error.
 *
 * Return: the event, which is valid until the next call; NULL at the end.
 */
const struct etl_event *conversion_next(struct conversion *conversion,
					const struct event_type **type)
{
	const struct etl_event *event;
	union wmi_record record;

	while ((event = stack_matcher_next(conversion->stacks, &conversion->stack))) {
		if (event->has_impossible_time ||
		    (conversion->stack && conversion->stack->state == STACK_ALONE))
			continue;
		*type = event_type_find(event);
		if (!*type &&
		    !selection_includes_event(conversion->selection, conversion->file, event, NULL,
					      conversion->names, NULL))
			continue;
		if (!*type) {
			/* Events of the first buffer describe the file and are not counted. */
			conversion->left_out_count += event->offset >=
						      conversion->file->buffer_size;
			continue;
		}
		if (!selection_includes_time(conversion->selection, conversion->file, event) ||
		    wmi_record_read(&record, conversion->file, event, *type))
			continue;
		follow_open_holds(conversion, event);
		if (event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_CALLER) {
			conversion->no_memory |= !kept_callers_keep(&conversion->callers, event);
			if (conversion->keeps_callers)
				continue;
		}
		if (!selection_includes_event(conversion->selection, conversion->file, event, *type,
					      conversion->names, conversion->callers))
			continue;
		conversion->converted_count++;
		return event;
	}
	return NULL;
}

/**
 * conversion_clear() - free what was kept of the events
 * @conversion: conversion whose events have been read
 */
void conversion_clear(struct conversion *conversion)
{
	free(conversion->callers);
	open_holds_free(&conversion->open_holds);
}
