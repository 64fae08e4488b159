// SPDX-License-Identifier: GPL-2.0-only

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dump_plan.h"
#include "macros.h"

#define SYMBOL_SLOTS	64

enum print_step_kind {
	STEP_NOTHING,
	STEP_DECIMAL,
	STEP_JSON_DECIMAL,
	STEP_SIGNED,
	STEP_HEX,
	STEP_SYMBOL,
	STEP_DERIVED,
	STEP_JSON_DERIVED,
	STEP_DURATION,
};

/* @text: name of @value; empty in an unused slot */
struct symbol_slot {
	struct short_text text;
	uint32_t value;
};

/* @character_after: character behind the value, or NUL for none */
struct print_step {
	struct short_text label;
	enum print_step_kind kind;
	struct field_place places[2];
	uint32_t mask;
	uint8_t shift;
	char character_after;
	struct names_cache *names;
	struct short_text name_text;
	const struct event_field *field;
	struct symbol_slot *symbols;
};

/* @head: text before all fields, with the name of the event */
struct dump_plan {
	struct short_text head;
	size_t step_count;
	struct print_step steps[];
};

static inline uint64_t read_step_value(const struct print_step *step, const struct etl_event *event)
{
	int is_64bit = event->pointer_size == 8;
	const unsigned char *at = event->data + step->places[is_64bit].offset;
	uint64_t value64;
	uint32_t value32;
	uint16_t value16;

	switch (step->places[is_64bit].size) {
	case 8:
		memcpy(&value64, at, 8);
		break;
	case 4:
		memcpy(&value32, at, 4);
		value64 = value32;
		break;
	case 2:
		memcpy(&value16, at, 2);
		value64 = value16;
		break;
	default:
		value64 = *at;
	}
	return step->mask ? (value64 & step->mask) >> step->shift : value64;
}

static inline int64_t extend_sign(const struct print_step *step, const struct etl_event *event,
				  uint64_t value)
{
	unsigned int more = 64 - 8 * step->places[event->pointer_size == 8].size;

	return (int64_t)(value << more) >> more;
}

/* Hash a value. The actions of different kinds of locks differ only above the low bits. */
static inline uint64_t compute_slot_index(uint64_t value)
{
	return (value ^ value >> 14) % SYMBOL_SLOTS;
}

static inline char *put_symbol(char *dest, const struct print_step *step, uint64_t value)
{
	const struct symbol_slot *slot = &step->symbols[compute_slot_index(value)];
	const char *text;

	if (slot->text.length && slot->value == value)
		return put_short_text(dest, &slot->text);
	text = event_field_symbol(step->field, value);
	return text ? put_text(dest, text) : put_unsigned(dest, value);
}

