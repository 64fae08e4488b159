// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as text, JSON and CSV. What is the same for all events of a type, names of fields
 * and what is around them, is made once; what is the same for many, names of addresses, is
 * kept; all of a line is put where it is written from, by a pointer that goes on.
 */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dump_writer.h"
#include "event_header.h"
#include "message.h"
#include "names_cache.h"
#include "out.h"

/* Of a line without the data in hexadecimal. */
#define LINE_SIZE	0x8000

/* Of a field's name with what is around it. */
#define LABEL_SIZE	64

/* Fields of all events, each name once. */
#define COLUMNS_MAX	64

/* Room of a line is not looked for each time: fields, their names and those of symbols. */
_Static_assert(LINE_SIZE > 24 * (2 * LABEL_SIZE + OUT_DIGITS + NAMES_CACHE_TEXT) + 2048,
	       "a line has room");

struct label {
	unsigned int length;
	char text[LABEL_SIZE];
};

/*
 * @label: before the value
 * @name_label: before the name of an address or a thread
 */
struct field_labels {
	struct label label;
	struct label name_label;
};

/*
 * @out: where to
 * @format: of it
 * @file: that the events are of
 * @cycles: raw times too
 * @hex: data too
 * @names: of addresses
 * @labels: by type and field
 * @columns: names of CSV's
 * @name_suffix: by column: another one follows, with the name
 * @column_count: how many
 * @fields: by type and column; NULL: the event has none such
 * @thread_column: of ThreadId
 */
struct dump_writer {
	struct out out;
	enum dump_format format;
	const struct etl_file *file;
	bool cycles;
	bool hex;
	struct names_cache names;
	struct field_labels *labels[EVENT_TYPES];
	const char *columns[COLUMNS_MAX];
	const char *name_suffix[COLUMNS_MAX];
	size_t column_count;
	const struct event_field *fields[EVENT_TYPES][COLUMNS_MAX];
	size_t thread_column;
};

