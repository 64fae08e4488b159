// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "etl_input.h"
#include "grow.h"

/* @data: contents of the buffer; NULL if they are in the file, or were dropped */
struct etl_input_buffer {
	unsigned char *data;
	bool is_dropped;
};

/**
 * etl_input_make() - allocate the input for a pipe
 * @fd: descriptor of the pipe, which etl_input_free() closes
 *
 * Return: the input, or NULL without memory.
 */
struct etl_input *etl_input_make(int fd)
{
	struct etl_input *input = calloc(1, sizeof(*input));

	if (!input)
		return NULL;
	input->fd = fd;
	input->spill_fd = -1;
	/* A larger pipe needs fewer reads. The system may refuse the size. */
	fcntl(fd, F_SETPIPE_SZ, ETL_INPUT_PIPE_SIZE);
	return input;
}

/*
 * Read @size bytes, or fewer at the end of the pipe or after an error. Returns the number of bytes.
 */
static size_t read_pipe(struct etl_input *input, unsigned char *data, size_t size)
{
	struct pollfd polled = { .fd = input->fd, .events = POLLIN };
	size_t got = 0;

	while (got < size && !input->error) {
		ssize_t n;

		if (input->wait && !poll(&polled, 1, 0))
			input->wait(input->argument);
		/* @input->wait may end the input. */
		if (input->error)
			break;
		n = read(input->fd, data + got, size - got);
		if (n < 0 && errno == EINTR)
			continue;
		/* The pipe may have been made with O_NONBLOCK. */
		if (n < 0 && errno == EAGAIN) {
			poll(&polled, 1, -1);
			continue;
		}
		if (n < 0)
			input->error = errno;
		if (n <= 0)
			break;
		got += n;
	}
	return got;
}

/**
 * etl_input_read_head() - read the first bytes of a pipe, which tell the size of a buffer
 * @input: input from which nothing has been read
 * @data: set to the bytes
 * @size: number of bytes to read
 *
 * Return: number of bytes read, or -1 with errno.
 */
ssize_t etl_input_read_head(struct etl_input *input, void *data, size_t size)
{
	input->head = malloc(size);
	if (!input->head)
		return -1;
	input->head_size = read_pipe(input, input->head, size);
	memcpy(data, input->head, input->head_size);
	errno = input->error;
	return input->error ? -1 : (ssize_t)input->head_size;
}

/**
 * etl_input_set_size() - set the size of a buffer
 * @input: input whose first bytes were read
 * @buffer_size: bytes of a buffer; at least the number of these bytes
 */
void etl_input_set_size(struct etl_input *input, size_t buffer_size)
{
	input->buffer_size = buffer_size;
}

/**
 * etl_input_spill_directory() - get the directory of files for buffers that memory has no room for
 *
 * Return: the path.
 */
const char *etl_input_spill_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

