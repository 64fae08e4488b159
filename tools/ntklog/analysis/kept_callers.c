// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "kept_callers.h"

/**
 * kept_callers_keep() - keep the last NtklogCaller event of each CPU for the record that follows it
 * @callers: one entry for each CPU, allocated at the first event; the caller frees it
 * @event: event of type NtklogCaller, whose size has been checked
 *
 * Return: false without memory.
 */
bool kept_callers_keep(struct kept_caller **callers, const struct etl_event *event)
{
	struct kept_caller *kept;

	if (!*callers)
		*callers = calloc(UINT16_MAX + 1, sizeof(**callers));
	if (!*callers)
		return false;
	kept = &(*callers)[event->processor];
	kept->time_stamp = event->time_stamp;
	kept->has_off_cpu_times = event->data_size == sizeof(kept->caller_event);
	kept->block_stack.blocked = 0;
	if (kept->has_off_cpu_times) {
		memcpy(&kept->caller_event, event->data, sizeof(kept->caller_event));
	} else {
		kept->caller_event = (struct ntklog_caller) { 0 };
		memcpy(&kept->caller_event, event->data, event->data_size);
	}
	return true;
}

/**
 * kept_callers_add_block_stack() - keep an event that says where a holder was blocked
 * @callers: from kept_callers_keep(), or NULL
 * @event: event of type NtklogBlockStack
 *
 * Without the event of the same record before it, the event is ignored.
 */
void kept_callers_add_block_stack(struct kept_caller *callers, const struct etl_event *event)
{
	struct kept_caller *kept;

	if (!callers)
		return;
	kept = &callers[event->processor];
	if (kept->time_stamp == event->time_stamp)
		memcpy(&kept->block_stack, event->data, sizeof(kept->block_stack));
}

/**
 * kept_callers_complete_record() - set the members of a record that the events before it have
 * @callers: from kept_callers_keep(), or NULL
 * @event: event of the record
 * @record: the record, with the lock's own address; it may point into @callers afterwards
 *
 * These members stay 0 if the file has no NtklogCaller event for the record, or if it was lost.
 */
void kept_callers_complete_record(const struct kept_caller *callers, const struct etl_event *event,
				  struct resource_record *record)
{
	const struct kept_caller *kept;

	if (!callers)
		return;
	kept = &callers[event->processor];
	if (kept->time_stamp != event->time_stamp || kept->caller_event.lock != record->resource)
		return;
	record->caller = kept->caller_event.caller;
	record->has_off_cpu_times = kept->has_off_cpu_times;
	record->hold_ready_cycles = kept->caller_event.hold_ready;
	record->hold_blocked_cycles = kept->caller_event.hold_blocked;
	record->wait_last_ready_cycles = kept->caller_event.wait_last_ready;
	record->wait_blocked_cycles = kept->caller_event.wait_blocked;
	if (kept->block_stack.blocked && kept->block_stack.lock == record->resource)
		record->block_stack = &kept->block_stack;
}
