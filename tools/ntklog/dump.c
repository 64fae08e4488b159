// SPDX-License-Identifier: GPL-2.0-only
/* ntklog dump: each event of a file on a line. */

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "etl.h"
#include "event_type.h"

static void print_field(const struct event_field *field,
			const struct etl_event *event)
{
	unsigned long long value = event_field_value(field, event);
	const char *symbol;

	switch (field->format) {
	case FIELD_HEX:
		printf(" %s=0x%llx", field->name, value);
		return;
	case FIELD_SIGNED:
		printf(" %s=%lld", field->name, (long long)value);
		return;
	case FIELD_SYMBOL:
		symbol = event_field_symbol(field, value);
		if (symbol)
			printf(" %s=%s", field->name, symbol);
		else
			printf(" %s=%llu", field->name, value);
		return;
	case FIELD_DECIMAL:
		printf(" %s=%llu", field->name, value);
	}
}

static void print_time(const struct etl_file *file, const struct etl_event *event)
{
	int64_t ticks = event->time_stamp - file->start_clock;

	/* Nothing that a session writes is older than its start. */
	printf("%14.9f", (double)ticks / (double)file->perf_freq);
}

static void print_unknown(const struct etl_event *event)
{
	if (event->has_hook_id)
		printf(" Event HookId=0x%04x Version=%u Size=%zu\n",
		       event->hook_id, event->version, event->size);
	else
		printf(" Event HeaderType=0x%02x Size=%zu\n",
		       event->header_type, event->size);
}

static int print_event(struct etl_file *file, const struct etl_event *event)
{
	const struct event_type *type = event_type_find(event);
	size_t i;

	if (type && event->data_size != type->size[event->pointer_size == 8])
		return etl_damage(file, event->offset,
				  "%s event with 0x%zx bytes of data, not 0x%zx",
				  type->name, event->data_size,
				  type->size[event->pointer_size == 8]);
	print_time(file, event);
	printf(" cpu%u", event->processor);
	if (!type) {
		print_unknown(event);
		return 0;
	}
	printf(" %s", type->name);
	for (i = 0; i < type->field_count; i++)
		if (!type->fields[i].version || type->fields[i].version == event->version)
			print_field(&type->fields[i], event);
	printf(" TimeStamp=%llu\n", (unsigned long long)event->time_stamp);
	return 0;
}

static int dump(const char *path)
{
	struct etl_event event;
	struct etl_file file;
	int status = NTKLOG_OK;
	int got;

	got = etl_open(&file, path);
	if (!got) {
		while ((got = etl_next_event(&file, &event)) == 1)
			if (print_event(&file, &event))
				break;
	}
	if (fflush(stdout)) {
		fprintf(stderr, "ntklog: cannot write: %s\n", strerror(errno));
		status = NTKLOG_FAILED;
	}
	if (file.error[0]) {
		fprintf(stderr, "ntklog: %s: %s\n", path, file.error);
		status = NTKLOG_FAILED;
	}
	etl_close(&file);
	return status;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	const char **path = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*path)
			argp_error(state, "one file at a time");
		*path = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which file?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp dump_argp = {
	.parser = parse_option,
	.args_doc = "FILE.etl",
	.doc = "Print each event of an ETL file on a line: seconds since the start\n"
	       "of the session, processor, name, and all fields as name=value.\n"
	       "Events that are not known are printed with hook id and size.\n"
	       "A damaged file is printed up to the damage, which is reported\n"
	       "with its offset.",
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
	const char *path = NULL;

	argp_parse(&dump_argp, argc, argv, 0, NULL, &path);
	return dump(path);
}
