/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_BUDGET_H
#define _NTKLOG_BUDGET_H

/*
 * The choice of a mode and of the rates that keep the overhead below a budget. The overhead of an
 * interval has two parts: hooks cost something at each acquisition, which only a cheaper mode
 * reduces; events cost something where one is written, which higher rates reduce.
 *
 * A step down, to less overhead, follows an interval that exceeds the budget. A step up needs
 * several intervals in a row below half of the budget. A step to a richer mode needs more of them
 * than one to lower rates, and twice as many, up to a limit, each time when a richer mode was left
 * soon after it was tried.
 */

#include <stdbool.h>

/* Rates are multiplied by BUDGET_RATE_FACTOR to the power of 0 to BUDGET_RATE_STEPS. */
#define BUDGET_RATE_FACTOR	4
#define BUDGET_RATE_STEPS	6

/*
 * The present choice.
 * @overhead_limit: greatest overhead, as a share of the time of all CPUs
 * @mode_count: number of modes, the richest first
 * @quiet_intervals: intervals in a row below half of @overhead_limit, since the last change
 * @intervals_since_mode: intervals since a richer mode was chosen
 * @patience_intervals: intervals before a richer mode is tried; 0 before the first interval
 */
struct overhead_budget {
	double overhead_limit;
	unsigned int mode_count;
	unsigned int mode;
	unsigned int rate_step;
	unsigned int quiet_intervals;
	unsigned int intervals_since_mode;
	unsigned int patience_intervals;
};

enum budget_change {
	BUDGET_STAYS,
	BUDGET_DOWN,
	BUDGET_UP,
};

unsigned int budget_multiplier(const struct overhead_budget *budget);
enum budget_change budget_take_step(struct overhead_budget *budget, double hooks, double events);

#endif /* _NTKLOG_BUDGET_H */
