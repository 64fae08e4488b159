/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_HOSTS_H
#define _NTKLOG_REPORT_HOSTS_H

/*
 * The report of many files, such as those of many machines. Each file is summed up in a process of
 * its own. The rows of its tables are those of the report, with the host before them.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report.h"

/*
 * @start_filetime: FILETIME of the begin of the recording
 * @wrong_times: number of events whose time is impossible
 * @events_of_lock: number of events of the only lock that is summed up
 * @end_s: analysis_find_end_s()
 * @resource_kinds: bits of enum resource_kind that its records are of
 * @has_lock_counts: its tables show how many locks a class has
 * @is_damaged: report_file_is_damaged()
 * @is_lossy: report_file_is_lossy()
 * @damage: error of the file; empty: none
 */
struct report_host {
	char *name;
	uint64_t start_filetime;
	double seconds;
	uint64_t event_count;
	uint64_t events_lost;
	uint64_t buffers_lost;
	uint64_t lossy_buffers;
	uint64_t buffers_missing;
	uint64_t wrong_times;
	uint64_t events_of_lock;
	double end_s;
	uint32_t resource_kinds;
	bool has_rates;
	bool has_lock_counts;
	bool is_read;
	bool is_damaged;
	bool is_lossy;
	char damage[sizeof(((struct etl_file *)0)->error)];
};

void report_write_tables(const struct report *report, unsigned int tables, FILE *stream);
bool report_read_tables(struct report *report, struct report_host *host, unsigned int tables,
			FILE *stream);
void report_print_hosts(const struct report_host *hosts, size_t count, FILE *stream);
void report_print_hosts_json(const struct report *report, const struct report_host *hosts,
			     size_t count, size_t rows_max, unsigned int tables, FILE *stream);
void report_print_ndjson(const struct report *report, const struct report_host *hosts,
			 size_t count, size_t rows_max, unsigned int tables, FILE *stream);

#endif /* _NTKLOG_REPORT_HOSTS_H */
