/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RELEASE_COUNT_H
#define _NTKLOG_PERF_RELEASE_COUNT_H

/*
 * Count of the final releases of resources, or of Linux' sleeping locks. A countdown selects every
 * Nth release of a CPU, N being NT's ReleaseSamplingRate.
 */

#include <linux/types.h>

#include "this_cpu.h"

/**
 * struct ntklog_release_count - releases on a CPU
 * @countdown: number of releases before the one that restarts it; may be negative
 * @sample_at_count: number of the release that makes @countdown -1
 *
 * The number of releases is @sample_at_count - 1 - @countdown.
 *
 * After module load the CPU itself writes both members. The task that changes the rate writes those
 * of offline CPUs.
 * Any CPU may read them. A task may be preempted or interrupted after its decrement, and another
 * release may then restart the countdown.
 */
struct ntklog_release_count {
	s32 countdown;
	u64 sample_at_count;
};

/**
 * ntklog_count_down_release() - count a release
 * @_count: a per-CPU struct ntklog_release_count
 *
 * Context: any; also preemptible.
 * Return: true if the countdown has expired: call ntklog_sample_release().
 */
#define ntklog_count_down_release(_count)	ntklog_this_cpu_dec_is_negative((_count).countdown)

/**
 * ntklog_get_release_count() - return the number of releases on a CPU
 * @count: count of any CPU
 *
 * Context: any. For another CPU the value may be wrong while that CPU restarts its countdown.
 * Return: number of releases.
 */
static inline u64 ntklog_get_release_count(const struct ntklog_release_count *count)
{
	return READ_ONCE(count->sample_at_count) - 1 - READ_ONCE(count->countdown);
}

void ntklog_restart_release_countdown(struct ntklog_release_count *count, u64 release_number);
bool ntklog_sample_release(struct ntklog_release_count *count, u64 wait_time, u32 contention_delta);

#endif /* _NTKLOG_PERF_RELEASE_COUNT_H */
