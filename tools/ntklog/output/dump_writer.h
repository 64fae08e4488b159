/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DUMP_WRITER_H
#define _NTKLOG_DUMP_WRITER_H

#include <ntklog/etl.h>

#include "dump_format.h"
#include "event_type.h"
#include "names.h"
#include "stacks.h"

struct dump_writer;

struct dump_writer *dump_writer_make(enum dump_format format, const struct etl_file *file,
				     const struct names *names, bool cycles, bool hex);
void dump_writer_begin(struct dump_writer *writer);
int dump_writer_put(struct dump_writer *writer, const struct etl_event *event,
		    const struct event_type *type, const struct stack *stack);
void dump_writer_flush(void *argument);
void dump_writer_free(struct dump_writer *writer);

#endif /* _NTKLOG_DUMP_WRITER_H */
