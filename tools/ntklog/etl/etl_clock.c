// SPDX-License-Identifier: GPL-2.0-only
/* The session clock and the wall's. */

#include "etl_reader.h"

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