/* Put a duration with its unit: whole nanoseconds, or a longer unit with three decimals. */
static char *put_duration(char *dest, double ns)
{
	static const struct {
		double ns;
		char unit[3];
	} units[] = { { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };
	double thousandths;
	uint64_t whole_thousandths;
	size_t i = 0;

	if (ns < 999.5)
		return put_literal(put_unsigned(dest, (uint64_t)(ns + .5)), "ns");
	/* From 999.9995 on a number would be printed as 1000.000. */
	while (i < 2 && ns >= 999.9995 * units[i].ns)
		i++;
	thousandths = ns / units[i].ns * 1000 + .5;
	/* A duration of 64 bits in a file whose clock is slow may exceed 64 bits in thousandths. */
	whole_thousandths = thousandths < 0x1p64 ? (uint64_t)thousandths : UINT64_MAX;
	dest = put_unsigned(dest, whole_thousandths / 1000);
	*dest++ = '.';
	*dest++ = '0' + whole_thousandths / 100 % 10;
	*dest++ = '0' + whole_thousandths / 10 % 10;
	*dest++ = '0' + whole_thousandths % 10;
	return put_text(dest, units[i].unit);
}

/**
 * dump_plans_put() - print the name and the fields of an event
 * @plans: plans from dump_plans_make()
 * @dest: buffer of DUMP_FIELDS_SIZE bytes
 * @event: event to print
 * @type: type of the event
 *
 * Return: the end of the text.
 */
char *dump_plans_put(struct dump_plans *plans, char *dest, const struct etl_event *event,
		     const struct event_type *type)
{
	const struct dump_plan *plan =
		plans->plans[type - event_types][event->version - type->version];
	const struct print_step *step = plan->steps, *end = step + plan->step_count;

	dest = put_short_text(dest, &plan->head);
	if (plans->format == DUMP_CSV) {
		dest = put_unsigned(dest, event->size);
		dest = put_hex(put_literal(dest, ","), event->header_type);
	}
	for (; step < end; step++) {
		const struct cached_name *name;
		uint64_t value;

		dest = put_short_text(dest, &step->label);
		if (step->kind == STEP_NOTHING)
			continue;
		value = read_step_value(step, event);
		switch (step->kind) {
		case STEP_HEX:
			dest = put_hex(dest, value);
			break;
		case STEP_SYMBOL:
			dest = put_symbol(dest, step, value);
			break;
		case STEP_SIGNED:
			dest = put_signed(dest, extend_sign(step, event, value));
			break;
		case STEP_JSON_DECIMAL:
			dest = put_json_unsigned(dest, value);
			break;
		case STEP_DERIVED:
			dest = put_unsigned(dest, event_field_value(step->field, event));
			break;
		case STEP_JSON_DERIVED:
			dest = put_json_unsigned(dest, event_field_value(step->field, event));
			break;
		case STEP_DURATION:
			value = event_field_value(step->field, event);
			dest = event_field_is_duration(step->field, event) ?
				put_duration(dest, (double)value * plans->ns_per_cycle) :
				put_unsigned(dest, value);
			break;
		default:
			dest = put_unsigned(dest, value);
		}
		if (step->character_after)
			*dest++ = step->character_after;
		if (!step->names)
			continue;
		name = step->names == &plans->lock_names ?
			names_cache_find_at(step->names, value, event->time_stamp) :
			names_cache_find(step->names, value);
		if (!name->length)
			continue;
		dest = put_short_text(dest, &step->name_text);
		dest = put_short_bytes(dest, name->text, name->length);
	}
	return dest;
}

/* Replace spaces, because in text a space ends the field. */
static size_t format_text(char *dest, const char *name)
{
	char *at;

	for (at = dest; *name; name++)
		*at++ = *name == ' ' || *name == '\t' ? '_' : *name;
	return at - dest;
}

static size_t format_csv(char *dest, const char *name)
{
	char *at = dest;

	if (!name[strcspn(name, ",\"")])
		return put_text(dest, name) - dest;
	*at++ = '"';
	for (; *name; name++) {
		if (*name == '"')
			*at++ = '"';
		*at++ = *name;
	}
	*at++ = '"';
	return at - dest;
}

static size_t format_json(char *dest, const char *name)
{
	size_t length = names_format_json(dest, name);

	dest[length++] = '"';
	return length;
}

__printf(2, 3)
static void format_short_text(struct short_text *label, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	label->length = vsnprintf(label->text, sizeof(label->text), format, arguments);
	va_end(arguments);
}

static int make_value_names(struct print_step *step)
{
	const struct event_field *field = step->field;
	struct symbol_slot *slot;
	size_t i;

	step->symbols = calloc(SYMBOL_SLOTS, sizeof(*step->symbols));
	if (!step->symbols)
		return -1;
	for (i = 0; i < field->symbol_count; i++) {
		slot = &step->symbols[compute_slot_index(field->symbols[i].value)];
		/* put_symbol() searches the field for a value whose slot is taken. */
		if (slot->text.length)
			continue;
		format_short_text(&slot->text, "%s", field->symbols[i].name);
		slot->value = field->symbols[i].value;
	}
	return 0;
}

/* Make all of a step but its labels. */
static int make_step(struct dump_plans *plans, struct print_step *step,
		     const struct event_field *field)
{
	static const enum print_step_kind kinds[] = {
		[FIELD_DECIMAL] = STEP_DECIMAL,
		[FIELD_SIGNED] = STEP_SIGNED,
		[FIELD_HEX] = STEP_HEX,
		[FIELD_SYMBOL] = STEP_SYMBOL,
	};
	size_t i;

	step->field = field;
	step->kind = kinds[field->format];
	if (event_field_is_derived(field))
		step->kind = STEP_DERIVED;
	if (plans->format == DUMP_JSON && step->kind == STEP_DECIMAL)
		step->kind = STEP_JSON_DECIMAL;
	if (plans->format == DUMP_JSON && step->kind == STEP_DERIVED)
		step->kind = STEP_JSON_DERIVED;
	if (plans->ns_per_cycle && field->is_cycles)
		step->kind = STEP_DURATION;
	for (i = 0; i < 2; i++)
		step->places[i] = field->places[i];
	step->mask = field->mask;
	step->shift = field->shift;
	if (plans->has_names && field->format == FIELD_HEX)
		step->names = field->is_code_address ? &plans->code_names : &plans->lock_names;
	else if (plans->has_names && field->is_thread_id)
		step->names = &plans->thread_names;
	return field->format == FIELD_SYMBOL ? make_value_names(step) : 0;
}

static int make_named_steps(struct dump_plans *plans, struct dump_plan *plan,
			    const struct event_type *type, const struct etl_event *event)
{
	bool is_json = plans->format == DUMP_JSON;
	size_t i;

	format_short_text(&plan->head, is_json ? "%s\"" : " %s", type->name);
	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		/* Readers of JSON may round the number of an address. */
		bool is_quoted = is_json && (field->format == FIELD_HEX ||
					     field->format == FIELD_SYMBOL);
		/* The name of a ThreadId is called ThreadName. */
		int length = strlen(field->name) - (field->is_thread_id ? 2 : 0);
		struct print_step *step = &plan->steps[plan->step_count];
		const char *name = field->name;

		if (!event_has_field(event, field))
			continue;
		if (make_step(plans, step, field))
			return -1;
		if (step->kind == STEP_DURATION && field->duration_name)
			name = field->duration_name;
		format_short_text(&step->label, is_json ? ",\"%s\":%s" : " %s=%s", name,
				  is_quoted ? "\"" : "");
		format_short_text(&step->name_text, is_json ? ",\"%.*s%s\":\"" : " %.*s%s=", length,
				  field->name, field->is_thread_id ? "Name" : "Symbol");
		step->character_after = is_quoted ? '"' : '\0';
		plan->step_count++;
	}
	return 0;
}

