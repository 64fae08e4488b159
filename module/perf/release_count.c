// SPDX-License-Identifier: GPL-2.0-only
/* Slow path of release_count.h: the sampling rules, and the restart of the countdown. */

#include <linux/bits.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <uapi/ntklog/wmi_resource.h>

#include "release_count.h"
#include "resource_parameters.h"

/* If the sample rate is higher, the countdown expires before the sampled release, and restarts. */
#define NTKLOG_LONGEST_COUNTDOWN	BIT(30)

/**
 * ntklog_restart_release_countdown() - set the countdown to the next multiple of the sample rate
 * @count: count of this CPU, or of an offline CPU; at module load, of any CPU
 * @release_number: number of releases so far
 *
 * Context: interrupts off; or module load, before any release is counted.
 */
void ntklog_restart_release_countdown(struct ntklog_release_count *count, u64 release_number)
{
	u32 rate = READ_ONCE(ntklog_resource_parameter_values.release_sampling_rate);
	u64 remaining_releases;

	remaining_releases = (div_u64(release_number, rate) + 1) * rate - release_number;
	remaining_releases = min_t(u64, remaining_releases, NTKLOG_LONGEST_COUNTDOWN);
	WRITE_ONCE(count->sample_at_count, release_number + remaining_releases);
	WRITE_ONCE(count->countdown, remaining_releases - 1);
}

/*
 * Restart the countdown if it has expired. Returns true if the countdown samples this release.
 * Called with interrupts off.
 */
static bool ntklog_sample_by_countdown(struct ntklog_release_count *count)
{
	u32 rate = READ_ONCE(ntklog_resource_parameter_values.release_sampling_rate), remainder;
	/* With rate 1 every release is sampled, also one that finds the countdown restarted. */
	bool is_sampled = rate == 1;

	if (count->countdown < 0) {
		div_u64_rem(count->sample_at_count, rate, &remainder);
		is_sampled |= !remainder;
		ntklog_restart_release_countdown(count, ntklog_get_release_count(count));
	}
	return is_sampled;
}

/**
 * ntklog_sample_release() - decide by NT's rules for resources whether a release is sampled
 * @count: count of this CPU, which includes the release
 * @wait_time: duration of the wait, in cycles; at most WMI_RESOURCE_WAIT_TIME_UNKNOWN if unknown
 * @contention_delta: number of waits that began during the hold
 *
 * Context: preemption off.
 * Return: true if a rule samples the release.
 */
bool ntklog_sample_release(struct ntklog_release_count *count, u64 wait_time, u32 contention_delta)
{
	u32 contention_rate = READ_ONCE(ntklog_resource_parameter_values.contention_sampling_rate);
	unsigned long flags;
	u32 remainder;
	bool is_sampled;
	u64 release_number;

	local_irq_save(flags);
	release_number = ntklog_get_release_count(count);
	is_sampled = ntklog_sample_by_countdown(count);
	local_irq_restore(flags);
	div_u64_rem(release_number, contention_rate, &remainder);
	if (wait_time > WMI_RESOURCE_WAIT_TIME_UNKNOWN && !remainder)
		return true;
	return is_sampled || (contention_delta && contention_delta % contention_rate == 0);
}
