/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_LOGFILE_H
#define _UAPI_NTKLOG_LOGFILE_H

/* Contents of the first buffer of an ETL file. */

#include <ntklog/event.h>
#include <ntklog/group_mask.h>

/* Hook IDs and versions of the events in the first buffer, in their order. */
#define EVENT_TRACE_TYPE_LOGFILE_HEADER		0x0000
#define EVENT_TRACE_TYPE_GROUP_MASK		0x0005
#define EVENT_TRACE_TYPE_HEADER_EXTENSION	0x0050
#define EVENT_TRACE_HEADER_VERSION		2

/* Size of the data of EVENT_TRACE_TYPE_HEADER_EXTENSION, which are zero. */
#define EVENT_TRACE_HEADER_EXTENSION_SIZE	0x30

/* log_file_mode */
#define EVENT_TRACE_FILE_MODE_SEQUENTIAL	0x00000001
#define EVENT_TRACE_BUFFERING_MODE		0x00000400
#define EVENT_TRACE_SYSTEM_LOGGER_MODE		0x02000000

/* 1970-01-01 as a FILETIME, which is the number of 100 ns since 1601-01-01. */
#define FILETIME_UNIX_EPOCH			116444736000000000LL

/* Data of EVENT_TRACE_TYPE_GROUP_MASK. */
struct trace_group_mask_event {
	struct perfinfo_groupmask group_mask;
	__u32 event_version;
};

NTKLOG_ASSERT_SIZE(struct trace_group_mask_event, 0x24);
NTKLOG_ASSERT_OFFSET(struct trace_group_mask_event, event_version, 0x20);

/*
 * NT's SYSTEMTIME: start of summer time or of standard time. @year 0: every year. @month 0: no
 * summer time. @day_of_week 0: Sunday. @day: which of these days of the month.
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

/* NT's TIME_ZONE_INFORMATION: biases in minutes, UTC minus local time; names in UTF-16. */
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
 * @buffer_size: size of each buffer of the file in bytes
 * @major_version: 10
 * @minor_version: 0
 * @sub_version: 1
 * @sub_minor_version: 5
 * @version: the four members above as one word
 * @provider_version: build number of the system
 * @number_of_processors: number of CPUs that may have buffers
 * @end_time: FILETIME of the session's end
 * @timer_resolution: in units of 100 ns
 * @maximum_file_size: in MiB; 0: no limit
 * @log_file_mode: EVENT_TRACE_*MODE*
 * @buffers_written: number of buffers of the file, with this one
 * @start_buffers: 1
 * @pointer_size: 8 or 4
 * @events_lost: number of lost events
 * @cpu_speed_in_mhz: frequency of the TSC; 0 if the clock does not count cycles of the CPU
 * @logger_name: has no meaning in a file
 * @log_file_name: has no meaning in a file
 * @time_zone: relation of local time to UTC
 * @padding: aligns @boot_time
 * @boot_time: FILETIME of the boot
 * @perf_freq: ticks of the session clock per second
 * @start_time: FILETIME of the session's start
 * @reserved_flags: clock type, ETW_CLOCK_*
 * @buffers_lost: number of buffers that are not in the file. In files of ntklog: buffers that the
 *	session has overwritten, and in a snapshot those that it was filling
 *
 * Two UTF-16 strings with a terminating NUL follow: the name of the logger and that of the file.
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

/* NT's TRACE_LOGFILE_HEADER with 32-bit pointers, and the members of trace_logfile_header64. */
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
