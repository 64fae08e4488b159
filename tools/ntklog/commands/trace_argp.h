/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TRACE_ARGP_H
#define _NTKLOG_TRACE_ARGP_H

/* What the commands that read a file have in common: on the command line, and at the end. */

#include <argp.h>

#include <ntklog/etl.h>

#include "filter.h"

/**
 * struct trace_options - which file, and what of it
 * @path: of it
 * @names_path: of its names; NULL: beside it
 * @selection: of its events
 */
struct trace_options {
	const char *path;
	const char *names_path;
	struct selection selection;
};

/* For struct argp's children. Its input is a struct trace_options. */
extern const struct argp_child trace_argp_children[];

error_t trace_parse_path(int key, char *argument, struct argp_state *state, const char **path);
int trace_open(struct etl_file **file, struct names **names, struct trace_options *options,
	       bool *is_open);
void trace_tell_loss(const struct etl_file *file);
int trace_tell_damage(const struct etl_file *file);

#endif /* _NTKLOG_TRACE_ARGP_H */
