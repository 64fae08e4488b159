// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "csv.h"
#include "dump_plan.h"
#include "dump_writer.h"
#include "message.h"
#include "out.h"
#include "put.h"

/* Upper limit of the bytes of a line, without the data in hexadecimal. */
#define LINE_SIZE	(DUMP_FIELDS_SIZE + 2048)

/* Indentation of a stack, up to about the column of the processor. */
#define STACK_INDENT	"               "

/* The functions that put a line do not check the size of the buffer. */
_Static_assert(LINE_SIZE + PUT_OVERRUN_MAX <= OUT_SIZE / 2, "a line has room");

/* @head: begin of each line, which has the host */
struct dump_writer {
	struct out_buffer out;
	struct dump_options options;
	const struct etl_file *file;
	char *head;
	size_t head_length;
	struct dump_plans plans;
};

static char *put_hook_id(char *dest, uint16_t id)
{
	dest = put_literal(dest, "0x");
	*dest++ = "0123456789abcdef"[id >> 12];
	*dest++ = "0123456789abcdef"[id >> 8 & 0xF];
	*dest++ = "0123456789abcdef"[id >> 4 & 0xF];
	*dest++ = "0123456789abcdef"[id & 0xF];
	return dest;
}

/*
 * Put seconds like printf("%*.*f"), but faster. If the product seems to be just half of the last
 * decimal, fma() computes the part that rounding has lost, which tells whether to round up.
 */
static char *put_seconds(char *dest, const struct etl_file *file, uint64_t time_stamp,
			 double scale, unsigned int decimals, unsigned int width)
{
	double seconds = etl_seconds(file, time_stamp), value = fabs(seconds) * scale, part;
	double rounding_loss = 0;
	char digits[OUT_DIGITS + 1], *end = digits + sizeof(digits), *start;
	unsigned int length, i;
	uint64_t whole;

	/* A double is not exact to so many digits. No session is that long. */
	if (value >= 1e15)
		return dest + sprintf(dest, "%*.*f", width, decimals, seconds);
	whole = (uint64_t)value;
	part = value - (double)whole;
	if (part == .5)
		rounding_loss = fma(fabs(seconds), scale, -value);
	whole += part > .5 || (part == .5 && (rounding_loss > 0 ||
					      (!(rounding_loss < 0) && whole & 1)));
	start = out_digits(end, whole);
	while (end - start <= (int)decimals)
		*--start = '0';
	length = end - start;
	for (i = length + 1 + (seconds < 0); i < width; i++)
		*dest++ = ' ';
	if (seconds < 0)
		*dest++ = '-';
	dest = put_bytes(dest, start, length - decimals);
	*dest++ = '.';
	return put_bytes(dest, end - decimals, decimals);
}

static char *put_json_seconds(char *dest, const struct etl_file *file, uint64_t time_stamp)
{
	dest = put_seconds(dest, file, time_stamp, 1e12, 12, 0);
	while (dest[-1] == '0' && dest[-2] != '.')
		dest--;
	return dest;
}

static char *put_provider(char *dest, const struct etl_event_header *header)
{
	const char *name = etl_provider_name(header->provider);

	if (name)
		return put_text(dest, name);
	etl_format_guid(header->provider, dest);
	return dest + ETL_GUID_SIZE - 1;
}

static char *put_thread_name(struct dump_writer *writer, char *dest, uint32_t thread_id)
{
	static const char *const prefixes[] = { " ThreadName=", ",\"ThreadName\":\"", "" };
	const struct cached_name *name;

	if (!writer->plans.has_names)
		return dest;
	name = names_cache_find(&writer->plans.thread_names, thread_id);
	if (!name->length)
		return dest;
	/* The cached name is formatted for the output; in JSON it includes the closing quote. */
	dest = put_text(dest, prefixes[writer->options.format]);
	return put_bytes(dest, name->text, name->length);
}

