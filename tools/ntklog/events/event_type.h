/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EVENT_TYPE_H
#define _NTKLOG_EVENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>

#include "event_symbol.h"

enum field_format {
	FIELD_DECIMAL,
	FIELD_SIGNED,
	FIELD_HEX,
	FIELD_SYMBOL,
};

/* Offset and size of a member of a record, bytes. */
struct field_place {
	uint16_t offset;
	uint16_t size;
};

/*
 * @duration_name: name in a text that prints the value with a unit, which filters take, too; NULL:
 *	@name
 * @places: place in the 32-bit and in the 64-bit record
 * @subtracted_places: place of the number to subtract from that at @places, for a derived field,
 *	which no record has; size 0 for a field of the record. A negative difference counts as 0
 * @mask: bits of the value, or 0 for all bits
 * @shift: number of bits to shift right after masking
 * @version: version of the event that has the field, or 0 for all versions
 * @is_cycles: the value is a duration in cycles
 */
struct event_field {
	const char *name;
	const char *duration_name;
	enum field_format format;
	struct field_place places[2];
	struct field_place subtracted_places[2];
	uint32_t mask;
	uint8_t shift;
	uint8_t version;
	bool is_thread_id;
	bool is_code_address;
	bool is_cycles;
	const struct event_symbol *symbols;
	size_t symbol_count;
};

/**
 * event_field_is_lock() - test whether a field has the address of a lock
 * @field: field of a type of events
 *
 * Return: true for a lock, false for an instruction or a number.
 */
static inline bool event_field_is_lock(const struct event_field *field)
{
	return field->format == FIELD_HEX && !field->is_code_address;
}

/*
 * @version: first known version of the event
 * @last_version: last known version, or 0 if there is only one
 * @data_sizes: bytes of the 32-bit and of the 64-bit record
 * @filter_field: additional field for filters, which is some bits of one of @fields; or NULL
 */
struct event_type {
	uint16_t hook_id;
	uint16_t version;
	uint16_t last_version;
	const char *name;
	size_t data_sizes[2];
	const struct event_field *fields;
	size_t field_count;
	const struct event_field *filter_field;
};

#define EVENT_TYPES	23

extern const struct event_type event_types[EVENT_TYPES];

const struct event_type *event_type_find(const struct etl_event *event);
int event_leave_out_wrong_size(struct etl_file *file, const struct etl_event *event,
			       const struct event_type *type);

/**
 * event_has_size() - test whether an event has the size of its type
 * @event: event to check
 * @type: type of the event
 *
 * Return: true if it has.
 */
static inline bool event_has_size(const struct etl_event *event, const struct event_type *type)
{
	return event->data_size == type->data_sizes[event->pointer_size == 8];
}

/**
 * event_check_size() - check that an event has the size of its type, and count damage if not
 * @file: file of the event
 * @event: event to check
 * @type: type of the event
 *
 * Call the function once for an event, because each call counts a damaged event.
 *
 * Return: 0, or -1 if the size is wrong; then @file->error describes the first damage of the file.
 */
static inline int event_check_size(struct etl_file *file, const struct etl_event *event,
				   const struct event_type *type)
{
	return event_has_size(event, type) ? 0 : event_leave_out_wrong_size(file, event, type);
}

bool event_field_is_derived(const struct event_field *field);
bool event_has_field(const struct etl_event *event, const struct event_field *field);
const char *event_name(const struct etl_event *event, const struct event_type *type);
bool event_name_exists(const char *name);
uint64_t event_extension(const struct etl_event *event, unsigned int number);
bool event_field_is_duration(const struct event_field *field, const struct etl_event *event);
uint64_t event_field_value(const struct event_field *field,
			   const struct etl_event *event);
const char *event_field_symbol(const struct event_field *field, uint64_t value);

#endif /* _NTKLOG_EVENT_TYPE_H */
