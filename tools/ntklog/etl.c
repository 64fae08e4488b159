// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ETL files: buffer after buffer in the order of the file, event after
 * event. One buffer is in memory at a time. Whatever does not fit stops the
 * reading with the offset at which it was found.
 */

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "etl.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ETL is little-endian");

/* Windows writes 0x400 to 0x100000; some room for what is to come. */
#define BUFFER_SIZE_MIN	0x400
#define BUFFER_SIZE_MAX	0x1000000

/*
 * NT's trace headers. All have their type at offset 2 and TRACE_HEADER_FLAGS at
 * offset 3, so that a reader can step over those that it does not know.
 */
static const struct header_kind {
	uint8_t type;
	uint8_t header_size;
	uint8_t size_offset;	/* of a u16: bytes of the event */
	uint8_t clock_offset;	/* of a u64: the time stamp */
	uint8_t pointer_size;
	bool has_hook_id;	/* a u16 after the size, and then a version at 0 */
} header_kinds[] = {
	{ TRACE_HEADER_TYPE_SYSTEM32, 0x20, 4, 0x10, 4, true },
	{ TRACE_HEADER_TYPE_SYSTEM64, 0x20, 4, 0x10, 8, true },
	{ 0x03, 0x18, 4, 0x10, 4, true },	/* COMPACT32 */
	{ 0x04, 0x18, 4, 0x10, 8, true },	/* COMPACT64 */
	{ TRACE_HEADER_TYPE_PERFINFO32, 0x10, 4, 0x08, 4, true },
	{ TRACE_HEADER_TYPE_PERFINFO64, 0x10, 4, 0x08, 8, true },
	{ 0x0A, 0x30, 0, 0x10, 4, false },	/* FULL_HEADER32 */
	{ 0x14, 0x30, 0, 0x10, 8, false },	/* FULL_HEADER64 */
	{ 0x0B, 0x38, 0, 0x10, 4, false },	/* INSTANCE32 */
	{ 0x15, 0x38, 0, 0x10, 8, false },	/* INSTANCE64 */
	{ 0x12, 0x50, 0, 0x10, 4, false },	/* EVENT_HEADER32 */
	{ 0x13, 0x50, 0, 0x10, 8, false },	/* EVENT_HEADER64 */
	{ 0x0F, 0x08, 0, 0, 8, false },		/* MESSAGE: no time of its own */
};