static int make_spill_file(void)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/ntklog.XXXXXX", etl_input_spill_directory()) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static int write_spill_file(struct etl_input *input, const unsigned char *data, size_t size,
			    uint64_t offset)
{
	size_t written = 0;

	if (input->spill_fd < 0)
		input->spill_fd = make_spill_file();
	while (input->spill_fd >= 0 && written < size) {
		ssize_t n = pwrite(input->spill_fd, data + written, size - written,
				   offset + written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		written += n;
	}
	if (written == size)
		return 0;
	input->error = errno;
	input->spill_has_failed = true;
	return -1;
}

static void remove_dropped(struct etl_input *input)
{
	size_t dropped_count = 0;

	while (dropped_count < input->buffer_count && input->buffers[dropped_count].is_dropped)
		dropped_count++;
	/* Move the rest only when more than half is dropped, so that a buffer is moved rarely. */
	if (2 * dropped_count <= input->buffer_count)
		return;
	input->buffer_count -= dropped_count;
	input->first_number += dropped_count;
	memmove(input->buffers, input->buffers + dropped_count,
		input->buffer_count * sizeof(*input->buffers));
}

static struct etl_input_buffer *add_buffer(struct etl_input *input)
{
	struct etl_input_buffer *more =
		grow_by_one(input->buffers, input->buffer_count, sizeof(*more));

	if (!more)
		return NULL;
	input->buffers = more;
	more[input->buffer_count] = (struct etl_input_buffer) { 0 };
	return &more[input->buffer_count++];
}

/* Keep the memory of a buffer for the next one. Until then input->newest_data may point to it. */
static void keep_spare(struct etl_input *input, unsigned char *data)
{
	free(input->spare_data);
	input->spare_data = data;
}

/* Read the next buffer. Returns false if the pipe has no complete one, or after an error. */
static bool read_buffer(struct etl_input *input)
{
	uint64_t number = input->first_number + input->buffer_count;
	struct etl_input_buffer *buffer;
	unsigned char *data;
	size_t got = 0;

	if (input->has_ended)
		return false;
	data = input->spare_data ? input->spare_data : malloc(input->buffer_size);
	input->spare_data = NULL;
	input->newest_data = data;
	if (data) {
		got = input->head_size;
		memcpy(data, input->head, got);
		input->head_size = 0;
		got += read_pipe(input, data + got, input->buffer_size - got);
	} else {
		input->error = ENOMEM;
	}
	if (got < input->buffer_size) {
		input->incomplete_bytes = got;
		goto end;
	}
	buffer = add_buffer(input);
	if (!buffer) {
		input->error = ENOMEM;
		goto end;
	}
	if (input->memory_bytes < ETL_INPUT_MEMORY_MAX) {
		buffer->data = data;
		input->memory_bytes += input->buffer_size;
		return true;
	}
	if (write_spill_file(input, data, input->buffer_size, number * input->buffer_size))
		goto end;
	keep_spare(input, data);
	return true;

end:
	free(data);
	input->has_ended = true;
	return false;
}

/**
 * etl_input_read() - read a part of one buffer
 * @input: input with a known size of buffers
 * @data: set to the bytes
 * @size: number of bytes to read
 * @offset: offset of the first byte in the trace
 *
 * Return: number of bytes that exist, up to @size; -1 with errno.
 */
ssize_t etl_input_read(struct etl_input *input, void *data, size_t size, uint64_t offset)
{
	uint64_t number = offset / input->buffer_size;
	size_t offset_in_buffer = offset % input->buffer_size;
	const struct etl_input_buffer *buffer;
	size_t got = 0;

	if (number < input->first_number) {
		errno = EINVAL;
		return -1;
	}
	while (number >= input->first_number + input->buffer_count && read_buffer(input))
		;
	if (number >= input->first_number + input->buffer_count) {
		errno = input->error;
		if (errno)
			return -1;
		/* Callers need the length of an incomplete last buffer, but not its contents. */
		if (number > input->first_number + input->buffer_count ||
		    input->incomplete_bytes <= offset_in_buffer)
			return 0;
		return input->incomplete_bytes - offset_in_buffer < size ?
		       input->incomplete_bytes - offset_in_buffer : size;
	}
	buffer = &input->buffers[number - input->first_number];
	if (buffer->data) {
		memcpy(data, buffer->data + offset_in_buffer, size);
		return size;
	}
	while (got < size) {
		ssize_t n = pread(input->spill_fd, (char *)data + got, size - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n;
		got += n;
	}
	return got;
}

/**
 * etl_input_next() - read the next buffer
 * @input: input with a known size of buffers
 * @incomplete_bytes: set at the end to the bytes of an incomplete last buffer, or to -1 with errno
 *
 * Return: the buffer, which is valid until the next call; NULL at the end.
 */
const unsigned char *etl_input_next(struct etl_input *input, ssize_t *incomplete_bytes)
{
	if (read_buffer(input))
		return input->newest_data;
	errno = input->error;
	*incomplete_bytes = input->error ? -1 : (ssize_t)input->incomplete_bytes;
	return NULL;
}

/**
 * etl_input_drop_buffer() - free a buffer that no caller will read again
 * @input: input of the buffer
 * @number: number of a buffer that was read
 */
void etl_input_drop_buffer(struct etl_input *input, uint64_t number)
{
	struct etl_input_buffer *buffer;

	if (number < input->first_number || number >= input->first_number + input->buffer_count)
		return;
	buffer = &input->buffers[number - input->first_number];
	if (buffer->data) {
		input->memory_bytes -= input->buffer_size;
		keep_spare(input, buffer->data);
	} else if (!buffer->is_dropped && input->spill_fd >= 0) {
		/* Otherwise the file of an endless stream would fill the disk. */
		fallocate(input->spill_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  number * input->buffer_size, input->buffer_size);
	}
	buffer->data = NULL;
	buffer->is_dropped = true;
	remove_dropped(input);
}

/**
 * etl_input_spool() - copy the whole pipe to a file
 * @input: input of which no buffer was dropped
 *
 * Return: descriptor of the file, or -1 with errno.
 */
int etl_input_spool(struct etl_input *input)
{
	unsigned char *data = malloc(input->buffer_size);
	uint64_t at = 0;
	size_t i, got;
	int fd;

	for (i = 0; data && i < input->buffer_count; i++, at += input->buffer_size)
		if (input->buffers[i].data &&
		    write_spill_file(input, input->buffers[i].data, input->buffer_size, at))
			goto err;
	do {
		got = data ? read_pipe(input, data, input->buffer_size) : 0;
		if (!data || input->error || write_spill_file(input, data, got, at))
			goto err;
		at += got;
	} while (got == input->buffer_size);
	free(data);
	fd = input->spill_fd;
	input->spill_fd = -1;
	return fd;

err:
	free(data);
	errno = input->error ? input->error : ENOMEM;
	return -1;
}

/**
 * etl_input_free() - close a pipe and free its input
 * @input: input, or NULL
 */
void etl_input_free(struct etl_input *input)
{
	size_t i;

	if (!input)
		return;
	for (i = 0; i < input->buffer_count; i++)
		free(input->buffers[i].data);
	free(input->buffers);
	free(input->spare_data);
	free(input->head);
	if (input->spill_fd >= 0)
		close(input->spill_fd);
	close(input->fd);
	free(input);
}
