/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DUMP_WRITER_H
#define _NTKLOG_DUMP_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include <ntklog/etl.h>

#include "dump_format.h"
#include "event_type.h"
#include "names.h"
#include "stacks.h"

struct dump_writer;

/**
 * struct dump_options - how events are printed
 * @format: format to print
 * @prints_cycles: print raw times, too, and durations in cycles
 * @prints_data: print the data in hexadecimal, too
 * @host: host to print before each event; NULL: none
 * @stream: stream to print to; after a failed write ferror() is true
 */
struct dump_options {
	enum dump_format format;
	bool prints_cycles;
	bool prints_data;
	const char *host;
	FILE *stream;
};

struct dump_writer *dump_writer_make(const struct dump_options *options,
				     const struct etl_file *file, const struct names *names);
void dump_writer_begin(struct dump_writer *writer);
int dump_writer_put(struct dump_writer *writer, const struct etl_event *event,
		    const struct event_type *type, const struct stack *stack);
void dump_writer_flush(void *argument);
void dump_writer_free(struct dump_writer *writer);

#endif /* _NTKLOG_DUMP_WRITER_H */