static char *put_text_unknown_event(struct dump_writer *writer, char *dest,
				    const struct etl_event *event)
{
	struct etl_event_header header;

	etl_read_event_header(&header, event);
	*dest++ = ' ';
	dest = put_text(dest, event_name(event, NULL));
	if (event->has_hook_id) {
		dest = put_hook_id(put_literal(dest, " HookId="), event->hook_id);
		dest = put_unsigned(put_literal(dest, " Version="), event->version);
	} else {
		dest = put_literal(dest, " HeaderType=0x");
		*dest++ = "0123456789abcdef"[event->header_type >> 4];
		*dest++ = "0123456789abcdef"[event->header_type & 0xF];
	}
	dest = put_unsigned(put_literal(dest, " Size="), event->size);
	if (header.has_provider)
		dest = put_provider(put_literal(dest, " Provider="), &header);
	if (header.has_id)
		dest = put_unsigned(put_literal(dest, " Id="), header.id);
	if (header.has_opcode) {
		dest = put_unsigned(put_literal(dest, " Version="), header.version);
		dest = put_unsigned(put_literal(dest, " Opcode="), header.opcode);
		dest = put_unsigned(put_literal(dest, " Level="), header.level);
	}
	if (header.has_process) {
		dest = put_unsigned(put_literal(dest, " ProcessId="), header.process_id);
		dest = put_unsigned(put_literal(dest, " ThreadId="), header.thread_id);
		dest = put_thread_name(writer, dest, header.thread_id);
	}
	return dest;
}

static char *put_text_event(struct dump_writer *writer, char *dest,
			    const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	dest = put_seconds(dest, writer->file, event->time_stamp, 1e9, 9, 14);
	dest = put_unsigned(put_literal(dest, " cpu"), event->processor);
	if (type)
		dest = dump_plans_put(&writer->plans, dest, event, type);
	else
		dest = put_text_unknown_event(writer, dest, event);
	for (i = 0; i < event->counters; i++) {
		dest = put_unsigned(put_literal(dest, " Pmc"), i);
		*dest++ = '=';
		dest = put_unsigned(dest, event_extension(event, i));
	}
	if (event->has_pebs_index)
		dest = put_unsigned(put_literal(dest, " PebsIndex="),
				    event_extension(event, event->counters));
	if (event->has_impossible_time)
		dest = put_unsigned(put_literal(dest, " WrongTimeStamp="), event->raw_time);
	else if (writer->options.prints_cycles)
		dest = put_unsigned(put_literal(dest, " TimeStamp="), event->time_stamp);
	return dest;
}

static char *put_json_unknown_event(struct dump_writer *writer, char *dest,
				    const struct etl_event *event)
{
	struct etl_event_header header;

	etl_read_event_header(&header, event);
	dest = put_text(dest, event_name(event, NULL));
	*dest++ = '"';
	if (event->has_hook_id) {
		dest = put_unsigned(put_literal(dest, ",\"HookId\":"), event->hook_id);
		dest = put_unsigned(put_literal(dest, ",\"Version\":"), event->version);
	} else {
		dest = put_unsigned(put_literal(dest, ",\"HeaderType\":"), event->header_type);
	}
	dest = put_unsigned(put_literal(dest, ",\"Size\":"), event->size);
	if (header.has_provider) {
		dest = put_provider(put_literal(dest, ",\"Provider\":\""), &header);
		dest = put_literal(dest, "\",\"ProviderGuid\":\"");
		etl_format_guid(header.provider, dest);
		dest = put_literal(dest + ETL_GUID_SIZE - 1, "\"");
	}
	if (header.has_id)
		dest = put_unsigned(put_literal(dest, ",\"Id\":"), header.id);
	if (header.has_opcode) {
		dest = put_unsigned(put_literal(dest, ",\"Version\":"), header.version);
		dest = put_unsigned(put_literal(dest, ",\"Opcode\":"), header.opcode);
		dest = put_unsigned(put_literal(dest, ",\"Level\":"), header.level);
	}
	if (header.has_process) {
		dest = put_unsigned(put_literal(dest, ",\"ProcessId\":"), header.process_id);
		dest = put_unsigned(put_literal(dest, ",\"ThreadId\":"), header.thread_id);
		dest = put_thread_name(writer, dest, header.thread_id);
	}
	return dest;
}

