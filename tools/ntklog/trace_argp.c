// SPDX-License-Identifier: GPL-2.0-only
/* What the commands that read a file have in common on the command line. */

#include "trace_argp.h"

enum {
	/* None of the commands' own. */
	OPTION_NAMES = 0x200,
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct trace_options *options = state->input;

	switch (key) {
	case OPTION_NAMES:
		options->names_path = argument;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "one file at a time");
		options->path = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which file?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option trace_options[] = {
	{ "names", OPTION_NAMES, "FILE", 0,
	  "Names of addresses and threads, instead of those in FILE.names", 0 },
	{ 0 }
};

static const struct argp trace_argp = {
	.options = trace_options,
	.parser = parse_option,
};

const struct argp_child trace_argp_children[] = {
	{ &trace_argp, 0, NULL, 0 },
	{ 0 }
};
