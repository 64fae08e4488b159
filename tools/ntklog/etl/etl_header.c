// SPDX-License-Identifier: GPL-2.0-only
/* Reading the first buffer: TRACE_LOGFILE_HEADER, and the group mask of the session. */

#include <string.h>

#include "etl_reader.h"

#define BUFFER_SIZE_MIN	0x400
#define BUFFER_SIZE_MAX	0x1000000

/* Flags of NT's LogFileMode that the wire headers lack. */
#define EVENT_TRACE_FILE_MODE_CIRCULAR		0x00000002
#define EVENT_TRACE_COMPRESSED_MODE		0x04000000

/* Flags of the group mask's first word whose events have names: processes, threads, images. */
#define EVENT_TRACE_FLAGS_OF_NAMES		0x00000007

/**
 * etl_refuse_compressed() - report compressed buffers
 * @reader: reader of the file
 * @offset: offset of the flag in the file
 * @format: NT's COMPRESSION_FORMAT_*, from the state of the first buffer; 0 if it is not known
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
	return etl_set_damage(reader, offset,
			      "the buffers are compressed%s: record without EVENT_TRACE_COMPRESSED_MODE, or have Windows write the file uncompressed",
			      name ? name : "");
}

/**
 * etl_is_circular() - test whether a session overwrites the begin of its file
 * @file: open file
 *
 * Return: true if it does, so that buffers may be out of order.
 */
bool etl_is_circular(const struct etl_file *file)
{
	return file->log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR;
}

/**
 * etl_overwrites_buffers() - test whether a full session overwrites its oldest buffers
 * @file: open file
 *
 * Return: true for a circular file, and for a session that keeps its buffers in memory (a flight
 * recorder): such a file may lack the session's first events.
 */
bool etl_overwrites_buffers(const struct etl_file *file)
{
	return etl_is_circular(file) || file->log_file_mode & EVENT_TRACE_BUFFERING_MODE;
}

/**
 * etl_is_compressed() - test whether the buffers behind the first one are compressed
 * @file: file that etl_open() refused; the events of its first buffer are readable nevertheless
 *
 * Return: true if they are compressed.
 */
bool etl_is_compressed(const struct etl_file *file)
{
	return file->log_file_mode & EVENT_TRACE_COMPRESSED_MODE;
}

/* Seconds by which a time may be before the start of the session, or after its latest end. */
#define CLOCK_SLACK_S	60

static uint64_t compute_clock_slack(const struct etl_file *file)
{
	return file->perf_freq > UINT64_MAX / 8 / CLOCK_SLACK_S ? UINT64_MAX / 8 :
		file->perf_freq * CLOCK_SLACK_S;
}

/*
 * Return the bytes of padding that a 32-bit header lacks before BootTime. Some writers leave out
 * the 4 bytes. Without padding the word tested here is ReservedFlags, a small number. With it the
 * word is the high half of StartTime, which was as small in the year 1601 only.
 */
static size_t find_missing_padding(const unsigned char *data)
{
	size_t flags = offsetof(struct trace_logfile_header32, reserved_flags) - 4;
	uint32_t word;

	memcpy(&word, data + flags, sizeof(word));
	return word <= ETW_CLOCK_CPU_CYCLE ? 4 : 0;
}

static void find_time_limits(struct etl_reader *reader)
{
	struct etl_file *file = &reader->file;
	double ticks;

	reader->slack_ticks = compute_clock_slack(file);
	reader->earliest_possible_time = file->start_clock > reader->slack_ticks ?
		file->start_clock - reader->slack_ticks : 0;
	reader->latest_possible_time = UINT64_MAX;
	if (file->end_time <= file->start_time)
		return;
	/* FILETIMEs are in units of 100 ns. One percent is for the drift of the clocks. */
	ticks = (double)(file->end_time - file->start_time) / 1e7 * 1.01 *
		(double)file->perf_freq + (double)reader->slack_ticks + (double)file->start_clock;
	if (ticks < (double)INT64_MAX)
		reader->latest_possible_time = (uint64_t)ticks;
}