static char *put_json_event(struct dump_writer *writer, char *dest,
			    const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	dest = put_json_seconds(put_literal(dest, "\"Time\":"), writer->file, event->time_stamp);
	dest = put_unsigned(put_literal(dest, ",\"Cpu\":"), event->processor);
	dest = put_literal(dest, ",\"Event\":\"");
	if (type)
		dest = dump_plans_put(&writer->plans, dest, event, type);
	else
		dest = put_json_unknown_event(writer, dest, event);
	for (i = 0; i < event->counters; i++) {
		dest = put_unsigned(put_literal(dest, ",\"Pmc"), i);
		dest = put_json_unsigned(put_literal(dest, "\":"), event_extension(event, i));
	}
	if (event->has_pebs_index)
		dest = put_json_unsigned(put_literal(dest, ",\"PebsIndex\":"),
					 event_extension(event, event->counters));
	if (event->has_impossible_time)
		dest = put_json_unsigned(put_literal(dest, ",\"WrongTimeStamp\":"),
					 event->raw_time);
	else if (writer->options.prints_cycles)
		dest = put_json_unsigned(put_literal(dest, ",\"TimeStamp\":"), event->time_stamp);
	return dest;
}

static char *put_csv_unknown_event(struct dump_writer *writer, char *dest,
				   const struct etl_event *event)
{
	const struct dump_columns *columns = &writer->plans.columns;
	struct etl_event_header header;
	size_t i;

	etl_read_event_header(&header, event);
	*dest++ = ',';
	dest = put_text(dest, event_name(event, NULL));
	*dest++ = ',';
	if (event->has_hook_id)
		dest = put_hook_id(dest, event->hook_id);
	*dest++ = ',';
	if (event->has_hook_id || header.has_opcode)
		dest = put_unsigned(dest, event->has_hook_id ? event->version : header.version);
	dest = put_unsigned(put_literal(dest, ","), event->size);
	dest = put_hex(put_literal(dest, ","), event->header_type);
	*dest++ = ',';
	if (header.has_provider)
		dest = put_provider(dest, &header);
	*dest++ = ',';
	if (header.has_id)
		dest = put_unsigned(dest, header.id);
	*dest++ = ',';
	if (header.has_opcode)
		dest = put_unsigned(dest, header.opcode);
	*dest++ = ',';
	if (header.has_opcode)
		dest = put_unsigned(dest, header.level);
	*dest++ = ',';
	if (header.has_process)
		dest = put_unsigned(dest, header.process_id);
	for (i = 0; i < columns->column_count; i++) {
		*dest++ = ',';
		if (i == columns->thread_column && header.has_process)
			dest = put_unsigned(dest, header.thread_id);
		if (columns->suffixes[i])
			*dest++ = ',';
		if (i == columns->thread_column && header.has_process)
			dest = put_thread_name(writer, dest, header.thread_id);
	}
	return dest;
}

static char *put_csv_event(struct dump_writer *writer, char *dest,
			   const struct etl_event *event, const struct event_type *type)
{
	dest = put_seconds(dest, writer->file, event->time_stamp, 1e9, 9, 0);
	*dest++ = ',';
	if (writer->options.prints_cycles) {
		dest = put_unsigned(dest, event->has_impossible_time ? event->raw_time :
								   event->time_stamp);
		*dest++ = ',';
	}
	dest = put_unsigned(dest, event->processor);
	return type ? dump_plans_put(&writer->plans, dest, event, type) :
		      put_csv_unknown_event(writer, dest, event);
}

/* Print the data in hexadecimal: up to 64 KiB, which may not fit in the buffer. */
static void put_data(struct dump_writer *writer, const struct etl_event *event)
{
	static const char *const prefixes[] = { " Hex=", ",\"Hex\":\"", "," };
	struct out_buffer *out = &writer->out;
	size_t i;

	out_text(out, prefixes[writer->options.format]);
	for (i = 0; i < event->data_size; i++) {
		out_char(out, "0123456789abcdef"[event->data[i] >> 4]);
		out_char(out, "0123456789abcdef"[event->data[i] & 0xF]);
	}
	if (writer->options.format == DUMP_JSON)
		out_char(out, '"');
}

