// SPDX-License-Identifier: GPL-2.0-only
/* The seldom half of release_count.h: what to do when a count has come to its end. */

#include <linux/bits.h>
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "../compat.h"
#include "release_count.h"
#include "resource_parameters.h"

/* The most releases that are counted down at once: then it is looked at again. */
#define NTKLOG_LONGEST_COUNTDOWN	BIT(30)

/**
 * ntklog_restart_release_countdown() - count down to the next multiple of the rate
 * @count: of this processor, or of one that is offline
 * @released: after so many releases
 *
 * Context: interrupts off.
 */
void ntklog_restart_release_countdown(struct ntklog_release_count *count, u64 released)
{
	u32 rate = READ_ONCE(ntklog_resource_words.release_sampling_rate);
	u64 left;

	left = (div_u64(released, rate) + 1) * rate - released;
	left = min_t(u64, left, NTKLOG_LONGEST_COUNTDOWN);
	WRITE_ONCE(count->multiple, released + left);
	WRITE_ONCE(count->left, left - 1);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_restart_release_countdown);

/**
 * ntklog_release_countdown_expired() - is the release that has just been counted the one to be
 * sampled?
 * @count: of this processor
 *
 * Context: interrupts off.
 * Return: whether it is; or one was before it that another has not seen.
 */
bool ntklog_release_countdown_expired(struct ntklog_release_count *count)
{
	u32 rate = READ_ONCE(ntklog_resource_words.release_sampling_rate), rest;
	/* Each is one, also of two that have both counted below 0. */
	bool is_multiple = rate == 1;

	if (count->left < 0) {
		div_u64_rem(count->multiple, rate, &rest);
		is_multiple |= !rest;
		ntklog_restart_release_countdown(count, ntklog_releases(count));
	}
	return is_multiple;
}
