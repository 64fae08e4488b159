// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ntklog/logfile.h>

#include "report_hosts.h"

/**
 * report_write_tables() - write the tables for report_read_tables() in another process of this
 * program
 * @report: made
 * @tables: wanted tables, as bits
 * @stream: stream to write to; after a failed write ferror() is true
 */
void report_write_tables(const struct report *report, unsigned int tables, FILE *stream)
{
	struct report_host host = {
		.start_filetime = report->file->start_time,
		.seconds = report->seconds,
		.event_count = report->analysis->event_count,
		.events_lost = report->file->events_lost,
		.buffers_lost = report->file->buffers_lost,
		.lossy_buffers = report->file->lossy_buffers,
		.buffers_missing = report->file->missing_buffers,
		.wrong_times = report->file->wrong_times,
		.events_of_lock = report->analysis->wanted_lock.event_count,
		.resource_kinds = report->analysis->resources.kind_mask,
		.has_rates = report_shows_per_second(report),
		.has_lock_counts = report_has_lock_counts(report),
		.is_read = true,
		.end_s = analysis_find_end_s(report->analysis, report->file),
		.is_damaged = report_file_is_damaged(report->file),
		.is_lossy = report_file_is_lossy(report->file),
	};
	size_t i;

	memcpy(host.damage, report->file->error, sizeof(host.damage));
	fwrite(&host, sizeof(host), 1, stream);
	for (i = 0; i < REPORT_TABLES; i++)
		if (tables & 1 << i)
			table_write(&report->tables[i], stream);
}

/**
 * report_read_tables() - add the rows that report_write_tables() has written
 * @report: made by report_make_host_tables()
 * @host: host with its name; the other members are set if the rows are complete
 * @tables: wanted tables, as bits
 * @stream: stream to read the rows from
 *
 * Return: true, or false if the rows are not complete; no row of the host is added then.
 */
bool report_read_tables(struct report *report, struct report_host *host, unsigned int tables,
			FILE *stream)
{
	size_t rows[REPORT_TABLES], dropped_rows[REPORT_TABLES], i;
	struct report_host head;
	bool is_whole = host->name && fread(&head, sizeof(head), 1, stream) == 1;

	for (i = 0; i < REPORT_TABLES; i++) {
		rows[i] = report->tables[i].row_count;
		dropped_rows[i] = report->tables[i].dropped_row_count;
	}
	for (i = 0; is_whole && i < REPORT_TABLES; i++)
		if (tables & 1 << i)
			is_whole = table_read(&report->tables[i], host->name, stream);
	for (i = 0; !is_whole && i < REPORT_TABLES; i++) {
		table_cut_rows(&report->tables[i], rows[i]);
		report->tables[i].dropped_row_count = dropped_rows[i];
	}
	if (is_whole) {
		head.name = host->name;
		*host = head;
	}
	return is_whole;
}

static void print_file_count(const char *label, size_t count, FILE *stream)
{
	if (count)
		fprintf(stream, "; %s: %zu file%s", label, count, count == 1 ? "" : "s");
}

/**
 * report_print_hosts() - print how much was read
 * @hosts: the hosts
 * @count: number of @hosts
 * @stream: stream to print to
 */
void report_print_hosts(const struct report_host *hosts, size_t count, FILE *stream)
{
	uint64_t events = 0;
	double seconds = 0;
	size_t read_count = 0, damaged_count = 0, lossy_count = 0, i;

	for (i = 0; i < count; i++) {
		events += hosts[i].event_count;
		seconds += hosts[i].seconds;
		read_count += hosts[i].is_read;
		damaged_count += hosts[i].is_damaged;
		lossy_count += hosts[i].is_lossy;
	}
	fprintf(stream, "%" PRIu64 " events in %.3f s of %zu files", events, seconds, read_count);
	if (read_count < count)
		fprintf(stream, "; %zu file%s could not be read", count - read_count,
			count - read_count == 1 ? "" : "s");
	print_file_count("DAMAGED", damaged_count, stream);
	print_file_count("LOST EVENTS", lossy_count, stream);
	fputc('\n', stream);
}

/* Make an object of the facts about a file that was read. */
static json_t *host_json(const struct report_host *host)
{
	return json_pack("{s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
			 "host", host->name,
			 "seconds", host->seconds,
			 "events", (json_int_t)host->event_count,
			 "events_lost", (json_int_t)host->events_lost,
			 "buffers_lost", (json_int_t)host->buffers_lost,
			 "lossy_buffers", (json_int_t)host->lossy_buffers,
			 "buffers_missing", (json_int_t)host->buffers_missing,
			 "wrong_times", (json_int_t)host->wrong_times,
			 "damage", report_damage_json(host->damage));
}