/* Print a stack below its event, with a line for each address. */
static void put_text_stack(struct dump_writer *writer, const struct stack *stack)
{
	struct out_buffer *out = &writer->out;
	const struct cached_name *name;
	size_t i;

	if (stack->state == STACK_MISSING)
		out_literal(out, STACK_INDENT "no stack: it was lost, or could not be recorded\n");
	if (stack->state == STACK_UNKNOWN)
		out_literal(out, STACK_INDENT
			    "no stack: the stack of its key is not in the file\n");
	for (i = 0; i < stack->count; i++) {
		out_literal(out, STACK_INDENT);
		out_hex(out, stack->addresses[i]);
		name = names_cache_find(&writer->plans.code_names, stack->addresses[i]);
		if (name->length) {
			out_char(out, ' ');
			out_bytes(out, name->text, name->length);
		}
		out_char(out, '\n');
	}
}

static void put_json_stack(struct dump_writer *writer, const struct stack *stack)
{
	struct out_buffer *out = &writer->out;
	const struct cached_name *name;
	size_t i;

	if (stack->state == STACK_MISSING || stack->state == STACK_UNKNOWN) {
		out_literal(out, ",\"Stack\":null");
		return;
	}
	if (stack->state == STACK_ALONE) {
		out_literal(out, ",\"EventTimeStamp\":");
		out_unsigned(out, stack->event_time_stamp);
	}
	out_literal(out, ",\"StackProcess\":");
	out_unsigned(out, stack->process_id);
	out_literal(out, ",\"StackThread\":");
	out_unsigned(out, stack->thread_id);
	out_literal(out, ",\"Stack\":[");
	for (i = 0; i < stack->count; i++) {
		out_text(out, i ? ",{\"Address\":\"" : "{\"Address\":\"");
		out_hex(out, stack->addresses[i]);
		out_char(out, '"');
		name = names_cache_find(&writer->plans.code_names, stack->addresses[i]);
		if (name->length) {
			out_literal(out, ",\"Symbol\":\"");
			/* The text includes the closing quote. */
			out_bytes(out, name->text, name->length);
		}
		out_char(out, '}');
	}
	out_char(out, ']');
}

/* Print the values of a stack whose event was not found. */
static void put_text_lone_stack(struct dump_writer *writer, const struct stack *stack)
{
	struct out_buffer *out = &writer->out;

	out_literal(out, " EventTimeStamp=");
	out_unsigned(out, stack->event_time_stamp);
	out_literal(out, " StackProcess=");
	out_unsigned(out, stack->process_id);
	out_literal(out, " StackThread=");
	out_unsigned(out, stack->thread_id);
}

/**
 * dump_writer_put() - print an event
 * @writer: writer
 * @event: event to print
 * @type: type of the event, or NULL if it is not known
 * @stack: stack of the event, or NULL; CSV cannot have one
 *
 * Return: 0, or -1 if the output failed.
 */
int dump_writer_put(struct dump_writer *writer, const struct etl_event *event,
		    const struct event_type *type, const struct stack *stack)
{
	char *from, *dest;

	out_bytes(&writer->out, writer->head, writer->head_length);
	from = out_reserve(&writer->out, LINE_SIZE + PUT_OVERRUN_MAX);
	switch (writer->options.format) {
	case DUMP_TEXT:
		dest = put_text_event(writer, from, event, type);
		break;
	case DUMP_JSON:
		dest = put_json_event(writer, from, event, type);
		break;
	default:
		dest = put_csv_event(writer, from, event, type);
	}
	writer->out.used += dest - from;
	if (writer->options.prints_data)
		put_data(writer, event);
	if (stack && writer->options.format == DUMP_TEXT && stack->state == STACK_ALONE)
		put_text_lone_stack(writer, stack);
	if (stack && writer->options.format == DUMP_JSON)
		put_json_stack(writer, stack);
	if (writer->options.format == DUMP_JSON)
		out_char(&writer->out, '}');
	out_char(&writer->out, '\n');
	if (stack && writer->options.format == DUMP_TEXT)
		put_text_stack(writer, stack);
	return ferror(writer->out.stream) ? -1 : 0;
}

