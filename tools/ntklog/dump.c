// SPDX-License-Identifier: GPL-2.0-only
/* ntklog dump: each event of a file, in the order of time. */

#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv.h"
#include "etl.h"
#include "etl_merge.h"
#include "event_type.h"
#include "message.h"
#include "names.h"
#include "trace_argp.h"

enum {
	OPTION_JSON = 0x100,
	OPTION_CSV,
	OPTION_CYCLES,
};

/*
 * @trace: which file
 * @cycles: raw times too
 * @print: an event
 * @names: of addresses and threads
 */
struct dump {
	struct trace_options trace;
	bool cycles;
	int (*print)(const struct dump *dump, const struct etl_file *file,
		     const struct etl_event *event, const struct event_type *type);
	struct names *names;
};

/* Room for a field's value. */
#define VALUE_SIZE	32

static void format_value(const struct event_field *field, uint64_t value, char *text)
{
	const char *symbol = event_field_symbol(field, value);

	if (symbol)
		snprintf(text, VALUE_SIZE, "%s", symbol);
	else if (field->format == FIELD_HEX)
		snprintf(text, VALUE_SIZE, "0x%" PRIx64, value);
	else if (field->format == FIELD_SIGNED)
		snprintf(text, VALUE_SIZE, "%" PRId64, (int64_t)value);
	else
		snprintf(text, VALUE_SIZE, "%" PRIu64, value);
}

static uint64_t extension_value(const struct etl_event *event, unsigned int i)
{
	uint64_t value;

	memcpy(&value, event->extension + 8 * i, sizeof(value));
	return value;
}

static void print_unknown(const struct etl_event *event)
{
	if (event->has_hook_id)
		printf(" Event HookId=0x%04x Version=%u Size=%zu",
		       event->hook_id, event->version, event->size);
	else
		printf(" Event HeaderType=0x%02x Size=%zu",
		       event->header_type, event->size);
}

static void print_fields(const struct dump *dump, const struct etl_event *event,
			 const struct event_type *type)
{
	char text[VALUE_SIZE], symbol[NAME_SIZE];
	size_t i;

	printf(" %s", type->name);
	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		uint64_t value;

		if (!event_has_field(event, field))
			continue;
		value = event_field_value(field, event);
		format_value(field, value, text);
		printf(" %s=%s", field->name, text);
		if (field->format == FIELD_HEX &&
		    names_symbol(dump->names, value, symbol, sizeof(symbol))) {
			/* A space would end the field. */
			symbol[strcspn(symbol, " ")] = '\0';
			printf(" %sSymbol=%s", field->name, symbol);
		}
	}
}

static int print_text(const struct dump *dump, const struct etl_file *file,
		      const struct etl_event *event, const struct event_type *type)
{
	unsigned int i;

	printf("%14.9f cpu%u", etl_seconds(file, event->time_stamp), event->processor);
	if (type)
		print_fields(dump, event, type);
	else
		print_unknown(event);
	for (i = 0; i < event->counters; i++)
		printf(" Pmc%u=%" PRIu64, i, extension_value(event, i));
	if (event->has_pebs_index)
		printf(" PebsIndex=%" PRIu64, extension_value(event, event->counters));
	if (event->wrong_time)
		printf(" WrongTimeStamp=%" PRIu64, event->raw_time);
	else if (dump->cycles)
		printf(" TimeStamp=%" PRIu64, event->time_stamp);
	putchar('\n');
	return 0;
}

/* Numbers are numbers, but for addresses, which JSON's readers would round. */
static json_t *json_value(const struct event_field *field, uint64_t value)
{
	char text[VALUE_SIZE];

	if (field->format == FIELD_DECIMAL && value <= INT64_MAX)
		return json_integer(value);
	if (field->format == FIELD_SIGNED)
		return json_integer((int64_t)value);
	format_value(field, value, text);
	return json_string(text);
}