/**
 * etl_logfile_header() - read TRACE_LOGFILE_HEADER
 * @event: first event of a file
 * @header: set to the header, in the 64-bit layout
 * @names: set to the two UTF-16 strings behind it: names of the logger and of its file
 *
 * Return: 0, or -1 if the event is another one or too short.
 */
int etl_logfile_header(const struct etl_event *event, struct trace_logfile_header64 *header,
		       const unsigned char **names)
{
	bool is_64bit = event->pointer_size == 8;
	/* Both layouts are equal up to the pointers, and from the time zone on but for padding. */
	size_t common_size = offsetof(struct trace_logfile_header64, logger_name);
	size_t zone_offset = offsetof(struct trace_logfile_header64, time_zone);
	size_t zone_offset32 = offsetof(struct trace_logfile_header32, time_zone);
	size_t boot_offset = offsetof(struct trace_logfile_header64, boot_time);
	size_t boot_offset32 = offsetof(struct trace_logfile_header32, boot_time);

	if (event->hook_id != EVENT_TRACE_TYPE_LOGFILE_HEADER ||
	    (event->header_type != TRACE_HEADER_TYPE_SYSTEM32 &&
	     event->header_type != TRACE_HEADER_TYPE_SYSTEM64) ||
	    event->data_size < (is_64bit ? sizeof(*header) : sizeof(struct trace_logfile_header32)))
		return -1;
	if (!is_64bit)
		boot_offset32 -= find_missing_padding(event->data);
	*header = (struct trace_logfile_header64) { 0 };
	memcpy(header, event->data, common_size);
	memcpy(&header->time_zone, event->data + (is_64bit ? zone_offset : zone_offset32),
	       sizeof(header->time_zone));
	memcpy((char *)header + boot_offset, event->data + (is_64bit ? boot_offset : boot_offset32),
	       sizeof(*header) - boot_offset);
	*names = event->data + (is_64bit ? boot_offset : boot_offset32) + sizeof(*header) -
		 boot_offset;
	return 0;
}

static int read_logfile_header(struct etl_reader *reader, const struct etl_event *event)
{
	struct etl_file *file = &reader->file;
	const struct wmi_buffer_header *buffer;
	struct trace_logfile_header64 header;
	const unsigned char *names;

	if (etl_logfile_header(event, &header, &names))
		return etl_set_damage(reader, event->offset,
				      "TRACE_LOGFILE_HEADER of 0x%zx bytes is too short",
				      event->data_size);
	file->pointer_size = event->pointer_size;
	file->start_clock = event->time_stamp;
	file->processors = header.number_of_processors;
	file->buffers_written = header.buffers_written;
	file->events_lost = header.events_lost;
	file->buffers_lost = header.buffers_lost;
	file->log_file_mode = header.log_file_mode;
	/* In this mode BuffersLost is the number of overwritten buffers. */
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
		return etl_set_damage(reader, event->offset,
				      "PointerSize %u in a header of %u bits",
				      header.pointer_size, file->pointer_size * 8);
	/* PerfFreq is that of the performance counter, even if the session has another clock. */
	if (header.reserved_flags == ETW_CLOCK_SYSTEM_TIME)
		file->perf_freq = 10000000;
	if (!file->perf_freq || file->perf_freq > INT64_MAX)
		return etl_set_damage(reader, event->offset, "PerfFreq %lld is no frequency",
				      (long long)file->perf_freq);
	/* Times of locks are in cycles, whatever the session's clock is. */
	file->cycle_freq = UINT64_C(1000000) * header.cpu_speed_in_mhz;
	if (header.reserved_flags == ETW_CLOCK_CPU_CYCLE || !file->cycle_freq)
		file->cycle_freq = file->perf_freq;
	find_time_limits(reader);
	return 0;
}

/* Other files that are given in place of ETL files, by the first bytes, in the order of x86. */
static const struct {
	uint32_t begin;
	uint32_t mask;
	const char *text;
} other_files[] = {
	{ 0x8B1F, 0xFFFF, "a gzip file: unpack it (zcat)" },
	{ 0x587A37FD, UINT32_MAX, "an xz file: unpack it (xzcat)" },
	{ 0xFD2FB528, UINT32_MAX, "a zstd file: unpack it (zstdcat)" },
	/* "boot" */
	{ 0x746F6F62, UINT32_MAX, "the names of one: give the file without .names" },
};

