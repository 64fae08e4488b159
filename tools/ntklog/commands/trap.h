/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TRAP_H
#define _NTKLOG_TRAP_H

/*
 * record --on: a recording that waits for an event. Until the event comes, the tool keeps the
 * buffers of the last seconds in memory; then it writes them, and the buffers of the next seconds.
 */

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "filter.h"
#include "trace_file.h"

STAILQ_HEAD(trap_buffers, trap_buffer);

/*
 * A condition, and the latest buffers.
 * @condition: the condition; NULL: there is no trap
 * @seconds_before, @seconds_after: seconds before and after the event
 * @recording_count: number of recordings, each of which waits for such an event
 * @has_option: an option was given that needs a condition
 * @path: path of the file after the condition was met
 * @part_path: path of the file until then
 * @kept_buffers: the latest buffers, the oldest first
 * @callers: callers of the records that follow in the buffers of a CPU
 * @newest_time: latest time of an event, session clock
 * @lacks_early_buffers: buffers were dropped that were younger than @seconds_before
 */
struct trap {
	struct filter *condition;
	double seconds_before;
	double seconds_after;
	unsigned long recording_count;
	const char *exec_command;
	bool has_option;
	struct trace_file *trace;
	const char *path;
	char *part_path;
	struct trap_buffers kept_buffers;
	size_t kept_bytes;
	struct kept_caller *callers;
	uint64_t newest_time;
	uint64_t event_count;
	bool lacks_early_buffers;
	bool condition_was_met;
};

/* Options of a trap; the input is a struct trap. */
extern const struct argp trap_argp;

int trap_open(struct trap *trap, struct trace_file *trace);
int trap_take(void *trap, unsigned char *buffer, size_t size);
void trap_report_result(const struct trap *trap);
void trap_close(struct trap *trap);

#endif /* _NTKLOG_TRAP_H */
