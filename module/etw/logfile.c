// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/string.h>
#include <linux/time.h>
#include <uapi/ntklog/buffer.h>
#include <uapi/ntklog/logfile.h>

#include "../ground/clock.h"
#include "../ground/compat.h"
#include "buffer.h"
#include "logfile.h"
#include "run.h"
#include "session.h"

/* The kernel does not know the name of the file. */
#define ETW_LOG_FILE_NAME	"trace.etl"

/* Version of the group mask event of Windows 10. */
#define ETW_GROUP_MASK_EVENT_VERSION	0x46

/* Largest size of the data of an event: that of the logfile header, which has two names. */
#define ETW_HEADER_DATA_MAX	(sizeof(struct trace_logfile_header64) + \
					 2 * (NTKLOG_SESSION_NAME_SIZE + sizeof(ETW_LOG_FILE_NAME)))

static size_t etw_write_utf16(u8 *buffer, const char *name)
{
	__le16 *units = (__le16 *)buffer;
	size_t i, count = strlen(name) + 1;

	for (i = 0; i < count; i++)
		units[i] = cpu_to_le16(name[i]);
	return count * sizeof(*units);
}

static size_t etw_write_logfile_header(u8 *buffer, struct etw_run *run)
{
	struct trace_logfile_header64 *header = (void *)buffer;
	unsigned int cpu;
	u64 lost = 0;
	size_t size = sizeof(*header);

	header->buffer_size = run->buffer_size;
	header->major_version = 10;
	header->minor_version = 0;
	header->sub_version = 1;
	header->sub_minor_version = 5;
	header->provider_version = NTKLOG_SYSTEM_BUILD;
	etw_lock_buffers(run);
	for_each_possible_cpu(cpu) {
		struct etw_counts counts;

		if (etw_get_counts(run, cpu, &counts))
			header->number_of_processors = cpu + 1;
		lost += READ_ONCE(per_cpu_ptr(run->cpus, cpu)->lost);
	}
	etw_unlock_buffers(run);
	header->end_time = run->end_time;
	header->timer_resolution = TICK_NSEC / 100;
	header->log_file_mode = EVENT_TRACE_SYSTEM_LOGGER_MODE |
				(run->mode == ETW_MODE_BUFFERING ?
				 EVENT_TRACE_BUFFERING_MODE :
				 EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	/* The header's own buffer, and each numbered buffer that has not been overwritten. */
	header->buffers_written = 1 + etw_count_numbered_buffers(run);
	header->buffers_lost = atomic64_read(&run->sequence_number) -
			       etw_count_numbered_buffers(run);
	header->start_buffers = 1;
	header->pointer_size = sizeof(u64);
	header->events_lost = min_t(u64, lost, U32_MAX);
	header->cpu_speed_in_mhz = ntklog_get_processor_mhz();
	header->time_zone.bias = sys_tz.tz_minuteswest;
	header->boot_time = run->clocks.boot_time;
	header->perf_freq = run->clocks.frequency;
	header->start_time = run->clocks.start_time;
	header->reserved_flags = NTKLOG_CLOCK_TYPE;
	size += etw_write_utf16(buffer + size, run->name);
	size += etw_write_utf16(buffer + size, ETW_LOG_FILE_NAME);
	return size;
}

static size_t etw_write_group_mask(u8 *buffer, struct etw_run *run)
{
	struct trace_group_mask_event *event = (void *)buffer;

	spin_lock(&etw_session_lock);
	event->group_mask = run->group_mask;
	spin_unlock(&etw_session_lock);
	event->event_version = ETW_GROUP_MASK_EVENT_VERSION;
	return sizeof(*event);
}

static size_t etw_write_header_extension(u8 *buffer, struct etw_run *run)
{
	return EVENT_TRACE_HEADER_EXTENSION_SIZE;
}

static const struct {
	u16 hook_id;
	size_t (*put)(u8 *buffer, struct etw_run *run);
} etw_header_events[] = {
	{ EVENT_TRACE_TYPE_LOGFILE_HEADER, etw_write_logfile_header },
	{ EVENT_TRACE_TYPE_GROUP_MASK, etw_write_group_mask },
	{ EVENT_TRACE_TYPE_HEADER_EXTENSION, etw_write_header_extension },
};

static_assert(sizeof(struct wmi_buffer_header) +
	      ARRAY_SIZE(etw_header_events) *
	      (sizeof(struct system_trace_header) + ETW_HEADER_DATA_MAX) <=
	      ETW_BUFFER_SIZE_MIN);

/**
 * etw_fill_header_buffer() - make the first buffer of a run's ETL file
 * @buffer: of the run's buffer size
 * @run: the run
 *
 * Context: task; may sleep.
 */
void etw_fill_header_buffer(u8 *buffer, struct etw_run *run)
{
	struct wmi_buffer_header *header = (void *)buffer;
	size_t offset = sizeof(*header);
	size_t i;

	memset(buffer, 0, ETW_BUFFER_SIZE_MIN);
	for (i = 0; i < ARRAY_SIZE(etw_header_events); i++) {
		struct system_trace_header *event = (void *)(buffer + offset);

		event->version = EVENT_TRACE_HEADER_VERSION;
		event->header_type = TRACE_HEADER_TYPE_SYSTEM64;
		event->flags = TRACE_HEADER_FLAGS;
		event->hook_id = etw_header_events[i].hook_id;
		event->thread_id = run->starter_thread_id;
		event->process_id = run->starter_process_id;
		event->system_time = run->clocks.start_clock;
		event->size = sizeof(*event) +
			etw_header_events[i].put((u8 *)(event + 1), run);
		offset += ALIGN(event->size, TRACE_EVENT_ALIGNMENT);
	}

	header->buffer_size = run->buffer_size;
	header->saved_offset = offset;
	header->current_offset = offset;
	header->logger_id = run->logger_id;
	header->state = ETW_BUFFER_STATE_FLUSH;
	header->offset = offset;
	header->buffer_flag = ETW_BUFFER_FLAG_PROCESSOR_INDEX |
			      ETW_BUFFER_FLAG_FLUSH_MARKER;
	header->buffer_type = ETW_BUFFER_TYPE_HEADER;
	memset(buffer + offset, ETW_BUFFER_FILL,
	       header->buffer_size - offset);
}

/**
 * etw_make_header_buffer() - allocate and make the first buffer of a run's ETL file
 * @run: the run
 * @size: set to the bytes of the buffer
 *
 * The times and counts in the header are final when the run is finished.
 *
 * Context: task; may sleep.
 * Return: the buffer, for kvfree(), or -ENOMEM.
 */
void *etw_make_header_buffer(struct etw_run *run, size_t *size)
{
	u8 *buffer = kvmalloc(run->buffer_size, GFP_KERNEL);

	if (!buffer)
		return ERR_PTR(-ENOMEM);
	*size = run->buffer_size;
	etw_fill_header_buffer(buffer, run);
	return buffer;
}
