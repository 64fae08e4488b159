// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading ETL files: buffer after buffer in the order of the file, event after event.
 * One buffer is in memory at a time. What does not fit is left out, up to the end of its
 * buffer, whose size all have: reading goes on with the next one. It is counted, and the
 * first in the file is told with its offset.
 */

#define _GNU_SOURCE

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM	1

#include <uthash.h>

#include "etl.h"
#include "grow.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ETL is little-endian");

/* Windows writes 0x400 to 0x100000; some room for what is to come. */
#define BUFFER_SIZE_MIN	0x400
#define BUFFER_SIZE_MAX	0x1000000

/* NT has at most 2048 processors. */
#define PROCESSORS_MAX	4096

/* Of NT's LogFileMode, what the wire headers have no use for. */
#define EVENT_TRACE_FILE_MODE_CIRCULAR		0x00000002
#define EVENT_TRACE_FILE_MODE_PREALLOCATE	0x00000020
#define EVENT_TRACE_COMPRESSED_MODE		0x04000000

/* Of NT's EnableFlags, the first word of the group mask: processes, threads, images. */
#define EVENT_TRACE_FLAGS_OF_NAMES		0x00000007

/* NT's WMI_BUFFER_FLAG_COMPRESSED, and a buffer type whose contents are no events. */
#define ETW_BUFFER_FLAG_COMPRESSED	0x0040
#define ETW_BUFFER_TYPE_CTX_SWAP	2

/*
 * NT's trace headers. All have their type at offset 2 and TRACE_HEADER_FLAGS at
 * offset 3, so that a reader can step over those that it does not know.
 */
