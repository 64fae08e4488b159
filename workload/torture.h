/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_H
#define _NTKLOG_TORTURE_H

/* What the two drivers of ntklog_torture share: parameters, chance and verdict. */

#include <linux/atomic.h>
#include <linux/prandom.h>
#include <linux/printk.h>
#include <linux/types.h>

#define TORTURE_LOCKS_MAX	16
#define TORTURE_USERS_MAX	256

/**
 * struct torture_parameters - what the user asked for
 * @threads: that take locks
 * @softirqs: timers in softirq on each processor
 * @interval_us: between two runs of a timer
 * @locks: how many
 * @nest: most of them that a thread owns at once
 * @hold_us: longest time that they are held
 * @stall_ms: that one of them owns what it has once
 * @seed: of the random numbers
 */
struct torture_parameters {
	int threads;
	int softirqs;
	int interval_us;
	int locks;
	int nest;
	int hold_us;
	int stall_ms;
	int seed;
};

/* The first failure is the one that is told, also if the test never ends. */
extern atomic_t torture_failures;
extern char torture_failure[160];

#define torture_fail(fmt, ...)						\
do {									\
	if (atomic_inc_return(&torture_failures) == 1) {		\
		snprintf(torture_failure, sizeof(torture_failure), fmt,	\
			 ##__VA_ARGS__);				\
		pr_alert("FAILURE: " fmt "\n", ##__VA_ARGS__);		\
	}								\
} while (0)

static inline u32 torture_random(struct rnd_state *random, u32 below)
{
	return prandom_u32_state(random) % below;
}

int torture_start_resources(const struct torture_parameters *parameters);
void torture_stop_resources(void);
u64 torture_check_resources(char *text, size_t size);

#endif /* _NTKLOG_TORTURE_H */
