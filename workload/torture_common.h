/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_COMMON_H
#define _NTKLOG_TORTURE_COMMON_H

/*
 * A "user" is a thread or timer that acquires locks. A "nest" is the set of locks that a user holds
 * at the same time.
 */

#include <linux/hrtimer.h>
#include <linux/prandom.h>
#include <linux/types.h>

#define TORTURE_LOCKS_MAX	16
#define TORTURE_USERS_MAX	256

/*
 * @softirqs: timers on each CPU
 * @hardirqs: timers on each CPU; spin locks only
 * @interval_us: mean time between two expiries of a timer, microseconds
 * @lock_count: at most TORTURE_LOCKS_MAX
 * @nest: maximum number of locks in a thread's nest, unless it tries to acquire all resources
 * @hold_us: maximum delay while a nest of locks is held, microseconds
 * @stall_ms: time that one thread sleeps once while it holds a resource, milliseconds
 * @out_of_order: release about a third of the nests in random order; spin locks only
 */
struct torture_parameters {
	int threads;
	int softirqs;
	int hardirqs;
	int interval_us;
	int lock_count;
	int nest;
	int hold_us;
	int stall_ms;
	bool out_of_order;
	int seed;
};

static inline u32 torture_random(struct rnd_state *random, u32 bound)
{
	return prandom_u32_state(random) % bound;
}

__printf(1, 2) void torture_fail(const char *fmt, ...);
int torture_get_failures(const char **first);
void torture_start_timer(struct hrtimer *timer, int interval_us, enum hrtimer_mode mode);
void torture_forward_timer(struct hrtimer *timer, int interval_us, struct rnd_state *random);

#endif /* _NTKLOG_TORTURE_COMMON_H */
