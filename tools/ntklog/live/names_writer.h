/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_WRITER_H
#define _NTKLOG_NAMES_WRITER_H

/*
 * Writing the names of what is in a trace beside it: symbols of the running kernel for its
 * addresses, and names of its threads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ntklog/etl.h>

#include "identities.h"
#include "names.h"

#define NAMES_SEEN_BITS	10

struct names_address;
struct names_lock;
struct names_thread;

/**
 * struct names_writer - of a trace
 * @path: of the file
 * @stream: the file, which only grows; NULL: not made yet
 * @file: what the trace's header says
 * @names: of the kernel and the modules there were when they were read
 * @modules: /proc/modules as it was then
 * @addresses: that the trace has, and of symbols that have been written
 * @unresolved: that the trace has, and that have not been looked up
 * @unresolved_count: of them
 * @identities: what locks lie in
 * @locks: of which that is known
 * @left_out: notes that there was no room for
 * @threads: that there were, or are in the trace
 * @seen: the last addresses by a few bits, to know them at once
 * @seen_threads: likewise
 * @updates: times that names_writer_update() was called
 */
struct names_writer {
	char *path;
	FILE *stream;
	struct etl_file *file;
	struct names *names;
	char *modules;
	struct names_address *addresses;
	uint64_t *unresolved;
	size_t unresolved_count;
	struct identities identities;
	struct names_lock *locks;
	uint64_t left_out;
	struct names_thread *threads;
	uint64_t seen[1 << NAMES_SEEN_BITS];
	uint32_t seen_threads[1 << NAMES_SEEN_BITS];
	unsigned int updates;
};

int names_writer_prepare(struct names_writer *writer);
int names_writer_open(struct names_writer *writer, const char *trace_path,
		      const void *header, size_t size);
void names_writer_take(struct names_writer *writer, unsigned char *buffer);
void names_writer_update(struct names_writer *writer);
int names_writer_close(struct names_writer *writer);

#endif /* _NTKLOG_NAMES_WRITER_H */
