/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_H
#define _NTKLOG_ETL_H

/* Reading ETL files, whoever wrote them: nothing in them is believed unchecked. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/buffer.h>
#include <ntklog/event.h>
#include <ntklog/group_mask.h>
#include <ntklog/logfile.h>

#include "etl_input.h"
#include "macros.h"

/* NT's types of headers, of which the wire headers have those that we write. */
#define TRACE_HEADER_TYPE_COMPACT32		0x03
#define TRACE_HEADER_TYPE_COMPACT64		0x04
#define TRACE_HEADER_TYPE_FULL_HEADER32		0x0A
#define TRACE_HEADER_TYPE_INSTANCE32		0x0B
#define TRACE_HEADER_TYPE_TIMED			0x0C
#define TRACE_HEADER_TYPE_ERROR			0x0D
#define TRACE_HEADER_TYPE_WNODE_HEADER		0x0E
#define TRACE_HEADER_TYPE_MESSAGE		0x0F	/* these do not carry it */
#define TRACE_HEADER_TYPE_EVENT_HEADER32	0x12
#define TRACE_HEADER_TYPE_EVENT_HEADER64	0x13
#define TRACE_HEADER_TYPE_FULL_HEADER64		0x14
#define TRACE_HEADER_TYPE_INSTANCE64		0x15

/**
 * struct etl_cursor - a place in a file, and the buffer that it is in
 * @buffer: that buffer
 * @number: of the buffer in the file
 * @next: offset in the buffer of the next event
 * @end: of the buffer's events
 * @processor: that the buffer is of
 * @time_stamp: of the event before, for those that have none
 * @latest: time that its events can have, session clock
 */
struct etl_cursor {
	unsigned char *buffer;
	uint64_t number;
	size_t next;
	size_t end;
	unsigned int processor;
	uint64_t time_stamp;
	uint64_t latest;
};

/**
 * struct etl_place - where a buffer is
 * @number: of it, in the file
 * @sequence_number: of it, in the session
 * @processor: whose events it holds
 * @first_time: of its first event, session clock, of a stream; 0: not known
 */
struct etl_place {
	uint64_t number;
	int64_t sequence_number;
	unsigned int processor;
	uint64_t first_time;
};

struct etl_known;

/**
 * struct etl_file - a file that is open
 * @path: of the file, for messages
 * @fd: the file; -1: it is none
 * @input: a stream, whose buffers are found as they come; NULL: it is none
 * @known: table of buffers that have come; of a file, of those that may be there twice
 * @next_number: of the next one, in the stream
 * @has_ended: there is no more
 * @buffer_size: of every buffer of the file
 * @cursor: where etl_next_event() is
 * @places: of the buffers that can be read, in the order of the file, the first one too;
 *	of a stream those that have come: see etl_more()
 * @place_count: how many
 * @next_place: after the buffer where etl_next_event() is
 * @pointer_size: of whoever wrote the file, 4 or 8
 * @processors: that the machine had
 * @start_clock: session clock at the start
 * @perf_freq: ticks of the session clock per second
 * @cycle_freq: of the cycles that locks are timed in, per second
 * @tick_ns: of the system's clock
 * @start_time: FILETIME of the start
 * @end_time: FILETIME of the end, 0: not ended
 * @log_file_mode: EVENT_TRACE_*
 * @buffers_written: as the file's header says
 * @events_lost: likewise
 * @buffers_lost: likewise
 * @overwritten: buffers of a session that keeps its last ones only
 * @lossy_buffers: after which events or buffers were lost
 * @other_buffers: that are of a kind without events, stepped over
 * @earliest: time that an event can have, session clock
 * @latest: likewise; UINT64_MAX: the file does not say
 * @damaged_buffers: of which something was left out
 * @unknown_buffers: of those, whose headers are damaged
 * @damaged_events: that were left out alone
 * @left_out: bytes of both
 * @wrong_times: events whose time cannot be
 * @wrong_time_at: offset of the first of them
 * @twice: buffers that are there again, left out
 * @missing: buffers whose sequence numbers are not there
 * @first_missing: the first of those numbers
 * @late: buffers of a stream that begin before what has been given
 * @unfinished: bytes of a last buffer that has not been written to its end yet
 * @damage_at: the offset that @error names
 * @error: what is wrong with the file, the first in it; empty if nothing
 */
