// SPDX-License-Identifier: GPL-2.0-only

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "etl_reader.h"
#include "event_order.h"

/* With more bytes of buffers, all events are passed on, even if earlier ones may still arrive. */
#define BYTES_MAX	((size_t)64 << 20)

/*
 * @cursor: position behind @event
 * @number: number of the buffer among all that were added
 */
struct ordered_buffer {
	struct ordered_buffer *next;
	struct etl_cursor cursor;
	struct etl_event event;
	uint64_t number;
	size_t size;
	unsigned char data[];
};

/* Returns 1; 0 at the end of the buffer; -1 with a message in the error of @sorter's file. */
static int parse_next(struct event_sorter *sorter, struct ordered_buffer *buffer)
{
	if (buffer->cursor.next_offset >= buffer->cursor.end_offset)
		return 0;
	return etl_parse_event(etl_reader_of(sorter->file), &buffer->cursor, &buffer->event) == 1 ?
		1 : -1;
}

static bool has_earlier_event(const struct ordered_buffer *a, const struct ordered_buffer *b)
{
	/* Events of the same time keep the order of their buffers. */
	if (a->event.time_stamp == b->event.time_stamp)
		return a->number < b->number;
	return a->event.time_stamp < b->event.time_stamp;
}

static void insert_buffer(struct event_sorter *sorter, struct ordered_buffer *buffer)
{
	struct ordered_buffer **place = &sorter->first_buffer;

	while (*place && !has_earlier_event(buffer, *place))
		place = &(*place)->next;
	buffer->next = *place;
	*place = buffer;
}

static int pass_events(struct event_sorter *sorter, uint64_t end)
{
	while (sorter->first_buffer && sorter->first_buffer->event.time_stamp <= end) {
		struct ordered_buffer *buffer = sorter->first_buffer;
		int got;

		sorter->give_event(sorter->argument, &buffer->event);
		sorter->first_buffer = buffer->next;
		got = parse_next(sorter, buffer);
		if (got > 0) {
			insert_buffer(sorter, buffer);
			continue;
		}
		sorter->buffer_bytes -= buffer->size;
		free(buffer);
		if (got < 0)
			return -1;
	}
	return 0;
}

/**
 * event_sorter_add() - add a buffer, and pass on the events that are old enough
 * @sorter: its @file, @give_event and @argument are set
 * @buffer: the buffer
 * @size: bytes of @buffer
 *
 * A logger reads the clock a little before it gets a place in a buffer, which may begin meanwhile:
 * hence an event is passed on when it is 0.1 s older than the latest begin of a buffer.
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int event_sorter_add(struct event_sorter *sorter, const unsigned char *buffer, size_t size)
{
	struct ordered_buffer *added = malloc(sizeof(*added) + size);
	uint64_t slack_ticks = sorter->file->perf_freq / 10;
	int got;

	if (!added)
		return etl_set_no_memory(etl_reader_of(sorter->file));
	*added = (struct ordered_buffer) { .number = sorter->count++, .size = size };
	memcpy(added->data, buffer, size);
	added->cursor.buffer = added->data;
	got = etl_use_buffer(etl_reader_of(sorter->file), &added->cursor, 1) ? -1 :
		parse_next(sorter, added);
	if (got <= 0) {
		free(added);
		return got;
	}
	if (added->event.time_stamp > sorter->latest_begin_time)
		sorter->latest_begin_time = added->event.time_stamp;
	sorter->buffer_bytes += size;
	insert_buffer(sorter, added);
	if (sorter->buffer_bytes > BYTES_MAX)
		return event_sorter_finish(sorter);
	return sorter->latest_begin_time < slack_ticks ? 0 :
	       pass_events(sorter, sorter->latest_begin_time - slack_ticks);
}

/**
 * event_sorter_finish() - pass on all events
 * @sorter: all buffers up to now were added
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int event_sorter_finish(struct event_sorter *sorter)
{
	return pass_events(sorter, UINT64_MAX);
}

/**
 * event_sorter_free() - free the buffers whose events were not passed on
 * @sorter: all zero, or after event_sorter_add()
 */
void event_sorter_free(struct event_sorter *sorter)
{
	struct ordered_buffer *next;

	for (; sorter->first_buffer; sorter->first_buffer = next) {
		next = sorter->first_buffer->next;
		free(sorter->first_buffer);
	}
}
