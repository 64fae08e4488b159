// SPDX-License-Identifier: GPL-2.0-only
/* What the first buffer says of the file: TRACE_LOGFILE_HEADER, and what was switched on. */

#include <string.h>

#include "etl_reader.h"

/* Windows writes 0x400 to 0x100000; some room for what is to come. */
#define BUFFER_SIZE_MIN	0x400
#define BUFFER_SIZE_MAX	0x1000000

/* Of NT's LogFileMode, what the wire headers have no use for. */
#define EVENT_TRACE_FILE_MODE_CIRCULAR		0x00000002
#define EVENT_TRACE_COMPRESSED_MODE		0x04000000

/* Of NT's EnableFlags, the first word of the group mask: processes, threads, images. */
#define EVENT_TRACE_FLAGS_OF_NAMES		0x00000007

/**
 * etl_refuse_compressed() - say that the buffers are
 * @reader: the file
 * @offset: of what says so
 * @format: NT's COMPRESSION_FORMAT_*, which the first buffer has for its state; 0: not known
 *
 * ntklog-etl(5) says why none of them is read.
 *
 * Return: -1.
 */
int etl_refuse_compressed(struct etl_reader *reader, uint64_t offset, uint32_t format)
{
	static const char *const formats[] = {
		[2] = " (LZNT1)", [3] = " (Xpress)", [4] = " (Xpress Huffman)"
	};
	const char *name = NULL;

	format &= 0xFFFF;
	if (format < ARRAY_SIZE(formats))
		name = formats[format];
	return etl_damage(reader, offset,
			  "the buffers are compressed%s: record without EVENT_TRACE_COMPRESSED_MODE, or have Windows write the file uncompressed",
			  name ? name : "");
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

static void find_limits(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;
	double ticks;

	reader->slack = clock_slack(file);
	reader->earliest = file->start_clock > reader->slack ?
		file->start_clock - reader->slack : 0;
	reader->latest = UINT64_MAX;
	if (file->end_time <= file->start_time)
		return;
	/* In units of 100 ns, and one percent more. */
	ticks = (double)(file->end_time - file->start_time) / 1e7 * 1.01 *
		(double)file->perf_freq + (double)reader->slack + (double)file->start_clock;
	if (ticks < (double)INT64_MAX)
		reader->latest = (uint64_t)ticks;
}

/**
 * etl_logfile_header() - read what the first event says
 * @event: the first event of a file
 * @header: of either pointer size, as the wider one
 * @names: what is behind it: two strings in UTF-16, of the logger and of its file
 *
 * Return: 0, or -1: it is no such event.
 */
int etl_logfile_header(const struct etl_event *event, struct trace_logfile_header64 *header,
		       const unsigned char **names)
{
	bool is64 = event->pointer_size == 8;
	/* All that both begin with, up to the pointers, and all that both end with. */
	size_t common = offsetof(struct trace_logfile_header64, logger_name);
	size_t zone = offsetof(struct trace_logfile_header64, time_zone);
	size_t zone32 = offsetof(struct trace_logfile_header32, time_zone);
	size_t clocks = offsetof(struct trace_logfile_header64, boot_time);
	size_t clocks32 = offsetof(struct trace_logfile_header32, boot_time);

	if (event->hook_id != EVENT_TRACE_TYPE_LOGFILE_HEADER ||
	    (event->header_type != TRACE_HEADER_TYPE_SYSTEM32 &&
	     event->header_type != TRACE_HEADER_TYPE_SYSTEM64) ||
	    event->data_size < (is64 ? sizeof(*header) : sizeof(struct trace_logfile_header32)))
		return -1;
	if (!is64)
		clocks32 -= missing_padding(event->data);
	*header = (struct trace_logfile_header64) { 0 };
	memcpy(header, event->data, common);
	memcpy(&header->time_zone, event->data + (is64 ? zone : zone32),
	       sizeof(header->time_zone));
	memcpy((char *)header + clocks, event->data + (is64 ? clocks : clocks32),
	       sizeof(*header) - clocks);
	*names = event->data + (is64 ? clocks : clocks32) + sizeof(*header) - clocks;
	return 0;
}

static int read_logfile_header(struct etl_reader *reader, const struct etl_event *event)
{
	struct etl_file *file = &reader->file;
	const struct wmi_buffer_header *buffer;
	struct trace_logfile_header64 header;
	const unsigned char *names;

	if (etl_logfile_header(event, &header, &names))
		return etl_damage(reader, event->offset,
				  "TRACE_LOGFILE_HEADER of 0x%zx bytes",
				  event->data_size);
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
	file->boot_time = header.boot_time;
	file->tick_ns = UINT64_C(100) * header.timer_resolution;
	file->perf_freq = header.perf_freq;
	buffer = (const struct wmi_buffer_header *)reader->cursor.buffer;
	if (file->log_file_mode & EVENT_TRACE_COMPRESSED_MODE)
		return etl_refuse_compressed(reader, event->offset, buffer->state);
	if (header.pointer_size != file->pointer_size)
		return etl_damage(reader, event->offset,
				  "PointerSize %u in a header of %u bits",
				  header.pointer_size, file->pointer_size * 8);
	/* PerfFreq is the performance counter's even where that is not the clock. */
	if (header.reserved_flags == ETW_CLOCK_SYSTEM_TIME)
		file->perf_freq = 10000000;
	if (!file->perf_freq || file->perf_freq > INT64_MAX)
		return etl_damage(reader, event->offset, "PerfFreq %lld",
				  (long long)file->perf_freq);
	/* Locks are timed in cycles whatever the session's clock is. */
	file->cycle_freq = UINT64_C(1000000) * header.cpu_speed_in_mhz;
	if (header.reserved_flags == ETW_CLOCK_CPU_CYCLE || !file->cycle_freq)
		file->cycle_freq = file->perf_freq;
	find_limits(reader);
	return 0;
}

/**
 * etl_check_first_header() - is this the header of a first buffer? Its size is that of all
 * @reader: the file
 * @header: the first bytes
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_check_first_header(struct etl_reader *reader, const struct wmi_buffer_header *header)
{
	if (header->buffer_size < BUFFER_SIZE_MIN ||
	    header->buffer_size > BUFFER_SIZE_MAX || header->buffer_size % 8)
		return etl_damage(reader, 0, "not an ETL file: a buffer size of 0x%x",
				  header->buffer_size);
	if (header->buffer_type != ETW_BUFFER_TYPE_HEADER)
		return etl_damage(reader, offsetof(struct wmi_buffer_header, buffer_type),
				  "not an ETL file: the first buffer is of type %u",
				  header->buffer_type);
	reader->file.buffer_size = header->buffer_size;
	return 0;
}

/**
 * etl_read_first_event() - read what the first buffer, at which the cursor is, says of the file
 * @reader: the file
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_read_first_event(struct etl_reader *reader)
{
	struct etl_event event;

	if (reader->cursor.next == reader->cursor.end)
		return etl_damage(reader, reader->cursor.next, "no TRACE_LOGFILE_HEADER");
	if (etl_parse_event(reader, &reader->cursor, &event) != 1)
		return -1;
	if (event.hook_id != EVENT_TRACE_TYPE_LOGFILE_HEADER ||
	    (event.header_type != TRACE_HEADER_TYPE_SYSTEM32 &&
	     event.header_type != TRACE_HEADER_TYPE_SYSTEM64))
		return etl_damage(reader, event.offset, "no TRACE_LOGFILE_HEADER");
	/* All events are given to the caller, the first one too. */
	reader->cursor.next = sizeof(struct wmi_buffer_header);
	return read_logfile_header(reader, &event);
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
	/* What is damaged is told by who gives the events. */
	struct etl_reader copy = *etl_const_reader(file);
	struct etl_cursor cursor = copy.cursor;
	struct etl_event event;

	if (cursor.number)
		return false;
	cursor.next = sizeof(struct wmi_buffer_header);
	while (cursor.next < cursor.end && etl_parse_event_quietly(&copy, &cursor, &event) == 1)
		if (event.has_hook_id && event.hook_id == EVENT_TRACE_TYPE_GROUP_MASK &&
		    event.data_size >= sizeof(*mask)) {
			memcpy(mask, event.data, sizeof(*mask));
			return true;
		}
	return false;
}

/**
 * etl_may_have_names() - were processes, threads or images logged?
 * @reader: that is open, at its first buffer
 *
 * A stream whose first buffer does not say that they were is not kept to look for them.
 *
 * Return: whether to look for them.
 */
bool etl_may_have_names(const struct etl_reader *reader)
{
	struct perfinfo_groupmask mask, none = { 0 };

	if (!etl_group_mask(&reader->file, &mask) || !memcmp(&mask, &none, sizeof(mask)))
		return !reader->input;
	return mask.masks[0] & EVENT_TRACE_FLAGS_OF_NAMES;
}
