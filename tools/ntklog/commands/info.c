// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ntklog/group_mask.h>
#include <ntklog/logfile.h>
#include <ntklog/wmi_resource.h>

#include "analysis.h"
#include "command.h"
#include "event_group.h"
#include "event_type.h"
#include "macros.h"
#include "message.h"
#include "report.h"
#include "text.h"
#include "trace_argp.h"
#include "utf16.h"
#include "wmi_record.h"

enum {
	OPTION_JSON = 0x100,
};

#define NAME_SIZE_IN_HEADER	1024

/*
 * Names of events that are counted apart. Beyond them, events of unknown providers are counted by
 * the type of their header, and records of unknown classes without the class.
 */
#define NAMES_COUNTED_MAX	4096

struct options {
	const char *path;
	bool prints_json;
};

/* NT's LogFileMode. */
static const struct {
	uint32_t bit;
	const char *name;
} log_file_modes[] = {
	{ 0x00000001, "sequential" },
	{ 0x00000002, "circular" },
	{ 0x00000004, "append" },
	{ 0x00000008, "newfile" },
	{ 0x00000020, "preallocate" },
	{ 0x00000040, "nonstoppable" },
	{ 0x00000080, "secure" },
	{ 0x00000100, "real_time" },
	{ 0x00000400, "buffering" },
	{ 0x00000800, "private_logger" },
	{ 0x00001000, "add_header" },
	{ 0x00002000, "use_kbytes_for_size" },
	{ 0x00004000, "use_global_sequence" },
	{ 0x00008000, "use_local_sequence" },
	{ 0x00010000, "relog" },
	{ 0x00020000, "private_in_proc" },
	{ 0x01000000, "use_paged_memory" },
	{ 0x02000000, "system_logger" },
	{ 0x04000000, "compressed" },
	{ 0x10000000, "no_per_processor_buffering" },
};

static void set_text(json_t *object, const char *name, char *text)
{
	text_clean(text);
	json_object_set_new(object, name, json_string(text));
}

static void set_number(json_t *object, const char *name, uint64_t value)
{
	char text[24];

	if (value <= INT64_MAX) {
		json_object_set_new(object, name, json_integer((json_int_t)value));
		return;
	}
	/* json_integer() takes an int64_t. */
	snprintf(text, sizeof(text), "%" PRIu64, value);
	set_text(object, name, text);
}

static void set_mode(json_t *object, uint32_t mode)
{
	char text[400];
	size_t i;

	snprintf(text, sizeof(text), "0x%08" PRIx32, mode);
	for (i = 0; i < ARRAY_SIZE(log_file_modes); i++)
		if (mode & log_file_modes[i].bit)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s",
				 log_file_modes[i].name);
	set_text(object, "LogFileMode", text);
}

