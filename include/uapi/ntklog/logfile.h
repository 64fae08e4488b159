/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_LOGFILE_H
#define _UAPI_NTKLOG_LOGFILE_H

/* What the first buffer of an ETL file holds. */

#include <ntklog/event.h>
#include <ntklog/group_mask.h>

/* Hook ids of the events in the first buffer, in their order, and versions. */
#define EVENT_TRACE_TYPE_LOGFILE_HEADER		0x0000
#define EVENT_TRACE_TYPE_GROUP_MASK		0x0005
#define EVENT_TRACE_TYPE_HEADER_EXTENSION	0x0050
#define EVENT_TRACE_HEADER_VERSION		2

/* Data of the last, all zero; of its 0x50 bytes 0x20 are the trace header. */
#define EVENT_TRACE_HEADER_EXTENSION_SIZE	0x30

/* log_file_mode */
#define EVENT_TRACE_FILE_MODE_SEQUENTIAL	0x00000001
#define EVENT_TRACE_BUFFERING_MODE		0x00000400
#define EVENT_TRACE_SYSTEM_LOGGER_MODE		0x02000000

/* FILETIME counts 100 ns from 1601-01-01; so many of them to 1970-01-01. */
#define FILETIME_UNIX_EPOCH			116444736000000000LL

/**
 * struct trace_group_mask_event - data of EVENT_TRACE_TYPE_GROUP_MASK
 * @group_mask: what the session was enabled for
 * @event_version: 0x46 seen
 */
struct trace_group_mask_event {
	struct perfinfo_groupmask group_mask;
	__u32 event_version;
};

NTKLOG_ASSERT_SIZE(struct trace_group_mask_event, 0x24);
NTKLOG_ASSERT_OFFSET(struct trace_group_mask_event, event_version, 0x20);

/**
 * struct ntklog_systemtime - NT's SYSTEMTIME, when a clock changes to or from summer
 * @year: 0: every year
 * @month: 1 to 12, 0: no change of the clock
 * @day_of_week: 0 is Sunday
 * @day: which of the month's such days
 * @hour: of the change
 * @minute: of the change
 * @second: of the change
 * @milliseconds: of the change
 */
struct ntklog_systemtime {
	__u16 year;
	__u16 month;
	__u16 day_of_week;
	__u16 day;
	__u16 hour;
	__u16 minute;
	__u16 second;
	__u16 milliseconds;
};

NTKLOG_ASSERT_SIZE(struct ntklog_systemtime, 0x10);

/**
 * struct ntklog_time_zone_information - NT's TIME_ZONE_INFORMATION
 * @bias: minutes from local time to UTC
 * @standard_name: UTF-16
 * @standard_date: when standard time begins
 * @standard_bias: minutes
 * @daylight_name: UTF-16
 * @daylight_date: when summer time begins
 * @daylight_bias: minutes
 */
struct ntklog_time_zone_information {
	__s32 bias;
	__u16 standard_name[32];
	struct ntklog_systemtime standard_date;
	__s32 standard_bias;
	__u16 daylight_name[32];
	struct ntklog_systemtime daylight_date;
	__s32 daylight_bias;
};

NTKLOG_ASSERT_SIZE(struct ntklog_time_zone_information, 0xAC);
NTKLOG_ASSERT_OFFSET(struct ntklog_time_zone_information, standard_name, 0x04);
NTKLOG_ASSERT_OFFSET(struct ntklog_time_zone_information, standard_date, 0x44);
NTKLOG_ASSERT_OFFSET(struct ntklog_time_zone_information, standard_bias, 0x54);
NTKLOG_ASSERT_OFFSET(struct ntklog_time_zone_information, daylight_name, 0x58);
NTKLOG_ASSERT_OFFSET(struct ntklog_time_zone_information, daylight_date, 0x98);
NTKLOG_ASSERT_OFFSET(struct ntklog_time_zone_information, daylight_bias, 0xA8);

/**
 * struct trace_logfile_header64 - NT's TRACE_LOGFILE_HEADER with 64-bit pointers
 * @buffer_size: bytes of each buffer of the file
 * @major_version: 10
 * @minor_version: 0
 * @sub_version: 1
 * @sub_minor_version: 5
 * @version: the four above as one word
 * @provider_version: build number of the system
 * @number_of_processors: processors that buffers can name
 * @end_time: FILETIME of the session's end
 * @timer_resolution: 100 ns units
 * @maximum_file_size: MiB, 0 no limit
 * @log_file_mode: EVENT_TRACE_*_MODE
 * @buffers_written: buffers of the file, this one included
 * @start_buffers: 1
 * @pointer_size: 8 or 4
 * @events_lost: events that found no buffer
 * @cpu_speed_in_mhz: of the TSC; 0 where the clock is not the processor's
 * @logger_name: not meaningful in a file
 * @log_file_name: not meaningful in a file
 * @time_zone: how local time relates to UTC
 * @padding: for the alignment of the next
 * @boot_time: FILETIME
 * @perf_freq: ticks of the session clock per second
 * @start_time: FILETIME of the session's start
 * @reserved_flags: clock type, ETW_CLOCK_*
 * @buffers_lost: buffers that could not be written
 *
 * Two names in UTF-16, each ended by a NUL, follow: logger, then file.
 */
