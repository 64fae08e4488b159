// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which buffers there are, and whose: all headers of a file are read beforehand, those of a
 * stream as they come. Buffers that are there twice, and those that are missing, are told.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "etl_reader.h"
#include "grow.h"
#include "hash.h"

/**
 * etl_add_place() - there is one more buffer
 * @reader: the file
 * @header: of the buffer
 * @number: of the buffer in the file
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_add_place(struct etl_reader *reader, const struct wmi_buffer_header *header,
		  uint64_t number)
{
	struct etl_place *more = grown(reader->places, reader->file.buffers, sizeof(*more));

	if (!more)
		return etl_no_memory(reader);
	reader->places = more;
	reader->places[reader->file.buffers++] = (struct etl_place) {
		.number = number,
		.sequence_number = header->sequence_number,
		.processor = etl_processor(header),
	};
	return 0;
}

/* Those of one sequence number together, in the order of the file. */
static int compare_places(const void *a, const void *b)
{
	const struct etl_place *left = a, *right = b;

	if (left->sequence_number != right->sequence_number)
		return left->sequence_number < right->sequence_number ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct etl_place *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/*
 * @key: sequence number of a buffer, and a digest of all of it
 * @hh: in the table
 */
struct etl_known {
	struct {
		int64_t sequence_number;
		uint64_t digest;
	} key;
	UT_hash_handle hh;
};

static uint64_t digest(const unsigned char *data, size_t size)
{
	uint64_t sum = 0, word;
	size_t i;

	/* Whole words: all buffers are of those. */
	for (i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* Has this buffer come before? 1: it has, 0: it has not, -1: there is no memory. */
static int came_before(struct etl_reader *reader, int64_t sequence_number,
		       const unsigned char *data)
{
	struct etl_known *known, new = {
		.key = { sequence_number, digest(data, reader->file.buffer_size) }
	};

	HASH_FIND(hh, reader->known, &new.key, sizeof(new.key), known);
	if (known)
		return 1;
	hash_add(reader->known, key, &new.key, known);
	return known ? 0 : etl_no_memory(reader);
}

/**
 * etl_free_index() - let it go
 * @reader: the file
 */
void etl_free_index(struct etl_reader *reader)
{
	struct etl_known *known, *next;

	HASH_ITER(hh, reader->known, known, next) {
		HASH_DEL(reader->known, known);
		free(known);
	}
	free(reader->places);
}

/*
 * Buffers that are there again are taken off the index, which is in the order of sequence
 * numbers: those alone that have the same are read.
 */
static int drop_twice(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;
	unsigned char *data = malloc(file->buffer_size);
	struct etl_place *places = reader->places;
	size_t size = file->buffer_size, kept = 1, i;

	if (!data)
		return etl_no_memory(reader);
	for (i = 1; i < file->buffers; i++) {
		int64_t number = places[i].sequence_number;
		int before = 0;

		if (((kept > 1 && places[kept - 1].sequence_number == number) ||
		     (i + 1 < file->buffers && places[i + 1].sequence_number == number)) &&
		    etl_read_at(reader, data, size, places[i].number * size) == (ssize_t)size)
			before = came_before(reader, number, data);
		if (before < 0)
			break;
		if (before)
			file->twice++;
		else
			places[kept++] = places[i];
	}
	free(data);
	if (i < file->buffers)
		return -1;
	file->buffers = kept;
	return 0;
}

/* A session that overwrites its buffers has gaps; what has no end may lack some yet. */
static bool is_without_gaps(const struct etl_reader *reader)
{
	return reader->file.end_time && !etl_is_flight(&reader->file);
}

/* What is between one sequence number and the next. */
static void add_gap(struct etl_reader *reader, int64_t before, int64_t after)
{
	struct etl_file *file = &reader->file;
	uint64_t gap = (uint64_t)after - (uint64_t)before - 1;

	if (gap && !file->missing)
		file->first_missing = before + 1;
	/* A number with a wrong bit: all between would be missing. */
	if (gap > file->buffers)
		gap = 1;
	file->missing += gap;
}

/* Those that are there, but whose numbers are not known, have been told. */
static void forget_damaged(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;

	file->missing -= file->missing < reader->unknown_buffers ? file->missing :
								 reader->unknown_buffers;
}

/*
 * The index is in the order of sequence numbers. Two that have one, but not the same
 * contents, are of two sessions, whose files were joined: nothing can be said then.
 */
static void find_missing(struct etl_reader *reader)
{
	const struct etl_place *places = reader->places;
	size_t i;

	for (i = 2; i < reader->file.buffers; i++)
		if (places[i].sequence_number == places[i - 1].sequence_number)
			return;
	for (i = 2; i < reader->file.buffers; i++)
		add_gap(reader, places[i - 1].sequence_number, places[i].sequence_number);
	forget_damaged(reader);
}

static void sort_places(struct etl_reader *reader, int (*compare)(const void *a, const void *b))
{
	qsort(reader->places + 1, reader->file.buffers - 1, sizeof(*reader->places), compare);
}

/* Bytes; UINT64_MAX: not known. */
static uint64_t size_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) || !S_ISREG(status.st_mode) ? UINT64_MAX :
								(uint64_t)status.st_size;
}

/* -1: error; else the bytes of the buffer that there are in a file of @size. */
static ssize_t read_header(struct etl_reader *reader, struct wmi_buffer_header *header,
			   uint64_t number, uint64_t size)
{
	struct etl_file *file = &reader->file;
	uint64_t offset = number * file->buffer_size;
	ssize_t got = etl_read_at(reader, header, sizeof(*header), offset);

	if (got < (ssize_t)sizeof(*header))
		return got;
	/* What has come since is looked at when it is read. */
	return offset < size && size - offset < file->buffer_size ? size - offset :
								    file->buffer_size;
}

/*
 * A header buffer behind the first one is another recording, whose file was appended: its clock,
 * its rates and its sequence numbers are not those of the file's header.
 */
static bool begins_recording(struct etl_reader *reader, uint64_t number,
			     const struct wmi_buffer_header *header)
{
	if (!number || header->buffer_type != ETW_BUFFER_TYPE_HEADER)
		return false;
	etl_damage(reader, number * reader->file.buffer_size,
		   "a second recording begins here and is left out: put it into a file of its own");
	return true;
}

/**
 * etl_make_index() - which buffers are there, and whose are they?
 * @reader: a file, whose first buffer has been read
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_make_index(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;
	uint64_t size = size_of(reader->fd);
	struct wmi_buffer_header header;
	bool sorted = true;
	uint64_t number;
	ssize_t got;

	for (number = 0; !etl_is_past_written(reader, number); number++) {
		got = read_header(reader, &header, number, size);
		if (got < (ssize_t)file->buffer_size) {
			etl_got_less(reader, number, got);
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
		    reader->places[file->buffers - 1].sequence_number)
			sorted = false;
		if (etl_add_place(reader, &header, number))
			return -1;
	}
	if (!sorted) {
		sort_places(reader, compare_places);
		if (drop_twice(reader))
			return -1;
	}
	if (is_without_gaps(reader))
		find_missing(reader);
	if (etl_is_flight(file) && !file->overwritten && file->buffers > 1) {
		int64_t last = reader->places[file->buffers - 1].sequence_number;

		/* Numbers begin with 1. */
		if (last >= (int64_t)file->buffers)
			file->overwritten = last - (file->buffers - 1);
	}
	if (!sorted)
		sort_places(reader, compare_numbers);
	/* The first one has been read. */
	reader->next_place = 1;
	return 0;
}

