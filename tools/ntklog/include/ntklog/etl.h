/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_H
#define _NTKLOG_ETL_H

/*
 * libntklog-etl: reading event trace logs (ETL files). The library leaves out damaged parts and
 * counts them. See ntklog-etl(3).
 *
 * The library allocates all structures but struct etl_event_header and struct etl_stack. Programs
 * must not copy them, because later versions add members at the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/event.h>
#include <ntklog/group_mask.h>
#include <ntklog/logfile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NT's types of event headers. <ntklog/event.h> has the types that ntklog writes. */
#define TRACE_HEADER_TYPE_COMPACT32		0x03
#define TRACE_HEADER_TYPE_COMPACT64		0x04
#define TRACE_HEADER_TYPE_FULL_HEADER32		0x0A
#define TRACE_HEADER_TYPE_INSTANCE32		0x0B
#define TRACE_HEADER_TYPE_TIMED			0x0C
#define TRACE_HEADER_TYPE_ERROR			0x0D
#define TRACE_HEADER_TYPE_WNODE_HEADER		0x0E
#define TRACE_HEADER_TYPE_MESSAGE		0x0F	/* set by the library for WPP messages */
#define TRACE_HEADER_TYPE_EVENT_HEADER32	0x12
#define TRACE_HEADER_TYPE_EVENT_HEADER64	0x13
#define TRACE_HEADER_TYPE_FULL_HEADER64		0x14
#define TRACE_HEADER_TYPE_INSTANCE64		0x15

/**
 * struct etl_file - an open file: values of its header, and the damage found so far
 * @path: path of the file, as the program gave it
 * @buffer_size: bytes of each buffer
 * @buffers: number of readable buffers with the header buffer; of a stream the number so far
 * @pointer_size: bytes of a pointer on the machine that wrote the file: 4 or 8
 * @processors: number of processors of that machine
 * @start_clock: session clock at the start of the session
 * @perf_freq: ticks of the session clock per second
 * @cycle_freq: cycles per second; the times of locks are in cycles
 * @tick_ns: nanoseconds per tick of the system clock
 * @start_time: FILETIME of the start of the session
 * @end_time: FILETIME of the end; 0 if the session had not ended
 * @log_file_mode: EVENT_TRACE_*
 * @buffers_written: number of buffers, as the header has it
 * @events_lost: number of lost events, as the header has it
 * @buffers_lost: number of lost buffers, as the header has it; 0 for a flight recording
 * @overwritten: buffers that a session with a limited memory or file size has overwritten
 * @lossy_buffers: buffers behind which events or buffers were lost
 * @other_buffers: buffers of types without events, which are skipped
 * @damaged_buffers: buffers that were left out, wholly or in part
 * @damaged_events: single events that were left out
 * @left_out_bytes: bytes left out, of damaged buffers and events
 * @wrong_times: events with an impossible time
 * @wrong_time_at: offset of the first such event
 * @repeated_buffers: repeated buffers, which are left out
 * @missing_buffers: buffers whose sequence numbers are absent, or which @buffers_written counts
 *	beyond the end of the file
 * @first_missing_number: first absent sequence number
 * @late_buffers: buffers of a pipe that begin before an event that a merge has already returned
 * @unfinished_bytes: bytes of an incomplete last buffer
 * @error: description of the first damage, or why the file cannot be opened; else empty. Of what
 *	other members count, only damaged buffers and events set it
 * @boot_time: FILETIME of the boot, or 0 if it is not known
 * @backwards: events that are earlier than the event before them in the same buffer, or in a merge
 *	on the same processor
 * @backwards_at: offset of the first such event
 *
 * The library changes the structure while it reads the file.
 */
struct etl_file {
	const char *path;
	size_t buffer_size;
	size_t buffers;
	unsigned int pointer_size;
	unsigned int processors;
	uint64_t start_clock;
	uint64_t perf_freq;
	uint64_t cycle_freq;
	uint64_t tick_ns;
	uint64_t start_time;
	uint64_t end_time;
	uint32_t log_file_mode;
	uint32_t buffers_written;
	uint32_t events_lost;
	uint32_t buffers_lost;
	uint64_t overwritten;
	uint64_t lossy_buffers;
	uint64_t other_buffers;
	uint64_t damaged_buffers;
	uint64_t damaged_events;
	uint64_t left_out_bytes;
	uint64_t wrong_times;
	uint64_t wrong_time_at;
	uint64_t repeated_buffers;
	uint64_t missing_buffers;
	int64_t first_missing_number;
	uint64_t late_buffers;
	uint64_t unfinished_bytes;
	char error[240];
	uint64_t boot_time;
	uint64_t backwards;
	uint64_t backwards_at;
};

