// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "jobs.h"
#include "message.h"

struct started_job {
	pid_t pid;
	FILE *result;
};

static size_t count_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
}

/* Make a file without a name, on disk: the results of dump may be larger than the memory. */
static int open_result(void)
{
	const char *directory = getenv("TMPDIR");
	int fd = open(directory && *directory ? directory : "/var/tmp",
		      O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? memfd_create("ntklog", MFD_CLOEXEC) : fd;
}

static bool start_job(const struct jobs *jobs, size_t job_number, struct started_job *started)
{
	int fd = open_result(), status;

	started->result = fd < 0 ? NULL : fdopen(fd, "w+");
	fflush(stdout);
	started->pid = started->result ? fork() : -1;
	if (started->pid < 0) {
		message("cannot start a process: %s", strerror(errno));
		if (started->result)
			fclose(started->result);
		else if (fd >= 0)
			close(fd);
		return false;
	}
	if (started->pid)
		return true;
	/* A closed pipe may end the command while it prints the results of other jobs. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	status = jobs->run_job(jobs->argument, job_number, started->result);
	if (fflush(started->result) || ferror(started->result)) {
		message("%s: the result cannot be stored: make space in TMPDIR or /var/tmp",
			jobs->get_path(jobs->argument, job_number));
		/* A part of the result would look like the whole. */
		if (ftruncate(fileno(started->result), 0))
			abort();
		status = NTKLOG_FAILED;
	}
	_exit(status);
}

static int finish_job(const struct jobs *jobs, size_t job_number, const struct started_job *started)
{
	int status;

	while (waitpid(started->pid, &status, 0) < 0 && errno == EINTR)
		;
	rewind(started->result);
	if (!WIFEXITED(status)) {
		message_ended_by_signal("a process that read a file", WTERMSIG(status),
					"read fewer files at a time: taskset -c 0 ntklog ...");
		status = NTKLOG_FAILED;
	} else {
		status = WEXITSTATUS(status);
		if (!jobs->take_result(jobs->argument, job_number, started->result) && !status) {
			message("%s: the result cannot be used: %s",
				jobs->get_path(jobs->argument, job_number), strerror(errno));
			status = NTKLOG_FAILED;
		}
	}
	fclose(started->result);
	return status;
}

/**
 * jobs_run() - run jobs
 * @jobs: the jobs
 *
 * Return: the exit status of the first job that failed, NTKLOG_FAILED if a job could not be
 * started, or NTKLOG_OK.
 */
int jobs_run(const struct jobs *jobs)
{
	size_t jobs_max = count_cpus(), begun_count = 0, job_number;
	struct started_job *started = calloc(jobs_max, sizeof(*started));
	int status = NTKLOG_OK, job_status;

	if (!started) {
		message("no memory for the processes that read the files");
		return NTKLOG_FAILED;
	}
	for (job_number = 0; job_number < jobs->job_count; job_number++) {
		while (begun_count < jobs->job_count && begun_count < job_number + jobs_max &&
		       start_job(jobs, begun_count, &started[begun_count % jobs_max]))
			begun_count++;
		if (begun_count == job_number) {
			status = NTKLOG_FAILED;
			break;
		}
		job_status = finish_job(jobs, job_number, &started[job_number % jobs_max]);
		if (!status)
			status = job_status;
	}
	free(started);
	return status;
}