/* A buffer that has come through the stream; false: it is not wanted. */
static bool add_stream_place(struct etl_reader *reader, uint64_t number, const unsigned char *data)
{
	struct etl_file *file = &reader->file;
	const struct wmi_buffer_header *header = (const struct wmi_buffer_header *)data;
	int before;

	if (etl_check_buffer(reader, number * file->buffer_size, header)) {
		reader->unknown_buffers++;
		etl_leave_out_bytes(reader, file->buffer_size);
		return false;
	}
	before = came_before(reader, header->sequence_number, data);
	file->twice += before == 1;
	if (before || etl_add_place(reader, header, number))
		return false;
	reader->places[file->buffers - 1].first_time = etl_first_time(reader, data);
	return true;
}

/* The stream has ended: was all there? */
static void end_stream(struct etl_reader *reader, ssize_t rest)
{
	reader->has_ended = true;
	if (rest < 0)
		etl_damage(reader, reader->next_number * reader->file.buffer_size, "%s%s",
			   reader->input->is_of_file ? "TMPDIR: " : "", strerror(errno));
	else
		etl_got_less(reader, reader->next_number, rest);
	if (!is_without_gaps(reader))
		return;
	/* The places that have been taken stay where they are. */
	sort_places(reader, compare_places);
	find_missing(reader);
	sort_places(reader, compare_numbers);
}

/**
 * etl_more() - look for one more buffer
 * @reader: the file, all of whose places have been taken
 *
 * Of a stream the next buffer that can be read is waited for; all of a file's are known.
 *
 * Return: whether there is one, at the end of @reader->places.
 */
bool etl_more(struct etl_reader *reader)
{
	const unsigned char *data = NULL;
	ssize_t rest = 0;

	while (reader->input && !reader->has_ended) {
		if (!etl_is_past_written(reader, reader->next_number))
			data = etl_input_next(reader->input, &rest);
		if (!data) {
			end_stream(reader, rest);
			break;
		}
		if (begins_recording(reader, reader->next_number,
				     (const struct wmi_buffer_header *)data)) {
			end_stream(reader, 0);
			break;
		}
		if (add_stream_place(reader, reader->next_number++, data))
			return true;
		etl_input_drop(reader->input, reader->next_number - 1);
		data = NULL;
	}
	return false;
}
