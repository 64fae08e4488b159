// SPDX-License-Identifier: GPL-2.0-only

#include <assert.h>

#include "etl_bytes.h"
#include "etl_reader.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ETL is little-endian");

/*
 * NT's event headers. All have their type at offset 2 and TRACE_HEADER_FLAGS at offset 3.
 */
static const struct header_kind {
	uint8_t header_size;
	uint8_t size_offset;	/* of a u16: bytes of the event */
	uint8_t clock_offset;	/* of a u64: the time stamp */
	uint8_t pointer_size;
	bool has_hook_id;	/* a u16 at offset 6; the u16 at offset 0 is then the version */
} header_kinds[] = {
	[TRACE_HEADER_TYPE_SYSTEM32] = { 0x20, 4, 0x10, 4, true },
	[TRACE_HEADER_TYPE_SYSTEM64] = { 0x20, 4, 0x10, 8, true },
	[TRACE_HEADER_TYPE_COMPACT32] = { 0x18, 4, 0x10, 4, true },
	[TRACE_HEADER_TYPE_COMPACT64] = { 0x18, 4, 0x10, 8, true },
	[TRACE_HEADER_TYPE_PERFINFO32] = { 0x10, 4, 0x08, 4, true },
	[TRACE_HEADER_TYPE_PERFINFO64] = { 0x10, 4, 0x08, 8, true },
	[TRACE_HEADER_TYPE_FULL_HEADER32] = { 0x30, 0, 0x10, 4, false },
	[TRACE_HEADER_TYPE_FULL_HEADER64] = { 0x30, 0, 0x10, 8, false },
	[TRACE_HEADER_TYPE_INSTANCE32] = { 0x38, 0, 0x10, 4, false },
	[TRACE_HEADER_TYPE_INSTANCE64] = { 0x38, 0, 0x10, 8, false },
	[TRACE_HEADER_TYPE_TIMED] = { 0x30, 0, 0x10, 4, false },
	[TRACE_HEADER_TYPE_ERROR] = { 0x08, 0, 0, 8, false },
	[TRACE_HEADER_TYPE_WNODE_HEADER] = { 0x30, 0, 0x10, 8, false },
	[TRACE_HEADER_TYPE_EVENT_HEADER32] = { 0x50, 0, 0x10, 4, false },
	[TRACE_HEADER_TYPE_EVENT_HEADER64] = { 0x50, 0, 0x10, 8, false },
};

/*
 * A WPP message has 0 in place of the type. Its flags say which values, such as a time, are behind
 * its header.
 */
static const struct header_kind message_kind = { 0x08, 0, 0, 8, false };
#define MESSAGE_MARKER	0x90

/* Find the kind of the header at @at. Returns NULL if no event begins like that. */
static inline const struct header_kind *find_header_kind(const unsigned char *at, uint8_t *type)
{
	*type = at[2];
	if (at[2] && at[2] < ARRAY_SIZE(header_kinds) && header_kinds[at[2]].header_size &&
	    at[3] & 0x80)
		return &header_kinds[at[2]];
	if (at[2] || at[3] != MESSAGE_MARKER)
		return NULL;
	*type = TRACE_HEADER_TYPE_MESSAGE;
	return &message_kind;
}

/*
 * Set the time of an event. Without a possible time of its own it has that of an event before it,
 * or of the session's start.
 */
static inline void read_time(struct etl_reader *reader, struct etl_cursor *cursor,
			     const struct header_kind *kind, const unsigned char *at,
			     struct etl_event *event)
{
	struct etl_file *file = &reader->file;
	uint64_t time = kind->clock_offset ? get_u64(at + kind->clock_offset) : 0;

	event->has_time = kind->clock_offset;
	event->raw_time = time;
	event->has_impossible_time = event->has_time && (time < reader->earliest_possible_time ||
							 time > cursor->latest_possible_time);
	if (event->has_impossible_time) {
		if (!file->wrong_times++ || event->offset < file->wrong_time_at)
			file->wrong_time_at = event->offset;
	} else if (event->has_time) {
		if (time < cursor->last_time)
			etl_count_backward_event(reader, event->offset);
		cursor->time_stamp = time;
		cursor->last_time = time;
	}
	event->time_stamp = cursor->time_stamp ? cursor->time_stamp : file->start_clock;
}