static const struct header_kind {
	uint8_t header_size;
	uint8_t size_offset;	/* of a u16: bytes of the event */
	uint8_t clock_offset;	/* of a u64: the time stamp */
	uint8_t pointer_size;
	bool has_hook_id;	/* a u16 after the size, and then a version at 0 */
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
 * A message of WPP has 0 where the others have their type. What follows its header, a
 * time among it, is as the message's flags say.
 */
static const struct header_kind message_kind = { 0x08, 0, 0, 8, false };
#define MESSAGE_MARKER	0x90

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
 * Of two the one before the other in the file is kept.
 *
 * Return: -1.
 */
int etl_damage(struct etl_file *file, uint64_t offset, const char *format, ...)
{
	va_list arguments;
	int used;

	if (file->error[0] && file->damage_at <= offset)
		return -1;
	file->damage_at = offset;
	used = snprintf(file->error, sizeof(file->error), "offset 0x%llx: ",
			(unsigned long long)offset);
	va_start(arguments, format);
	vsnprintf(file->error + used, sizeof(file->error) - used, format,
		  arguments);
	va_end(arguments);
	return -1;
}

static void leave_out_buffer(struct etl_file *file, size_t bytes)
{
	file->damaged_buffers++;
	file->left_out += bytes;
}

/**
 * etl_leave_out_event() - an event is damaged, though those behind it may not be
 * @file: that it is of; has been told with etl_damage()
 * @event: the event
 *
 * Return: -1.
 */
int etl_leave_out_event(struct etl_file *file, const struct etl_event *event)
{
	file->damaged_events++;
	file->left_out += event->size;
	return -1;
}

/*
 * The format is NT's COMPRESSION_FORMAT_*, which the first buffer has for its state.
 * ntklog-etl(5) says why none of them is read.
 */
static int refuse_compressed(struct etl_file *file, uint64_t offset, uint32_t format)
{
	static const char *const formats[] = {
		[2] = " (LZNT1)", [3] = " (Xpress)", [4] = " (Xpress Huffman)"
	};
	const char *name = NULL;

	format &= 0xFFFF;
	if (format < ARRAY_SIZE(formats))
		name = formats[format];
	return etl_damage(file, offset,
			  "the buffers are compressed%s: record without EVENT_TRACE_COMPRESSED_MODE, or have Windows write the file uncompressed",
			  name ? name : "");
}

/**
 * etl_processor() - whose events are these?
 * @header: of a buffer
 *
 * Before Windows 8 the number had a byte, and the next one said how events are aligned.
 *
 * Return: the processor's number.
 */
unsigned int etl_processor(const struct wmi_buffer_header *header)
{
	if (header->buffer_flag & ETW_BUFFER_FLAG_PROCESSOR_INDEX)
		return header->processor_index;
	return header->processor_index & 0xFF;
}

static int check_buffer(struct etl_file *file, uint64_t offset,
			const struct wmi_buffer_header *header)
{
	if (header->buffer_flag & ETW_BUFFER_FLAG_COMPRESSED)
		return refuse_compressed(file, offset, 0);
	if (header->buffer_size != file->buffer_size)
		return etl_damage(file, offset,
				  "buffer of 0x%x bytes in a file of 0x%zx byte buffers",
				  header->buffer_size, file->buffer_size);
	if (header->saved_offset < sizeof(*header) ||
	    header->saved_offset > file->buffer_size)
		return etl_damage(file, offset + offsetof(struct wmi_buffer_header,
							  saved_offset),
				  "SavedOffset 0x%x is not in the buffer of 0x%zx bytes",
				  header->saved_offset, file->buffer_size);
	if (etl_processor(header) >= PROCESSORS_MAX)
		return etl_damage(file, offset + offsetof(struct wmi_buffer_header,
							  processor_index),
				  "processor %u", etl_processor(header));
	return 0;
}

/* -1: error; else the bytes that there are, up to @count. */
static ssize_t read_at(struct etl_file *file, void *to, size_t count, uint64_t offset)
{
	size_t got = 0;

	if (file->input) {
		ssize_t n = etl_input_read(file->input, to, count, offset);

		return n < 0 ? etl_damage(file, offset, "%s", strerror(errno)) : n;
	}
	while (got < count) {
		ssize_t n = pread(file->fd, (char *)to + got, count - got, offset + got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return etl_damage(file, offset + got, "%s", strerror(errno));
		if (!n)
			break;
		got += n;
	}
	return got;
}

/**
 * etl_is_circular() - may the first buffers have been overwritten?
 * @file: the file
 *
 * Return: whether they may: then they are not in order.
 */
bool etl_is_circular(const struct etl_file *file)
{
	return file->log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR;
}

/**
 * etl_is_flight() - does the session keep its last buffers alone?
 * @file: the file
 *
 * Return: whether it does: what is older has been overwritten.
 */
bool etl_is_flight(const struct etl_file *file)
{
	return etl_is_circular(file) || file->log_file_mode & EVENT_TRACE_BUFFERING_MODE;
}

/**
 * etl_is_compressed() - are the buffers behind the first one compressed?
 * @file: that could not be opened; then the events of its first buffer can be had for all that
 *
 * Return: whether they are.
 */
bool etl_is_compressed(const struct etl_file *file)
{
	return file->log_file_mode & EVENT_TRACE_COMPRESSED_MODE;
}

/* What a file that ends before buffer @number means. */
static void end_of_file(struct etl_file *file, uint64_t number)
{
	if (file->end_time && number < file->buffers_written && !etl_is_circular(file))
		etl_damage(file, number * file->buffer_size,
			   "the file ends after %llu of %u buffers",
			   (unsigned long long)number, file->buffers_written);
}

/* Whether what follows has been allocated, but never written. */
static bool past_written(const struct etl_file *file, uint64_t number)
{
	return file->end_time &&
	       (file->log_file_mode & EVENT_TRACE_FILE_MODE_PREALLOCATE) &&
	       !etl_is_circular(file) &&
	       number >= file->buffers_written;
}

/*
 * What a buffer that is not whole means: all has been read. Of a session that has not ended it
 * is being written, or was when its recorder was killed.
 */
static void got_less(struct etl_file *file, uint64_t number, ssize_t got)
{
	if (!got)
		end_of_file(file, number);
	else if (got > 0 && number && !file->end_time)
		file->unfinished = got;
	else if (got > 0)
		etl_damage(file, number * file->buffer_size + got,
			   "the file ends inside a buffer of 0x%zx bytes", file->buffer_size);
}

/*
 * Times that cannot be are of damaged events. The clock and the system's time go apart,
 * in 8 hours by seconds; so what is far from the session alone is wrong.
 */
#define CLOCK_SLACK_S	60

static uint64_t clock_slack(const struct etl_file *file)
{
	return file->perf_freq > UINT64_MAX / 8 / CLOCK_SLACK_S ? UINT64_MAX / 8 :
		file->perf_freq * CLOCK_SLACK_S;
}

/**
 * etl_use_buffer() - begin with a buffer that is in memory
 * @file: that it is of
 * @cursor: whose memory holds it; is put at its first event
 * @number: of the buffer in the file
 *
 * Return: 0, or -1 with a message in @file->error.
 */
int etl_use_buffer(struct etl_file *file, struct etl_cursor *cursor, uint64_t number)
{
	const struct wmi_buffer_header *header =
		(const struct wmi_buffer_header *)cursor->buffer;

	if (check_buffer(file, number * file->buffer_size, header))
		return -1;
	cursor->number = number;
	cursor->next = sizeof(*header);
	cursor->end = header->saved_offset;
	cursor->processor = etl_processor(header);
	cursor->latest = file->latest;
	/* Of a session that has not ended: nothing is younger than its buffer. */
	if (cursor->latest == UINT64_MAX && header->time_stamp > 0 &&
	    (uint64_t)header->time_stamp >= file->start_clock)
		cursor->latest = header->time_stamp + clock_slack(file);
	if (header->buffer_flag & (ETW_BUFFER_FLAG_EVENTS_LOST | ETW_BUFFER_FLAG_BUFFER_LOST))
		file->lossy_buffers++;
	if (header->buffer_type == ETW_BUFFER_TYPE_CTX_SWAP) {
		cursor->next = cursor->end;
		file->other_buffers++;
	}
	return 0;
}

/**
 * etl_read_buffer() - read a buffer
 * @file: the file
 * @cursor: is put at the buffer's first event; its memory is made if there is none
 * @number: of the buffer
 *
 * Of a damaged one nothing is given. What is wrong is in @file->error.
 *
 * Return: 1, or 0 at the end of what can be read.
 */
int etl_read_buffer(struct etl_file *file, struct etl_cursor *cursor, uint64_t number)
{
	uint64_t offset = number * file->buffer_size;
	ssize_t got;

	if (past_written(file, number))
		return 0;
	if (!cursor->buffer)
		cursor->buffer = malloc(file->buffer_size);
	if (!cursor->buffer) {
		etl_damage(file, offset, "%s", strerror(ENOMEM));
		return 0;
	}
	got = read_at(file, cursor->buffer, file->buffer_size, offset);
	if (got < (ssize_t)file->buffer_size) {
		got_less(file, number, got);
		return 0;
	}
	if (etl_use_buffer(file, cursor, number)) {
		leave_out_buffer(file, file->buffer_size);
		cursor->next = 0;
		cursor->end = 0;
	}
	return 1;
}

/**
 * etl_take_buffer() - read a buffer that nobody will ask for again
 * @file: the file
 * @cursor: as for etl_read_buffer()
 * @number: likewise
 *
 * Return: likewise.
 */
int etl_take_buffer(struct etl_file *file, struct etl_cursor *cursor, uint64_t number)
{
	int got = etl_read_buffer(file, cursor, number);

	if (file->input)
		etl_input_drop(file->input, number);
	return got;
}

/* NULL: no event begins so. */
static const struct header_kind *find_kind(const unsigned char *at, uint8_t *type)
{
	if (at[2] == 0 && at[3] == MESSAGE_MARKER) {
		*type = TRACE_HEADER_TYPE_MESSAGE;
		return &message_kind;
	}
	*type = at[2];
	if (at[2] >= ARRAY_SIZE(header_kinds) || !header_kinds[at[2]].header_size ||
	    !(at[3] & 0x80))
		return NULL;
	return &header_kinds[at[2]];
}

/* Its time, or that of the event before. */
static void read_time(struct etl_file *file, struct etl_cursor *cursor,
		      const struct header_kind *kind, const unsigned char *at,
		      struct etl_event *event)
{
	event->has_time = kind->clock_offset;
	event->raw_time = event->has_time ? get_u64(at + kind->clock_offset) : 0;
	event->wrong_time = event->has_time && (event->raw_time < file->earliest ||
						event->raw_time > cursor->latest);
	if (event->wrong_time) {
		if (!file->wrong_times++ || event->offset < file->wrong_time_at)
			file->wrong_time_at = event->offset;
	} else if (event->has_time) {
		cursor->time_stamp = event->raw_time;
	}
	event->time_stamp = cursor->time_stamp ? cursor->time_stamp : file->start_clock;
}

static int parse_event(struct etl_file *file, struct etl_cursor *cursor,
		       struct etl_event *event)
{
	size_t room = cursor->end - cursor->next;
	const unsigned char *at = cursor->buffer + cursor->next;
	const struct header_kind *kind;
	size_t extension = 0;

	event->offset = cursor->number * file->buffer_size + cursor->next;
	if (room < 8)
		return etl_damage(file, event->offset,
				  "%zu bytes before SavedOffset are no event", room);
	kind = find_kind(at, &event->header_type);
	if (!kind)
		return etl_damage(file, event->offset,
				  "no event: marker 0x%02x%02x%02x%02x",
				  at[3], at[2], at[1], at[0]);

	event->size = get_u16(at + kind->size_offset);
	if (event->size < kind->header_size || event->size > room)
		return etl_damage(file, event->offset,
				  "event of 0x%zx bytes where 0x%x to 0x%zx fit",
				  event->size, kind->header_size, room);
	event->processor = cursor->processor;
	event->header = at;
	event->pointer_size = kind->pointer_size;
	read_time(file, cursor, kind, at, event);
	event->has_hook_id = kind->has_hook_id;
	event->hook_id = kind->has_hook_id ? get_u16(at + 6) : 0;
	event->version = kind->has_hook_id ? get_u16(at) : 0;
	event->counters = 0;
	event->has_pebs_index = false;
	event->extension = at + kind->header_size;
	if (kind->header_size == sizeof(struct perfinfo_trace_header)) {
		event->version = at[0];
		event->counters = at[1] & PERFINFO_EXT_PMC_COUNT;
		event->has_pebs_index = at[1] & PERFINFO_EXT_PEBS_INDEX;
		extension = 8 * (event->counters + event->has_pebs_index);
		if (event->size < kind->header_size + extension)
			return etl_damage(file, event->offset,
					  "event of 0x%zx bytes with 0x%zx bytes of extensions",
					  event->size, extension);
	}
	event->data = at + kind->header_size + extension;
	event->data_size = event->size - kind->header_size - extension;
	/* The padding of the last event may be missing. */
	cursor->next += event->size + -event->size % TRACE_EVENT_ALIGNMENT;
	if (cursor->next > cursor->end)
		cursor->next = cursor->end;
	return 1;
}

/**
 * etl_parse_event() - the next event of a buffer
 * @file: the file
 * @cursor: in a buffer that has one more; goes behind it
 * @event: the event; its data is in the buffer
 *
 * Return: 1, or -1 with a message in @file->error: then the buffer's rest is left out.
 */
int etl_parse_event(struct etl_file *file, struct etl_cursor *cursor,
		    struct etl_event *event)
{
	if (parse_event(file, cursor, event) == 1)
		return 1;
	leave_out_buffer(file, cursor->end - cursor->next);
	cursor->next = cursor->end;
	return -1;
}

/**
 * etl_next_event() - the next event of the file, in the order of the file
 * @file: the file
 * @event: the event; its data is there until the next call
 *
 * What is damaged is left out: see @file->error.
 *
 * Return: 1, or 0 at the end of the file.
 */
int etl_next_event(struct etl_file *file, struct etl_event *event)
{
	for (;;) {
		while (file->cursor.next >= file->cursor.end)
			if ((file->next_place >= file->place_count && !etl_more(file)) ||
			    !etl_take_buffer(file, &file->cursor,
					     file->places[file->next_place++].number))
				return 0;
		if (etl_parse_event(file, &file->cursor, event) == 1)
			return 1;
	}
}

/**
 * etl_seconds() - when was it?
 * @file: the file
 * @time_stamp: session clock
 *
 * Return: seconds since the session's start.
 */
double etl_seconds(const struct etl_file *file, uint64_t time_stamp)
{
	/* Nothing that a session writes is older than its start. */
	return (double)(int64_t)(time_stamp - file->start_clock) / (double)file->perf_freq;
}

/**
 * etl_unix_time() - when was it, by the wall?
 * @file: the file
 * @time_stamp: session clock
 *
 * Return: 100 ns since 1970, or 0: the file does not say.
 */
uint64_t etl_unix_time(const struct etl_file *file, uint64_t time_stamp)
{
	double since = etl_seconds(file, time_stamp);

	if (file->start_time < FILETIME_UNIX_EPOCH || file->start_time > INT64_MAX)
		return 0;
	return file->start_time - FILETIME_UNIX_EPOCH +
	       (since > 0 && since < 1e9 ? (uint64_t)(since * 1e7) : 0);
}

/**
 * etl_cycles_ns() - how long was it?
 * @file: the file
 * @cycles: of a lock's times
 *
 * Return: nanoseconds.
 */
double etl_cycles_ns(const struct etl_file *file, double cycles)
{
	return cycles * 1e9 / (double)file->cycle_freq;
}

/*
 * Microsoft's symbol files have 4 bytes of padding before BootTime in the 32-bit
 * header too; descriptions of it, and who follows them, leave them out. The word
 * where the latter have ReservedFlags is the high half of StartTime otherwise,
 * and that is beyond a clock type since the year 1601. How much is left out?
 */
static size_t missing_padding(const unsigned char *data)
{
	size_t flags = offsetof(struct trace_logfile_header32, reserved_flags) - 4;
	uint32_t word;

	memcpy(&word, data + flags, sizeof(word));
	return word <= ETW_CLOCK_CPU_CYCLE ? 4 : 0;
}

static void find_limits(struct etl_file *file)
{
	double ticks;

	file->earliest = file->start_clock > clock_slack(file) ?
		file->start_clock - clock_slack(file) : 0;
	file->latest = UINT64_MAX;
	if (file->end_time <= file->start_time)
		return;
	/* In units of 100 ns, and one percent more. */
	ticks = (double)(file->end_time - file->start_time) / 1e7 * 1.01 *
		(double)file->perf_freq + (double)clock_slack(file) + (double)file->start_clock;
	if (ticks < (double)INT64_MAX)
		file->latest = (uint64_t)ticks;
}

/**
 * etl_logfile_header() - read what the first event says
 * @event: it, as large as the header is
 * @header: of either pointer size, as the wider one
 * @names: what is behind it
 */
void etl_logfile_header(const struct etl_event *event, struct trace_logfile_header64 *header,
			const unsigned char **names)
{
	bool is64 = event->pointer_size == 8;
	/* All that both begin with, up to the pointers, and all that both end with. */
	size_t common = offsetof(struct trace_logfile_header64, logger_name);
	size_t zone = offsetof(struct trace_logfile_header64, time_zone);
	size_t zone32 = offsetof(struct trace_logfile_header32, time_zone);
	size_t clocks = offsetof(struct trace_logfile_header64, boot_time);
	size_t clocks32 = offsetof(struct trace_logfile_header32, boot_time);

	if (!is64)
		clocks32 -= missing_padding(event->data);
	*header = (struct trace_logfile_header64) { 0 };
	memcpy(header, event->data, common);
	memcpy(&header->time_zone, event->data + (is64 ? zone : zone32),
	       sizeof(header->time_zone));
	memcpy((char *)header + clocks, event->data + (is64 ? clocks : clocks32),
	       sizeof(*header) - clocks);
	*names = event->data + (is64 ? clocks : clocks32) + sizeof(*header) - clocks;
}

static int read_logfile_header(struct etl_file *file, const struct etl_event *event)
{
	bool is64 = event->pointer_size == 8;
	const struct wmi_buffer_header *buffer;
	struct trace_logfile_header64 header;
	const unsigned char *names;

	if (event->data_size < (is64 ? sizeof(header) :
				       sizeof(struct trace_logfile_header32)))
		return etl_damage(file, event->offset,
				  "TRACE_LOGFILE_HEADER of 0x%zx bytes",
				  event->data_size);
	etl_logfile_header(event, &header, &names);
	file->pointer_size = event->pointer_size;
	file->start_clock = event->time_stamp;
	file->processors = header.number_of_processors;
	file->buffers_written = header.buffers_written;
	file->events_lost = header.events_lost;
	file->buffers_lost = header.buffers_lost;
	file->log_file_mode = header.log_file_mode;
	/* So it tells what has been overwritten; nothing of that is lost. */
	if (file->log_file_mode & EVENT_TRACE_BUFFERING_MODE) {
		file->overwritten = file->buffers_lost;
		file->buffers_lost = 0;
	}
	file->start_time = header.start_time;
	file->end_time = header.end_time;
	file->tick_ns = UINT64_C(100) * header.timer_resolution;
	file->perf_freq = header.perf_freq;
	buffer = (const struct wmi_buffer_header *)file->cursor.buffer;
	if (file->log_file_mode & EVENT_TRACE_COMPRESSED_MODE)
		return refuse_compressed(file, event->offset, buffer->state);
	if (header.pointer_size != file->pointer_size)
		return etl_damage(file, event->offset,
				  "PointerSize %u in a header of %u bits",
				  header.pointer_size, file->pointer_size * 8);
	/* PerfFreq is the performance counter's even where that is not the clock. */
	if (header.reserved_flags == ETW_CLOCK_SYSTEM_TIME)
		file->perf_freq = 10000000;
	if (!file->perf_freq || file->perf_freq > INT64_MAX)
		return etl_damage(file, event->offset, "PerfFreq %lld",
				  (long long)file->perf_freq);
	/* Locks are timed in cycles whatever the session's clock is. */
	file->cycle_freq = UINT64_C(1000000) * header.cpu_speed_in_mhz;
	if (header.reserved_flags == ETW_CLOCK_CPU_CYCLE || !file->cycle_freq)
		file->cycle_freq = file->perf_freq;
	find_limits(file);
	return 0;
}

/* Is this the header of a first buffer? Its size is that of all. */
static int check_first_header(struct etl_file *file, const struct wmi_buffer_header *header)
{
	if (header->buffer_size < BUFFER_SIZE_MIN ||
	    header->buffer_size > BUFFER_SIZE_MAX || header->buffer_size % 8)
		return etl_damage(file, 0, "no ETL file: a buffer size of 0x%x",
				  header->buffer_size);
	if (header->buffer_type != ETW_BUFFER_TYPE_HEADER)
		return etl_damage(file, offsetof(struct wmi_buffer_header, buffer_type),
				  "no ETL file: the first buffer is of type %u",
				  header->buffer_type);
	file->buffer_size = header->buffer_size;
	return 0;
}

/* What the first buffer, at which the cursor is, says of the file. */
static int read_first_event(struct etl_file *file)
{
	struct etl_event event;

	if (file->cursor.next == file->cursor.end)
		return etl_damage(file, file->cursor.next, "no TRACE_LOGFILE_HEADER");
	if (etl_parse_event(file, &file->cursor, &event) != 1)
		return -1;
	if (event.hook_id != EVENT_TRACE_TYPE_LOGFILE_HEADER ||
	    (event.header_type != TRACE_HEADER_TYPE_SYSTEM32 &&
	     event.header_type != TRACE_HEADER_TYPE_SYSTEM64))
		return etl_damage(file, event.offset, "no TRACE_LOGFILE_HEADER");
	/* All events are given to the caller, the first one too. */
	file->cursor.next = sizeof(struct wmi_buffer_header);
	return read_logfile_header(file, &event);
}

static int add_place(struct etl_file *file, const struct wmi_buffer_header *header,
		     uint64_t number)
{
	struct etl_place *more = grown(file->places, file->place_count, sizeof(*more));

	if (!more)
		return etl_damage(file, 0, "%s", strerror(ENOMEM));
	file->places = more;
	file->places[file->place_count++] = (struct etl_place) {
		.number = number,
		.sequence_number = header->sequence_number,
		.processor = etl_processor(header),
	};
	return 0;
}

/* Those of one sequence number together, in the order of the file. */
static int compare_places(const void *a, const void *b)
{
	const struct etl_place *left = a, *right = b;

	if (left->sequence_number != right->sequence_number)
		return left->sequence_number < right->sequence_number ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct etl_place *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/*
 * @key: sequence number of a buffer, and a digest of all of it
 * @hh: in the table
 */
struct etl_known {
	struct {
		int64_t sequence_number;
		uint64_t digest;
	} key;
	UT_hash_handle hh;
};

static uint64_t digest(const unsigned char *data, size_t size)
{
	uint64_t sum = 0, word;
	size_t i;

	/* Whole words: all buffers are of those. */
	for (i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* Has this buffer come before? 1: it has, 0: it has not, -1: there is no memory. */
static int came_before(struct etl_file *file, int64_t sequence_number,
		       const unsigned char *data)
{
	struct etl_known *known, new = {
		.key = { sequence_number, digest(data, file->buffer_size) }
	};

	HASH_FIND(hh, file->known, &new.key, sizeof(new.key), known);
	if (known)
		return 1;
	known = malloc(sizeof(*known));
	if (!known)
		return etl_damage(file, 0, "%s", strerror(ENOMEM));
	*known = new;
	HASH_ADD(hh, file->known, key, sizeof(known->key), known);
	if (known->hh.tbl)
		return 0;
	free(known);
	return etl_damage(file, 0, "%s", strerror(ENOMEM));
}

static void free_known(struct etl_file *file)
{
	struct etl_known *known, *next;

	HASH_ITER(hh, file->known, known, next) {
		HASH_DEL(file->known, known);
		free(known);
	}
}

/*
 * Buffers that are there again are taken off the index, which is in the order of sequence
 * numbers: those alone that have the same are read.
 */
static void drop_twice(struct etl_file *file)
{
	unsigned char *data = malloc(file->buffer_size);
	struct etl_place *places = file->places;
	size_t size = file->buffer_size, kept = 1, i;

	for (i = 1; data && i < file->place_count; i++) {
		int64_t number = places[i].sequence_number;

		if (((kept > 1 && places[kept - 1].sequence_number == number) ||
		     (i + 1 < file->place_count && places[i + 1].sequence_number == number)) &&
		    read_at(file, data, size, places[i].number * size) == (ssize_t)size &&
		    came_before(file, number, data) == 1)
			file->twice++;
		else
			places[kept++] = places[i];
	}
	if (data)
		file->place_count = kept;
	free(data);
}

/* A session that overwrites its buffers has gaps; what has no end may lack some yet. */
static bool is_without_gaps(const struct etl_file *file)
{
	return file->end_time && !etl_is_flight(file);
}

/* What is between one sequence number and the next. */
static void add_gap(struct etl_file *file, int64_t before, int64_t after)
{
	uint64_t gap = after - before - 1;

	if (gap && !file->missing)
		file->first_missing = before + 1;
	/* A number with a wrong bit: all between would be missing. */
	if (gap > file->place_count)
		gap = 1;
	file->missing += gap;
}

/* Those that are there, but whose numbers are not known, have been told. */
static void forget_damaged(struct etl_file *file)
{
	file->missing -= file->missing < file->unknown_buffers ? file->missing :
								 file->unknown_buffers;
}

/*
 * The index is in the order of sequence numbers. Two that have one, but not the same
 * contents, are of two sessions, whose files were joined: nothing can be said then.
 */
static void find_missing(struct etl_file *file)
{
	const struct etl_place *places = file->places;
	size_t i;

	for (i = 2; i < file->place_count; i++)
		if (places[i].sequence_number == places[i - 1].sequence_number)
			return;
	for (i = 2; i < file->place_count; i++)
		add_gap(file, places[i - 1].sequence_number, places[i].sequence_number);
	forget_damaged(file);
}

static void sort_places(struct etl_file *file, int (*compare)(const void *a, const void *b))
{
	qsort(file->places + 1, file->place_count - 1, sizeof(*file->places), compare);
}

/* Bytes; UINT64_MAX: not known. */
static uint64_t size_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) || !S_ISREG(status.st_mode) ? UINT64_MAX :
								(uint64_t)status.st_size;
}

/* -1: error; else the bytes of the buffer that there are in a file of @size. */
static ssize_t read_header(struct etl_file *file, struct wmi_buffer_header *header,
			   uint64_t number, uint64_t size)
{
	uint64_t offset = number * file->buffer_size;
	ssize_t got = read_at(file, header, sizeof(*header), offset);

	if (got < (ssize_t)sizeof(*header))
		return got;
	/* What has come since is looked at when it is read. */
	return offset < size && size - offset < file->buffer_size ? size - offset :
								    file->buffer_size;
}

/* Which buffers are there, and whose are they? */
static int make_index(struct etl_file *file)
{
	uint64_t size = size_of(file->fd);
	struct wmi_buffer_header header;
	bool sorted = true;
	uint64_t number;
	ssize_t got;

	for (number = 0; !past_written(file, number); number++) {
		got = read_header(file, &header, number, size);
		if (got < (ssize_t)file->buffer_size) {
			got_less(file, number, got);
			break;
		}
		if (check_buffer(file, number * file->buffer_size, &header)) {
			file->unknown_buffers++;
			leave_out_buffer(file, file->buffer_size);
			continue;
		}
		if (file->place_count > 1 && header.sequence_number <=
		    file->places[file->place_count - 1].sequence_number)
			sorted = false;
		if (add_place(file, &header, number))
			return -1;
	}
	if (!sorted) {
		sort_places(file, compare_places);
		drop_twice(file);
	}
	if (is_without_gaps(file))
		find_missing(file);
	if (etl_is_flight(file) && !file->overwritten && file->place_count > 1) {
		int64_t last = file->places[file->place_count - 1].sequence_number;

		/* Numbers begin with 1. */
		if (last >= (int64_t)file->place_count)
			file->overwritten = last - (file->place_count - 1);
	}
	if (!sorted)
		sort_places(file, compare_numbers);
	/* The first one has been read. */
	file->next_place = 1;
	return 0;
}

/* Of the first event of a buffer; 0: not known. */
static uint64_t first_time(const struct etl_file *file, const unsigned char *data)
{
	const unsigned char *at = data + sizeof(struct wmi_buffer_header);
	const struct header_kind *kind;
	uint64_t time;
	uint8_t type;

	if (((const struct wmi_buffer_header *)data)->saved_offset <
	    sizeof(struct wmi_buffer_header) + 0x18)
		return 0;
	kind = find_kind(at, &type);
	time = kind && kind->clock_offset ? get_u64(at + kind->clock_offset) : 0;
	return time >= file->earliest && time <= file->latest ? time : 0;
}

/* A buffer that has come through the stream; false: it is not wanted. */
static bool add_stream_place(struct etl_file *file, uint64_t number, const unsigned char *data)
{
	const struct wmi_buffer_header *header = (const struct wmi_buffer_header *)data;
	int before;

	if (check_buffer(file, number * file->buffer_size, header)) {
		file->unknown_buffers++;
		leave_out_buffer(file, file->buffer_size);
		return false;
	}
	before = came_before(file, header->sequence_number, data);
	file->twice += before == 1;
	if (before || add_place(file, header, number))
		return false;
	file->places[file->place_count - 1].first_time = first_time(file, data);
	return true;
}

/* The stream has ended: was all there? */
static void end_stream(struct etl_file *file, ssize_t rest)
{
	file->has_ended = true;
	if (rest < 0)
		etl_damage(file, file->next_number * file->buffer_size, "%s%s",
			   file->input->is_of_file ? "TMPDIR: " : "", strerror(errno));
	else
		got_less(file, file->next_number, rest);
	if (!is_without_gaps(file))
		return;
	/* The places that have been taken stay where they are. */
	sort_places(file, compare_places);
	find_missing(file);
	sort_places(file, compare_numbers);
}

/**
 * etl_more() - look for one more buffer
 * @file: the file, all of whose places have been taken
 *
 * Of a stream the next buffer that can be read is waited for; all of a file's are known.
 *
 * Return: whether there is one, at the end of @file->places.
 */
bool etl_more(struct etl_file *file)
{
	const unsigned char *data = NULL;
	ssize_t rest = 0;

	while (file->input && !file->has_ended) {
		if (!past_written(file, file->next_number))
			data = etl_input_next(file->input, &rest);
		if (!data) {
			end_stream(file, rest);
			break;
		}
		if (add_stream_place(file, file->next_number++, data))
			return true;
		etl_input_drop(file->input, file->next_number - 1);
		data = NULL;
	}
	return false;
}

/**
 * etl_wait() - what is to be done before it may take a while until more comes
 * @file: that is open
 * @wait: it
 * @argument: of @wait
 */
void etl_wait(struct etl_file *file, void (*wait)(void *argument), void *argument)
{
	if (!file->input)
		return;
	file->input->wait = wait;
	file->input->argument = argument;
}

/**
 * etl_group_mask() - what was on, as the first buffer has it?
 * @file: that is open, at its first buffer
 * @mask: set to that
 *
 * Return: false if it does not say.
 */
bool etl_group_mask(const struct etl_file *file, struct perfinfo_groupmask *mask)
{
	struct etl_cursor cursor = file->cursor;
	/* What is damaged is told by who gives the events. */
	struct etl_file copy = *file;
	struct etl_event event;

	if (cursor.number)
		return false;
	cursor.next = sizeof(struct wmi_buffer_header);
	while (cursor.next < cursor.end && parse_event(&copy, &cursor, &event) == 1)
		if (event.has_hook_id && event.hook_id == EVENT_TRACE_TYPE_GROUP_MASK &&
		    event.data_size >= sizeof(*mask)) {
			memcpy(mask, event.data, sizeof(*mask));
			return true;
		}
	return false;
}

/**
 * etl_may_have_names() - were processes, threads or images logged?
 * @file: that is open, at its first buffer
 *
 * A stream whose first buffer does not say that they were is not kept to look for them.
 *
 * Return: whether to look for them.
 */
bool etl_may_have_names(const struct etl_file *file)
{
	struct perfinfo_groupmask mask, none = { 0 };

	if (!etl_group_mask(file, &mask) || !memcmp(&mask, &none, sizeof(mask)))
		return !file->input;
	return mask.masks[0] & EVENT_TRACE_FLAGS_OF_NAMES;
}

/* The places are found as they come; what depends on all of them has them first. */
static int begin_stream(struct etl_file *file, const struct wmi_buffer_header *header)
{
	int fd;

	if (!etl_is_flight(file) && !etl_may_have_names(file)) {
		file->next_number = 1;
		file->next_place = 1;
		return add_place(file, header, 0);
	}
	fd = etl_input_spool(file->input);
	if (fd < 0)
		return etl_damage(file, 0, "TMPDIR: %s", strerror(errno));
	etl_input_free(file->input);
	file->input = NULL;
	file->fd = fd;
	return make_index(file);
}

static int read_first_buffer(struct etl_file *file)
{
	struct wmi_buffer_header header;
	ssize_t got;

	got = file->input ? etl_input_head(file->input, &header, sizeof(header)) :
			    read_at(file, &header, sizeof(header), 0);
	if (got < 0)
		return file->error[0] ? -1 : etl_damage(file, 0, "%s", strerror(errno));
	if (got < (ssize_t)sizeof(header))
		return etl_damage(file, got, "the file ends before its first buffer header does");
	if (check_first_header(file, &header))
		return -1;
	if (file->input)
		etl_input_set_size(file->input, file->buffer_size);
	if (!etl_read_buffer(file, &file->cursor, 0) || file->error[0] || read_first_event(file))
		return -1;
	return file->input ? begin_stream(file, &header) : make_index(file);
}

/**
 * etl_open() - open an ETL file and read its first buffer
 * @file: what is opened
 * @path: of the file; "-" is the standard input
 *
 * Return: 0, or -1 with a message in @file->error; etl_close() in both cases.
 */
int etl_open(struct etl_file *file, const char *path)
{
	*file = (struct etl_file) { .path = path, .latest = UINT64_MAX };
	file->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				       dup(STDIN_FILENO);
	if (file->fd < 0) {
		snprintf(file->error, sizeof(file->error), "%s", strerror(errno));
		return -1;
	}
	if (lseek(file->fd, 0, SEEK_CUR) < 0 && errno == ESPIPE) {
		file->input = etl_input_make(file->fd);
		if (!file->input)
			return etl_damage(file, 0, "%s", strerror(ENOMEM));
		file->fd = -1;
	} else {
		posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	if (!read_first_buffer(file))
		return 0;
	/* Those of its first buffer may be had: nothing else of a stream is. */
	file->has_ended = true;
	return -1;
}

/**
 * etl_attach() - begin with a trace that comes buffer by buffer
 * @file: what is begun
 * @path: for messages
 * @buffer: the first buffer
 * @size: bytes of @buffer
 *
 * The others are for etl_use_buffer(). etl_next_event() gives those of the first one.
 *
 * Return: 0, or -1 with a message in @file->error; etl_close() in both cases.
 */
int etl_attach(struct etl_file *file, const char *path, const void *buffer, size_t size)
{
	*file = (struct etl_file) { .path = path, .fd = -1, .latest = UINT64_MAX };
	if (size < sizeof(struct wmi_buffer_header))
		return etl_damage(file, size, "the first buffer ends before its header does");
	if (check_first_header(file, buffer))
		return -1;
	if (size != file->buffer_size)
		return etl_damage(file, size, "the first buffer has not 0x%zx bytes",
				  file->buffer_size);
	file->cursor.buffer = malloc(size);
	if (!file->cursor.buffer)
		return etl_damage(file, 0, "%s", strerror(ENOMEM));
	memcpy(file->cursor.buffer, buffer, size);
	if (etl_use_buffer(file, &file->cursor, 0))
		return -1;
	return read_first_event(file);
}

/**
 * etl_close() - let a file go
 * @file: what etl_open() was called for
 */
void etl_close(struct etl_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	etl_input_free(file->input);
	free(file->cursor.buffer);
	free(file->places);
	free_known(file);
}