/* Make the begin of each line, which ends before the time. Returns NULL without memory. */
static char *make_head(const struct dump_options *options)
{
	const char *host = options->host;
	char *head = NULL, *quoted;
	json_t *value;
	size_t size;
	FILE *stream;

	if (!host)
		return strdup(options->format == DUMP_JSON ? "{" : "");
	stream = open_memstream(&head, &size);
	if (!stream)
		return NULL;
	switch (options->format) {
	case DUMP_TEXT:
		fprintf(stream, "%s ", host);
		break;
	case DUMP_JSON:
		value = json_string(host);
		quoted = json_dumps(value, JSON_ENCODE_ANY);
		fprintf(stream, "{\"Host\":%s,", quoted ? quoted : "null");
		free(quoted);
		json_decref(value);
		break;
	case DUMP_CSV:
		csv_print(stream, host);
		putc(',', stream);
	}
	fclose(stream);
	return head;
}

/**
 * dump_writer_make() - make a writer
 * @options: format, host and stream
 * @file: file of the events; NULL: only dump_writer_begin() is called
 * @names: names of the trace, or NULL
 *
 * Return: the writer, or NULL after a message.
 */
struct dump_writer *dump_writer_make(const struct dump_options *options,
				     const struct etl_file *file, const struct names *names)
{
	struct dump_writer *writer = calloc(1, sizeof(*writer));
	double ns_per_cycle = 0;

	if (!writer)
		goto no_memory;
	writer->out.stream = options->stream;
	writer->options = *options;
	writer->file = file;
	writer->head = make_head(options);
	if (!writer->head)
		goto no_memory;
	writer->head_length = strlen(writer->head);
	if (file && options->format == DUMP_TEXT && !options->prints_cycles)
		ns_per_cycle = 1e9 / (double)file->cycle_freq;
	if (dump_plans_make(&writer->plans, options->format, names, ns_per_cycle))
		goto no_memory;
	return writer;

no_memory:
	message("no memory for the output buffer and its plans");
	dump_writer_free(writer);
	return NULL;
}

/**
 * dump_writer_begin() - print the line of titles of a CSV
 * @writer: writer of any format
 */
void dump_writer_begin(struct dump_writer *writer)
{
	const struct dump_columns *columns = &writer->plans.columns;
	struct out_buffer *out = &writer->out;
	size_t i;

	if (writer->options.format != DUMP_CSV)
		return;
	if (writer->options.host)
		out_literal(out, "Host,");
	out_text(out, writer->options.prints_cycles ? "Time,TimeStamp,Cpu" : "Time,Cpu");
	out_literal(out, ",Event,HookId,Version,Size,HeaderType");
	out_literal(out, ",Provider,Id,Opcode,Level,ProcessId");
	for (i = 0; i < columns->column_count; i++) {
		const char *name = columns->names[i], *suffix = columns->suffixes[i];

		out_char(out, ',');
		out_text(out, name);
		if (!suffix)
			continue;
		out_char(out, ',');
		out_bytes(out, name, strlen(name) - (*suffix == 'N' ? 2 : 0));
		out_text(out, suffix);
	}
	if (writer->options.prints_data)
		out_literal(out, ",Hex");
	out_char(out, '\n');
}

/**
 * dump_writer_flush() - flush all output, for etl_on_wait()
 * @argument: writer
 */
void dump_writer_flush(void *argument)
{
	struct dump_writer *writer = argument;

	out_flush(&writer->out);
	fflush(writer->out.stream);
}

/**
 * dump_writer_free() - flush and free a writer
 * @writer: writer, or NULL
 */
void dump_writer_free(struct dump_writer *writer)
{
	if (!writer)
		return;
	out_flush(&writer->out);
	dump_plans_clear(&writer->plans);
	free(writer->head);
	free(writer);
}
