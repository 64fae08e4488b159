/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_WRITER_H
#define _NTKLOG_NAMES_WRITER_H

/* Writing the names of the running kernel's symbols and threads beside a trace. */

#include <stddef.h>
#include <stdio.h>

struct names_thread;

/**
 * struct names_writer - of a trace
 * @stream: the file, which only grows
 * @threads: whose names have been written
 * @path: of it
 * @modules: /proc/modules as it was when its symbols were written
 */
struct names_writer {
	FILE *stream;
	struct names_thread *threads;
	char *path;
	char *modules;
};

int names_writer_open(struct names_writer *writer, const char *trace_path);
void names_writer_update(struct names_writer *writer);
int names_writer_close(struct names_writer *writer);

#endif /* _NTKLOG_NAMES_WRITER_H */