struct trace_logfile_header64 {
	__u32 buffer_size;
	union {
		struct {
			__u8 major_version;
			__u8 minor_version;
			__u8 sub_version;
			__u8 sub_minor_version;
		};
		__u32 version;
	};
	__u32 provider_version;
	__u32 number_of_processors;
	__s64 end_time;
	__u32 timer_resolution;
	__u32 maximum_file_size;
	__u32 log_file_mode;
	__u32 buffers_written;
	__u32 start_buffers;
	__u32 pointer_size;
	__u32 events_lost;
	__u32 cpu_speed_in_mhz;
	__u64 logger_name;
	__u64 log_file_name;
	struct ntklog_time_zone_information time_zone;
	__u32 padding;
	__s64 boot_time;
	__s64 perf_freq;
	__s64 start_time;
	__u32 reserved_flags;
	__u32 buffers_lost;
};

NTKLOG_ASSERT_SIZE(struct trace_logfile_header64, 0x118);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, buffer_size, 0x00);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, version, 0x04);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, provider_version, 0x08);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, number_of_processors, 0x0C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, end_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, timer_resolution, 0x18);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, maximum_file_size, 0x1C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, log_file_mode, 0x20);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, buffers_written, 0x24);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, start_buffers, 0x28);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, pointer_size, 0x2C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, events_lost, 0x30);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, cpu_speed_in_mhz, 0x34);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, logger_name, 0x38);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, log_file_name, 0x40);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, time_zone, 0x48);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, padding, 0xF4);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, boot_time, 0xF8);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, perf_freq, 0x100);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, start_time, 0x108);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, reserved_flags, 0x110);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header64, buffers_lost, 0x114);

/**
 * struct trace_logfile_header32 - NT's TRACE_LOGFILE_HEADER with 32-bit pointers
 * @buffer_size: as in struct trace_logfile_header64, and so are all the others
 * @major_version: see there
 * @minor_version: see there
 * @sub_version: see there
 * @sub_minor_version: see there
 * @version: see there
 * @provider_version: see there
 * @number_of_processors: see there
 * @end_time: see there
 * @timer_resolution: see there
 * @maximum_file_size: see there
 * @log_file_mode: see there
 * @buffers_written: see there
 * @start_buffers: see there
 * @pointer_size: see there
 * @events_lost: see there
 * @cpu_speed_in_mhz: see there
 * @logger_name: see there
 * @log_file_name: see there
 * @time_zone: see there
 * @padding: see there
 * @boot_time: see there
 * @perf_freq: see there
 * @start_time: see there
 * @reserved_flags: see there
 * @buffers_lost: see there
 */
struct trace_logfile_header32 {
	__u32 buffer_size;
	union {
		struct {
			__u8 major_version;
			__u8 minor_version;
			__u8 sub_version;
			__u8 sub_minor_version;
		};
		__u32 version;
	};
	__u32 provider_version;
	__u32 number_of_processors;
	__s64 end_time;
	__u32 timer_resolution;
	__u32 maximum_file_size;
	__u32 log_file_mode;
	__u32 buffers_written;
	__u32 start_buffers;
	__u32 pointer_size;
	__u32 events_lost;
	__u32 cpu_speed_in_mhz;
	__u32 logger_name;
	__u32 log_file_name;
	struct ntklog_time_zone_information time_zone;
	__u32 padding;
	__s64 boot_time;
	__s64 perf_freq;
	__s64 start_time;
	__u32 reserved_flags;
	__u32 buffers_lost;
};

NTKLOG_ASSERT_SIZE(struct trace_logfile_header32, 0x110);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, buffer_size, 0x00);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, version, 0x04);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, provider_version, 0x08);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, number_of_processors, 0x0C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, end_time, 0x10);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, timer_resolution, 0x18);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, maximum_file_size, 0x1C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, log_file_mode, 0x20);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, buffers_written, 0x24);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, start_buffers, 0x28);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, pointer_size, 0x2C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, events_lost, 0x30);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, cpu_speed_in_mhz, 0x34);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, logger_name, 0x38);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, log_file_name, 0x3C);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, time_zone, 0x40);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, padding, 0xEC);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, boot_time, 0xF0);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, perf_freq, 0xF8);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, start_time, 0x100);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, reserved_flags, 0x108);
NTKLOG_ASSERT_OFFSET(struct trace_logfile_header32, buffers_lost, 0x10C);

#endif /* _UAPI_NTKLOG_LOGFILE_H */
