/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_H
#define _NTKLOG_ETL_H

/* Reading ETL files, whoever wrote them: nothing in them is believed unchecked. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ntklog/buffer.h>
#include <ntklog/event.h>
#include <ntklog/logfile.h>

#include "macros.h"

/*
 * @path: of the file, for messages
 * @stream: the file
 * @offset: in the file, of @buffer
 * @buffer: the present buffer
 * @buffer_size: of every buffer of the file
 * @buffers: read so far, the first one included
 * @next: offset in @buffer of the next event
 * @pointer_size: of whoever wrote the file, 4 or 8
 * @start_clock: session clock at the start
 * @perf_freq: ticks of the session clock per second
 * @buffers_written: as the file's header says
 * @ended: the session had stopped when the header was written
 * @error: what is wrong with the file; empty if nothing
 */
struct etl_file {
	const char *path;
	FILE *stream;
	uint64_t offset;
	unsigned char *buffer;
	size_t buffer_size;
	uint64_t buffers;
	size_t next;
	unsigned int pointer_size;
	uint64_t start_clock;
	uint64_t perf_freq;
	uint32_t buffers_written;
	bool ended;
	char error[200];
};

/*
 * @offset: of the event in the file
 * @processor: on which it was logged
 * @header_type: TRACE_HEADER_TYPE_* or another of NT's
 * @has_hook_id: whether that header has a hook id; then:
 * @hook_id: which event
 * @version: of the event
 * @time_stamp: session clock
 * @pointer_size: of the data, 4 or 8
 * @size: of the whole event, unpadded
 * @data: after the header and what extends it
 * @data_size: bytes of @data
 */
struct etl_event {
	uint64_t offset;
	unsigned int processor;
	uint8_t header_type;
	bool has_hook_id;
	uint16_t hook_id;
	uint16_t version;
	uint64_t time_stamp;
	unsigned int pointer_size;
	size_t size;
	const unsigned char *data;
	size_t data_size;
};

int etl_open(struct etl_file *file, const char *path);
int etl_next_event(struct etl_file *file, struct etl_event *event);
__printf(3, 4)
int etl_damage(struct etl_file *file, uint64_t offset, const char *format, ...);
void etl_close(struct etl_file *file);

#endif /* _NTKLOG_ETL_H */