/* Add the commas of columns that are empty for this event. */
static void add_commas(struct short_text *label, size_t count)
{
	memset(label->text + label->length, ',', count);
	label->length += count;
}

static int make_csv_steps(struct dump_plans *plans, struct dump_plan *plan,
			  const struct event_type *type, const struct etl_event *event)
{
	const struct dump_columns *columns = &plans->columns;
	const struct event_field *const *fields = columns->fields[type - event_types];
	struct print_step *step = plan->steps;
	size_t i;

	format_short_text(&plan->head, ",%s,0x%04x,%u,", type->name, type->hook_id, event->version);
	/* Columns of other headers: Provider, Id, Opcode, Level, ProcessId. */
	add_commas(&step->label, 5);
	for (i = 0; i < columns->column_count; i++) {
		add_commas(&step->label, 1);
		if (fields[i] && event_has_field(event, fields[i])) {
			if (make_step(plans, step, fields[i]))
				return -1;
			if (columns->suffixes[i])
				step->character_after = ',';
		} else if (columns->suffixes[i]) {
			add_commas(&step->label, 1);
		}
		/* A step is complete with its value, or when its label is full. */
		if (step->kind != STEP_NOTHING || step->label.length > sizeof(step->label.text) - 2)
			step++;
	}
	plan->step_count = step + 1 - plan->steps;
	return 0;
}

