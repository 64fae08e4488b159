// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include "session.h"
#include "session_argp.h"

/* Limits of struct ntklog_session_start. */
#define BUFFER_SIZE_MIN	4096u
#define BUFFER_SIZE_MAX	1048576u
#define BUFFERS_MIN	2
#define BUFFERS_MAX	1024

enum {
	OPTION_STACKS = 0x200,
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct session_settings *settings = state->input;
	struct perfinfo_groupmask mask;
	unsigned long size;
	char *end;

	switch (key) {
	case 'e':
		if (session_parse_groups(argument, &mask))
			argp_usage(state);
		settings->groups = argument;
		return 0;
	case 'b':
		size = session_parse_size(argument);
		if (size < BUFFER_SIZE_MIN || size > BUFFER_SIZE_MAX || size % BUFFER_SIZE_MIN)
			argp_error(state, "-b: \"%s\" is no size of a buffer: 4K to 1M, a multiple of 4K",
				   argument);
		settings->buffer_size = size;
		return 0;
	case 'n':
		settings->buffer_count = strtoul(argument, &end, 10);
		if (end == argument || *end || settings->buffer_count < BUFFERS_MIN ||
		    settings->buffer_count > BUFFERS_MAX)
			argp_error(state, "-n: \"%s\" is no number of buffers: %d to %d", argument,
				   BUFFERS_MIN, BUFFERS_MAX);
		return 0;
	case OPTION_STACKS:
		if (session_parse_stacks(argument, &settings->stack_events))
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option session_options[] = {
	{ "events", 'e', "GROUP,...", 0,
	  "Record these: spinlock, resource, contextswap, readythread, spinlock_counters; of Linux' own locks linux_spinlock, linux_rwlock, linux_mutex, linux_rwsem, linux_semaphore, linux_rt_mutex, linux_percpu_rwsem, linux_ww_mutex",
	  0 },
	{ "buffer-size", 'b', "SIZE", 0, "Size of each buffer: 4K to 1M", 0 },
	{ "buffers", 'n', "COUNT", 0, "Number of buffers of each CPU: 2 to 1024", 0 },
	{ "stacks", OPTION_STACKS, "EVENT,...", OPTION_ARG_OPTIONAL,
	  "Record the kernel's stack with these events: spinlock, resource, contextswap (without a value: all three)",
	  0 },
	{ 0 }
};

const struct argp session_argp = {
	.options = session_options,
	.parser = parse_option,
};

const struct argp_child session_argp_children[] = {
	{ &session_argp, 0, NULL, 0 },
	{ 0 }
};
