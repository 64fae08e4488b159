/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RELEASE_COUNT_H
#define _NTKLOG_PERF_RELEASE_COUNT_H

/*
 * Count of the final releases of resources, or of Linux' sleeping locks. Every Nth release of a CPU
 * is sampled, N being NT's ReleaseSamplingRate. A release decrements a countdown with one
 * instruction. Only a release that finds the countdown expired takes the slow path, which divides.
 */

#include <linux/types.h>

#include "this_cpu.h"

/**
 * struct ntklog_release_count - releases on a CPU
 * @countdown: number of releases before the sampled one; negative once that one has been counted
 * @due_at: number of the release at which @countdown becomes -1; a multiple of the rate, unless
 *	the rate exceeds the longest countdown
 *
 * The number of releases is @due_at - 1 - @countdown.
 *
 * The CPU itself writes both: @due_at with interrupts off, @countdown also by the decrement. For
 * an offline CPU, the task that changes the rate writes them. Any CPU may read them. A task may be
 * preempted or interrupted after its decrement; another release may then restart the countdown.
 * Exactly one release finds each multiple.
 */
struct ntklog_release_count {
	s32 countdown;
	u64 due_at;
};

/**
 * ntklog_count_down_release() - count a release
 * @_count: a per-CPU struct ntklog_release_count
 *
 * Context: any; also preemptible.
 * Return: true if the countdown has expired: call ntklog_release_countdown_expired().
 */
#define ntklog_count_down_release(_count)	ntklog_this_cpu_dec_is_negative((_count).countdown)

/**
 * ntklog_number_of_releases() - return the number of releases on a CPU
 * @count: count of any CPU
 *
 * Context: any. On another CPU the value may be wrong by the length of a countdown, if it is being
 * restarted.
 * Return: number of releases.
 */
static inline u64 ntklog_number_of_releases(const struct ntklog_release_count *count)
{
	return READ_ONCE(count->due_at) - 1 - READ_ONCE(count->countdown);
}

void ntklog_restart_release_countdown(struct ntklog_release_count *count, u64 released);
bool ntklog_release_countdown_expired(struct ntklog_release_count *count);

#endif /* _NTKLOG_PERF_RELEASE_COUNT_H */
