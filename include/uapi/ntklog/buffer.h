/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_BUFFER_H
#define _UAPI_NTKLOG_BUFFER_H

/* Header of every buffer of a session, and thus of an ETL file. */

#include <ntklog/layout.h>

/* state */
#define ETW_BUFFER_STATE_FLUSH		3

/* buffer_flag */
#define ETW_BUFFER_FLAG_FLUSH_MARKER	0x0001
#define ETW_BUFFER_FLAG_EVENTS_LOST	0x0002
#define ETW_BUFFER_FLAG_BUFFER_LOST	0x0004
#define ETW_BUFFER_FLAG_PROCESSOR_INDEX	0x0020

/* buffer_type */
#define ETW_BUFFER_TYPE_GENERIC		0
#define ETW_BUFFER_TYPE_HEADER		4

/* clock_type, also of TRACE_LOGFILE_HEADER.ReservedFlags */
#define ETW_CLOCK_PERFORMANCE_COUNTER	1
#define ETW_CLOCK_SYSTEM_TIME		2
#define ETW_CLOCK_CPU_CYCLE		3

/* Value of the bytes between the last event of a buffer and its end. */
#define ETW_BUFFER_FILL			0xFF

/**
 * struct wmi_buffer_header - NT's WMI_BUFFER_HEADER
 * @buffer_size: size of the whole buffer in bytes
 * @saved_offset: offset of the end of the events, with the padding of the last one
 * @current_offset: equal to @saved_offset after the flush
 * @reference_count: 0
 * @time_stamp: session clock at the flush
 * @sequence_number: 1, 2, ... in the order of use
 * @clock_type: ETW_CLOCK_*
 * @frequency: ticks of the session clock per second
 * @processor_index: CPU whose events the buffer has
 * @logger_id: number of the session
 * @state: ETW_BUFFER_STATE_FLUSH
 * @offset: equal to @saved_offset
 * @buffer_flag: ETW_BUFFER_FLAG_*
 * @buffer_type: ETW_BUFFER_TYPE_*
 * @start_time: FILETIME of the session's start
 * @start_perf_clock: session clock at the session's start
 *
 * In the buffer with the file header @time_stamp, @sequence_number, @clock_type, @frequency,
 * @start_time and @start_perf_clock are 0: see struct trace_logfile_header64.
 */
struct wmi_buffer_header {
	__u32 buffer_size;
	__u32 saved_offset;
	__u32 current_offset;
	__s32 reference_count;
	__s64 time_stamp;
	__s64 sequence_number;
	__u64 clock_type:3;
	__u64 frequency:61;
	__u16 processor_index;
	__u16 logger_id;
	__u32 state;
	__u32 offset;
	__u16 buffer_flag;
	__u16 buffer_type;
	__s64 start_time;
	__s64 start_perf_clock;
};

NTKLOG_ASSERT_SIZE(struct wmi_buffer_header, 0x48);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, buffer_size, 0x00);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, saved_offset, 0x04);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, current_offset, 0x08);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, reference_count, 0x0C);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, time_stamp, 0x10);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, sequence_number, 0x18);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, processor_index, 0x28);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, logger_id, 0x2A);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, state, 0x2C);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, offset, 0x30);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, buffer_flag, 0x34);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, buffer_type, 0x36);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, start_time, 0x38);
NTKLOG_ASSERT_OFFSET(struct wmi_buffer_header, start_perf_clock, 0x40);

#endif /* _UAPI_NTKLOG_BUFFER_H */