static void set_time(json_t *object, const char *name, int64_t filetime)
{
	time_t seconds = filetime / 10000000 - FILETIME_UNIX_EPOCH / 10000000;
	char text[64], date[40];
	struct tm tm;

	if (filetime < FILETIME_UNIX_EPOCH || !gmtime_r(&seconds, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, sizeof(text), "%" PRId64 ", none", filetime);
	else
		snprintf(text, sizeof(text), "%s.%07u UTC", date,
			 (unsigned int)(filetime % 10000000));
	set_text(object, name, text);
}

/* Set a member to a text in UTF-16, up to its NUL or @end. Returns the byte behind the text. */
static const unsigned char *set_utf16_text(json_t *object, const char *name,
					   const unsigned char *from, const unsigned char *end)
{
	char text[NAME_SIZE_IN_HEADER];

	from = utf16_string_read(from, end, text, sizeof(text));
	set_text(object, name, text);
	return from;
}

static void set_header(json_t *object, const struct etl_event *event,
		       const struct etl_file *file)
{
	static const char *const clocks[] = {
		"0", "performance counter", "system time", "processor cycles"
	};
	bool is_64bit = event->pointer_size == 8;
	const unsigned char *end = event->data + event->data_size;
	size_t zone_offset = is_64bit ? offsetof(struct trace_logfile_header64, time_zone) :
			     offsetof(struct trace_logfile_header32, time_zone);
	struct trace_logfile_header64 header;
	const unsigned char *names;
	char text[64];

	if (etl_logfile_header(event, &header, &names))
		return;
	set_number(object, "BufferSize", header.buffer_size);
	snprintf(text, sizeof(text), "%u.%u.%u.%u", header.major_version, header.minor_version,
		 header.sub_version, header.sub_minor_version);
	set_text(object, "Version", text);
	set_number(object, "ProviderVersion", header.provider_version);
	set_number(object, "NumberOfProcessors", header.number_of_processors);
	set_time(object, "StartTime", header.start_time);
	set_time(object, "EndTime", header.end_time);
	set_time(object, "BootTime", header.boot_time);
	snprintf(text, sizeof(text), "%g ms", header.timer_resolution / 1e4);
	set_text(object, "TimerResolution", text);
	snprintf(text, sizeof(text), header.maximum_file_size ? "%" PRIu32 " MiB" : "no limit",
		 header.maximum_file_size);
	set_text(object, "MaximumFileSize", text);
	set_mode(object, header.log_file_mode);
	set_number(object, "BuffersWritten", header.buffers_written);
	set_number(object, "StartBuffers", header.start_buffers);
	set_number(object, "PointerSize", header.pointer_size);
	set_number(object, "EventsLost", header.events_lost);
	set_number(object, "BuffersLost", header.buffers_lost);
	set_number(object, "CpuSpeedInMHz", header.cpu_speed_in_mhz);
	set_number(object, "PerfFreq", header.perf_freq);
	snprintf(text, sizeof(text), "%s", header.reserved_flags < ARRAY_SIZE(clocks) ?
		 clocks[header.reserved_flags] : "unknown");
	set_text(object, "Clock", text);
	set_number(object, "StartClock", file->start_clock);
	snprintf(text, sizeof(text), "%" PRId64 " minutes", -(int64_t)header.time_zone.bias);
	set_text(object, "LocalTimeFromUtc", text);
	set_utf16_text(object, "StandardName", event->data + zone_offset + 4,
		       event->data + zone_offset + 68);
	set_utf16_text(object, "DaylightName", event->data + zone_offset + 88,
		       event->data + zone_offset + 152);
	names = set_utf16_text(object, "LoggerName", names, end);
	set_utf16_text(object, "LogFileName", names, end);
}

static void set_group_mask(json_t *object, const struct etl_event *event)
{
	char text[8 * 11 + 1] = "", names[640] = "";
	struct perfinfo_groupmask mask = { 0 };
	size_t i;

	memcpy(&mask, event->data,
	       event->data_size < sizeof(mask) ? event->data_size : sizeof(mask));
	for (i = 0; i < PERF_NUM_MASKS; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s0x%08" PRIx32,
			 i ? " " : "", mask.masks[i]);
	set_text(object, "GroupMask", text);
	for (i = 0; i < EVENT_GROUPS; i++)
		if (mask.masks[PERF_MASK_INDEX(event_groups[i].value)] &
		    PERF_MASK_BITS(event_groups[i].value))
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 *names ? " " : "", event_groups[i].name);
	set_text(object, "Groups", names);
}

static const char *format_event_name(const struct etl_event *event, bool is_short, char *text,
				     size_t size)
{
	struct etl_event_header header;
	char guid[ETL_GUID_SIZE];
	const char *provider;

	etl_read_event_header(&header, event);
	if (event->has_hook_id) {
		snprintf(text, size, "HookId 0x%04x", event->hook_id);
	} else if (is_short || !header.has_provider || (!header.has_id && !header.has_opcode)) {
		snprintf(text, size, "HeaderType 0x%02x", event->header_type);
	} else {
		etl_format_guid(header.provider, guid);
		provider = etl_provider_name(header.provider);
		snprintf(text, size, "%s %s %u", provider ? provider : guid,
			 header.has_id ? "Id" : "Opcode",
			 header.has_id ? header.id : header.opcode);
	}
	return text;
}

/* Name a record of a resource: those of Linux' locks are counted by their kind. */
static const char *format_resource_action(const struct etl_event *event, bool is_short,
					  const char *name, char *text, size_t size)
{
	struct resource_record record;

	resource_record_read(&record, event);
	if (record.kind == RESOURCE_KIND_NT || (record.kind == RESOURCE_KINDS && is_short))
		return name;
	if (record.kind == RESOURCE_KINDS)
		snprintf(text, size, "%s, class 0x%08" PRIx32, name,
			 record.action & WMI_RESOURCE_ACTION_CLASS);
	else
		snprintf(text, size, "%s, %s", name, resource_kinds[record.kind].name);
	return text;
}

