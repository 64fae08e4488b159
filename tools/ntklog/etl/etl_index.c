// SPDX-License-Identifier: GPL-2.0-only
/* The index of buffers, made of their headers: for a file at once, for a stream as they arrive. */

#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "etl_reader.h"
#include "grow.h"
#include "hash.h"

/**
 * etl_add_index_entry() - add a buffer to the index
 * @reader: reader of the file
 * @header: header of the buffer
 * @number: number of the buffer in the file
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_add_index_entry(struct etl_reader *reader, const struct wmi_buffer_header *header,
			uint64_t number)
{
	struct etl_index_entry *more = grow_by_one(reader->index_entries, reader->file.buffers,
						   sizeof(*more));

	if (!more)
		return etl_set_no_memory(reader);
	reader->index_entries = more;
	reader->index_entries[reader->file.buffers++] = (struct etl_index_entry) {
		.number = number,
		.sequence_number = header->sequence_number,
		.processor = etl_buffer_processor(header),
	};
	return 0;
}

static int compare_by_sequence_number(const void *a, const void *b)
{
	const struct etl_index_entry *left = a, *right = b;

	if (left->sequence_number != right->sequence_number)
		return left->sequence_number < right->sequence_number ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static int compare_by_number(const void *a, const void *b)
{
	const struct etl_index_entry *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/* @key: sequence number of a buffer, and a digest of its contents */
struct etl_seen_buffer {
	struct {
		int64_t sequence_number;
		uint64_t digest;
	} key;
	UT_hash_handle hh;
};