static inline char *put_bytes(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

#define put_literal(to, text)	put_bytes(to, text, sizeof(text) - 1)

static inline char *put_text(char *to, const char *text)
{
	return put_bytes(to, text, strlen(text));
}

static inline char *put_label(char *to, const struct label *label)
{
	/* All of it, whose length is known, is faster than what there is of it. */
	memcpy(to, label->text, LABEL_SIZE);
	return to + label->length;
}

static inline char *put_unsigned(char *to, uint64_t value)
{
	char digits[OUT_DIGITS], *start;

	if (value < 10) {
		*to = '0' + value;
		return to + 1;
	}
	start = out_digits(digits + OUT_DIGITS, value);
	return put_bytes(to, start, digits + OUT_DIGITS - start);
}

static inline char *put_hex(char *to, uint64_t value)
{
	unsigned int digits = value ? (67 - __builtin_clzll(value)) / 4 : 1, i;

	to[0] = '0';
	to[1] = 'x';
	for (i = digits; i > 0; i--, value >>= 4)
		to[1 + i] = "0123456789abcdef"[value & 0xF];
	return to + 2 + digits;
}

/* Four digits at the least, as hook ids have. */
static char *put_hook_id(char *to, uint16_t id)
{
	to = put_literal(to, "0x");
	*to++ = "0123456789abcdef"[id >> 12];
	*to++ = "0123456789abcdef"[id >> 8 & 0xF];
	*to++ = "0123456789abcdef"[id >> 4 & 0xF];
	*to++ = "0123456789abcdef"[id & 0xF];
	return to;
}

/*
 * Seconds with so many decimals, and blanks before them up to the width: what printf() makes
 * of them. What is half of the last decimal there is a little more or less, which the
 * product has lost.
 */
static char *put_seconds(char *to, const struct etl_file *file, uint64_t time_stamp,
			 double scale, unsigned int decimals, unsigned int width)
{
	double seconds = etl_seconds(file, time_stamp), value = fabs(seconds) * scale, part;
	double lost = 0;
	char digits[OUT_DIGITS + 1], *end = digits + sizeof(digits), *start;
	unsigned int length, i;
	uint64_t whole;

	/* More digits than a double has; no session is so long. */
	if (value >= 1e15)
		return to + sprintf(to, "%*.*f", width, decimals, seconds);
	whole = (uint64_t)value;
	part = value - (double)whole;
	if (part == .5)
		lost = fma(fabs(seconds), scale, -value);
	whole += part > .5 || (part == .5 && (lost > 0 || (!(lost < 0) && whole & 1)));
	start = out_digits(end, whole);
	while (end - start <= (int)decimals)
		*--start = '0';
	length = end - start;
	for (i = length + 1 + (seconds < 0); i < width; i++)
		*to++ = ' ';
	if (seconds < 0)
		*to++ = '-';
	to = put_bytes(to, start, length - decimals);
	*to++ = '.';
	return put_bytes(to, end - decimals, decimals);
}

/* JSON has no need of zeros at the end. */
static char *put_json_seconds(char *to, const struct etl_file *file, uint64_t time_stamp)
{
	to = put_seconds(to, file, time_stamp, 1e12, 12, 0);
	while (to[-1] == '0' && to[-2] != '.')
		to--;
	return to;
}

/* Of any size that a field has, without a call for each. */
static inline uint64_t field_value(const struct event_field *field,
				   const struct etl_event *event)
{
	int which = event->pointer_size == 8;
	const unsigned char *at = event->data + field->where[which].offset;
	uint64_t value64;
	uint32_t value32;

	if (field->mask || field->format == FIELD_SIGNED)
		return event_field_value(field, event);
	switch (field->where[which].size) {
	case 8:
		memcpy(&value64, at, 8);
		return value64;
	case 4:
		memcpy(&value32, at, 4);
		return value32;
	case 1:
		return *at;
	default:
		return event_field_value(field, event);
	}
}

static char *put_value(char *to, const struct event_field *field, uint64_t value)
{
	const char *symbol;

	switch (field->format) {
	case FIELD_HEX:
		return put_hex(to, value);
	case FIELD_SYMBOL:
		symbol = event_field_symbol(field, value);
		if (symbol)
			return put_text(to, symbol);
		break;
	case FIELD_SIGNED:
		if ((int64_t)value < 0) {
			*to++ = '-';
			value = -value;
		}
		break;
	case FIELD_DECIMAL:
		break;
	}
	return put_unsigned(to, value);
}

/* Addresses are text to JSON, whose readers would round them; so are names of values. */
static bool is_json_text(const struct event_field *field, uint64_t value)
{
	return field->format == FIELD_HEX || field->format == FIELD_SYMBOL ||
	       (field->format == FIELD_DECIMAL && value > INT64_MAX);
}

static size_t format_text(char *to, const char *name)
{
	/* A space would end the field, and the module is behind one. */
	size_t length = strcspn(name, " ");

	memcpy(to, name, length);
	return length;
}

static size_t format_csv(char *to, const char *name)
{
	char *at = to;

	if (!name[strcspn(name, ",\"")])
		return put_text(to, name) - to;
	*at++ = '"';
	for (; *name; name++) {
		if (*name == '"')
			*at++ = '"';
		*at++ = *name;
	}
	*at++ = '"';
	return at - to;
}

/* Of a thread, whose name may have spaces. */
static char *put_thread_name(struct dump_writer *writer, char *to, const char *name)
{
	char *from = to;
	char cut[NAME_SIZE];

	snprintf(cut, sizeof(cut), "%s", name);
	if (writer->format == DUMP_JSON)
		return to + names_format_json(to, cut);
	if (writer->format == DUMP_CSV)
		return to + format_csv(to, cut);
	to = put_text(to, cut);
	for (; from < to; from++)
		if (*from == ' ')
			*from = '_';
	return to;
}

static char *put_text_fields(struct dump_writer *writer, char *to,
			     const struct etl_event *event, const struct event_type *type)
{
	const struct field_labels *labels = writer->labels[type - event_types];
	size_t i;

	*to++ = ' ';
	to = put_text(to, type->name);
	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		uint64_t value;

		if (!event_has_field(event, field))
			continue;
		value = field_value(field, event);
		to = put_label(to, &labels[i].label);
		to = put_value(to, field, value);
		if (field->format == FIELD_HEX && writer->names.names) {
			const struct cached_name *name = names_cache_find(&writer->names, value);

			if (name->length) {
				to = put_label(to, &labels[i].name_label);
				to = put_bytes(to, name->text, name->length);
			}
		} else if (field->is_thread) {
			const char *name = names_thread(writer->names.names, value);

			if (name) {
				to = put_label(to, &labels[i].name_label);
				to = put_thread_name(writer, to, name);
			}
		}
	}
	return to;
}

