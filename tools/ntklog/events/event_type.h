/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EVENT_TYPE_H
#define _NTKLOG_EVENT_TYPE_H

/* The events that the tool knows, field by field, for all that print them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>

enum field_format {
	FIELD_DECIMAL,
	FIELD_SIGNED,
	FIELD_HEX,
	FIELD_SYMBOL,
};

/* In a record, bytes. */
struct field_place {
	uint16_t offset;
	uint16_t size;
};

struct event_symbol {
	uint32_t value;
	const char *name;
};

/*
 * @name: NT's
 * @format: how to print it
 * @where: in the 32-bit and in the 64-bit record: offset and bytes
 * @minus: place of a number that is subtracted, of a field that no record has by itself; size 0
 *	for a field of the record. A difference below 0 counts as 0
 * @mask: of the value, 0: all
 * @shift: to the right, after the mask
 * @version: of the event that has it; 0: all
 * @is_thread: it is the id of one
 * @is_code: it is the address of an instruction
 * @is_cycles: it is a time that lasts, in cycles
 * @symbols: of FIELD_SYMBOL: names of values
 * @symbol_count: how many
 */
struct event_field {
	const char *name;
	enum field_format format;
	struct field_place where[2];
	struct field_place minus[2];
	uint32_t mask;
	uint8_t shift;
	uint8_t version;
	bool is_thread;
	bool is_code;
	bool is_cycles;
	const struct event_symbol *symbols;
	size_t symbol_count;
};

/*
 * @hook_id: PERFINFO_LOG_TYPE_*
 * @version: of the event; others are not known
 * @last_version: up to this one, if it is not 0
 * @name: for people
 * @size: bytes of the 32-bit and of the 64-bit record
 * @fields: in the order of the record
 * @field_count: how many
 * @part: of a field, by a name of its own, for who chooses events by it; NULL: none
 */
struct event_type {
	uint16_t hook_id;
	uint16_t version;
	uint16_t last_version;
	const char *name;
	size_t size[2];
	const struct event_field *fields;
	size_t field_count;
	const struct event_field *part;
};

#define EVENT_TYPES	13

extern const struct event_type event_types[EVENT_TYPES];

const struct event_type *event_type_find(const struct etl_event *event);
int event_type_check(struct etl_file *file, const struct etl_event *event,
		     const struct event_type *type);
bool event_field_is_derived(const struct event_field *field);
bool event_has_field(const struct etl_event *event, const struct event_field *field);
const char *event_name(const struct etl_event *event, const struct event_type *type);
bool event_name_exists(const char *name);
uint64_t event_extension(const struct etl_event *event, unsigned int number);
uint64_t event_field_value(const struct event_field *field,
			   const struct etl_event *event);
const char *event_field_symbol(const struct event_field *field, uint64_t value);

#endif /* _NTKLOG_EVENT_TYPE_H */
