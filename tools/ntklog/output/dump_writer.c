// SPDX-License-Identifier: GPL-2.0-only
/*
 * Printing events as text, JSON and CSV. A line is put together in the output buffer itself. Plans
 * print the fields of known events.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
_Static_assert(LINE_SIZE + PUT_MORE <= OUT_SIZE / 2, "a line has room");

/*
 * @out: output buffer
 * @format: format to print
 * @file: file of the events
 * @cycles: print raw times, too
 * @hex: print the data in hexadecimal, too
 * @plans: plans for known events
 */
struct dump_writer {
	struct out out;
	enum dump_format format;
	const struct etl_file *file;
	bool cycles;
	bool hex;
	struct dump_plans plans;
};

/* Put a hook id in hexadecimal, with all four digits. */
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
 * Put seconds like printf("%*.*f"), but faster. If the product seems to be just half of the last
 * decimal, fma() computes the part that rounding has lost, which tells whether to round up.
 */
static char *put_seconds(char *to, const struct etl_file *file, uint64_t time_stamp,
			 double scale, unsigned int decimals, unsigned int width)
{
	double seconds = etl_seconds(file, time_stamp), value = fabs(seconds) * scale, part;
	double rest = 0;
	char digits[OUT_DIGITS + 1], *end = digits + sizeof(digits), *start;
	unsigned int length, i;
	uint64_t whole;

	/* A double is not exact to so many digits. No session is that long. */
	if (value >= 1e15)
		return to + sprintf(to, "%*.*f", width, decimals, seconds);
	whole = (uint64_t)value;
	part = value - (double)whole;
	if (part == .5)
		rest = fma(fabs(seconds), scale, -value);
	whole += part > .5 || (part == .5 && (rest > 0 || (!(rest < 0) && whole & 1)));
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

/* Put seconds without trailing zeros. */
static char *put_json_seconds(char *to, const struct etl_file *file, uint64_t time_stamp)
{
	to = put_seconds(to, file, time_stamp, 1e12, 12, 0);
	while (to[-1] == '0' && to[-2] != '.')
		to--;
	return to;
}

static char *put_provider(char *to, const struct etl_event_header *info)
{
	const char *name = etl_provider_name(info->provider);

	if (name)
		return put_text(to, name);
	etl_format_guid(info->provider, to);
	return to + ETL_GUID_SIZE - 1;
}

/* Put the name of a thread behind its id, if it has one. */
static char *put_thread_name(struct dump_writer *writer, char *to, uint32_t thread_id)
{
	static const char *const before[] = { " ThreadName=", ",\"ThreadName\":\"", "" };
	const struct cached_name *name;

	if (!writer->plans.has_names)
		return to;
	name = names_cache_find(&writer->plans.threads, thread_id);
	if (!name->length)
		return to;
	/* The cached name is formatted for the output; in JSON it includes the closing quote. */
	return put_bytes(put_text(to, before[writer->format]), name->text, name->length);
}

static char *put_text_unknown(struct dump_writer *writer, char *to,
			      const struct etl_event *event)
{
	struct etl_event_header info;

	etl_read_event_header(&info, event);
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
		to = put_thread_name(writer, to, info.thread_id);
	}
	return to;
}

static char *put_text_event(struct dump_writer *writer, char *to,
			    const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	to = put_seconds(to, writer->file, event->time_stamp, 1e9, 9, 14);
	to = put_unsigned(put_literal(to, " cpu"), event->processor);
	if (type)
		to = dump_plans_put(&writer->plans, to, event, type);
	else
		to = put_text_unknown(writer, to, event);
	for (i = 0; i < event->counters; i++) {
		to = put_unsigned(put_literal(to, " Pmc"), i);
		*to++ = '=';
		to = put_unsigned(to, event_extension(event, i));
	}
	if (event->has_pebs_index)
		to = put_unsigned(put_literal(to, " PebsIndex="),
				  event_extension(event, event->counters));
	if (event->has_impossible_time)
		to = put_unsigned(put_literal(to, " WrongTimeStamp="), event->raw_time);
	else if (writer->cycles)
		to = put_unsigned(put_literal(to, " TimeStamp="), event->time_stamp);
	return to;
}

static char *put_json_unknown(struct dump_writer *writer, char *to,
			      const struct etl_event *event)
{
	struct etl_event_header info;

	etl_read_event_header(&info, event);
	to = put_text(to, event_name(event, NULL));
	*to++ = '"';
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
		etl_format_guid(info.provider, to);
		to = put_literal(to + ETL_GUID_SIZE - 1, "\"");
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
		to = put_thread_name(writer, to, info.thread_id);
	}
	return to;
}

