/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TRACE_ARGP_H
#define _NTKLOG_TRACE_ARGP_H

/* Options of the commands that read a file, and messages about the file. */

#include <argp.h>

#include <ntklog/etl.h>

#include "file_list.h"
#include "filter.h"

/* Number of options that choose names and events: those of trace_argp, and --by of the report. */
#define TRACE_SELECTING_OPTIONS	5

/*
 * @files: list of the files, if the command takes many; NULL: it takes one
 * @names_path: path of its names; NULL: FILE.names
 * @given: the options that choose names and events, each followed by its argument, as the user has
 *	given them; NULL after the last
 */
struct trace_options {
	const char *path;
	struct file_list *files;
	const char *names_path;
	struct selection selection;
	const char *given[2 * TRACE_SELECTING_OPTIONS + 1];
};

/* The input of the parser is a struct trace_options. */
extern const struct argp trace_argp;

/* Children of a parser without other children. */
extern const struct argp_child trace_argp_children[];

void trace_add_option(struct trace_options *options, const struct argp_state *state,
		      const char *name, const char *argument);
error_t trace_parse_path(int key, char *argument, struct argp_state *state, const char **path);
int trace_refuse_output(const struct trace_options *options, const char *output);
int trace_open(struct etl_file **file, struct names **names, struct trace_options *options,
	       bool *is_open);
void trace_report_loss(const struct etl_file *file);
int trace_report_damage(const struct etl_file *file);

#endif /* _NTKLOG_TRACE_ARGP_H */
