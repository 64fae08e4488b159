// SPDX-License-Identifier: GPL-2.0-only
/* All buffers have one size, so that reading can continue with the buffer behind a damaged one. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "etl_reader.h"

/* Flag of NT's LogFileMode: the file has its greatest size from the start. */
#define EVENT_TRACE_FILE_MODE_PREALLOCATE	0x00000020

/*
 * Values of BufferFlag and BufferType that the wire headers lack. Buffers of this type have no
 * events.
 */
#define ETW_BUFFER_FLAG_COMPRESSED	0x0040
#define ETW_BUFFER_TYPE_CTX_SWAP	2

/**
 * etl_buffer_processor() - get the processor of a buffer
 * @header: header of the buffer
 *
 * Before Windows 8 the number was a byte, and the byte behind it the alignment of events.
 *
 * Return: number of the processor.
 */
unsigned int etl_buffer_processor(const struct wmi_buffer_header *header)
{
	if (header->buffer_flag & ETW_BUFFER_FLAG_PROCESSOR_INDEX)
		return header->processor_index;
	return header->processor_index & 0xFF;
}

/**
 * etl_check_buffer() - check the header of a buffer
 * @reader: reader of a file with a known size of buffers
 * @offset: offset of the buffer in the file
 * @header: header of the buffer
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_check_buffer(struct etl_reader *reader, uint64_t offset,
		     const struct wmi_buffer_header *header)
{
	struct etl_file *file = &reader->file;

	if (header->buffer_flag & ETW_BUFFER_FLAG_COMPRESSED)
		return etl_refuse_compressed(reader, offset, 0);
	if (header->buffer_size != file->buffer_size)
		return etl_set_damage(reader, offset,
				      "buffer of 0x%x bytes in a file of 0x%zx byte buffers",
				      header->buffer_size, file->buffer_size);
	if (header->saved_offset < sizeof(*header) ||
	    header->saved_offset > file->buffer_size)
		return etl_set_damage(reader, offset + offsetof(struct wmi_buffer_header,
							  saved_offset),
				      "SavedOffset 0x%x is not in the buffer of 0x%zx bytes",
				      header->saved_offset, file->buffer_size);
	if (etl_buffer_processor(header) >= ETL_PROCESSORS_MAX)
		return etl_set_damage(reader, offset + offsetof(struct wmi_buffer_header,
							  processor_index),
				      "processor %u, which is not below %u",
				      etl_buffer_processor(header), ETL_PROCESSORS_MAX);
	return 0;
}

/**
 * etl_read_at() - read a part of a buffer from a file or a stream
 * @reader: reader of the file
 * @data: set to the bytes
 * @count: number of bytes to read
 * @offset: offset of the first byte in the file
 *
 * Return: number of bytes that exist, up to @count; -1 with a message in the file's error.
 */
