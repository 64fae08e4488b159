// SPDX-License-Identifier: GPL-2.0-only

#include "etl_reader.h"

/**
 * etl_seconds() - convert a time to seconds
 * @file: open file
 * @time_stamp: session clock
 *
 * Return: seconds since the start of the session; negative before it.
 */
double etl_seconds(const struct etl_file *file, uint64_t time_stamp)
{
	/* The difference is signed, because an event may be a little before the start. */
	return (double)(int64_t)(time_stamp - file->start_clock) / (double)file->perf_freq;
}

/**
 * etl_unix_time() - convert a time to the wall clock
 * @file: open file
 * @time_stamp: session clock
 *
 * Return: units of 100 ns since 1970, or 0 if the file has no possible start time.
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
 * etl_cycles_ns() - convert cycles, in which the times of locks are
 * @file: open file
 * @cycles: number of cycles
 *
 * Return: nanoseconds.
 */
double etl_cycles_ns(const struct etl_file *file, double cycles)
{
	return cycles * 1e9 / (double)file->cycle_freq;
}