/* Count the events by name. The caller frees the result. */
static json_t *count_events(struct etl_file *file, json_t *header)
{
	json_t *counts = json_object();
	const struct etl_event *event;
	bool has_header = false;

	while ((event = etl_next_event(file))) {
		const struct event_type *type = event_type_find(event);
		const char *name = event_name(event, type);
		bool is_short = json_object_size(counts) >= NAMES_COUNTED_MAX;
		union wmi_record record;
		char text[96];

		if (event->offset < file->buffer_size) {
			if (!has_header)
				set_header(header, event, file);
			else if (event->hook_id == EVENT_TRACE_TYPE_GROUP_MASK)
				set_group_mask(header, event);
			has_header = true;
			continue;
		}
		if (type && wmi_record_read(&record, file, event, type))
			continue;
		/* Each event of a file may have another provider. */
		if (!strcmp(name, "Event"))
			name = format_event_name(event, is_short, text, sizeof(text));
		else if (type && type->hook_id == PERFINFO_LOG_TYPE_RESOURCE)
			name = format_resource_action(event, is_short, name, text, sizeof(text));
		set_number(counts, name,
			   json_integer_value(json_object_get(counts, name)) + 1);
	}
	return counts;
}

static void print_object(const json_t *object, int indent)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		printf("%*s%-*s", indent, "", 24 - indent, name);
		if (json_is_object(value)) {
			putchar('\n');
			print_object(value, indent + 2);
		} else if (json_is_string(value)) {
			printf(" %s\n", json_string_value(value));
		} else {
			printf(" %" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
		}
	}
}

static json_t *make_info(struct etl_file *file)
{
	static struct analysis analysis;
	json_t *header = json_object(), *contents = json_object(), *events, *rates;

	/* The rates come first, because they need the file at its start; its position stays. */
	analysis_find_rates(&analysis, file);
	rates = report_rates_json(&analysis);
	events = count_events(file, header);
	set_number(contents, "Buffers", file->buffers);
	set_number(contents, "BuffersOverwritten", file->overwritten);
	set_number(contents, "BuffersBeforeLoss", file->lossy_buffers);
	set_number(contents, "BuffersWithoutEvents", file->other_buffers);
	set_number(contents, "DamagedBuffers", file->damaged_buffers);
	set_number(contents, "DamagedEvents", file->damaged_events);
	set_number(contents, "WrongTimes", file->wrong_times);
	set_number(contents, "BuffersTwice", file->repeated_buffers);
	set_number(contents, "BuffersMissing", file->missing_buffers);
	analysis_free(&analysis);
	return json_pack("{s:o, s:o, s:o, s:o}", "Header", header, "Sampling", rates,
			 "Contents", contents, "Events", events);
}

static int print_info(const struct options *options)
{
	struct etl_file *file;
	int status = NTKLOG_OK;
	json_t *info;

	if (!etl_open(&file, options->path) || etl_is_compressed(file)) {
		info = make_info(file);
		if (!info) {
			message("%s: no memory", options->path);
			status = NTKLOG_FAILED;
		} else if (options->prints_json) {
			json_dumpf(info, stdout, JSON_INDENT(1));
			putchar('\n');
		} else {
			print_object(info, 0);
		}
		json_decref(info);
	}
	if (finish_output(stdout, NULL))
		status = NTKLOG_FAILED;
	if (trace_report_damage(file))
		status = NTKLOG_FAILED;
	etl_close(file);
	return status;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_JSON:
		options->prints_json = true;
		return 0;
	default:
		return trace_parse_path(key, argument, state, &options->path);
	}
}

static const struct argp_option info_options[] = {
	{ "json", OPTION_JSON, NULL, 0, "Print one JSON object, for programs", 0 },
	{ 0 }
};

static const struct argp info_argp = {
	.options = info_options,
	.parser = parse_option,
	.args_doc = "FILE",
	.doc = "Print what an ETL file says about itself: all fields of its header, the\n"
	       "parameters of the sampling, and what is lost or damaged; and how many events\n"
	       "of each kind are in it.",
};

/**
 * command_info() - ntklog info
 * @argc: number of arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_info(int argc, char **argv)
{
	struct options options = { 0 };

	argp_parse(&info_argp, argc, argv, 0, NULL, &options);
	return print_info(&options);
}
