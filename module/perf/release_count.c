// SPDX-License-Identifier: GPL-2.0-only
/* Slow path of release_count.h: the countdown has expired. */

#include <linux/bits.h>
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "../ground/compat.h"
#include "release_count.h"
#include "resource_parameters.h"

/* Longest countdown. When it expires before a sampled release, it is restarted. */
#define NTKLOG_LONGEST_COUNTDOWN	BIT(30)

/**
 * ntklog_restart_release_countdown() - set the countdown to the next multiple of the sample rate
 * @count: count of this CPU, or of an offline CPU
 * @released: number of releases so far
 *
 * Context: interrupts off.
 */
void ntklog_restart_release_countdown(struct ntklog_release_count *count, u64 released)
{
	u32 rate = READ_ONCE(ntklog_resource_parameter_values.release_sampling_rate);
	u64 remaining;

	remaining = (div_u64(released, rate) + 1) * rate - released;
	remaining = min_t(u64, remaining, NTKLOG_LONGEST_COUNTDOWN);
	WRITE_ONCE(count->due_at, released + remaining);
	WRITE_ONCE(count->countdown, remaining - 1);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_restart_release_countdown);

/**
 * ntklog_release_countdown_expired() - decide whether the release just counted is sampled
 * @count: count of this CPU
 *
 * Restarts the countdown if it has expired.
 *
 * Context: interrupts off.
 * Return: true if this release is sampled: its number is a multiple of the rate, or it is the first
 * to find an earlier multiple. With rate 1 every release is sampled.
 */
bool ntklog_release_countdown_expired(struct ntklog_release_count *count)
{
	u32 rate = READ_ONCE(ntklog_resource_parameter_values.release_sampling_rate), rest;
	/*
	 * With rate 1 every release is sampled, also the second of two that found the count below
	 * 0.
	 */
	bool is_multiple = rate == 1;

	if (count->countdown < 0) {
		div_u64_rem(count->due_at, rate, &rest);
		is_multiple |= !rest;
		ntklog_restart_release_countdown(count, ntklog_number_of_releases(count));
	}
	return is_multiple;
}