static uint16_t get_u16(const unsigned char *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static uint64_t get_u64(const unsigned char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/**
 * etl_damage() - note what is wrong with a file, and where
 * @file: the file
 * @offset: in it
 * @format: the rest of the message
 *
 * Return: -1.
 */
int etl_damage(struct etl_file *file, uint64_t offset, const char *format, ...)
{
	va_list arguments;
	int used;

	used = snprintf(file->error, sizeof(file->error), "offset 0x%llx: ",
			(unsigned long long)offset);
	va_start(arguments, format);
	vsnprintf(file->error + used, sizeof(file->error) - used, format,
		  arguments);
	va_end(arguments);
	return -1;
}

static int check_buffer(struct etl_file *file, const struct wmi_buffer_header *header)
{
	if (header->buffer_size != file->buffer_size)
		return etl_damage(file, file->offset,
				  "buffer of 0x%x bytes in a file of 0x%zx byte buffers",
				  header->buffer_size, file->buffer_size);
	if (header->saved_offset < sizeof(*header) ||
	    header->saved_offset > file->buffer_size)
		return etl_damage(file, file->offset + offsetof(struct wmi_buffer_header,
								saved_offset),
				  "SavedOffset 0x%x is not in the buffer of 0x%zx bytes",
				  header->saved_offset, file->buffer_size);
	return 0;
}

static const struct wmi_buffer_header *buffer_header(const struct etl_file *file)
{
	return (const struct wmi_buffer_header *)file->buffer;
}

/* 1: there is one; 0: the file ends here; -1: error. */
static int read_buffer(struct etl_file *file)
{
	size_t got;

	if (file->buffers)
		file->offset += file->buffer_size;
	got = fread(file->buffer, 1, file->buffer_size, file->stream);
	if (ferror(file->stream))
		return etl_damage(file, file->offset + got, "%s", strerror(errno));
	if (!got) {
		if (file->ended && file->buffers != file->buffers_written)
			return etl_damage(file, file->offset,
					  "the file ends after %llu of %u buffers",
					  (unsigned long long)file->buffers,
					  file->buffers_written);
		return 0;
	}
	if (got < file->buffer_size)
		return etl_damage(file, file->offset + got,
				  "the file ends inside a buffer of 0x%zx bytes",
				  file->buffer_size);
	file->buffers++;
	file->next = sizeof(struct wmi_buffer_header);
	return check_buffer(file, buffer_header(file)) ? -1 : 1;
}

/* The event at @next of the buffer, which has one there. */
static int parse_event(struct etl_file *file, struct etl_event *event)
{
	size_t saved_offset = buffer_header(file)->saved_offset;
	size_t room = saved_offset - file->next;
	const unsigned char *at = file->buffer + file->next;
	const struct header_kind *kind = NULL;
	size_t extension = 0;
	size_t i;

	*event = (struct etl_event) { .offset = file->offset + file->next };
	if (room < 8)
		return etl_damage(file, event->offset,
				  "%zu bytes before SavedOffset are no event", room);
	for (i = 0; i < ARRAY_SIZE(header_kinds); i++)
		if (header_kinds[i].type == at[2])
			kind = &header_kinds[i];
	if (!kind || (at[3] & 0x80) != 0x80)
		return etl_damage(file, event->offset,
				  "no event: marker 0x%02x%02x%02x%02x",
				  at[3], at[2], at[1], at[0]);

	event->header_type = kind->type;
	event->size = get_u16(at + kind->size_offset);
	if (event->size < kind->header_size || event->size > room)
		return etl_damage(file, event->offset,
				  "event of 0x%zx bytes where 0x%x to 0x%zx fit",
				  event->size, kind->header_size, room);
	event->processor = buffer_header(file)->processor_index;
	event->pointer_size = kind->pointer_size;
	event->time_stamp = kind->clock_offset ? get_u64(at + kind->clock_offset) : 0;
	event->has_hook_id = kind->has_hook_id;
	if (kind->has_hook_id) {
		event->hook_id = get_u16(at + 6);
		event->version = get_u16(at);
	}
	if (kind->header_size == sizeof(struct perfinfo_trace_header)) {
		event->version = at[0];
		/* Counters, then the index: 8 bytes each. */
		extension = 8 * ((at[1] & PERFINFO_EXT_PMC_COUNT) +
				 !!(at[1] & PERFINFO_EXT_PEBS_INDEX));
		if (event->size < kind->header_size + extension)
			return etl_damage(file, event->offset,
					  "event of 0x%zx bytes with 0x%zx bytes of extensions",
					  event->size, extension);
	}
	event->data = at + kind->header_size + extension;
	event->data_size = event->size - kind->header_size - extension;
	/* The padding of the last event may be missing. */
	file->next += event->size + -event->size % TRACE_EVENT_ALIGNMENT;
	if (file->next > saved_offset)
		file->next = saved_offset;
	return 1;
}

/**
 * etl_next_event() - the next event of the file
 * @file: the file
 * @event: the event; its data is there until the next call
 *
 * Return: 1, 0 at the end of the file, -1 with a message in @file->error.
 */
int etl_next_event(struct etl_file *file, struct etl_event *event)
{
	while (file->next >= buffer_header(file)->saved_offset) {
		int got = read_buffer(file);

		if (got <= 0)
			return got;
	}
	return parse_event(file, event);
}

/*
 * Microsoft's symbol files have 4 bytes of padding before BootTime in the 32-bit
 * header too; descriptions of it, and who follows them, leave them out. The word
 * where the latter have ReservedFlags is the high half of StartTime otherwise,
 * and that is beyond a clock type since the year 1601.
 */
static uint64_t perf_freq32(const unsigned char *data)
{
	size_t flags = offsetof(struct trace_logfile_header32, reserved_flags) - 4;
	size_t perf_freq = offsetof(struct trace_logfile_header32, perf_freq);
	uint32_t word;

	memcpy(&word, data + flags, sizeof(word));
	return get_u64(data + perf_freq - (word <= ETW_CLOCK_CPU_CYCLE ? 4 : 0));
}

static int read_logfile_header(struct etl_file *file, const struct etl_event *event)
{
	bool is64 = event->pointer_size == 8;
	struct trace_logfile_header64 header;
	/* All that both begin with, up to the pointers. */
	size_t common = offsetof(struct trace_logfile_header64, logger_name);

	if (event->data_size < (is64 ? sizeof(header) :
				       sizeof(struct trace_logfile_header32)))
		return etl_damage(file, event->offset,
				  "TRACE_LOGFILE_HEADER of 0x%zx bytes",
				  event->data_size);
	memcpy(&header, event->data, common);
	file->pointer_size = event->pointer_size;
	file->start_clock = event->time_stamp;
	file->buffers_written = header.buffers_written;
	file->ended = header.end_time;
	file->perf_freq = is64 ?
		get_u64(event->data + offsetof(struct trace_logfile_header64,
					       perf_freq)) :
		perf_freq32(event->data);
	if (header.pointer_size != file->pointer_size)
		return etl_damage(file, event->offset,
				  "PointerSize %u in a header of %u bits",
				  header.pointer_size, file->pointer_size * 8);
	if (!file->perf_freq || file->perf_freq > INT64_MAX)
		return etl_damage(file, event->offset, "PerfFreq is %lld",
				  (long long)file->perf_freq);
	return 0;
}

static int read_header(struct etl_file *file)
{
	struct wmi_buffer_header header;
	struct etl_event event;
	size_t got;

	got = fread(&header, 1, sizeof(header), file->stream);
	if (ferror(file->stream))
		return etl_damage(file, got, "%s", strerror(errno));
	if (got < sizeof(header))
		return etl_damage(file, got, "the file ends before its first buffer");
	if (header.buffer_size < BUFFER_SIZE_MIN ||
	    header.buffer_size > BUFFER_SIZE_MAX || header.buffer_size % 8)
		return etl_damage(file, 0, "no ETL file: buffer size 0x%x",
				  header.buffer_size);
	if (header.buffer_type != ETW_BUFFER_TYPE_HEADER)
		return etl_damage(file, offsetof(struct wmi_buffer_header, buffer_type),
				  "no ETL file: the first buffer's type is %u",
				  header.buffer_type);

	file->buffer_size = header.buffer_size;
	file->buffer = malloc(file->buffer_size);
	if (!file->buffer)
		return etl_damage(file, 0, "%s", strerror(ENOMEM));
	rewind(file->stream);
	if (read_buffer(file) != 1)
		return -1;
	if (etl_next_event(file, &event) != 1)
		return file->error[0] ? -1 : etl_damage(file, sizeof(header),
							"no TRACE_LOGFILE_HEADER");
	if (event.hook_id != EVENT_TRACE_TYPE_LOGFILE_HEADER ||
	    (event.header_type != TRACE_HEADER_TYPE_SYSTEM32 &&
	     event.header_type != TRACE_HEADER_TYPE_SYSTEM64))
		return etl_damage(file, event.offset,
				  "the first event is no TRACE_LOGFILE_HEADER");
	if (read_logfile_header(file, &event))
		return -1;
	/* All events are given to the caller, the first one too. */
	file->next = sizeof(header);
	return 0;
}

/**
 * etl_open() - open an ETL file and read its first buffer
 * @file: what is opened
 * @path: of the file
 *
 * Return: 0, or -1 with a message in @file->error; etl_close() in both cases.
 */
int etl_open(struct etl_file *file, const char *path)
{
	*file = (struct etl_file) { .path = path };
	file->stream = fopen(path, "rb");
	if (!file->stream) {
		snprintf(file->error, sizeof(file->error), "%s", strerror(errno));
		return -1;
	}
	return read_header(file);
}

/**
 * etl_close() - let a file go
 * @file: what etl_open() was called for
 */
void etl_close(struct etl_file *file)
{
	if (file->stream)
		fclose(file->stream);
	free(file->buffer);
}
