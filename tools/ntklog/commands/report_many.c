// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <stdlib.h>

#include "jobs.h"
#include "message.h"
#include "report_many.h"

/**
 * report_many_open() - make the tables, which have no rows
 * @many: @files, @tables, @rows_max, @sum_up_file, @argument, @report.attribute_name are set; the
 *	other members are zero
 *
 * Return: true, or false after a message; report_many_close() in either case.
 */
bool report_many_open(struct report_many *many)
{
	bool is_open = true;
	size_t i;

	many->hosts = calloc(many->files->path_count, sizeof(*many->hosts));
	report_make_host_tables(&many->report);
	for (i = 0; i < REPORT_TABLES; i++)
		is_open &= !many->report.tables[i].no_memory;
	if (many->hosts && is_open)
		return true;
	message("no memory for the tables of the report");
	return false;
}

static const char *path_of_job(void *argument, size_t number)
{
	const struct report_many *many = argument;

	return many->files->paths[number];
}

static int run_job(void *argument, size_t number, FILE *result)
{
	const struct report_many *many = argument;

	return many->sum_up_file(many->argument, many->files->paths[number], result);
}

/* Add the rows of a file. The memory grows with the rows that are shown, not with the files. */
static bool add_rows(void *argument, size_t number, FILE *result)
{
	struct report_many *many = argument;
	bool is_whole;
	size_t i;

	many->hosts[number].name = file_list_make_host_name(many->files, number);
	is_whole = report_read_tables(&many->report, &many->hosts[number], many->tables, result);
	for (i = 0; i < REPORT_TABLES; i++)
		table_keep_top_rows(&many->report.tables[i], many->rows_max);
	return is_whole;
}

/**
 * report_many_read() - read the files, as many at a time as there are CPUs
 * @many: open, with tables whose columns and order have been chosen
 *
 * Columns are shown if the report of one of the files alone shows them: kinds, rates, numbers of
 * locks. If the user has chosen columns, the caller chooses them again afterwards.
 *
 * Return: enum ntklog_exit_status of the first file that is not whole.
 */
int report_many_read(struct report_many *many)
{
	const struct jobs jobs = {
		.job_count = many->files->path_count,
		.get_path = path_of_job,
		.run_job = run_job,
		.take_result = add_rows,
		.argument = many,
	};
	int status = jobs_run(&jobs);
	bool has_rates = false, has_lock_counts = false;
	uint32_t kinds = 0;
	size_t i;

	for (i = 0; i < many->files->path_count; i++) {
		kinds |= many->hosts[i].resource_kinds;
		has_rates |= many->hosts[i].has_rates;
		has_lock_counts |= many->hosts[i].has_lock_counts;
	}
	report_set_resource_kinds(&many->report, kinds);
	for (i = 0; i < REPORT_TABLES; i++)
		table_sort(&many->report.tables[i]);
	if (has_rates) {
		report_show_column(&many->report, "per_second", false);
		report_show_column(&many->report, "waiting", false);
	}
	if (has_lock_counts)
		report_show_column(&many->report, "locks", false);
	return status;
}

/**
 * report_many_events_of_lock() - count the events of the only lock that is summed up
 * @many: read
 *
 * Return: the number, of all files.
 */
uint64_t report_many_events_of_lock(const struct report_many *many)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < many->files->path_count; i++)
		events += many->hosts[i].events_of_lock;
	return events;
}

/**
 * report_many_all_end_before_selection() - test whether all files end before the selected time
 * @many: read, all files
 *
 * Files without events do not count.
 *
 * Return: true if each file ends before the begin of the selected time, and there is one.
 */
bool report_many_all_end_before_selection(const struct report_many *many)
{
	double end_s = -INFINITY;
	size_t i;

	for (i = 0; i < many->files->path_count; i++)
		end_s = fmax(end_s, many->hosts[i].end_s);
	return isfinite(end_s);
}

/**
 * report_many_close() - free the report
 * @many: opened
 */
void report_many_close(struct report_many *many)
{
	size_t i;

	for (i = 0; many->hosts && i < many->files->path_count; i++)
		free(many->hosts[i].name);
	free(many->hosts);
	report_free(&many->report);
}
