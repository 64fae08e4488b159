/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_INPUT_H
#define _NTKLOG_ETL_INPUT_H

/*
 * Reading a trace from a pipe, buffer by buffer. Buffers that a caller may still read are kept in
 * memory up to a limit, then in an unnamed file in TMPDIR.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ETL_INPUT_MEMORY_MAX	0x4000000

#define ETL_INPUT_PIPE_SIZE	0x100000

struct etl_input_buffer;

/*
 * Input from a pipe.
 * @head: bytes that were read before the size was known
 * @first_number: number of the first buffer in @buffers
 * @memory_bytes: bytes of the buffers in memory
 * @newest_data: contents of the buffer that was read last
 * @spare_data: memory for the next buffer, or NULL
 * @incomplete_bytes: bytes behind the last complete buffer, when the pipe has ended
 * @spill_has_failed: @error is that of @spill_fd, not of the pipe
 * @spill_fd: descriptor of the file for buffers beyond the limit, or -1 before its first use
 */
struct etl_input {
	int fd;
	size_t buffer_size;
	unsigned char *head;
	size_t head_size;
	struct etl_input_buffer *buffers;
	uint64_t first_number;
	size_t buffer_count;
	size_t memory_bytes;
	unsigned char *newest_data;
	unsigned char *spare_data;
	size_t incomplete_bytes;
	bool has_ended;
	int error;
	bool spill_has_failed;
	int spill_fd;
	void (*wait)(void *argument);
	void *argument;
};

struct etl_input *etl_input_make(int fd);
ssize_t etl_input_read_head(struct etl_input *input, void *data, size_t size);
const char *etl_input_spill_directory(void);
void etl_input_set_size(struct etl_input *input, size_t buffer_size);
ssize_t etl_input_read(struct etl_input *input, void *data, size_t size, uint64_t offset);
const unsigned char *etl_input_next(struct etl_input *input, ssize_t *incomplete_bytes);
void etl_input_drop_buffer(struct etl_input *input, uint64_t number);
int etl_input_spool(struct etl_input *input);
void etl_input_free(struct etl_input *input);

#endif /* _NTKLOG_ETL_INPUT_H */