static json_t *hosts_json(const struct report_host *hosts, size_t count)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		if (hosts[i].is_read)
			json_array_append_new(array, host_json(&hosts[i]));
	return array;
}

static void print_json(json_t *value, FILE *stream)
{
	json_dumpf(value, stream, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(value);
}

/**
 * report_print_hosts_json() - print the report as a JSON object, with each row on a line
 * @report: report of many files
 * @hosts: the hosts
 * @count: number of @hosts
 * @rows_max: rows of each table at most; 0: all
 * @tables: wanted tables, as bits
 * @stream: stream to print to; after a failed write ferror() is true
 *
 * An object of a row needs ten times the memory of the row, so there is one at a time.
 */
void report_print_hosts_json(const struct report *report, const struct report_host *hosts,
			     size_t count, size_t rows_max, unsigned int tables, FILE *stream)
{
	json_t *read_hosts = hosts_json(hosts, count);
	size_t i, row;

	fprintf(stream, "{\"files_not_read\":%zu,\n\"hosts\":",
		count - json_array_size(read_hosts));
	print_json(read_hosts, stream);
	for (i = 0; i < REPORT_TABLES; i++) {
		const struct table *table = &report->tables[i];

		if (!(tables & 1 << i))
			continue;
		fprintf(stream, ",\n\"%s\":[", table->name);
		for (row = 0; row < table_shown_row_count(table, rows_max); row++) {
			fputs(row ? ",\n" : "\n", stream);
			print_json(table_row_json(table, row), stream);
		}
		putc(']', stream);
	}
	fputs("}\n", stream);
}

/*
 * Version of the schema of report_print_ndjson(), which schema/report-rows.json describes. It is
 * raised when a field is removed or gets another meaning, not when one is added.
 */
#define ROWS_SCHEMA	1

/* Make a text such as "2026-11-27T20:15:00Z", or null if the file does not tell when it began. */
static json_t *start_json(uint64_t filetime)
{
	time_t seconds = filetime / 10000000 - FILETIME_UNIX_EPOCH / 10000000;
	char text[40];
	struct tm tm;

	if (filetime < FILETIME_UNIX_EPOCH || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return json_null();
	return json_string(text);
}

/* Add the members of all lines to an object, print it, and free it. */
static void print_ndjson_line(json_t *line, const char *table, const struct report_host *host,
			      FILE *stream)
{
	json_object_set_new(line, "schema", json_integer(ROWS_SCHEMA));
	json_object_set_new(line, "table", json_string(table));
	json_object_set_new(line, "host", json_string(host->name));
	json_object_set_new(line, "start", start_json(host->start_filetime));
	json_object_set_new(line, "seconds", json_real(host->seconds));
	print_json(line, stream);
	putc('\n', stream);
}

/**
 * report_print_ndjson() - print each recording and each row as a JSON object on a line
 * @report: report of files with hosts
 * @hosts: the hosts
 * @count: number of @hosts
 * @rows_max: rows of each table at most; 0: all
 * @tables: wanted tables, as bits
 * @stream: stream to print to; after a failed write ferror() is true
 */
void report_print_ndjson(const struct report *report, const struct report_host *hosts,
			 size_t count, size_t rows_max, unsigned int tables, FILE *stream)
{
	size_t *row_numbers = calloc(count, sizeof(*row_numbers)), i, row;
	json_t *host_by_name = json_object(), *line;

	for (i = 0; i < count; i++) {
		if (!hosts[i].is_read)
			continue;
		json_object_set_new(host_by_name, hosts[i].name, json_integer(i));
		print_ndjson_line(host_json(&hosts[i]), "recordings", &hosts[i], stream);
	}
	for (i = 0; i < REPORT_TABLES; i++) {
		const struct table *table = &report->tables[i];
		size_t rows = tables & 1 << i ? table_shown_row_count(table, rows_max) : 0;

		for (row = 0; row < rows; row++) {
			const char *name;
			size_t host;

			line = table_row_json(table, row);
			name = json_string_value(json_object_get(line, "host"));
			host = json_integer_value(json_object_get(host_by_name, name));
			if (row_numbers)
				json_object_set_new(line, "row", json_integer(++row_numbers[host]));
			print_ndjson_line(line, table->name, &hosts[host], stream);
		}
		if (row_numbers)
			memset(row_numbers, 0, count * sizeof(*row_numbers));
	}
	json_decref(host_by_name);
	free(row_numbers);
}
