/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EVENT_ORDER_H
#define _NTKLOG_EVENT_ORDER_H

/*
 * The events of a running session in the order of time. Buffers arrive in the order in which they
 * were begun, so an event is passed on when a buffer was begun well after it.
 */

#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>

struct ordered_buffer;

/*
 * Buffers with events that were not passed to @give_event yet.
 * @give_event: called with each event
 * @first_buffer: the buffers, in the order of their next events
 * @latest_begin_time: latest time of a buffer's first event, session clock
 */
struct event_sorter {
	struct etl_file *file;
	void (*give_event)(void *argument, const struct etl_event *event);
	void *argument;
	struct ordered_buffer *first_buffer;
	uint64_t count;
	size_t buffer_bytes;
	uint64_t latest_begin_time;
};

int event_sorter_add(struct event_sorter *sorter, const unsigned char *buffer, size_t size);
int event_sorter_finish(struct event_sorter *sorter);
void event_sorter_free(struct event_sorter *sorter);

#endif /* _NTKLOG_EVENT_ORDER_H */