static char *put_provider(char *to, const struct event_header_info *info)
{
	const char *name = provider_name(info->provider);

	if (name)
		return put_text(to, name);
	guid_format(info->provider, to);
	return to + GUID_SIZE - 1;
}

static char *put_text_unknown(char *to, const struct etl_event *event)
{
	struct event_header_info info;

	event_header_read(&info, event);
	*to++ = ' ';
	to = put_text(to, event_name(event, NULL));
	if (event->has_hook_id) {
		to = put_hook_id(put_literal(to, " HookId="), event->hook_id);
		to = put_unsigned(put_literal(to, " Version="), event->version);
	} else {
		to = put_literal(to, " HeaderType=0x");
		*to++ = "0123456789abcdef"[event->header_type >> 4];
		*to++ = "0123456789abcdef"[event->header_type & 0xF];
	}
	to = put_unsigned(put_literal(to, " Size="), event->size);
	if (info.has_provider)
		to = put_provider(put_literal(to, " Provider="), &info);
	if (info.has_id)
		to = put_unsigned(put_literal(to, " Id="), info.id);
	if (info.has_opcode) {
		to = put_unsigned(put_literal(to, " Version="), info.version);
		to = put_unsigned(put_literal(to, " Opcode="), info.opcode);
		to = put_unsigned(put_literal(to, " Level="), info.level);
	}
	if (info.has_process) {
		to = put_unsigned(put_literal(to, " ProcessId="), info.process_id);
		to = put_unsigned(put_literal(to, " ThreadId="), info.thread_id);
	}
	return to;
}

static uint64_t extension_value(const struct etl_event *event, unsigned int i)
{
	uint64_t value;

	memcpy(&value, event->extension + 8 * i, sizeof(value));
	return value;
}

static char *put_text_event(struct dump_writer *writer, char *to,
			    const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	to = put_seconds(to, writer->file, event->time_stamp, 1e9, 9, 14);
	to = put_unsigned(put_literal(to, " cpu"), event->processor);
	if (type)
		to = put_text_fields(writer, to, event, type);
	else
		to = put_text_unknown(to, event);
	for (i = 0; i < event->counters; i++) {
		to = put_unsigned(put_literal(to, " Pmc"), i);
		*to++ = '=';
		to = put_unsigned(to, extension_value(event, i));
	}
	if (event->has_pebs_index)
		to = put_unsigned(put_literal(to, " PebsIndex="),
				  extension_value(event, event->counters));
	if (event->wrong_time)
		to = put_unsigned(put_literal(to, " WrongTimeStamp="), event->raw_time);
	else if (writer->cycles)
		to = put_unsigned(put_literal(to, " TimeStamp="), event->time_stamp);
	return to;
}

