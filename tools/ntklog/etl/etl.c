// SPDX-License-Identifier: GPL-2.0-only
/* Reading ETL files in the order of the file, event by event. */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl_reader.h"

/*
 * Begin to read from a pipe. A flight recording, or a file with names, is copied to a file first.
 */
static int begin_stream(struct etl_reader *reader, const struct wmi_buffer_header *header)
{
	int fd;

	if (!etl_overwrites_buffers(&reader->file) && !etl_may_have_names(reader)) {
		reader->next_stream_number = 1;
		reader->next_index = 1;
		return etl_add_index_entry(reader, header, 0);
	}
	fd = etl_input_spool(reader->input);
	if (fd < 0)
		return etl_set_input_damage(reader, 0);
	etl_input_free(reader->input);
	reader->input = NULL;
	reader->fd = fd;
	return etl_make_index(reader);
}

static int read_first_buffer(struct etl_reader *reader)
{
	struct wmi_buffer_header header;
	ssize_t got;

	got = reader->input ? etl_input_read_head(reader->input, &header, sizeof(header)) :
			    etl_read_at(reader, &header, sizeof(header), 0);
	if (got < 0)
		return reader->file.error[0] ? -1 :
					       etl_set_damage(reader, 0, "%s", strerror(errno));
	if (!got)
		return etl_set_damage(reader, 0, "the file is empty");
	if (got < (ssize_t)sizeof(header))
		return etl_set_damage(reader, got,
				      "the file ends before its first buffer header does");
	if (etl_check_first_header(reader, &header))
		return -1;
	if (reader->input)
		etl_input_set_size(reader->input, reader->file.buffer_size);
	if (!etl_read_buffer(reader, &reader->cursor, 0) || reader->file.error[0] ||
	    etl_read_first_event(reader))
		return -1;
	return reader->input ? begin_stream(reader, &header) : etl_make_index(reader);
}

/* The file that etl_open() returns without memory. It is never changed. */
static struct etl_reader no_memory_reader = {
	.file = { .path = "", .error = "offset 0x0: Cannot allocate memory" },
	.fd = -1,
};

static struct etl_reader *make_reader(const char *path)
{
	struct etl_reader *reader = calloc(1, sizeof(*reader));

	if (reader)
		reader->file.path = strdup(path);
	if (!reader || !reader->file.path) {
		free(reader);
		return &no_memory_reader;
	}
	reader->fd = -1;
	reader->latest_possible_time = UINT64_MAX;
	return reader;
}

