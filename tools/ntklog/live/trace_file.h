/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TRACE_FILE_H
#define _NTKLOG_TRACE_FILE_H

/*
 * The ETL file that a recording writes, with FILE.names beside it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/session.h>

#include "names_writer.h"

/*
 * @is_stream: the file is a pipe or the standard output, whose written bytes cannot be changed
 * @written_bytes: bytes of the buffers written
 * @written_buffer_count: buffers written, without the first one
 * @written_event_count: number of events in these buffers
 * @left_out_buffer_count: buffers that were left out on purpose, behind the first one
 * @dropped_buffer_count: buffers that were read but could not be written
 */
struct trace_file {
	const char *path;
	int fd;
	bool is_stream;
	bool has_names;
	bool has_failed;
	struct etl_file *etl_file;
	struct names_writer names;
	uint64_t written_bytes;
	uint64_t written_buffer_count;
	uint64_t written_event_count;
	uint64_t left_out_buffer_count;
	uint64_t dropped_buffer_count;
	uint64_t dropped_event_count;
};

int trace_file_open_stream(struct trace_file *trace);
int trace_file_begin(struct trace_file *trace, unsigned char *header, size_t size, uint64_t bytes);
int trace_file_write(void *trace_file, unsigned char *buffer, size_t size);
int trace_file_finish(struct trace_file *trace, unsigned char *header, size_t size);
int trace_file_rename(struct trace_file *trace, const char *path);
void trace_file_remove(const struct trace_file *trace);
int trace_file_close(struct trace_file *trace);
void trace_file_report_counts(const struct trace_file *trace,
			      const struct ntklog_session_counts *counts);

#endif /* _NTKLOG_TRACE_FILE_H */
