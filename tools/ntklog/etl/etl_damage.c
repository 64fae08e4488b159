// SPDX-License-Identifier: GPL-2.0-only
/* What is wrong with a file: the first in it is told with its offset, all is counted. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "etl_reader.h"

static int tell(struct etl_reader *reader, uint64_t offset, const char *format,
		va_list arguments)
{
	struct etl_file *file = &reader->file;
	int used;

	if (file->error[0] && reader->damage_at <= offset)
		return -1;
	reader->damage_at = offset;
	used = snprintf(file->error, sizeof(file->error), "offset 0x%llx: ",
			(unsigned long long)offset);
	vsnprintf(file->error + used, sizeof(file->error) - used, format, arguments);
	return -1;
}

/**
 * etl_damage() - note what is wrong with a file, and where
 * @reader: the file
 * @offset: in it
 * @format: the rest of the message
 *
 * Of two the one before the other in the file is kept.
 *
 * Return: -1.
 */
int etl_damage(struct etl_reader *reader, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(reader, offset, format, arguments);
	va_end(arguments);
	return -1;
}

/**
 * etl_no_memory() - note that there is none
 * @reader: the file
 *
 * Return: -1.
 */
int etl_no_memory(struct etl_reader *reader)
{
	return etl_damage(reader, 0, "%s", strerror(ENOMEM));
}

/**
 * etl_leave_out_bytes() - a buffer, or the rest of one, is damaged
 * @reader: that it is of; has been told with etl_damage()
 * @bytes: that are left out
 */
void etl_leave_out_bytes(struct etl_reader *reader, size_t bytes)
{
	reader->file.damaged_buffers++;
	reader->file.left_out += bytes;
}

/**
 * etl_count_backwards() - count an event that is earlier than the one before it
 * @reader: that it is of
 * @offset: of the event in the file
 */
void etl_count_backwards(struct etl_reader *reader, uint64_t offset)
{
	struct etl_file *file = &reader->file;

	if (!file->backwards++ || offset < file->backwards_at)
		file->backwards_at = offset;
}

/**
 * etl_leave_out_event() - an event is damaged, though those behind it may not be
 * @file: that it is of
 * @event: the event
 * @format: what is wrong with it, without where it is
 *
 * Return: -1.
 */
int etl_leave_out_event(struct etl_file *file, const struct etl_event *event,
			const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(etl_reader(file), event->offset, format, arguments);
	va_end(arguments);
	file->damaged_events++;
	file->left_out += event->size;
	return -1;
}
