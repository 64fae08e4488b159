// SPDX-License-Identifier: GPL-2.0-only

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/printk.h>

#include "torture_common.h"

static atomic_t failures = ATOMIC_INIT(0);
/* Written by the caller whose failure was the first; read after all users have stopped. */
static char first_failure[160];

/**
 * torture_fail() - count a failure, and print it if it is the first
 * @fmt: format of the message, without a newline
 *
 * The function prints the message itself, because a broken lock may keep the test from ending.
 *
 * Context: any.
 */
void torture_fail(const char *fmt, ...)
{
	va_list args;

	if (atomic_inc_return(&failures) != 1)
		return;
	va_start(args, fmt);
	vsnprintf(first_failure, sizeof(first_failure), fmt, args);
	va_end(args);
	pr_alert("FAILURE: %s\n", first_failure);
}

/**
 * torture_get_failures() - get the verdict of the test
 * @first: set to the message of the first failure; empty if there was none
 *
 * Context: after all users have stopped.
 * Return: number of failures.
 */
int torture_get_failures(const char **first)
{
	*first = first_failure;
	return atomic_read(&failures);
}

/**
 * torture_start_timer() - start a user's timer on the calling CPU
 * @timer: prepared by hrtimer_setup()
 * @interval_us: microseconds
 * @mode: HRTIMER_MODE_REL_PINNED_SOFT or HRTIMER_MODE_REL_PINNED_HARD
 *
 * Context: any, preemption disabled.
 */
void torture_start_timer(struct hrtimer *timer, int interval_us, enum hrtimer_mode mode)
{
	hrtimer_start(timer, ns_to_ktime(interval_us * NSEC_PER_USEC), mode);
}

/**
 * torture_forward_timer() - let a timer expire again after a random time
 * @timer: timer whose callback calls this function
 * @interval_us: mean time until it expires, microseconds
 * @random: random numbers of the user
 *
 * The time is random, so that two timers do not stay in step with each other.
 *
 * Context: callback of @timer.
 */
void torture_forward_timer(struct hrtimer *timer, int interval_us, struct rnd_state *random)
{
	u64 delay_us = interval_us / 2 + torture_random(random, interval_us);

	hrtimer_forward_now(timer, ns_to_ktime(delay_us * NSEC_PER_USEC));
}