static int make_plan(struct dump_plans *plans, const struct event_type *type,
		     unsigned int version)
{
	struct dump_plan **place = &plans->plans[type - event_types][version - type->version];
	const struct etl_event event = { .version = version };

	/* Allocate a step for each field, and some for commas alone. */
	*place = calloc(1, sizeof(**place) +
			(type->field_count + DUMP_COLUMNS_MAX / 16 + 1) *
			sizeof(struct print_step));
	if (!*place)
		return -1;
	return plans->format == DUMP_CSV ? make_csv_steps(plans, *place, type, &event) :
					   make_named_steps(plans, *place, type, &event);
}

/* Make the columns of a CSV. Fields of the same name in several events share a column. */
static void make_columns(struct dump_columns *columns)
{
	size_t i, j, k;

	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < event_types[i].field_count; j++) {
			const struct event_field *field = &event_types[i].fields[j];

			for (k = 0; k < columns->column_count; k++)
				if (!strcmp(columns->names[k], field->name))
					break;
			if (k == DUMP_COLUMNS_MAX)
				continue;
			columns->fields[i][k] = field;
			if (k < columns->column_count)
				continue;
			if (!strcmp(field->name, "ThreadId"))
				columns->thread_column = k;
			columns->names[k] = field->name;
			if (field->format == FIELD_HEX)
				columns->suffixes[k] = "Symbol";
			else if (field->is_thread_id)
				columns->suffixes[k] = "Name";
			columns->column_count++;
		}
}

/**
 * dump_plans_make() - make the plans of all types and versions
 * @plans: plans, all zero; the caller must use dump_plans_clear() even after a failure
 * @format: format to print
 * @names: names of the trace, or NULL
 * @ns_per_cycle: print durations with units; 0: in cycles
 *
 * Return: 0, or -1 without memory.
 */
int dump_plans_make(struct dump_plans *plans, enum dump_format format,
		    const struct names *names, double ns_per_cycle)
{
	static size_t (*const formats[])(char *dest, const char *name) = {
		[DUMP_TEXT] = format_text, [DUMP_JSON] = format_json, [DUMP_CSV] = format_csv,
	};
	unsigned int version, last;
	size_t i;

	plans->format = format;
	plans->has_names = names;
	plans->ns_per_cycle = ns_per_cycle;
	plans->lock_names.names = names;
	plans->lock_names.format = formats[format];
	plans->lock_names.kind = CACHED_LOCKS;
	plans->code_names.names = names;
	plans->code_names.format = formats[format];
	plans->code_names.kind = CACHED_CODE;
	plans->thread_names.names = names;
	plans->thread_names.format = formats[format];
	plans->thread_names.kind = CACHED_THREADS;
	make_columns(&plans->columns);
	for (i = 0; i < EVENT_TYPES; i++) {
		version = event_types[i].version;
		last = event_types[i].last_version ? event_types[i].last_version : version;
		assert(last - version < DUMP_VERSIONS_MAX);
		for (; version <= last; version++)
			if (make_plan(plans, &event_types[i], version))
				return -1;
	}
	return 0;
}

/**
 * dump_plans_clear() - free plans
 * @plans: plans from dump_plans_make()
 */
void dump_plans_clear(struct dump_plans *plans)
{
	size_t i, j, k;

	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < DUMP_VERSIONS_MAX; j++) {
			struct dump_plan *plan = plans->plans[i][j];

			for (k = 0; plan && k < plan->step_count; k++)
				free(plan->steps[k].symbols);
			free(plan);
		}
	names_cache_clear(&plans->lock_names);
	names_cache_clear(&plans->code_names);
	names_cache_clear(&plans->thread_names);
}