static void json_fields(json_t *object, const struct dump *dump,
			const struct etl_event *event, const struct event_type *type)
{
	char symbol[NAME_SIZE], name[64];
	size_t i;

	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		uint64_t value;

		if (!event_has_field(event, field))
			continue;
		value = event_field_value(field, event);
		json_object_set_new(object, field->name, json_value(field, value));
		if (field->format == FIELD_HEX &&
		    names_symbol(dump->names, value, symbol, sizeof(symbol))) {
			snprintf(name, sizeof(name), "%sSymbol", field->name);
			json_object_set_new(object, name, json_string(symbol));
		}
	}
}

static int print_json(const struct dump *dump, const struct etl_file *file,
		      const struct etl_event *event, const struct event_type *type)
{
	json_t *object = json_pack("{s:f, s:i, s:s}", "Time",
				   etl_seconds(file, event->time_stamp), "Cpu",
				   (int)event->processor, "Event",
				   type ? type->name : "Event");
	char name[16];
	unsigned int i;
	int err;

	if (!object)
		return -1;
	if (type) {
		json_fields(object, dump, event, type);
	} else {
		if (event->has_hook_id) {
			json_object_set_new(object, "HookId", json_integer(event->hook_id));
			json_object_set_new(object, "Version", json_integer(event->version));
		} else {
			json_object_set_new(object, "HeaderType",
					    json_integer(event->header_type));
		}
		json_object_set_new(object, "Size", json_integer(event->size));
	}
	for (i = 0; i < event->counters; i++) {
		snprintf(name, sizeof(name), "Pmc%u", i);
		json_object_set_new(object, name, json_integer(extension_value(event, i)));
	}
	if (event->has_pebs_index)
		json_object_set_new(object, "PebsIndex",
				    json_integer(extension_value(event, event->counters)));
	if (event->wrong_time)
		json_object_set_new(object, "WrongTimeStamp", json_integer(event->raw_time));
	else if (dump->cycles)
		json_object_set_new(object, "TimeStamp", json_integer(event->time_stamp));
	err = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(object);
	return err;
}

/*
 * The columns of a CSV are the fields of all events; a field that several have, or an
 * event in two versions, is one column: that of the first that has it.
 */
static bool is_first(size_t type, size_t field)
{
	const char *name = event_types[type].fields[field].name;
	size_t i, j;

	for (i = 0; i <= type; i++)
		for (j = 0; j < event_types[i].field_count; j++) {
			if (i == type && j == field)
				return true;
			if (!strcmp(event_types[i].fields[j].name, name))
				return false;
		}
	return true;
}

static void print_csv_header(const struct dump *dump)
{
	size_t i, j;

	fputs(dump->cycles ? "Time,TimeStamp,Cpu,Event,HookId,Version" :
			     "Time,Cpu,Event,HookId,Version", stdout);
	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < event_types[i].field_count; j++) {
			const struct event_field *field = &event_types[i].fields[j];

			if (!is_first(i, j))
				continue;
			printf(",%s", field->name);
			if (field->format == FIELD_HEX)
				printf(",%sSymbol", field->name);
		}
	putchar('\n');
}

static const struct event_field *field_by_name(const struct event_type *type,
					       const char *name)
{
	size_t i;

	for (i = 0; type && i < type->field_count; i++)
		if (!strcmp(type->fields[i].name, name))
			return &type->fields[i];
	return NULL;
}

static void print_csv_field(const struct dump *dump, const struct etl_event *event,
			    const struct event_field *field, bool has_symbol)
{
	char text[VALUE_SIZE], symbol[NAME_SIZE] = "";
	uint64_t value;

	putchar(',');
	if (field && event_has_field(event, field)) {
		value = event_field_value(field, event);
		format_value(field, value, text);
		fputs(text, stdout);
		if (has_symbol)
			names_symbol(dump->names, value, symbol, sizeof(symbol));
	}
	if (has_symbol) {
		putchar(',');
		csv_print(stdout, symbol);
	}
}

