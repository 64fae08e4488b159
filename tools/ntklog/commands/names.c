// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ntklog/etl.h>
#include <ntklog/logfile.h>

#include "command.h"
#include "message.h"
#include "names.h"
#include "names_writer.h"
#include "trace_argp.h"

#define FILETIMES_PER_S	10000000LL

/* Seconds by which the time of the boot may differ at most, because the clock was set. */
#define CLOCK_STEP_S	10

static int64_t filetime_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * FILETIMES_PER_S + time.tv_nsec / 100;
}

/* Test whether the trace was recorded since the last boot of this machine. */
static bool file_is_of_this_boot(const struct etl_file *file)
{
	int64_t boot = FILETIME_UNIX_EPOCH + filetime_of(CLOCK_REALTIME) -
		       filetime_of(CLOCK_BOOTTIME);

	return llabs((int64_t)file->boot_time - boot) <= CLOCK_STEP_S * FILETIMES_PER_S;
}

static int write_names(struct names_writer *writer, struct etl_file *file)
{
	const struct etl_event *event;
	char *path;
	int exists;

	if (!file_is_of_this_boot(file)) {
		message("%s: names are of this boot, the file is of another one or another machine",
			file->path);
		return -1;
	}
	if (asprintf(&path, "%s" NAMES_SUFFIX, file->path) < 0) {
		message("%s: no memory for its file of names", file->path);
		return -1;
	}
	exists = !access(path, F_OK);
	if (exists)
		message("%s: there are names already: remove the file to write it anew", path);
	free(path);
	if (exists || names_writer_prepare(writer) || names_writer_open(writer, file->path, file))
		return -1;
	while ((event = etl_next_event(file)))
		names_writer_add_event(writer, event);
	return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	return trace_parse_path(key, argument, state, state->input);
}

/**
 * command_names() - ntklog names
 * @argc: number of arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status.
 */
int command_names(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_option,
		.args_doc = "FILE",
		.doc = "Write FILE.names, as ntklog record does, for a FILE that was made in another\n"
		       "way on this machine since its last boot: with cat from the files of a session,\n"
		       "or through a pipe. Threads that have ended have no name, nor have modules that\n"
		       "were unloaded. Classes of locks are named only as far as the module still\n"
		       "notes them.",
	};
	static struct names_writer writer;
	const char *path = NULL;
	struct etl_file *file;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &path);
	if (!strcmp(path, "-")) {
		message("-: the names are written beside the trace: give the name of a file instead");
		return NTKLOG_USAGE;
	}
	err = etl_open(&file, path) || write_names(&writer, file);
	if (names_writer_close(&writer))
		err = -1;
	trace_report_loss(file);
	if (trace_report_damage(file))
		err = -1;
	etl_close(file);
	return err ? NTKLOG_FAILED : NTKLOG_OK;
}