static uint64_t digest_buffer(const unsigned char *data, size_t size)
{
	uint64_t sum = 0, word;
	size_t i;

	/* The size of a buffer is a multiple of 8. */
	for (i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* Test whether an equal buffer was read before. Returns 1 if so, 0 if not, -1 without memory. */
static int is_repeated_buffer(struct etl_reader *reader, int64_t sequence_number,
			      const unsigned char *data)
{
	struct etl_seen_buffer *seen, new = {
		.key = { sequence_number, digest_buffer(data, reader->file.buffer_size) }
	};

	HASH_FIND(hh, reader->seen_buffers, &new.key, sizeof(new.key), seen);
	if (seen)
		return 1;
	hash_add(reader->seen_buffers, key, &new.key, seen);
	return seen ? 0 : etl_set_no_memory(reader);
}

/**
 * etl_free_index() - free the index
 * @reader: reader of the file
 */
void etl_free_index(struct etl_reader *reader)
{
	struct etl_seen_buffer *seen;

	while ((seen = hash_take_first(reader->seen_buffers)))
		free(seen);
	free(reader->index_entries);
}

/* Remove repeated buffers from the index, which is in the order of sequence numbers. */
static int drop_repeated_buffers(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;
	unsigned char *data = malloc(file->buffer_size);
	struct etl_index_entry *index_entries = reader->index_entries;
	size_t size = file->buffer_size, kept = 1, i;

	if (!data)
		return etl_set_no_memory(reader);
	for (i = 1; i < file->buffers; i++) {
		int64_t number = index_entries[i].sequence_number;
		int before = 0;

		if (((kept > 1 && index_entries[kept - 1].sequence_number == number) ||
		     (i + 1 < file->buffers && index_entries[i + 1].sequence_number == number)) &&
		    etl_read_at(reader, data, size,
				index_entries[i].number * size) == (ssize_t)size)
			before = is_repeated_buffer(reader, number, data);
		if (before < 0)
			break;
		if (before)
			file->repeated_buffers++;
		else
			index_entries[kept++] = index_entries[i];
	}
	free(data);
	if (i < file->buffers)
		return -1;
	file->buffers = kept;
	return 0;
}

/*
 * Test whether all sequence numbers must exist. A session that overwrites its buffers has gaps,
 * and the file of a session that runs may still lack buffers.
 */
static bool must_have_all_buffers(const struct etl_reader *reader)
{
	return reader->file.end_time && !etl_overwrites_buffers(&reader->file);
}

static void count_gap(struct etl_reader *reader, int64_t before, int64_t after)
{
	struct etl_file *file = &reader->file;
	uint64_t gap = (uint64_t)after - (uint64_t)before - 1;

	if (gap && !file->missing_buffers)
		file->first_missing_number = before + 1;
	/* A flipped bit in a number must not make all numbers between count as missing. */
	if (gap > file->buffers)
		gap = 1;
	file->missing_buffers += gap;
}

/*
 * Subtract the buffers with damaged headers from the missing ones. Their sequence numbers are not
 * known, and were counted as missing.
 */
static void subtract_damaged_buffers(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;

	file->missing_buffers -= file->missing_buffers < reader->unknown_buffers ?
				 file->missing_buffers : reader->unknown_buffers;
}

/*
 * Count the buffers that the end of the file lacks, unless more sequence numbers are missing. Gaps
 * between the numbers may be a part of them, because CPUs do not write their buffers in turn.
 */
static void count_absent_buffers(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;

	if (file->missing_buffers >= reader->absent_buffers)
		return;
	if (!file->missing_buffers)
		file->first_missing_number = file->buffers > 1 ?
			reader->index_entries[file->buffers - 1].sequence_number + 1 : 1;
	file->missing_buffers = reader->absent_buffers;
}

/*
 * Count missing buffers; the index is in the order of sequence numbers. Gaps have no meaning if
 * numbers repeat.
 */
static void count_missing_buffers(struct etl_reader *reader)
{
	const struct etl_index_entry *index_entries = reader->index_entries;
	size_t i;

	for (i = 2; i < reader->file.buffers; i++)
		if (index_entries[i].sequence_number == index_entries[i - 1].sequence_number)
			return;
	for (i = 2; i < reader->file.buffers; i++)
		count_gap(reader, index_entries[i - 1].sequence_number,
			  index_entries[i].sequence_number);
	subtract_damaged_buffers(reader);
	count_absent_buffers(reader);
}

static void sort_index_entries(struct etl_reader *reader,
			       int (*compare)(const void *a, const void *b))
{
	qsort(reader->index_entries + 1, reader->file.buffers - 1, sizeof(*reader->index_entries),
	      compare);
}

/* Return the bytes of a file, or UINT64_MAX if @fd is no regular file. */
static uint64_t file_size(int fd)
{
	struct stat status;

	return fstat(fd, &status) || !S_ISREG(status.st_mode) ? UINT64_MAX :
								(uint64_t)status.st_size;
}

static ssize_t read_header(struct etl_reader *reader, struct wmi_buffer_header *header,
			   uint64_t number, uint64_t size)
{
	struct etl_file *file = &reader->file;
	uint64_t offset = number * file->buffer_size;
	ssize_t got = etl_read_at(reader, header, sizeof(*header), offset);

	if (got < (ssize_t)sizeof(*header))
		return got;
	/* A buffer that was appended after the size was read counts as complete here. */
	return offset < size && size - offset < file->buffer_size ? size - offset :
								    file->buffer_size;
}

/* Test whether a buffer begins a second recording, whose file was appended to this one. */
static bool begins_recording(struct etl_reader *reader, uint64_t number,
			     const struct wmi_buffer_header *header)
{
	if (!number || header->buffer_type != ETW_BUFFER_TYPE_HEADER)
		return false;
	etl_set_damage(reader, number * reader->file.buffer_size,
		       "a second recording begins here and is left out: put it into a file of its own");
	return true;
}

/**
 * etl_make_index() - read the headers of all buffers of a file
 * @reader: reader of a file whose first buffer was read
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_make_index(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;
	uint64_t size = file_size(reader->fd);
	struct wmi_buffer_header header;
	bool is_sorted = true;
	uint64_t number;
	ssize_t got;

	for (number = 0; !etl_is_past_written_buffers(reader, number); number++) {
		got = read_header(reader, &header, number, size);
		if (got < (ssize_t)file->buffer_size) {
			etl_note_incomplete_buffer(reader, number, got);
			break;
		}
		if (etl_check_buffer(reader, number * file->buffer_size, &header)) {
			reader->unknown_buffers++;
			etl_leave_out_bytes(reader, file->buffer_size);
			continue;
		}
		if (begins_recording(reader, number, &header))
			break;
		if (file->buffers > 1 && header.sequence_number <=
		    reader->index_entries[file->buffers - 1].sequence_number)
			is_sorted = false;
		if (etl_add_index_entry(reader, &header, number))
			return -1;
	}
	if (!is_sorted) {
		sort_index_entries(reader, compare_by_sequence_number);
		if (drop_repeated_buffers(reader))
			return -1;
	}
	if (must_have_all_buffers(reader))
		count_missing_buffers(reader);
	if (etl_overwrites_buffers(file) && !file->overwritten && file->buffers > 1) {
		int64_t last = reader->index_entries[file->buffers - 1].sequence_number;

		/* Sequence numbers begin with 1. */
		if (last >= (int64_t)file->buffers)
			file->overwritten = last - (file->buffers - 1);
	}
	if (!is_sorted)
		sort_index_entries(reader, compare_by_number);
	/* The cursor is already in the first buffer. */
	reader->next_index = 1;
	return 0;
}