static char *put_json_fields(struct dump_writer *writer, char *to,
			     const struct etl_event *event, const struct event_type *type)
{
	const struct field_labels *labels = writer->labels[type - event_types];
	size_t i;

	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		uint64_t value;

		if (!event_has_field(event, field))
			continue;
		value = field_value(field, event);
		to = put_label(to, &labels[i].label);
		if (is_json_text(field, value)) {
			*to++ = '"';
			to = put_value(to, field, value);
			*to++ = '"';
		} else {
			to = put_value(to, field, value);
		}
		if (field->format == FIELD_HEX && writer->names.names) {
			const struct cached_name *name = names_cache_find(&writer->names, value);

			if (name->length) {
				to = put_label(to, &labels[i].name_label);
				to = put_bytes(to, name->text, name->length);
				*to++ = '"';
			}
		} else if (field->is_thread) {
			const char *name = names_thread(writer->names.names, value);

			if (name) {
				to = put_label(to, &labels[i].name_label);
				to = put_thread_name(writer, to, name);
				*to++ = '"';
			}
		}
	}
	return to;
}

static char *put_json_unknown(char *to, const struct etl_event *event)
{
	struct event_header_info info;

	event_header_read(&info, event);
	if (event->has_hook_id) {
		to = put_unsigned(put_literal(to, ",\"HookId\":"), event->hook_id);
		to = put_unsigned(put_literal(to, ",\"Version\":"), event->version);
	} else {
		to = put_unsigned(put_literal(to, ",\"HeaderType\":"), event->header_type);
	}
	to = put_unsigned(put_literal(to, ",\"Size\":"), event->size);
	if (info.has_provider) {
		to = put_provider(put_literal(to, ",\"Provider\":\""), &info);
		to = put_literal(to, "\",\"ProviderGuid\":\"");
		guid_format(info.provider, to);
		to = put_literal(to + GUID_SIZE - 1, "\"");
	}
	if (info.has_id)
		to = put_unsigned(put_literal(to, ",\"Id\":"), info.id);
	if (info.has_opcode) {
		to = put_unsigned(put_literal(to, ",\"Version\":"), info.version);
		to = put_unsigned(put_literal(to, ",\"Opcode\":"), info.opcode);
		to = put_unsigned(put_literal(to, ",\"Level\":"), info.level);
	}
	if (info.has_process) {
		to = put_unsigned(put_literal(to, ",\"ProcessId\":"), info.process_id);
		to = put_unsigned(put_literal(to, ",\"ThreadId\":"), info.thread_id);
	}
	return to;
}

static char *put_json_event(struct dump_writer *writer, char *to,
			    const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	to = put_json_seconds(put_literal(to, "{\"Time\":"), writer->file, event->time_stamp);
	to = put_unsigned(put_literal(to, ",\"Cpu\":"), event->processor);
	to = put_text(put_literal(to, ",\"Event\":\""), event_name(event, type));
	*to++ = '"';
	if (type)
		to = put_json_fields(writer, to, event, type);
	else
		to = put_json_unknown(to, event);
	for (i = 0; i < event->counters; i++) {
		to = put_unsigned(put_literal(to, ",\"Pmc"), i);
		to = put_unsigned(put_literal(to, "\":"), extension_value(event, i));
	}
	if (event->has_pebs_index)
		to = put_unsigned(put_literal(to, ",\"PebsIndex\":"),
				  extension_value(event, event->counters));
	if (event->wrong_time)
		to = put_unsigned(put_literal(to, ",\"WrongTimeStamp\":"), event->raw_time);
	else if (writer->cycles)
		to = put_unsigned(put_literal(to, ",\"TimeStamp\":"), event->time_stamp);
	return to;
}

static char *put_csv_name(struct dump_writer *writer, char *to,
			  const struct event_field *field, uint64_t value)
{
	const struct cached_name *cached;
	const char *name;

	if (!writer->names.names)
		return to;
	if (field->is_thread) {
		name = names_thread(writer->names.names, value);
		return name ? put_thread_name(writer, to, name) : to;
	}
	cached = names_cache_find(&writer->names, value);
	return put_bytes(to, cached->text, cached->length);
}

static char *put_csv_fields(struct dump_writer *writer, char *to,
			    const struct etl_event *event, const struct event_type *type)
{
	const struct event_field *const *fields = writer->fields[type - event_types];
	size_t i;

	for (i = 0; i < writer->column_count; i++) {
		const struct event_field *field = fields[i];
		uint64_t value;

		*to++ = ',';
		if (!field || !event_has_field(event, field)) {
			if (writer->name_suffix[i])
				*to++ = ',';
			continue;
		}
		value = field_value(field, event);
		to = put_value(to, field, value);
		if (writer->name_suffix[i]) {
			*to++ = ',';
			to = put_csv_name(writer, to, field, value);
		}
	}
	return to;
}