/* Parse an event of a known kind. The tests of a constant @kind leave no code. */
static inline __attribute__((always_inline))
int parse_event_of_kind(struct etl_reader *reader, struct etl_cursor *cursor,
			const struct header_kind *kind, struct etl_event *event)
{
	size_t available = cursor->end_offset - cursor->next_offset, size, data_offset;
	const unsigned char *at = cursor->buffer + cursor->next_offset;

	size = get_u16(at + kind->size_offset);
	data_offset = kind->header_size;
	if (size < data_offset || size > available)
		return etl_set_damage(reader, event->offset,
				      "event of 0x%zx bytes where 0x%zx to 0x%zx fit",
				      size, data_offset, available);
	event->processor = cursor->processor;
	event->header = at;
	event->size = size;
	event->pointer_size = kind->pointer_size;
	event->has_hook_id = kind->has_hook_id;
	event->hook_id = kind->has_hook_id ? get_u16(at + 6) : 0;
	read_time(reader, cursor, kind, at, event);
	event->extension = at + data_offset;
	event->counters = 0;
	event->has_pebs_index = false;
	if (data_offset == sizeof(struct perfinfo_trace_header)) {
		event->version = at[0];
		if (at[1] & (PERFINFO_EXT_PMC_COUNT | PERFINFO_EXT_PEBS_INDEX)) {
			event->counters = at[1] & PERFINFO_EXT_PMC_COUNT;
			event->has_pebs_index = at[1] & PERFINFO_EXT_PEBS_INDEX;
			data_offset += 8 * (event->counters + event->has_pebs_index);
		}
		if (size < data_offset)
			return etl_set_damage(reader, event->offset,
					      "event of 0x%zx bytes with 0x%zx bytes of extensions",
					      size, data_offset - kind->header_size);
	} else {
		event->version = kind->has_hook_id ? get_u16(at) : 0;
	}
	event->data = at + data_offset;
	event->data_size = size - data_offset;
	/* The last event of a buffer may lack its padding. */
	size += -size % TRACE_EVENT_ALIGNMENT;
	cursor->next_offset += size < available ? size : available;
	return 1;
}

/**
 * etl_parse_event_quietly() - parse the next event of a buffer, without counting what it leaves out
 * @reader: reader of the file
 * @cursor: cursor before the end of its buffer; is moved behind the event
 * @event: set to the event, whose data stays in the buffer
 *
 * Return: 1, or -1 with a message in the file's error.
 */
int etl_parse_event_quietly(struct etl_reader *reader, struct etl_cursor *cursor,
			    struct etl_event *event)
{
	size_t available = cursor->end_offset - cursor->next_offset;
	const unsigned char *at = cursor->buffer + cursor->next_offset;
	const struct header_kind *kind;

	event->offset = cursor->number * reader->file.buffer_size + cursor->next_offset;
	if (available < 8)
		return etl_set_damage(reader, event->offset,
				      "%zu bytes before SavedOffset are no event", available);
	kind = find_header_kind(at, &event->header_type);
	if (!kind)
		return etl_set_damage(reader, event->offset,
				      "no event: marker 0x%02x%02x%02x%02x",
				      at[3], at[2], at[1], at[0]);
	/* Nearly all events have this header. */
	if (kind == &header_kinds[TRACE_HEADER_TYPE_PERFINFO64])
		return parse_event_of_kind(reader, cursor,
					   &header_kinds[TRACE_HEADER_TYPE_PERFINFO64], event);
	return parse_event_of_kind(reader, cursor, kind, event);
}

/**
 * etl_first_time_in_buffer() - get the time of the first event of a buffer
 * @reader: reader of the file
 * @data: buffer with a checked header
 *
 * Return: session clock, or 0 if the event has no possible time.
 */
uint64_t etl_first_time_in_buffer(const struct etl_reader *reader, const unsigned char *data)
{
	const unsigned char *at = data + sizeof(struct wmi_buffer_header);
	const struct header_kind *kind;
	uint64_t time;
	uint8_t type;

	if (((const struct wmi_buffer_header *)data)->saved_offset <
	    sizeof(struct wmi_buffer_header) + 0x18)
		return 0;
	kind = find_header_kind(at, &type);
	time = kind && kind->clock_offset ? get_u64(at + kind->clock_offset) : 0;
	return time >= reader->earliest_possible_time && time <= reader->latest_possible_time ?
		       time :
		       0;
}
