/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STEP_WATCH_H
#define _NTKLOG_STEP_WATCH_H

/*
 * Recognize sampling that may be in step with a loop.
 *
 * NT's rule writes each Nth acquisition of a CPU. If the CPU repeats a loop of L acquisitions, and
 * L and N have a common divisor above 1, only some of the L are ever written, always in the same
 * order. The estimates of the written ones are too large, and the other ones are missing. A loop
 * with a single acquisition causes the same records, and its estimate is right. So the sampling of
 * a repeated sequence may be in step, but need not be.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest sequence of records whose repetition is recognized. */
#define STEP_PERIODS_MAX	8

/*
 * @last_keys: key of each record, by its number modulo STEP_PERIODS_MAX
 * @repeat_counts: number of records in a row with the key of the record P + 1 earlier, for each P
 */
struct step_watch_cpu {
	uint64_t last_keys[STEP_PERIODS_MAX];
	uint8_t repeat_counts[STEP_PERIODS_MAX];
	uint64_t record_count;
};

struct step_watch {
	struct step_watch_cpu *cpus;
	size_t cpu_count;
};

bool step_rate_fits_loops(uint32_t rate);
bool step_watch_add(struct step_watch *watch, unsigned int cpu, uint64_t key, bool *in_step);
void step_watch_free(struct step_watch *watch);

#endif /* _NTKLOG_STEP_WATCH_H */