static char *put_csv_event(struct dump_writer *writer, char *to,
			   const struct etl_event *event, const struct event_type *type)
{
	struct event_header_info info = { 0 };
	size_t i;

	if (!type)
		event_header_read(&info, event);
	to = put_seconds(to, writer->file, event->time_stamp, 1e9, 9, 0);
	*to++ = ',';
	if (writer->cycles) {
		to = put_unsigned(to, event->wrong_time ? event->raw_time : event->time_stamp);
		*to++ = ',';
	}
	to = put_unsigned(to, event->processor);
	*to++ = ',';
	to = put_text(to, event_name(event, type));
	*to++ = ',';
	if (event->has_hook_id)
		to = put_hook_id(to, event->hook_id);
	*to++ = ',';
	if (event->has_hook_id || info.has_opcode)
		to = put_unsigned(to, event->has_hook_id ? event->version : info.version);
	to = put_unsigned(put_literal(to, ","), event->size);
	to = put_hex(put_literal(to, ","), event->header_type);
	*to++ = ',';
	if (info.has_provider)
		to = put_provider(to, &info);
	*to++ = ',';
	if (info.has_id)
		to = put_unsigned(to, info.id);
	*to++ = ',';
	if (info.has_opcode)
		to = put_unsigned(to, info.opcode);
	*to++ = ',';
	if (info.has_opcode)
		to = put_unsigned(to, info.level);
	*to++ = ',';
	if (info.has_process)
		to = put_unsigned(to, info.process_id);
	if (type)
		return put_csv_fields(writer, to, event, type);
	for (i = 0; i < writer->column_count; i++) {
		*to++ = ',';
		if (i == writer->thread_column && info.has_process)
			to = put_unsigned(to, info.thread_id);
		if (writer->name_suffix[i])
			*to++ = ',';
	}
	return to;
}

/* The data, of up to 64 KiB: more than a line has room for. */
static void put_data(struct dump_writer *writer, const struct etl_event *event)
{
	static const char *const before[] = { " Hex=", ",\"Hex\":\"", "," };
	struct out *out = &writer->out;
	size_t i;

	out_text(out, before[writer->format]);
	for (i = 0; i < event->data_size; i++) {
		out_char(out, "0123456789abcdef"[event->data[i] >> 4]);
		out_char(out, "0123456789abcdef"[event->data[i] & 0xF]);
	}
	if (writer->format == DUMP_JSON)
		out_char(out, '"');
}

/**
 * dump_writer_put() - write an event
 * @writer: how
 * @event: the event
 * @type: of it, or NULL: it is not known
 *
 * Return: 0, or -1: it cannot be written.
 */
int dump_writer_put(struct dump_writer *writer, const struct etl_event *event,
		    const struct event_type *type)
{
	char *from = out_room(&writer->out, LINE_SIZE), *to;

	switch (writer->format) {
	case DUMP_TEXT:
		to = put_text_event(writer, from, event, type);
		break;
	case DUMP_JSON:
		to = put_json_event(writer, from, event, type);
		break;
	default:
		to = put_csv_event(writer, from, event, type);
	}
	writer->out.used += to - from;
	if (writer->hex)
		put_data(writer, event);
	if (writer->format == DUMP_JSON)
		out_char(&writer->out, '}');
	out_char(&writer->out, '\n');
	return ferror(writer->out.stream) ? -1 : 0;
}

__printf(2, 3)
static void make_label(struct label *label, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	label->length = vsnprintf(label->text, sizeof(label->text), format, arguments);
	va_end(arguments);
}

