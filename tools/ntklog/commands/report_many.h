/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_MANY_H
#define _NTKLOG_REPORT_MANY_H

#include "file_list.h"
#include "report_hosts.h"

/*
 * @rows_max: rows of each table at most; 0: all
 * @sum_up_file: sum up a file and report_write_tables() the result, in a process of its own;
 *	returns the exit status
 * @report: the report, whose tables may be changed before report_many_read()
 */
struct report_many {
	const struct file_list *files;
	unsigned int tables;
	size_t rows_max;
	int (*sum_up_file)(void *argument, const char *path, FILE *result);
	void *argument;
	struct report report;
	struct report_host *hosts;
};

bool report_many_open(struct report_many *many);
int report_many_read(struct report_many *many);
uint64_t report_many_events_of_lock(const struct report_many *many);
bool report_many_all_end_before_selection(const struct report_many *many);
void report_many_close(struct report_many *many);

#endif /* _NTKLOG_REPORT_MANY_H */