static int print_csv(const struct dump *dump, const struct etl_file *file,
		     const struct etl_event *event, const struct event_type *type)
{
	size_t i, j;

	printf("%.9f,", etl_seconds(file, event->time_stamp));
	if (dump->cycles)
		printf("%" PRIu64 ",", event->time_stamp);
	printf("%u,%s,", event->processor, type ? type->name : "Event");
	if (event->has_hook_id)
		printf("0x%04x,%u", event->hook_id, event->version);
	else
		putchar(',');
	for (i = 0; i < EVENT_TYPES; i++)
		for (j = 0; j < event_types[i].field_count; j++) {
			const struct event_field *column = &event_types[i].fields[j];

			if (is_first(i, j))
				print_csv_field(dump, event,
						field_by_name(type, column->name),
						column->format == FIELD_HEX);
		}
	putchar('\n');
	return 0;
}

static void dump_events(const struct dump *dump, struct etl_file *file)
{
	struct etl_merge merge;
	struct etl_event event;

	if (etl_merge_open(&merge, file))
		goto close;
	while (etl_merge_next(&merge, &event)) {
		const struct event_type *type = event_type_find(&event);

		if (type && event_type_check(file, &event, type))
			continue;
		if (!selection_match(&dump->trace.selection, file, &event, type, dump->names))
			continue;
		if (dump->print(dump, file, &event, type) || ferror(stdout))
			break;
	}
close:
	etl_merge_close(&merge);
}

static int run(struct dump *dump)
{
	struct etl_file file;
	int status = NTKLOG_OK;

	if (names_load(&dump->names, dump->trace.names_path, dump->trace.path))
		return NTKLOG_FAILED;
	if (trace_resolve(&dump->trace, dump->names)) {
		names_free(dump->names);
		return NTKLOG_USAGE;
	}
	if (!etl_open(&file, dump->trace.path)) {
		if (dump->print == print_csv)
			print_csv_header(dump);
		dump_events(dump, &file);
	}
	if (finish_output(stdout, NULL))
		status = NTKLOG_FAILED;
	if (trace_tell_damage(&file))
		status = NTKLOG_FAILED;
	etl_close(&file);
	names_free(dump->names);
	return status;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct dump *dump = state->input;

	switch (key) {
	case OPTION_JSON:
	case OPTION_CSV:
		if (dump->print != print_text)
			argp_error(state, "one of --json and --csv");
		dump->print = key == OPTION_JSON ? print_json : print_csv;
		return 0;
	case OPTION_CYCLES:
		dump->cycles = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &dump->trace;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option dump_options[] = {
	{ "json", OPTION_JSON, NULL, 0, "A JSON object for each event, on a line", 0 },
	{ "csv", OPTION_CSV, NULL, 0, "Comma-separated values, a column for each field", 0 },
	{ "cycles", OPTION_CYCLES, NULL, 0,
	  "Also the raw time of each event (TimeStamp), in ticks of the session's clock", 0 },
	{ 0 }
};

static const struct argp dump_argp = {
	.options = dump_options,
	.parser = parse_option,
	.args_doc = "FILE",
	.children = trace_argp_children,
	.doc = "Print each event of an ETL file, in the order of time: seconds since the start\n"
	       "of the session, processor, name, and all fields as name=value.\n"
	       "\vEvents that are not known are printed with hook id and size.\n"
	       "What is damaged is left out, up to the end of its buffer, and reported with the\n"
	       "offset; events whose time cannot be are printed behind the one before, with\n"
	       "WrongTimeStamp. A file \"-\" is the standard input.\n\n"
	       "EXPR compares what is printed here, by its name, or time, cpu, hold, wait, lock,\n"
	       "caller, thread, with ==, !=, <, <=, >, >= or ~ (contains), joined by &&, ||, !\n"
	       "and parentheses. See ntklog(1).",
};

/**
 * command_dump() - ntklog dump
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_status.
 */
int command_dump(int argc, char **argv)
{
	struct dump dump = { .print = print_text };
	int status;

	argp_parse(&dump_argp, argc, argv, 0, NULL, &dump);
	status = run(&dump);
	filter_free(dump.trace.selection.filter);
	return status;
}
