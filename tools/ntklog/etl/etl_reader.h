/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_READER_H
#define _NTKLOG_ETL_READER_H

/*
 * The inside of the reader, for the library and the tool. Other programs use <ntklog/etl.h>, which
 * stays compatible.
 */

#include <sys/types.h>

#include <ntklog/buffer.h>
#include <ntklog/etl.h>

#include "etl_input.h"
#include "macros.h"

/* Limit of processor numbers. NT has at most 2048 processors. */
#define ETL_PROCESSORS_MAX	4096

/*
 * A position in a buffer.
 * @time_stamp: session clock of the last event with a possible time; 0 before the first one
 * @last_time: session clock of the last event of this buffer with a possible time; 0 before it
 */
struct etl_cursor {
	unsigned char *buffer;
	uint64_t number;
	size_t next_offset;
	size_t end_offset;
	unsigned int processor;
	uint64_t time_stamp;
	uint64_t last_time;
	uint64_t latest_possible_time;
};

/*
 * Entry of the index of buffers.
 * @number: number of the buffer in the file
 * @sequence_number: number of the buffer in the session
 * @first_time: session clock of the first event of a buffer from a stream; 0 if it is not known
 */
struct etl_index_entry {
	uint64_t number;
	int64_t sequence_number;
	unsigned int processor;
	uint64_t first_time;
};

struct etl_seen_buffer;

/*
 * An open file.
 * @file: public part; the first member, so that a pointer to it is one to the reader. Its member
 *	buffers is the number of @index_entries
 * @fd: descriptor of the file; -1 for a stream, and without a file
 * @seen_buffers: hash table of buffers that were read: of a stream all, of a file those with equal
 *	sequence numbers
 * @next_stream_number: place in the stream of the buffer that is read next, counted in buffers
 * @has_ended: the stream has ended, or the file could not be opened
 * @cursor: position of etl_next_event()
 * @index_entries: index of the readable buffers with the header buffer, in the order of the file;
 *	of a stream the header buffer, and those that etl_add_next_buffer() has added so far
 * @next_index: index in @index_entries of the buffer after that of @cursor
 * @slack_ticks: ticks by which a time may be before the start of the session, or after its latest
 *	end
 * @latest_possible_time: latest possible time of events, session clock; UINT64_MAX: no limit
 * @absent_buffers: number of buffers that the header counts and that the end of the file lacks
 * @damage_offset: offset of the damage that @file's error describes
 */
struct etl_reader {
	struct etl_file file;
	int fd;
	struct etl_input *input;
	struct etl_seen_buffer *seen_buffers;
	uint64_t next_stream_number;
	bool has_ended;
	bool was_merged;
	struct etl_cursor cursor;
	struct etl_event event;
	struct etl_index_entry *index_entries;
	size_t next_index;
	uint64_t slack_ticks;
	uint64_t earliest_possible_time;
	uint64_t latest_possible_time;
	uint64_t unknown_buffers;
	uint64_t absent_buffers;
	uint64_t damage_offset;
};

static inline struct etl_reader *etl_reader_of(struct etl_file *file)
{
	return (struct etl_reader *)file;
}

static inline const struct etl_reader *etl_const_reader_of(const struct etl_file *file)
{
	return (const struct etl_reader *)file;
}

int etl_open_descriptor(const char *path);
int etl_read_descriptor(struct etl_file **file, const char *path, int fd,
			void (*wait)(void *argument), void *argument);
int etl_attach(struct etl_file **file, const char *path, const void *buffer, size_t size);

__printf(3, 4)
int etl_set_damage(struct etl_reader *reader, uint64_t offset, const char *format, ...);
int etl_set_input_damage(struct etl_reader *reader, uint64_t offset);
int etl_set_no_memory(struct etl_reader *reader);
void etl_leave_out_bytes(struct etl_reader *reader, size_t bytes);
void etl_count_backward_event(struct etl_reader *reader, uint64_t offset);

unsigned int etl_buffer_processor(const struct wmi_buffer_header *header);
int etl_check_buffer(struct etl_reader *reader, uint64_t offset,
		     const struct wmi_buffer_header *header);
ssize_t etl_read_at(struct etl_reader *reader, void *data, size_t count, uint64_t offset);
bool etl_is_past_written_buffers(const struct etl_reader *reader, uint64_t number);
void etl_note_incomplete_buffer(struct etl_reader *reader, uint64_t number, ssize_t got);
int etl_use_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number);
int etl_read_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number);
void etl_merge_skip(struct etl_merge *merge, uint64_t first, uint64_t last,
		    bool (*is_skipped)(uint16_t hook_id));
uint64_t etl_merge_latest_skipped(const struct etl_merge *merge);
int etl_take_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number);

void etl_copy_stack(uint64_t *addresses, const struct etl_stack *stack, size_t count);
uint64_t etl_first_time_in_buffer(const struct etl_reader *reader, const unsigned char *data);
int etl_parse_event_quietly(struct etl_reader *reader, struct etl_cursor *cursor,
			    struct etl_event *event);

/**
 * etl_parse_event() - parse the next event of a buffer
 * @reader: reader of the file
 * @cursor: cursor before the end of its buffer; is moved behind the event
 * @event: set to the event, whose data stays in the buffer
 *
 * Return: 1, or -1 with a message in the file's error if the rest of the buffer is left out.
 */
static inline int etl_parse_event(struct etl_reader *reader, struct etl_cursor *cursor,
				  struct etl_event *event)
{
	if (etl_parse_event_quietly(reader, cursor, event) == 1)
		return 1;
	etl_leave_out_bytes(reader, cursor->end_offset - cursor->next_offset);
	cursor->next_offset = cursor->end_offset;
	return -1;
}

int etl_check_first_header(struct etl_reader *reader, const struct wmi_buffer_header *header);
int etl_read_first_event(struct etl_reader *reader);
int etl_refuse_compressed(struct etl_reader *reader, uint64_t offset, uint32_t format);
bool etl_may_have_names(const struct etl_reader *reader);

int etl_add_index_entry(struct etl_reader *reader, const struct wmi_buffer_header *header,
			uint64_t number);
int etl_make_index(struct etl_reader *reader);
bool etl_add_next_buffer(struct etl_reader *reader);
void etl_free_index(struct etl_reader *reader);

#endif /* _NTKLOG_ETL_READER_H */
