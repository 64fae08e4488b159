/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_H
#define _NTKLOG_ETL_H

/*
 * libntklog-etl: reading event trace logs (ETL files), whoever wrote them. Nothing in them is
 * believed unchecked; what is damaged is left out, counted and told. See ntklog-etl(3).
 *
 * All structures but struct etl_event_header are the library's own: who reads with it gets
 * pointers to them and copies none, for later versions add members at the ends.
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

/* NT's types of headers, of which <ntklog/event.h> has those that ntklog writes. */
#define TRACE_HEADER_TYPE_COMPACT32		0x03
#define TRACE_HEADER_TYPE_COMPACT64		0x04
#define TRACE_HEADER_TYPE_FULL_HEADER32		0x0A
#define TRACE_HEADER_TYPE_INSTANCE32		0x0B
#define TRACE_HEADER_TYPE_TIMED			0x0C
#define TRACE_HEADER_TYPE_ERROR			0x0D
#define TRACE_HEADER_TYPE_WNODE_HEADER		0x0E
#define TRACE_HEADER_TYPE_MESSAGE		0x0F	/* these do not carry it */
#define TRACE_HEADER_TYPE_EVENT_HEADER32	0x12
#define TRACE_HEADER_TYPE_EVENT_HEADER64	0x13
#define TRACE_HEADER_TYPE_FULL_HEADER64		0x14
#define TRACE_HEADER_TYPE_INSTANCE64		0x15

/**
 * struct etl_file - a file that is open: what its header says, and what was wrong so far
 * @path: of the file, as it was given
 * @buffer_size: of every buffer, bytes
 * @buffers: that can be read, the first one too; of a stream those that have come
 * @pointer_size: of whoever wrote the file, 4 or 8
 * @processors: that the machine had
 * @start_clock: session clock at the start
 * @perf_freq: ticks of the session clock per second
 * @cycle_freq: of the cycles that locks are timed in, per second
 * @tick_ns: of the system's clock
 * @start_time: FILETIME of the start
 * @end_time: FILETIME of the end, 0: not ended
 * @log_file_mode: EVENT_TRACE_*
 * @buffers_written: as the file's header says
 * @events_lost: likewise
 * @buffers_lost: likewise
 * @overwritten: buffers of a session that keeps its last ones only
 * @lossy_buffers: after which events or buffers were lost
 * @other_buffers: that are of a kind without events, stepped over
 * @damaged_buffers: of which something was left out
 * @damaged_events: that were left out alone
 * @left_out: bytes of both
 * @wrong_times: events whose time cannot be
 * @wrong_time_at: offset of the first of them
 * @twice: buffers that are there again, left out
 * @missing: buffers whose sequence numbers are not there
 * @first_missing: the first of those numbers
 * @late: buffers of a stream that begin before what has been given
 * @unfinished: bytes of the last buffer, which is not complete yet
 * @error: what is wrong with the file, the first in it; empty if nothing
 * @boot_time: FILETIME of the boot; 0: not known
 * @backwards: events that are earlier than the event before them, of the same buffer, or in a
 *	merge of the same processor
 * @backwards_at: offset of the first of them
 *
 * The library changes it while the file is read, and nobody else.
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
	uint64_t left_out;
	uint64_t wrong_times;
	uint64_t wrong_time_at;
	uint64_t twice;
	uint64_t missing;
	int64_t first_missing;
	uint64_t late;
	uint64_t unfinished;
	char error[240];
	uint64_t boot_time;
	uint64_t backwards;
	uint64_t backwards_at;
};

/**
 * struct etl_event - an event of a file
 * @offset: of the event in the file
 * @processor: on which it was logged
 * @header: in the file
 * @header_type: TRACE_HEADER_TYPE_*
 * @has_hook_id: whether that header has a hook id; then:
 * @hook_id: which event
 * @version: of the event
 * @has_time: of its own
 * @wrong_time: it has, but that cannot be
 * @time_stamp: session clock; of the event before, if it has none of its own
 * @raw_time: as it is in the file
 * @pointer_size: of the data, 4 or 8
 * @size: of the whole event, unpadded
 * @counters: performance counters at @extension
 * @has_pebs_index: the index is after them
 * @extension: 8 bytes for each
 * @data: after the header and what extends it
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
	bool wrong_time;
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
 * struct etl_event_header - of an event; what is not in its header is not set
 * @has_process: there are these two:
 * @process_id: that logged it, or was current
 * @thread_id: likewise
 * @has_provider: there is this:
 * @provider: GUID, as it is in the file
 * @has_opcode: there are these, of classic and manifest events:
 * @opcode: what happened
 * @level: how bad it is
 * @version: of the event
 * @has_id: there is this, of manifest events and messages of WPP:
 * @id: which event
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
 * enum etl_stack_kind - what an event tells of stacks
 * @ETL_STACK_NONE: nothing: it is another event
 * @ETL_STACK_OF_EVENT: the stack of another event
 * @ETL_STACK_KEY_OF_EVENT: likewise, by a key
 * @ETL_STACK_DEFINITION: the stack that a key stands for
 * @ETL_STACK_DELETION: that a key stands for it no more
 */
enum etl_stack_kind {
	ETL_STACK_NONE,
	ETL_STACK_OF_EVENT,
	ETL_STACK_KEY_OF_EVENT,
	ETL_STACK_DEFINITION,
	ETL_STACK_DELETION,
};

/**
 * struct etl_stack - a stack, as an event tells it; what its kind does not have is 0
 * @kind: what it tells
 * @event_time_stamp: of the event that the stack belongs to, session clock
 * @process_id: whose stack it is
 * @thread_id: likewise
 * @key: that stands for a stack
 * @count: of @addresses
 * @addresses: the innermost first; in the file, by etl_stack_address()
 * @pointer_size: of each, and of the key
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

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" and a NUL. */
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
bool etl_is_flight(const struct etl_file *file);
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
