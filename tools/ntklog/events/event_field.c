// SPDX-License-Identifier: GPL-2.0-only

#include <string.h>

#include <ntklog/event.h>
#include <ntklog/wmi_resource.h>

#include "event_type.h"
#include "wmi_record.h"

/**
 * event_field_is_derived() - test whether a field is computed from others
 * @field: field of any type of event
 *
 * Return: true if no record has the field; false if it is part of a record.
 */
bool event_field_is_derived(const struct event_field *field)
{
	return field->subtracted_places[0].size;
}

/**
 * event_has_field() - test whether an event's version has a field
 * @event: event of a known type
 * @field: field of that type
 *
 * Return: true if the version has the field.
 */
bool event_has_field(const struct etl_event *event, const struct event_field *field)
{
	return !field->version || field->version == event->version;
}

/**
 * event_field_is_duration() - test whether a value is a number of cycles that something lasted
 * @field: field of the event's type
 * @event: event whose data has the size of its type
 *
 * WaitTime of a resource is the clock at which the wait began if the wait is excessive and goes
 * on, and WMI_RESOURCE_WAIT_TIME_UNKNOWN if the wait was not measured.
 *
 * Return: true if the value of the field is a duration in cycles.
 */
bool event_field_is_duration(const struct event_field *field, const struct etl_event *event)
{
	struct resource_record record;

	if (!field->is_cycles)
		return false;
	if (event->hook_id != PERFINFO_LOG_TYPE_RESOURCE || strcmp(field->name, "WaitTime"))
		return true;
	resource_record_read(&record, event);
	return record.action != WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE &&
	       record.action != WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED &&
	       record.wait_time != WMI_RESOURCE_WAIT_TIME_UNKNOWN;
}

/**
 * event_field_value() - read a field of an event
 * @field: field of the event's type
 * @event: event whose data has the size of its type
 *
 * Return: the value.
 */
uint64_t event_field_value(const struct event_field *field,
			   const struct etl_event *event)
{
	int is_64bit = event->pointer_size == 8;
	uint64_t value = 0;

	memcpy(&value, event->data + field->places[is_64bit].offset,
	       field->places[is_64bit].size);
	if (event_field_is_derived(field)) {
		uint64_t subtrahend = 0;

		memcpy(&subtrahend, event->data + field->subtracted_places[is_64bit].offset,
		       field->subtracted_places[is_64bit].size);
		return value > subtrahend ? value - subtrahend : 0;
	}
	if (field->mask)
		value = (value & field->mask) >> field->shift;
	/* Extend the sign to 64 bits. */
	if (field->format == FIELD_SIGNED) {
		uint64_t sign = UINT64_C(1) << (8 * field->places[is_64bit].size - 1);

		value = (value ^ sign) - sign;
	}
	return value;
}

/**
 * event_field_symbol() - get the name of a value
 * @field: field of format FIELD_SYMBOL
 * @value: value of the field
 *
 * Return: the name, or NULL if it has none.
 */
const char *event_field_symbol(const struct event_field *field, uint64_t value)
{
	size_t i;

	for (i = 0; i < field->symbol_count; i++)
		if (field->symbols[i].value == value)
			return field->symbols[i].name;
	return NULL;
}