struct etl_file {
	const char *path;
	int fd;
	struct etl_input *input;
	struct etl_known *known;
	uint64_t next_number;
	bool has_ended;
	size_t buffer_size;
	struct etl_cursor cursor;
	struct etl_place *places;
	size_t place_count;
	size_t next_place;
	unsigned int pointer_size;
	unsigned int processors;
	uint64_t start_clock;
	uint64_t perf_freq;
	uint64_t cycle_freq;
	uint64_t tick_ns;
	uint64_t start_time;
	uint64_t end_time;
	uint32_t log_file_mode;
	uint32_t buffers_written;
	uint32_t events_lost;
	uint32_t buffers_lost;
	uint64_t overwritten;
	uint64_t lossy_buffers;
	uint64_t other_buffers;
	uint64_t earliest;
	uint64_t latest;
	uint64_t damaged_buffers;
	uint64_t unknown_buffers;
	uint64_t damaged_events;
	uint64_t left_out;
	uint64_t wrong_times;
	uint64_t wrong_time_at;
	uint64_t twice;
	uint64_t missing;
	int64_t first_missing;
	uint64_t late;
	uint64_t unfinished;
	uint64_t damage_at;
	char error[240];
};

/**
 * struct etl_event - an event of a file
 * @offset: of the event in the file
 * @processor: on which it was logged
 * @header: in the file
 * @header_type: TRACE_HEADER_TYPE_*
 * @has_hook_id: whether that header has a hook id; then:
 * @hook_id: which event
 * @version: of the event
 * @has_time: of its own
 * @wrong_time: it has, but that cannot be
 * @time_stamp: session clock; of the event before, if it has none of its own
 * @raw_time: as it is in the file
 * @pointer_size: of the data, 4 or 8
 * @size: of the whole event, unpadded
 * @counters: performance counters at @extension
 * @has_pebs_index: the index is after them
 * @extension: 8 bytes for each
 * @data: after the header and what extends it
 * @data_size: bytes of @data
 */
struct etl_event {
	uint64_t offset;
	unsigned int processor;
	const unsigned char *header;
	uint8_t header_type;
	bool has_hook_id;
	uint16_t hook_id;
	uint16_t version;
	bool has_time;
	bool wrong_time;
	uint64_t time_stamp;
	uint64_t raw_time;
	unsigned int pointer_size;
	size_t size;
	unsigned int counters;
	bool has_pebs_index;
	const unsigned char *extension;
	const unsigned char *data;
	size_t data_size;
};

int etl_open(struct etl_file *file, const char *path);
int etl_attach(struct etl_file *file, const char *path, const void *buffer, size_t size);
int etl_use_buffer(struct etl_file *file, struct etl_cursor *cursor, uint64_t number);
int etl_read_buffer(struct etl_file *file, struct etl_cursor *cursor, uint64_t number);
int etl_take_buffer(struct etl_file *file, struct etl_cursor *cursor, uint64_t number);
bool etl_more(struct etl_file *file);
void etl_wait(struct etl_file *file, void (*wait)(void *argument), void *argument);
int etl_parse_event(struct etl_file *file, struct etl_cursor *cursor,
		    struct etl_event *event);
void etl_logfile_header(const struct etl_event *event, struct trace_logfile_header64 *header,
			const unsigned char **names);
bool etl_group_mask(const struct etl_file *file, struct perfinfo_groupmask *mask);
bool etl_may_have_names(const struct etl_file *file);
bool etl_is_compressed(const struct etl_file *file);
bool etl_is_flight(const struct etl_file *file);
bool etl_is_circular(const struct etl_file *file);
int etl_next_event(struct etl_file *file, struct etl_event *event);
int etl_leave_out_event(struct etl_file *file, const struct etl_event *event);
unsigned int etl_processor(const struct wmi_buffer_header *header);
uint64_t etl_unix_time(const struct etl_file *file, uint64_t time_stamp);
double etl_seconds(const struct etl_file *file, uint64_t time_stamp);
double etl_cycles_ns(const struct etl_file *file, double cycles);
__printf(3, 4)
int etl_damage(struct etl_file *file, uint64_t offset, const char *format, ...);
void etl_close(struct etl_file *file);

#endif /* _NTKLOG_ETL_H */