static int begin_reading(struct etl_reader *reader, void (*wait)(void *argument), void *argument)
{
	struct stat status;

	if (!fstat(reader->fd, &status) && S_ISDIR(status.st_mode)) {
		snprintf(reader->file.error, sizeof(reader->file.error),
			 "a directory: give one of its files");
		return -1;
	}
	if (lseek(reader->fd, 0, SEEK_CUR) < 0 && errno == ESPIPE) {
		reader->input = etl_input_make(reader->fd);
		if (!reader->input)
			return etl_set_no_memory(reader);
		reader->fd = -1;
		etl_on_wait(&reader->file, wait, argument);
	} else {
		posix_fadvise(reader->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	if (!read_first_buffer(reader))
		return 0;
	/* Callers may read the events of the first buffer, but nothing else. */
	reader->has_ended = true;
	reader->file.buffers = 0;
	return -1;
}

/**
 * etl_open_descriptor() - open a file for etl_read_descriptor()
 * @path: path of the file; "-" is the standard input
 *
 * Return: the descriptor, or -1 with errno, which may be EINTR: to open a FIFO waits for a writer.
 */
int etl_open_descriptor(const char *path)
{
	return strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				   fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
}

/**
 * etl_read_descriptor() - read the first buffer of an open ETL file
 * @file: set to the file before @wait is called; the caller must close it even after a failure
 * @path: path of the file
 * @fd: descriptor of the file, which etl_close() closes
 * @wait: function to call before a read from a pipe that may block, or NULL
 * @argument: argument of @wait
 *
 * Return: 0, or -1 with a message in @file's error.
 */
int etl_read_descriptor(struct etl_file **file, const char *path, int fd,
			void (*wait)(void *argument), void *argument)
{
	struct etl_reader *reader = make_reader(path);

	*file = &reader->file;
	if (reader == &no_memory_reader) {
		close(fd);
		return -1;
	}
	reader->fd = fd;
	return begin_reading(reader, wait, argument);
}

/**
 * etl_open() - open an ETL file and read its first buffer
 * @file: set to the file, which the caller must close even after a failure
 * @path: path of the file; "-" is the standard input
 *
 * Return: 0, or -1 with a message in @file's error.
 */
int etl_open(struct etl_file **file, const char *path)
{
	int fd = etl_open_descriptor(path), open_errno = errno;
	struct etl_reader *reader;

	if (fd >= 0)
		return etl_read_descriptor(file, path, fd, NULL, NULL);
	reader = make_reader(path);
	*file = &reader->file;
	if (reader != &no_memory_reader)
		snprintf(reader->file.error, sizeof(reader->file.error), "%s",
			 strerror(open_errno));
	return -1;
}

static int attach_buffer(struct etl_reader *reader, const void *buffer, size_t size)
{
	if (size < sizeof(struct wmi_buffer_header))
		return etl_set_damage(reader, size, "the first buffer ends before its header does");
	if (etl_check_first_header(reader, buffer))
		return -1;
	if (size != reader->file.buffer_size)
		return etl_set_damage(reader, size, "the first buffer is not 0x%zx bytes long",
				      reader->file.buffer_size);
	reader->cursor.buffer = malloc(size);
	if (!reader->cursor.buffer)
		return etl_set_no_memory(reader);
	memcpy(reader->cursor.buffer, buffer, size);
	if (etl_use_buffer(reader, &reader->cursor, 0))
		return -1;
	return etl_read_first_event(reader);
}

/**
 * etl_attach() - begin to read a trace whose buffers the caller provides
 * @file: set to the file, which the caller must close even after a failure
 * @path: name for messages
 * @buffer: first buffer
 * @size: bytes of @buffer
 *
 * etl_next_event() returns the events of the first buffer. The caller passes the other buffers to
 * etl_use_buffer().
 *
 * Return: 0, or -1 with a message in @file's error.
 */
int etl_attach(struct etl_file **file, const char *path, const void *buffer, size_t size)
{
	struct etl_reader *reader = make_reader(path);

	*file = &reader->file;
	return reader == &no_memory_reader ? -1 : attach_buffer(reader, buffer, size);
}

/**
 * etl_next_event() - get the next event in the order of the file
 * @file: open file
 *
 * Damaged parts are left out, and the first one is described in @file's error.
 *
 * Return: the event, which is valid until the next call; NULL at the end or without memory.
 */
const struct etl_event *etl_next_event(struct etl_file *file)
{
	struct etl_reader *reader = etl_reader_of(file);
	struct etl_cursor *cursor = &reader->cursor;

	for (;;) {
		while (cursor->next_offset >= cursor->end_offset)
			if ((reader->next_index >= file->buffers &&
			     !etl_add_next_buffer(reader)) ||
			    !etl_take_buffer(reader, cursor,
					     reader->index_entries[reader->next_index++].number))
				return NULL;
		if (etl_parse_event(reader, cursor, &reader->event) == 1)
			return &reader->event;
	}
}

/**
 * etl_on_wait() - set the function to call before a read from a pipe that may block
 * @file: open file
 * @wait: function to call, or NULL
 * @argument: argument of @wait
 */
void etl_on_wait(struct etl_file *file, void (*wait)(void *argument), void *argument)
{
	struct etl_input *input = etl_reader_of(file)->input;

	if (!input)
		return;
	input->wait = wait;
	input->argument = argument;
}

/**
 * etl_close() - close a file
 * @file: file from etl_open() or etl_attach(), even after a failure; or NULL
 */
void etl_close(struct etl_file *file)
{
	struct etl_reader *reader = etl_reader_of(file);

	if (!file || reader == &no_memory_reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	etl_input_free(reader->input);
	free(reader->cursor.buffer);
	etl_free_index(reader);
	free((char *)file->path);
	free(reader);
}