/**
 * etl_check_first_header() - check the header of the first buffer, and set the size of buffers
 * @reader: reader of the file
 * @header: first bytes of the file
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_check_first_header(struct etl_reader *reader, const struct wmi_buffer_header *header)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other_files); i++)
		if ((header->buffer_size & other_files[i].mask) == other_files[i].begin)
			return etl_set_damage(reader, 0, "not an ETL file, but %s",
					      other_files[i].text);
	if (header->buffer_size < BUFFER_SIZE_MIN ||
	    header->buffer_size > BUFFER_SIZE_MAX || header->buffer_size % 8)
		return etl_set_damage(reader, 0, "not an ETL file: a buffer size of 0x%x",
				      header->buffer_size);
	if (header->buffer_type != ETW_BUFFER_TYPE_HEADER)
		return etl_set_damage(reader, offsetof(struct wmi_buffer_header, buffer_type),
				      "not an ETL file: the first buffer is of type %u",
				      header->buffer_type);
	reader->file.buffer_size = header->buffer_size;
	return 0;
}

/**
 * etl_read_first_event() - read TRACE_LOGFILE_HEADER, the first event of the first buffer
 * @reader: reader whose cursor is in the first buffer
 *
 * Return: 0, or -1 with a message in the file's error.
 */
int etl_read_first_event(struct etl_reader *reader)
{
	struct etl_event event;

	if (reader->cursor.next_offset == reader->cursor.end_offset)
		return etl_set_damage(reader, reader->cursor.next_offset,
				      "no TRACE_LOGFILE_HEADER");
	if (etl_parse_event(reader, &reader->cursor, &event) != 1)
		return -1;
	if (event.hook_id != EVENT_TRACE_TYPE_LOGFILE_HEADER ||
	    (event.header_type != TRACE_HEADER_TYPE_SYSTEM32 &&
	     event.header_type != TRACE_HEADER_TYPE_SYSTEM64))
		return etl_set_damage(reader, event.offset, "no TRACE_LOGFILE_HEADER");
	/* Go back, because etl_next_event() returns this event too. */
	reader->cursor.next_offset = sizeof(struct wmi_buffer_header);
	return read_logfile_header(reader, &event);
}

/**
 * etl_group_mask() - get the session's group mask from the first buffer
 * @file: open file, of which only events of the first buffer were read
 * @mask: set to the group mask
 *
 * Return: true, or false if the first buffer has no group mask.
 */
bool etl_group_mask(const struct etl_file *file, struct perfinfo_groupmask *mask)
{
	/* Read with a copy: etl_next_event() reports damage when it reads these events. */
	struct etl_reader copy = *etl_const_reader_of(file);
	struct etl_cursor cursor = copy.cursor;
	struct etl_event event;

	if (cursor.number)
		return false;
	cursor.next_offset = sizeof(struct wmi_buffer_header);
	while (cursor.next_offset < cursor.end_offset &&
	       etl_parse_event_quietly(&copy, &cursor, &event) == 1)
		if (event.has_hook_id && event.hook_id == EVENT_TRACE_TYPE_GROUP_MASK &&
		    event.data_size >= sizeof(*mask)) {
			memcpy(mask, event.data, sizeof(*mask));
			return true;
		}
	return false;
}

/**
 * etl_may_have_names() - test whether events of processes, threads or images were enabled
 * @reader: reader whose cursor is in the first buffer
 *
 * Without a group mask, or with an empty one, the answer is true for a file. It is false for a
 * stream, which would have to be copied to a file first.
 *
 * Return: true if the file may have such events.
 */
bool etl_may_have_names(const struct etl_reader *reader)
{
	struct perfinfo_groupmask mask, none = { 0 };

	if (!etl_group_mask(&reader->file, &mask) || !memcmp(&mask, &none, sizeof(mask)))
		return !reader->input;
	return mask.masks[0] & EVENT_TRACE_FLAGS_OF_NAMES;
}
