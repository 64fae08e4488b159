// SPDX-License-Identifier: GPL-2.0-only
/*
 * Target of libFuzzer. If the first byte is 0x7F, the rest is parsed as a filter. Otherwise bits of
 * the first byte choose the command (0x03), whether a text up to a NUL is the trace's file of names
 * (0x80), and whether a short trace comes through a pipe (0x40).
 */

#define _GNU_SOURCE

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ntklog/etl.h>

#include "analysis.h"
#include "convert.h"
#include "event_type.h"
#include "filter.h"
#include "names.h"
#include "report.h"
#include "rundown.h"
#include "stacks.h"
#include "wmi_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The caller closes the descriptor; PATH gets a name that opens the file. */
static int make_file(const void *data, size_t size, char *path)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	sprintf(path, "/proc/self/fd/%d", fd);
	return fd;
}

/* Like make_file(), with a pipe, which has space for 64 KiB. */
static int make_pipe(const void *data, size_t size, char *path)
{
	int fds[2];

	if (pipe2(fds, O_NONBLOCK) || write(fds[1], data, size) != (ssize_t)size)
		abort();
	close(fds[1]);
	sprintf(path, "/proc/self/fd/%d", fds[0]);
	return fds[0];
}

static void read_merged(struct etl_file *file, const struct names *names,
			const struct filter *filter)
{
	uint64_t last_offset = UINT64_MAX, sum = 0;
	struct etl_merge *merged = etl_merge_open(file);
	struct stack_matcher *stacks = merged ? stack_matcher_open(file, merged) : NULL;
	struct kept_caller *callers = NULL;
	const struct etl_event *event;
	const struct stack *stack;
	size_t i;

	while (stacks && (event = stack_matcher_next(stacks, &stack))) {
		const struct event_type *type = event_type_find(event);
		union wmi_record record;

		/* The reader must not return an event twice in a row. */
		if (event->offset == last_offset)
			abort();
		last_offset = event->offset;
		/* Read all data, so that the sanitizer notices what is out of bounds. */
		for (i = 0; i < event->data_size; i++)
			sum += event->data[i];
		for (i = 0; stack && i < stack->count; i++)
			sum += stack->addresses[i];
		if (type && wmi_record_read(&record, file, event, type))
			continue;
		if (type && event->hook_id == PERFINFO_LOG_TYPE_NTKLOG_CALLER)
			kept_callers_keep(&callers, event);
		if (filter)
			sum += filter_matches(filter, file, event, type, names, callers);
	}
	free(callers);
	stack_matcher_close(stacks);
	etl_merge_close(merged);
	/* Use the sum, so that the compiler cannot remove the loop. */
	if (sum == 0x0123456789ABCDEF)
		puts("");
}

static void print_report(struct etl_file *file, const struct names *names, bool html)
{
	static const char *const no_options[] = { NULL };
	static struct analysis analysis;
	struct report made = {
		.file = file,
		.analysis = &analysis,
		.names = names,
		.selecting_options = no_options,
	};
	size_t i;

	analysis.charges_waits = html;
	analysis.charge_attribute = html ? CHARGE_BY_PROCESS : CHARGE_BY_CPU;
	analysis.is_split = true;
	made.attribute_name = charge_attribute_names[analysis.charge_attribute];
	analysis.has_lock_stacks = html;
	analysis_read(&analysis, file);
	made.seconds = analysis_length_s(&analysis, file);
	report_make_tables(&made);
	for (i = 0; i < REPORT_TABLES; i++)
		table_sort(&made.tables[i]);
	if (html)
		report_print_page(&made, "/dev/null", 20, 200, REPORT_ALL_TABLES);
	else
		json_decref(report_json(&made, 20, UINT32_MAX));
	report_free(&made);
	analysis_free(&analysis);
}

static void print_perfetto(struct etl_file *file, const struct names *names)
{
	static const struct selection all;
	struct conversion conversion = { .file = file, .names = names, .selection = &all };

	struct etl_merge *merged;

	conversion_find_rates(&conversion);
	merged = etl_merge_open(file);
	conversion.stacks = merged ? stack_matcher_open(file, merged) : NULL;
	if (conversion.stacks)
		convert_to_perfetto(&conversion, "/dev/null");
	stack_matcher_close(conversion.stacks);
	etl_merge_close(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char expression[] =
		"SpinCount > 3 && (Action ~ exc || !(caller == main)) || hold > 1us || thread == w";
	uint8_t choice = size ? *data : 0;
	char path[64], names_path[64], error[160];
	struct names *names = NULL;
	struct filter *filter;
	struct etl_file *file;
	size_t names_size = 0;
	int fd, names_fd;

	if (!size)
		return 0;
	data++;
	size--;
	if (choice & 0x80) {
		names_size = strnlen((const char *)data, size);
		names_fd = make_file(data, names_size, names_path);
		names_load(&names, names_path, NULL);
		close(names_fd);
	}
	if (choice == 0x7F) {
		char *text = strndup((const char *)data, size);

		filter_free(filter_parse(text, error, sizeof(error)));
		free(text);
		return 0;
	}
	fd = choice & 0x40 && size < 0x10000 ?
		make_pipe(data + names_size, size - names_size, path) :
		make_file(data + names_size, size - names_size, path);
	filter = filter_parse(expression, error, sizeof(error));
	if (!etl_open(&file, path)) {
		rundown_read(&names, file);
		switch (choice & 3) {
		case 0:
			read_merged(file, names, filter);
			break;
		case 1:
			print_report(file, names, false);
			break;
		case 2:
			print_report(file, names, true);
			break;
		case 3:
			print_perfetto(file, names);
		}
	} else if (!file->error[0]) {
		abort();
	}
	etl_close(file);
	close(fd);
	filter_free(filter);
	names_free(names);
	return 0;
}
