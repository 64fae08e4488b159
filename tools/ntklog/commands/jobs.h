/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_JOBS_H
#define _NTKLOG_JOBS_H

/* Jobs in processes of their own, as many at a time as there are CPUs for this process. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Jobs and the use of their results.
 * @get_path: get the path of the file that a job reads, for messages
 * @run_job: run a job in a process of its own, and write its result; returns an exit status
 * @take_result: read the result of a job, in the order of the jobs; returns false if it is not
 *	complete
 */
struct jobs {
	size_t job_count;
	const char *(*get_path)(void *argument, size_t job_number);
	int (*run_job)(void *argument, size_t job_number, FILE *result);
	bool (*take_result)(void *argument, size_t job_number, FILE *result);
	void *argument;
};

int jobs_run(const struct jobs *jobs);

#endif /* _NTKLOG_JOBS_H */
