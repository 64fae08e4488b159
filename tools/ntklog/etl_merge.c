// SPDX-License-Identifier: GPL-2.0-only
/*
 * Merging: each processor's events are in the order of time, and so are its buffers in
 * the file; in a circular one, whose beginning has been overwritten, sequence numbers tell
 * the order. One buffer of each processor is in memory, and the earliest event of all is
 * next.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etl_merge.h"

/*
 * @cursor: in the present buffer
 * @event: the next one
 * @buffers: of the processor
 * @buffer_count: how many
 * @next_buffer: after the present one, of @buffers
 */
struct etl_stream {
	struct etl_cursor cursor;
	struct etl_event event;
	struct etl_place *buffers;
	size_t buffer_count;
	size_t next_buffer;
};

static bool is_earlier(const struct etl_stream *a, const struct etl_stream *b)
{
	/* Of two at the same time the one that is first in the file. */
	if (a->event.time_stamp == b->event.time_stamp)
		return a->event.offset < b->event.offset;
	return a->event.time_stamp < b->event.time_stamp;
}

static void sift_down(struct etl_merge *merge, size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct etl_stream *stream = merge->heap[at];

		for (; child <= 2 * at + 2 && child < merge->heap_count; child++)
			if (is_earlier(merge->heap[child], merge->heap[least]))
				least = child;
		if (least == at)
			return;
		merge->heap[at] = merge->heap[least];
		merge->heap[least] = stream;
		at = least;
	}
}

/* The stream's next event; false: it has no more. */
static bool advance(struct etl_merge *merge, struct etl_stream *stream)
{
	do {
		while (stream->cursor.next >= stream->cursor.end)
			if (stream->next_buffer == stream->buffer_count ||
			    !etl_read_buffer(merge->file, &stream->cursor,
					     stream->buffers[stream->next_buffer++].number))
				return false;
	} while (etl_parse_event(merge->file, &stream->cursor, &stream->event) != 1);
	return true;
}

static int add_buffer(struct etl_stream *stream, const struct etl_place *place)
{
	size_t count = stream->buffer_count;

	/* Room doubles: at 1, 2, 4, ... */
	if (!(count & (count - 1))) {
		struct etl_place *more = reallocarray(stream->buffers, count ? 2 * count : 1,
						      sizeof(*more));

		if (!more)
			return -1;
		stream->buffers = more;
	}
	stream->buffers[stream->buffer_count++] = *place;
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct etl_place *left = a, *right = b;

	if (left->sequence_number != right->sequence_number)
		return left->sequence_number < right->sequence_number ? -1 : 1;
	return left->number < right->number ? -1 : 1;
}

/* Which buffers are whose? */
static int make_streams(struct etl_merge *merge)
{
	const struct etl_file *file = merge->file;
	size_t i;

	for (i = 0; i < file->place_count; i++) {
		unsigned int processor = file->places[i].processor;

		if (processor >= merge->stream_count) {
			size_t count = processor + 1;
			struct etl_stream *more =
				realloc(merge->streams, count * sizeof(*more));

			if (!more)
				return -1;
			memset(more + merge->stream_count, 0,
			       (count - merge->stream_count) * sizeof(*more));
			merge->streams = more;
			merge->stream_count = count;
		}
		if (add_buffer(&merge->streams[processor], &file->places[i]))
			return -1;
	}
	for (i = 0; etl_is_circular(merge->file) && i < merge->stream_count; i++)
		if (merge->streams[i].buffer_count)
			qsort(merge->streams[i].buffers, merge->streams[i].buffer_count,
			      sizeof(struct etl_place), compare_places);
	return 0;
}

/**
 * etl_merge_open() - begin to merge
 * @merge: what is begun
 * @file: a file that is open and of which no event has been read
 *
 * What is damaged is left out: see @file->error.
 *
 * Return: 0, or -1 with a message in @file->error; etl_merge_close() in both cases.
 */
int etl_merge_open(struct etl_merge *merge, struct etl_file *file)
{
	size_t i;

	*merge = (struct etl_merge) { .file = file };
	if (make_streams(merge))
		goto no_memory;
	merge->heap = calloc(merge->stream_count, sizeof(struct etl_stream *));
	if (!merge->heap)
		goto no_memory;
	for (i = 0; i < merge->stream_count; i++)
		if (advance(merge, &merge->streams[i]))
			merge->heap[merge->heap_count++] = &merge->streams[i];
	for (i = merge->heap_count / 2; i-- > 0;)
		sift_down(merge, i);
	return 0;

no_memory:
	return etl_damage(file, 0, "%s", strerror(ENOMEM));
}

/**
 * etl_merge_next() - the earliest event that has not been given yet
 * @merge: the merging
 * @event: the event; its data is there until the next call
 *
 * Return: 1, or 0 at the end.
 */
int etl_merge_next(struct etl_merge *merge, struct etl_event *event)
{
	struct etl_stream *stream;

	/* The one given before is let go only now: its data was in use. */
	while (merge->heap_count) {
		stream = merge->heap[0];
		if (stream->event.data) {
			*event = stream->event;
			stream->event.data = NULL;
			return 1;
		}
		if (!advance(merge, stream))
			merge->heap[0] = merge->heap[--merge->heap_count];
		if (merge->heap_count)
			sift_down(merge, 0);
	}
	return 0;
}

/**
 * etl_merge_close() - let the merging go
 * @merge: what etl_merge_open() was called for
 */
void etl_merge_close(struct etl_merge *merge)
{
	size_t i;

	for (i = 0; i < merge->stream_count; i++) {
		free(merge->streams[i].cursor.buffer);
		free(merge->streams[i].buffers);
	}
	free(merge->streams);
	free(merge->heap);
}