static int make_labels(struct dump_writer *writer)
{
	const char *name_format = writer->format == DUMP_JSON ? ",\"%.*s%s\":\"" : " %.*s%s=";
	const char *format = writer->format == DUMP_JSON ? ",\"%s\":" : " %s=";
	size_t i, j;

	for (i = 0; i < EVENT_TYPES; i++) {
		writer->labels[i] = calloc(event_types[i].field_count,
					   sizeof(*writer->labels[i]));
		if (!writer->labels[i])
			return -1;
		for (j = 0; j < event_types[i].field_count; j++) {
			const struct event_field *field = &event_types[i].fields[j];
			/* The name of a ThreadId is a ThreadName. */
			int length = strlen(field->name) - (field->is_thread ? 2 : 0);

			make_label(&writer->labels[i][j].label, format, field->name);
			make_label(&writer->labels[i][j].name_label, name_format, length,
				   field->name, field->is_thread ? "Name" : "Symbol");
		}
	}
	return 0;
}

/* The columns of a CSV are the fields of all events; one that several have is one. */
static void make_columns(struct dump_writer *writer)
{
	size_t i, j, k;

	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < event_types[i].field_count; j++) {
			const struct event_field *field = &event_types[i].fields[j];

			for (k = 0; k < writer->column_count; k++)
				if (!strcmp(writer->columns[k], field->name))
					break;
			if (k == COLUMNS_MAX)
				continue;
			writer->fields[i][k] = field;
			if (k < writer->column_count)
				continue;
			if (!strcmp(field->name, "ThreadId"))
				writer->thread_column = k;
			writer->columns[k] = field->name;
			if (field->format == FIELD_HEX)
				writer->name_suffix[k] = "Symbol";
			else if (field->is_thread)
				writer->name_suffix[k] = "Name";
			writer->column_count++;
		}
}

/**
 * dump_writer_make() - write events to the standard output
 * @format: how
 * @file: that they are of
 * @names: of addresses and threads, or NULL
 * @cycles: raw times too
 * @hex: data too
 *
 * Return: a writer, or NULL after a message.
 */
struct dump_writer *dump_writer_make(enum dump_format format, const struct etl_file *file,
				     const struct names *names, bool cycles, bool hex)
{
	struct dump_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		goto no_memory;
	writer->out.stream = stdout;
	writer->format = format;
	writer->file = file;
	writer->cycles = cycles;
	writer->hex = hex;
	writer->names.names = names;
	writer->names.format = format == DUMP_JSON ? names_format_json :
			       format == DUMP_CSV ? format_csv : format_text;
	if (make_labels(writer))
		goto no_memory;
	make_columns(writer);
	return writer;

no_memory:
	message("%s", strerror(ENOMEM));
	dump_writer_free(writer);
	return NULL;
}

/**
 * dump_writer_begin() - write what is before the events
 * @writer: how
 */
void dump_writer_begin(struct dump_writer *writer)
{
	struct out *out = &writer->out;
	size_t i;

	if (writer->format != DUMP_CSV)
		return;
	out_text(out, writer->cycles ? "Time,TimeStamp,Cpu" : "Time,Cpu");
	out_literal(out, ",Event,HookId,Version,Size,HeaderType");
	out_literal(out, ",Provider,Id,Opcode,Level,ProcessId");
	for (i = 0; i < writer->column_count; i++) {
		const char *name = writer->columns[i], *suffix = writer->name_suffix[i];

		out_char(out, ',');
		out_text(out, name);
		if (!suffix)
			continue;
		out_char(out, ',');
		out_bytes(out, name, strlen(name) - (*suffix == 'N' ? 2 : 0));
		out_text(out, suffix);
	}
	if (writer->hex)
		out_literal(out, ",Hex");
	out_char(out, '\n');
}

/**
 * dump_writer_free() - write what has not been written yet, and let go
 * @writer: the writer, or NULL
 */
void dump_writer_free(struct dump_writer *writer)
{
	size_t i;

	if (!writer)
		return;
	out_flush(&writer->out);
	for (i = 0; i < EVENT_TYPES; i++)
		free(writer->labels[i]);
	free(writer);
}
