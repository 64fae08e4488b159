// SPDX-License-Identifier: GPL-2.0-only
/* A trace that comes through a pipe. */

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

/*
 * @data: of the buffer; NULL: it is in the file, or not needed any more
 * @is_dropped: it is not needed any more
 */
struct etl_input_buffer {
	unsigned char *data;
	bool is_dropped;
};

/**
 * etl_input_make() - begin to read
 * @fd: of a pipe; etl_input_free() closes it
 *
 * Return: what is read, or NULL: there is no memory.
 */
struct etl_input *etl_input_make(int fd)
{
	struct etl_input *input = calloc(1, sizeof(*input));

	if (!input)
		return NULL;
	input->fd = fd;
	input->file = -1;
	/* Fewer, larger reads, if that is allowed. */
	fcntl(fd, F_SETPIPE_SZ, ETL_INPUT_PIPE);
	return input;
}

/* What there is up to the end, or to @size. */
static size_t read_pipe(struct etl_input *input, unsigned char *to, size_t size)
{
	struct pollfd polled = { .fd = input->fd, .events = POLLIN };
	size_t got = 0;

	while (got < size && !input->error) {
		ssize_t n;

		if (input->wait && !poll(&polled, 1, 0))
			input->wait(input->argument);
		n = read(input->fd, to + got, size - got);
		if (n < 0 && errno == EINTR)
			continue;
		/* Whoever made the pipe does not wait for it; we do. */
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
 * etl_input_head() - read the first bytes, which say how large a buffer is
 * @input: of which nothing has been read
 * @to: where to
 * @size: how many
 *
 * Return: how many there are, or -1 with errno.
 */
ssize_t etl_input_head(struct etl_input *input, void *to, size_t size)
{
	input->head = malloc(size);
	if (!input->head)
		return -1;
	input->head_size = read_pipe(input, input->head, size);
	memcpy(to, input->head, input->head_size);
	errno = input->error;
	return input->error ? -1 : (ssize_t)input->head_size;
}

/**
 * etl_input_set_size() - it is known how large a buffer is
 * @input: of which the head has been read
 * @buffer_size: no less than that
 */
void etl_input_set_size(struct etl_input *input, size_t buffer_size)
{
	input->buffer_size = buffer_size;
}

static int make_file(void)
{
	const char *directory = getenv("TMPDIR");
	char *path;
	int fd;

	if (asprintf(&path, "%s/ntklog.XXXXXX", directory && *directory ? directory : "/tmp") < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static int write_file(struct etl_input *input, const unsigned char *data, size_t size,
		      uint64_t offset)
{
	size_t written = 0;

	if (input->file < 0)
		input->file = make_file();
	while (input->file >= 0 && written < size) {
		ssize_t n = pwrite(input->file, data + written, size - written, offset + written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		written += n;
	}
	if (written == size)
		return 0;
	input->error = errno;
	input->is_of_file = true;
	return -1;
}

/* The first of those that are kept is not dropped. */
static void forget_dropped(struct etl_input *input)
{
	size_t gone = 0;

	while (gone < input->count && input->buffers[gone].is_dropped)
		gone++;
	/* Moved each time that half of them are gone. */
	if (2 * gone <= input->count)
		return;
	input->count -= gone;
	input->first += gone;
	memmove(input->buffers, input->buffers + gone, input->count * sizeof(*input->buffers));
}

static struct etl_input_buffer *add_buffer(struct etl_input *input)
{
	struct etl_input_buffer *more = grown(input->buffers, input->count, sizeof(*more));

	if (!more)
		return NULL;
	input->buffers = more;
	more[input->count] = (struct etl_input_buffer) { 0 };
	return &more[input->count++];
}

/* Memory is used again; the newest buffer is there for etl_input_next() to show. */
static void release(struct etl_input *input, unsigned char *data)
{
	free(input->spare);
	input->spare = data;
}

/* Whether there is a whole one. */
static bool read_buffer(struct etl_input *input)
{
	uint64_t number = input->first + input->count;
	struct etl_input_buffer *buffer;
	unsigned char *data;
	size_t got = 0;

	if (input->has_ended)
		return false;
	data = input->spare ? input->spare : malloc(input->buffer_size);
	input->spare = NULL;
	input->newest = data;
	if (data) {
		got = input->head_size;
		memcpy(data, input->head, got);
		input->head_size = 0;
		got += read_pipe(input, data + got, input->buffer_size - got);
	} else {
		input->error = ENOMEM;
	}
	if (got < input->buffer_size) {
		input->rest = got;
		goto end;
	}
	buffer = add_buffer(input);
	if (!buffer) {
		input->error = ENOMEM;
		goto end;
	}
	if (input->bytes < ETL_INPUT_MEMORY) {
		buffer->data = data;
		input->bytes += input->buffer_size;
		return true;
	}
	if (write_file(input, data, input->buffer_size, number * input->buffer_size))
		goto end;
	release(input, data);
	return true;

end:
	free(data);
	input->has_ended = true;
	return false;
}

/**
 * etl_input_read() - read what is within one buffer
 * @input: whose buffer size is known
 * @to: where to
 * @size: bytes
 * @offset: of the first of them
 *
 * Return: how many there are, or -1 with errno.
 */
ssize_t etl_input_read(struct etl_input *input, void *to, size_t size, uint64_t offset)
{
	uint64_t number = offset / input->buffer_size;
	size_t within = offset % input->buffer_size;
	const struct etl_input_buffer *buffer;
	size_t got = 0;

	/* It has been dropped. */
	if (number < input->first) {
		errno = EINVAL;
		return -1;
	}
	while (number >= input->first + input->count && read_buffer(input))
		;
	if (number >= input->first + input->count) {
		errno = input->error;
		if (errno)
			return -1;
		/* What there is of the last one nobody needs; but how much it is. */
		if (number > input->first + input->count || input->rest <= within)
			return 0;
		return input->rest - within < size ? input->rest - within : size;
	}
	buffer = &input->buffers[number - input->first];
	if (buffer->data) {
		memcpy(to, buffer->data + within, size);
		return size;
	}
	while (got < size) {
		ssize_t n = pread(input->file, (char *)to + got, size - got, offset + got);

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
 * @input: whose buffer size is known
 * @rest: bytes that there are of it if it is not whole, or -1 with errno
 *
 * Return: the buffer, until the next call, or NULL: there is none.
 */
const unsigned char *etl_input_next(struct etl_input *input, ssize_t *rest)
{
	if (read_buffer(input))
		return input->newest;
	errno = input->error;
	*rest = input->error ? -1 : (ssize_t)input->rest;
	return NULL;
}

/**
 * etl_input_drop() - a buffer is not needed any more
 * @input: that it is of
 * @number: of a buffer that has been read
 */
void etl_input_drop(struct etl_input *input, uint64_t number)
{
	struct etl_input_buffer *buffer;

	if (number < input->first || number >= input->first + input->count)
		return;
	buffer = &input->buffers[number - input->first];
	if (buffer->data) {
		input->bytes -= input->buffer_size;
		release(input, buffer->data);
	} else if (!buffer->is_dropped && input->file >= 0) {
		/* What a stream without an end leaves behind would fill the disk. */
		fallocate(input->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  number * input->buffer_size, input->buffer_size);
	}
	buffer->data = NULL;
	buffer->is_dropped = true;
	forget_dropped(input);
}

/**
 * etl_input_spool() - read all, into a file
 * @input: of which no buffer has been dropped
 *
 * Return: the file, or -1 with errno.
 */
int etl_input_spool(struct etl_input *input)
{
	unsigned char *data = malloc(input->buffer_size);
	uint64_t at = 0;
	size_t i, got;
	int fd;

	for (i = 0; data && i < input->count; i++, at += input->buffer_size)
		if (input->buffers[i].data &&
		    write_file(input, input->buffers[i].data, input->buffer_size, at))
			goto err;
	do {
		got = data ? read_pipe(input, data, input->buffer_size) : 0;
		if (!data || input->error || write_file(input, data, got, at))
			goto err;
		at += got;
	} while (got == input->buffer_size);
	free(data);
	fd = input->file;
	input->file = -1;
	return fd;

err:
	free(data);
	errno = input->error ? input->error : ENOMEM;
	return -1;
}

/**
 * etl_input_free() - let it go
 * @input: what is read, or NULL
 */
void etl_input_free(struct etl_input *input)
{
	size_t i;

	if (!input)
		return;
	for (i = 0; i < input->count; i++)
		free(input->buffers[i].data);
	free(input->buffers);
	free(input->spare);
	free(input->head);
	if (input->file >= 0)
		close(input->file);
	close(input->fd);
	free(input);
}
