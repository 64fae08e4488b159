/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_WRITER_H
#define _NTKLOG_NAMES_WRITER_H

/*
 * Writing FILE.names beside a trace: symbols of the running kernel for the addresses in the trace,
 * its tasks, and classes of its locks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ntklog/etl.h>

#include "identities.h"
#include "symbols.h"
#include "task_names.h"

#define NAMES_SEEN_BITS	10

struct names_address;
struct noted_lock;

/*
 * @stream: the file, which only grows; NULL: not made yet
 * @addresses: table of the addresses in the trace, and of written symbols
 * @unresolved: addresses in the trace whose symbols are not written yet
 * @adds_classes: the classes of locks are added to @symbols, too
 * @has_new_class: @symbols has got a class since it was last sorted
 * @seen_addresses: latest addresses in the trace, by hash
 */
struct names_writer {
	char *path;
	FILE *stream;
	struct etl_file *file;
	struct kernel_symbols symbols;
	struct names_address *addresses;
	uint64_t *unresolved;
	size_t unresolved_count;
	struct identities_file identities;
	bool adds_classes;
	bool has_new_class;
	struct noted_lock *locks;
	uint64_t dropped_note_count;
	struct task_names task_names;
	uint64_t seen_addresses[1 << NAMES_SEEN_BITS];
};

int names_writer_prepare(struct names_writer *writer);
int names_writer_open(struct names_writer *writer, const char *trace_path, struct etl_file *file);
void names_writer_add_event(struct names_writer *writer, const struct etl_event *event);
void names_writer_read_notes(struct names_writer *writer);
void names_writer_update(struct names_writer *writer);
int names_writer_close(struct names_writer *writer);

#endif /* _NTKLOG_NAMES_WRITER_H */
