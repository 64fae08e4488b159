/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_INPUT_H
#define _NTKLOG_ETL_INPUT_H

/*
 * A trace that comes through a pipe, buffer by buffer: those that somebody may still ask for
 * are kept, in memory up to a limit, then in a file without a name where TMPDIR says.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of buffers in memory. */
#define ETL_INPUT_MEMORY	0x4000000

/* Of what the kernel keeps of a pipe. */
#define ETL_INPUT_PIPE		0x100000

struct etl_input_buffer;

/**
 * struct etl_input - of a pipe
 * @fd: the pipe
 * @buffer_size: of every buffer; 0: not known yet
 * @head: what has been read before that was known
 * @head_size: bytes of @head
 * @buffers: that have been read, from @first on
 * @first: number of the first of them
 * @count: of them
 * @bytes: of them in memory
 * @newest: the last buffer that has come
 * @spare: memory for the next one, or NULL
 * @rest: bytes behind the last whole one, at the end
 * @has_ended: there is no more
 * @error: errno of what went wrong, or 0
 * @is_of_file: it was @file
 * @file: of what memory has no room for, -1: not made yet
 * @wait: is called before it may take a while until more comes, or NULL
 * @argument: of @wait
 */
struct etl_input {
	int fd;
	size_t buffer_size;
	unsigned char *head;
	size_t head_size;
	struct etl_input_buffer *buffers;
	uint64_t first;
	size_t count;
	size_t bytes;
	unsigned char *newest;
	unsigned char *spare;
	size_t rest;
	bool has_ended;
	int error;
	bool is_of_file;
	int file;
	void (*wait)(void *argument);
	void *argument;
};

struct etl_input *etl_input_make(int fd);
ssize_t etl_input_head(struct etl_input *input, void *to, size_t size);
void etl_input_set_size(struct etl_input *input, size_t buffer_size);
ssize_t etl_input_read(struct etl_input *input, void *to, size_t size, uint64_t offset);
const unsigned char *etl_input_next(struct etl_input *input, ssize_t *rest);
void etl_input_drop(struct etl_input *input, uint64_t number);
int etl_input_spool(struct etl_input *input);
void etl_input_free(struct etl_input *input);

#endif /* _NTKLOG_ETL_INPUT_H */