/**
 * struct etl_event - an event of a file
 * @offset: offset of the event in the file
 * @processor: number of the processor that logged the event
 * @header: header of the event, as it is in the file
 * @header_type: TRACE_HEADER_TYPE_*
 * @has_hook_id: the header has a hook id, so that @hook_id and @version are set
 * @hook_id: hook id, which says what happened
 * @version: version of the event's data
 * @has_time: the header has a time
 * @has_impossible_time: the header has a time, but an impossible one
 * @time_stamp: session clock; without a possible time that of an event before, or of the start
 * @raw_time: time as it is in the file
 * @pointer_size: bytes of a pointer in the data: 4 or 8
 * @size: bytes of the whole event without padding
 * @counters: number of performance counters at @extension
 * @has_pebs_index: a PEBS index follows the counters
 * @extension: counters and index, of 8 bytes each
 * @data: data, behind the header and its extension
 * @data_size: bytes of @data
 */
struct etl_event {
	uint64_t offset;
	unsigned int processor;
	const unsigned char *header;
	uint8_t header_type;
	bool has_hook_id;
	uint16_t hook_id;
	uint16_t version;
	bool has_time;
	bool has_impossible_time;
	uint64_t time_stamp;
	uint64_t raw_time;
	unsigned int pointer_size;
	size_t size;
	unsigned int counters;
	bool has_pebs_index;
	const unsigned char *extension;
	const unsigned char *data;
	size_t data_size;
};

/**
 * struct etl_event_header - values of an event's header; a value that it lacks is not set
 * @has_process: @process_id and @thread_id are set
 * @process_id: id of the process that logged the event, or was current
 * @thread_id: id of the thread that logged the event, or was current
 * @has_provider: @provider is set
 * @provider: GUID of the provider, as it is in the file
 * @has_opcode: @opcode, @level and @version are set
 * @opcode: opcode of the event
 * @level: severity of the event
 * @version: version of the event's data
 * @has_id: @id is set
 * @id: id of the event
 */
struct etl_event_header {
	bool has_process;
	uint32_t process_id;
	uint32_t thread_id;
	bool has_provider;
	unsigned char provider[16];
	bool has_opcode;
	uint8_t opcode;
	uint8_t level;
	uint16_t version;
	bool has_id;
	uint16_t id;
};

/**
 * enum etl_stack_kind - kinds of events with stacks
 * @ETL_STACK_NONE: the event has no stack
 * @ETL_STACK_OF_EVENT: the event has the stack of another event
 * @ETL_STACK_KEY_OF_EVENT: the event has the key of the stack of another event
 * @ETL_STACK_DEFINITION: the event defines the stack of a key
 * @ETL_STACK_DELETION: the event ends the definition of a key
 */
enum etl_stack_kind {
	ETL_STACK_NONE,
	ETL_STACK_OF_EVENT,
	ETL_STACK_KEY_OF_EVENT,
	ETL_STACK_DEFINITION,
	ETL_STACK_DELETION,
};

/**
 * struct etl_stack - stack of an event; members that its kind does not have are 0
 * @kind: kind of the event
 * @event_time_stamp: session clock of the event that the stack belongs to
 * @process_id: id of the process that the stack is of
 * @thread_id: id of the thread that the stack is of
 * @key: key of the stack
 * @count: number of addresses
 * @addresses: addresses as they are in the file, innermost first; use etl_stack_address()
 * @pointer_size: bytes of an address and of the key
 */
struct etl_stack {
	enum etl_stack_kind kind;
	uint64_t event_time_stamp;
	uint32_t process_id;
	uint32_t thread_id;
	uint64_t key;
	size_t count;
	const unsigned char *addresses;
	unsigned int pointer_size;
};

/* Bytes of "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" with its NUL. */
#define ETL_GUID_SIZE	37

struct etl_merge;

int etl_open(struct etl_file **file, const char *path);
const struct etl_event *etl_next_event(struct etl_file *file);
void etl_on_wait(struct etl_file *file, void (*wait)(void *argument), void *argument);
void etl_close(struct etl_file *file);

struct etl_merge *etl_merge_open(struct etl_file *file);
const struct etl_event *etl_merge_next(struct etl_merge *merge);
void etl_merge_close(struct etl_merge *merge);

double etl_seconds(const struct etl_file *file, uint64_t time_stamp);
uint64_t etl_unix_time(const struct etl_file *file, uint64_t time_stamp);
double etl_cycles_ns(const struct etl_file *file, double cycles);

bool etl_is_circular(const struct etl_file *file);
bool etl_overwrites_buffers(const struct etl_file *file);
bool etl_is_compressed(const struct etl_file *file);
bool etl_group_mask(const struct etl_file *file, struct perfinfo_groupmask *mask);
int etl_logfile_header(const struct etl_event *event, struct trace_logfile_header64 *header,
		       const unsigned char **names);

void etl_read_event_header(struct etl_event_header *header, const struct etl_event *event);
int etl_read_stack(struct etl_stack *stack, struct etl_file *file,
		   const struct etl_event *event);
uint64_t etl_stack_address(const struct etl_stack *stack, size_t number);
void etl_format_guid(const unsigned char *guid, char *text);
const char *etl_provider_name(const unsigned char *guid);

#ifdef __GNUC__
__attribute__((__format__(printf, 3, 4)))
#endif
int etl_leave_out_event(struct etl_file *file, const struct etl_event *event,
			const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif /* _NTKLOG_ETL_H */