ssize_t etl_read_at(struct etl_reader *reader, void *data, size_t count, uint64_t offset)
{
	size_t got = 0;

	if (reader->input) {
		ssize_t n = etl_input_read(reader->input, data, count, offset);

		return n < 0 ? etl_set_damage(reader, offset, "%s", strerror(errno)) : n;
	}
	while (got < count) {
		ssize_t n = pread(reader->fd, (char *)data + got, count - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return etl_set_damage(reader, offset + got, "%s", strerror(errno));
		if (!n)
			break;
		got += n;
	}
	return got;
}

static void report_short_file(struct etl_reader *reader, uint64_t number)
{
	struct etl_file *file = &reader->file;

	if (reader->absent_buffers)
		etl_set_damage(reader, number * file->buffer_size,
			       "the file ends after %llu of %u buffers",
			       (unsigned long long)number, file->buffers_written);
}

/**
 * etl_is_past_written_buffers() - test whether a buffer is in the unused rest of a preallocated
 * file
 * @reader: reader of the file
 * @number: number of the buffer
 *
 * Return: true if this buffer and all behind it were never written.
 */
bool etl_is_past_written_buffers(const struct etl_reader *reader, uint64_t number)
{
	const struct etl_file *file = &reader->file;

	return file->end_time &&
	       (file->log_file_mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) &&
	       !etl_is_circular(file) &&
	       number >= file->buffers_written;
}

/**
 * etl_note_incomplete_buffer() - count or report the incomplete buffer at the end of the file
 * @reader: reader of the file
 * @number: number of the buffer
 * @got: number of its bytes in the file; negative after an error that was already reported
 *
 * In the file of a session that has not ended the recorder is writing the buffer, or was killed.
 */
void etl_note_incomplete_buffer(struct etl_reader *reader, uint64_t number, ssize_t got)
{
	struct etl_file *file = &reader->file;

	if (got >= 0 && file->end_time && number < file->buffers_written && !etl_is_circular(file))
		reader->absent_buffers = file->buffers_written - number;
	if (!got)
		report_short_file(reader, number);
	else if (got > 0 && number && !file->end_time)
		file->unfinished_bytes = got;
	else if (got > 0)
		etl_set_damage(reader, number * file->buffer_size + got,
			       "the file ends inside a buffer of 0x%zx bytes", file->buffer_size);
}

/**
 * etl_use_buffer() - begin to read a buffer that is in memory
 * @reader: reader of the file
 * @cursor: cursor with the contents of the buffer; is set to its first event
 * @number: number of the buffer in the file
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_use_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number)
{
	struct etl_file *file = &reader->file;
	const struct wmi_buffer_header *header =
		(const struct wmi_buffer_header *)cursor->buffer;

	if (etl_check_buffer(reader, number * file->buffer_size, header))
		return -1;
	cursor->number = number;
	cursor->next_offset = sizeof(*header);
	cursor->end_offset = header->saved_offset;
	cursor->processor = etl_buffer_processor(header);
	cursor->last_time = 0;
	cursor->latest_possible_time = reader->latest_possible_time;
	/* Without an end of the session the time at which the buffer was flushed is the limit. */
	if (cursor->latest_possible_time == UINT64_MAX && header->time_stamp > 0 &&
	    (uint64_t)header->time_stamp >= file->start_clock)
		cursor->latest_possible_time = header->time_stamp + reader->slack_ticks;
	if (header->buffer_flag & (ETW_BUFFER_FLAG_EVENTS_LOST | ETW_BUFFER_FLAG_BUFFER_LOST))
		file->lossy_buffers++;
	if (header->buffer_type == ETW_BUFFER_TYPE_CTX_SWAP) {
		cursor->next_offset = cursor->end_offset;
		file->other_buffers++;
	}
	return 0;
}

/**
 * etl_read_buffer() - read a buffer
 * @reader: reader of the file
 * @cursor: set to the first event of the buffer; its memory is allocated at the first call
 * @number: number of the buffer
 *
 * A buffer with a damaged header has no events. The file's error describes the damage.
 *
 * Return: 1, or 0 at the end of the file, without memory, or if a stream cannot be read.
 */
int etl_read_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number)
{
	struct etl_file *file = &reader->file;
	uint64_t offset = number * file->buffer_size;
	ssize_t got;

	if (etl_is_past_written_buffers(reader, number))
		return 0;
	if (!cursor->buffer)
		cursor->buffer = malloc(file->buffer_size);
	if (!cursor->buffer) {
		etl_set_no_memory(reader);
		return 0;
	}
	got = etl_read_at(reader, cursor->buffer, file->buffer_size, offset);
	if (got < 0 && !reader->input) {
		/* A bad sector of a disk: other buffers may be readable. */
		etl_leave_out_bytes(reader, file->buffer_size);
		cursor->next_offset = 0;
		cursor->end_offset = 0;
		return 1;
	}
	if (got < (ssize_t)file->buffer_size) {
		etl_note_incomplete_buffer(reader, number, got);
		return 0;
	}
	if (etl_use_buffer(reader, cursor, number)) {
		etl_leave_out_bytes(reader, file->buffer_size);
		cursor->next_offset = 0;
		cursor->end_offset = 0;
	}
	return 1;
}

/**
 * etl_take_buffer() - read a buffer that will not be read again
 * @reader: reader of the file, which may drop the buffer
 * @cursor: set to the first event of the buffer; its memory is allocated at the first call
 * @number: number of the buffer
 *
 * Return: 1, or 0 at the end of the file, without memory, or if a stream cannot be read.
 */
int etl_take_buffer(struct etl_reader *reader, struct etl_cursor *cursor, uint64_t number)
{
	int got = etl_read_buffer(reader, cursor, number);

	if (reader->input)
		etl_input_drop_buffer(reader->input, number);
	return got;
}