/*
 * Add a buffer of a stream to the index. Returns false if it is damaged or repeated, or without
 * memory.
 */
static bool add_stream_entry(struct etl_reader *reader, uint64_t number, const unsigned char *data)
{
	struct etl_file *file = &reader->file;
	const struct wmi_buffer_header *header = (const struct wmi_buffer_header *)data;
	int before;

	if (etl_check_buffer(reader, number * file->buffer_size, header)) {
		reader->unknown_buffers++;
		etl_leave_out_bytes(reader, file->buffer_size);
		return false;
	}
	before = is_repeated_buffer(reader, header->sequence_number, data);
	file->repeated_buffers += before == 1;
	if (before || etl_add_index_entry(reader, header, number))
		return false;
	reader->index_entries[file->buffers - 1].first_time = etl_first_time_in_buffer(reader,
										       data);
	return true;
}

static void end_stream(struct etl_reader *reader, ssize_t incomplete_bytes)
{
	reader->has_ended = true;
	if (incomplete_bytes < 0)
		etl_set_input_damage(reader,
				     reader->next_stream_number * reader->file.buffer_size);
	else
		etl_note_incomplete_buffer(reader, reader->next_stream_number, incomplete_bytes);
	if (!must_have_all_buffers(reader))
		return;
	/* Restore the order afterwards, because callers have indexes of entries. */
	sort_index_entries(reader, compare_by_sequence_number);
	count_missing_buffers(reader);
	sort_index_entries(reader, compare_by_number);
}

/**
 * etl_add_next_buffer() - wait for the next buffer of a stream, and add it to the index
 * @reader: reader whose index entries were all used
 *
 * Return: true if a buffer was added to @reader->index_entries; false at the end of the stream, and
 * always for a file, whose index is complete.
 */
bool etl_add_next_buffer(struct etl_reader *reader)
{
	const unsigned char *data = NULL;
	ssize_t incomplete_bytes = 0;

	while (reader->input && !reader->has_ended) {
		if (!etl_is_past_written_buffers(reader, reader->next_stream_number))
			data = etl_input_next(reader->input, &incomplete_bytes);
		if (!data) {
			end_stream(reader, incomplete_bytes);
			break;
		}
		if (begins_recording(reader, reader->next_stream_number,
				     (const struct wmi_buffer_header *)data)) {
			end_stream(reader, 0);
			break;
		}
		if (add_stream_entry(reader, reader->next_stream_number++, data))
			return true;
		etl_input_drop_buffer(reader->input, reader->next_stream_number - 1);
		data = NULL;
	}
	return false;
}