static char *put_json_event(struct dump_writer *writer, char *to,
			    const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	to = put_json_seconds(put_literal(to, "{\"Time\":"), writer->file, event->time_stamp);
	to = put_unsigned(put_literal(to, ",\"Cpu\":"), event->processor);
	to = put_literal(to, ",\"Event\":\"");
	if (type)
		to = dump_plans_put(&writer->plans, to, event, type);
	else
		to = put_json_unknown(writer, to, event);
	for (i = 0; i < event->counters; i++) {
		to = put_unsigned(put_literal(to, ",\"Pmc"), i);
		to = put_json_unsigned(put_literal(to, "\":"), event_extension(event, i));
	}
	if (event->has_pebs_index)
		to = put_json_unsigned(put_literal(to, ",\"PebsIndex\":"),
				       event_extension(event, event->counters));
	if (event->has_impossible_time)
		to = put_json_unsigned(put_literal(to, ",\"WrongTimeStamp\":"), event->raw_time);
	else if (writer->cycles)
		to = put_json_unsigned(put_literal(to, ",\"TimeStamp\":"), event->time_stamp);
	return to;
}

static char *put_csv_unknown(struct dump_writer *writer, char *to,
			     const struct etl_event *event)
{
	const struct dump_columns *columns = &writer->plans.columns;
	struct etl_event_header info;
	size_t i;

	etl_read_event_header(&info, event);
	*to++ = ',';
	to = put_text(to, event_name(event, NULL));
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
	for (i = 0; i < columns->count; i++) {
		*to++ = ',';
		if (i == columns->thread && info.has_process)
			to = put_unsigned(to, info.thread_id);
		if (columns->suffixes[i])
			*to++ = ',';
		if (i == columns->thread && info.has_process)
			to = put_thread_name(writer, to, info.thread_id);
	}
	return to;
}

static char *put_csv_event(struct dump_writer *writer, char *to,
			   const struct etl_event *event, const struct event_type *type)
{
	to = put_seconds(to, writer->file, event->time_stamp, 1e9, 9, 0);
	*to++ = ',';
	if (writer->cycles) {
		to = put_unsigned(to, event->has_impossible_time ? event->raw_time :
								   event->time_stamp);
		*to++ = ',';
	}
	to = put_unsigned(to, event->processor);
	return type ? dump_plans_put(&writer->plans, to, event, type) :
		      put_csv_unknown(writer, to, event);
}

/* Print the data in hexadecimal: up to 64 KiB, which may not fit in the buffer. */
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

/* Print a stack below its event, with a line for each address. */
static void put_text_stack(struct dump_writer *writer, const struct stack *stack)
{
	struct out *out = &writer->out;
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
		name = names_cache_find(&writer->plans.code, stack->addresses[i]);
		if (name->length) {
			out_char(out, ' ');
			out_bytes(out, name->text, name->length);
		}
		out_char(out, '\n');
	}
}

static void put_json_stack(struct dump_writer *writer, const struct stack *stack)
{
	struct out *out = &writer->out;
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
		name = names_cache_find(&writer->plans.code, stack->addresses[i]);
		if (name->length) {
			out_literal(out, ",\"Symbol\":\"");
			/* The text includes the closing quote. */
			out_bytes(out, name->text, name->length);
		}
		out_char(out, '}');
	}
	out_char(out, ']');
}

/* Print the values of a stack whose event is not in the file. */
static void put_text_alone(struct dump_writer *writer, const struct stack *stack)
{
	struct out *out = &writer->out;

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
	char *from = out_room(&writer->out, LINE_SIZE + PUT_MORE), *to;

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
	if (stack && writer->format == DUMP_TEXT && stack->state == STACK_ALONE)
		put_text_alone(writer, stack);
	if (stack && writer->format == DUMP_JSON)
		put_json_stack(writer, stack);
	if (writer->format == DUMP_JSON)
		out_char(&writer->out, '}');
	out_char(&writer->out, '\n');
	if (stack && writer->format == DUMP_TEXT)
		put_text_stack(writer, stack);
	return ferror(writer->out.stream) ? -1 : 0;
}

/**
 * dump_writer_make() - make a writer that prints to the standard output
 * @format: format to print
 * @file: file of the events
 * @names: names of the trace, or NULL
 * @cycles: print raw times, too, and durations in cycles
 * @hex: print the data in hexadecimal, too
 *
 * Return: the writer, or NULL after a message.
 */
struct dump_writer *dump_writer_make(enum dump_format format, const struct etl_file *file,
				     const struct names *names, bool cycles, bool hex)
{
	struct dump_writer *writer = calloc(1, sizeof(*writer));
	double ns_per_cycle = 0;

	if (!writer)
		goto no_memory;
	writer->out.stream = stdout;
	writer->format = format;
	writer->file = file;
	writer->cycles = cycles;
	writer->hex = hex;
	if (format == DUMP_TEXT && !cycles)
		ns_per_cycle = 1e9 / (double)file->cycle_freq;
	if (dump_plans_make(&writer->plans, format, names, ns_per_cycle))
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
	struct out *out = &writer->out;
	size_t i;

	if (writer->format != DUMP_CSV)
		return;
	out_text(out, writer->cycles ? "Time,TimeStamp,Cpu" : "Time,Cpu");
	out_literal(out, ",Event,HookId,Version,Size,HeaderType");
	out_literal(out, ",Provider,Id,Opcode,Level,ProcessId");
	for (i = 0; i < columns->count; i++) {
		const char *name = columns->names[i], *suffix = columns->suffixes[i];

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
	free(writer);
}
