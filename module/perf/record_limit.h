/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RECORD_LIMIT_H
#define _NTKLOG_PERF_RECORD_LIMIT_H

/* Limit of the records that are written only because a release leaves a waiter behind. */

#include <linux/jiffies.h>
#include <linux/types.h>

/* Up to 10,000 records a second and CPU, in windows of a tenth of a second. */
#define PERF_RECORD_WINDOW_JIFFIES	(HZ / 10)
#define PERF_RECORDS_PER_WINDOW		1000

/**
 * struct ntklog_record_limit - records of the current window on a CPU
 * @window_end_jiffies: end of the current window, in jiffies
 * @records_left: number of records that may still be written in the window
 * @dropped_records: records that exceeded the limit, since the module was loaded
 *
 * Written by its CPU only, with interrupts off and not in an NMI. Any CPU may read
 * @dropped_records.
 */
struct ntklog_record_limit {
	unsigned long window_end_jiffies;
	u32 records_left;
	u64 dropped_records;
};

/**
 * ntklog_admit_record() - count a record in the current window
 * @limit: limit of this CPU
 *
 * Context: interrupts off; not NMI.
 * Return: true if the record may be written; false if the limit is exceeded.
 */
static inline bool ntklog_admit_record(struct ntklog_record_limit *limit)
{
	unsigned long now = jiffies;

	/* The last window has ended, or no window has begun since module load. */
	if (limit->window_end_jiffies - now - 1 >= PERF_RECORD_WINDOW_JIFFIES) {
		limit->window_end_jiffies = now + PERF_RECORD_WINDOW_JIFFIES;
		limit->records_left = PERF_RECORDS_PER_WINDOW;
	}
	if (!limit->records_left) {
		WRITE_ONCE(limit->dropped_records, limit->dropped_records + 1);
		return false;
	}
	limit->records_left--;
	return true;
}

#endif /* _NTKLOG_PERF_RECORD_LIMIT_H */
