/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_READER_H
#define _NTKLOG_ETL_READER_H

/*
 * The reader from inside, which changes and is nobody's but the tool's own. It needs more than
 * a stranger: rates and names that may be anywhere are looked for beforehand, in buffers out of
 * their order (analysis, names); and sessions that log give buffers without a file (live, top).
 * All others have <ntklog/etl.h>.
 */

#include <sys/types.h>

#include <ntklog/buffer.h>
#include <ntklog/etl.h>

#include "etl_input.h"
#include "macros.h"

/**
 * struct etl_cursor - a place in a file, and the buffer that it is in
 * @buffer: that buffer
 * @number: of the buffer in the file
 * @next: offset in the buffer of the next event
 * @end: of the buffer's events
 * @processor: that the buffer is of
 * @time_stamp: of the event before, for those that have none
 * @last_time: of the last event of the buffer that has a time of its own, session clock; 0: none
 * @latest: time that its events can have, session clock
 */
struct etl_cursor {
	unsigned char *buffer;
	uint64_t number;
	size_t next;
	size_t end;
	unsigned int processor;
	uint64_t time_stamp;
	uint64_t last_time;
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
 * struct etl_reader - all of a file that is open
 * @file: what its user sees; it is first, so that one is the other. Its @buffers are those at
 *	@places
 * @fd: the file; -1: it is none
 * @input: a stream, whose buffers are found as they come; NULL: it is none
 * @known: table of buffers that have come; of a file, of those that may be there twice
 * @next_number: of the next one, in the stream
 * @has_ended: there is no more
 * @is_merged: it is, or has been
 * @cursor: where etl_next_event() is
 * @event: that it has given
 * @places: of the buffers that can be read, in the order of the file, the first one too;
 *	of a stream those that have come: see etl_more()
 * @next_place: after the buffer where etl_next_event() is
 * @slack: ticks that a time may be wrong by
 * @earliest: time that an event can have, session clock
 * @latest: likewise; UINT64_MAX: the file does not say
 * @unknown_buffers: of the damaged ones, whose headers are
 * @damage_at: the offset that @file's error names
 */
struct etl_reader {
	struct etl_file file;
	int fd;
	struct etl_input *input;
	struct etl_known *known;
	uint64_t next_number;
	bool has_ended;
	bool is_merged;
	struct etl_cursor cursor;
	struct etl_event event;
	struct etl_place *places;
	size_t next_place;
	uint64_t slack;
	uint64_t earliest;
	uint64_t latest;
	uint64_t unknown_buffers;
	uint64_t damage_at;
};

static inline struct etl_reader *etl_reader(struct etl_file *file)
{
	return (struct etl_reader *)file;
}

static inline const struct etl_reader *etl_const_reader(const struct etl_file *file)
{
	return (const struct etl_reader *)file;
}

/* etl.c: as a whole. */
int etl_attach(struct etl_file **file, const char *path, const void *buffer, size_t size);

/* etl_damage.c: what is wrong. */
__printf(3, 4)
int etl_damage(struct etl_reader *reader, uint64_t offset, const char *format, ...);
int etl_no_memory(struct etl_reader *reader);
void etl_leave_out_bytes(struct etl_reader *reader, size_t bytes);
void etl_count_backwards(struct etl_reader *reader, uint64_t offset);

/* etl_buffer.c: buffers, one at a time. */
unsigned int etl_processor(const struct wmi_buffer_header *header);
int etl_check_buffer(struct etl_reader *reader, uint64_t offset,
		     const struct wmi_buffer_header *header);
ssize_t etl_read_at(struct etl_reader *reader, void *to, size_t count, uint64_t offset);
bool etl_is_past_written(const struct etl_reader *reader, uint64_t number);
void etl_got_less(struct etl_reader *reader, uint64_t number, ssize_t got);
int etl_use_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number);
int etl_read_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number);
int etl_take_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number);

/* etl_event.c: events, one at a time. */
uint64_t etl_first_time(const struct etl_reader *reader, const unsigned char *data);
int etl_parse_event_quietly(struct etl_reader *reader, struct etl_cursor *cursor,
			    struct etl_event *event);
int etl_parse_event(struct etl_reader *reader, struct etl_cursor *cursor,
		    struct etl_event *event);

/* etl_header.c: what the first buffer says. */
int etl_check_first_header(struct etl_reader *reader, const struct wmi_buffer_header *header);
int etl_read_first_event(struct etl_reader *reader);
int etl_refuse_compressed(struct etl_reader *reader, uint64_t offset, uint32_t format);
bool etl_may_have_names(const struct etl_reader *reader);

/* etl_index.c: which buffers there are. */
int etl_add_place(struct etl_reader *reader, const struct wmi_buffer_header *header,
		  uint64_t number);
int etl_make_index(struct etl_reader *reader);
bool etl_more(struct etl_reader *reader);
void etl_free_index(struct etl_reader *reader);

#endif /* _NTKLOG_ETL_READER_H */
