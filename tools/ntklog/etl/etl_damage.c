// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "etl_reader.h"

static int describe_damage(struct etl_reader *reader, uint64_t offset, const char *format,
			   va_list arguments)
{
	struct etl_file *file = &reader->file;
	int used;

	if (file->error[0] && reader->damage_offset <= offset)
		return -1;
	reader->damage_offset = offset;
	used = snprintf(file->error, sizeof(file->error), "offset 0x%llx: ",
			(unsigned long long)offset);
	vsnprintf(file->error + used, sizeof(file->error) - used, format, arguments);
	return -1;
}

/**
 * etl_set_damage() - describe a damage in the file's error
 * @reader: reader of the file
 * @offset: offset of the damage in the file
 * @format: format of the description, for printf()
 *
 * The error keeps the description with the least offset.
 *
 * Return: -1.
 */
int etl_set_damage(struct etl_reader *reader, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	describe_damage(reader, offset, format, arguments);
	va_end(arguments);
	return -1;
}

/**
 * etl_set_input_damage() - report a pipe that cannot be read, or a file for its buffers
 * @reader: reader of the pipe; errno is that of the failure
 * @offset: offset of the data that cannot be read or kept
 *
 * Return: -1.
 */
int etl_set_input_damage(struct etl_reader *reader, uint64_t offset)
{
	if (reader->input->spill_has_failed)
		return etl_set_damage(reader, offset, "TMPDIR: %s: %s",
				      etl_input_spill_directory(), strerror(errno));
	return etl_set_damage(reader, offset, "%s", strerror(errno));
}

/**
 * etl_set_no_memory() - report missing memory in the file's error
 * @reader: reader of the file
 *
 * Return: -1.
 */
int etl_set_no_memory(struct etl_reader *reader)
{
	return etl_set_damage(reader, 0, "%s", strerror(ENOMEM));
}

/**
 * etl_leave_out_bytes() - count a damaged buffer, which etl_set_damage() has described
 * @reader: reader of the file
 * @bytes: number of bytes that are left out: the buffer or the rest of it
 */
void etl_leave_out_bytes(struct etl_reader *reader, size_t bytes)
{
	reader->file.damaged_buffers++;
	reader->file.left_out_bytes += bytes;
}

/**
 * etl_count_backward_event() - count an event that is earlier than the one before it
 * @reader: reader of the file
 * @offset: offset of the event in the file
 */
void etl_count_backward_event(struct etl_reader *reader, uint64_t offset)
{
	struct etl_file *file = &reader->file;

	if (!file->backwards++ || offset < file->backwards_at)
		file->backwards_at = offset;
}

/**
 * etl_leave_out_event() - describe and count a damaged event that reading continues behind
 * @file: file of the event
 * @event: damaged event
 * @format: format of the description without the offset, for printf()
 *
 * Return: -1.
 */
int etl_leave_out_event(struct etl_file *file, const struct etl_event *event,
			const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	describe_damage(etl_reader_of(file), event->offset, format, arguments);
	va_end(arguments);
	file->damaged_events++;
	file->left_out_bytes += event->size;
	return -1;
}
