// SPDX-License-Identifier: GPL-2.0-only

#include "budget.h"

/* Intervals below half of the budget before a lower rate, and before a richer mode, is tried. */
#define QUIET_INTERVALS	3
#define PATIENCE_MIN	6
#define PATIENCE_MAX	384

/* Share of the budget that a step aims at. */
#define AIMED_SHARE	.75

/**
 * budget_multiplier() - compute the factor of the rates
 * @budget: the choice
 *
 * Return: the factor, 1 or more.
 */
unsigned int budget_multiplier(const struct overhead_budget *budget)
{
	unsigned int multiplier = 1, i;

	for (i = 0; i < budget->rate_step; i++)
		multiplier *= BUDGET_RATE_FACTOR;
	return multiplier;
}

/*
 * Leave a mode that is too expensive. If it was entered lately, the next try must wait twice as
 * long.
 */
static void leave_mode(struct overhead_budget *budget)
{
	if (budget->intervals_since_mode <= budget->patience_intervals) {
		budget->patience_intervals *= 2;
		if (budget->patience_intervals > PATIENCE_MAX)
			budget->patience_intervals = PATIENCE_MAX;
	} else {
		budget->patience_intervals = PATIENCE_MIN;
	}
	budget->mode++;
}

static enum budget_change step_down(struct overhead_budget *budget, double hooks, double events)
{
	budget->quiet_intervals = 0;
	if (budget->rate_step < BUDGET_RATE_STEPS &&
	    (events >= hooks || budget->mode + 1 == budget->mode_count)) {
		do {
			budget->rate_step++;
			events /= BUDGET_RATE_FACTOR;
		} while (budget->rate_step < BUDGET_RATE_STEPS &&
			 hooks + events > AIMED_SHARE * budget->overhead_limit);
		return BUDGET_DOWN;
	}
	if (budget->mode + 1 == budget->mode_count)
		return BUDGET_STAYS;
	leave_mode(budget);
	return BUDGET_DOWN;
}

static enum budget_change step_up(struct overhead_budget *budget, double hooks, double events)
{
	if (budget->rate_step) {
		if (budget->quiet_intervals < QUIET_INTERVALS ||
		    hooks + events * BUDGET_RATE_FACTOR > AIMED_SHARE * budget->overhead_limit)
			return BUDGET_STAYS;
		budget->rate_step--;
	} else {
		if (!budget->mode || budget->quiet_intervals < budget->patience_intervals)
			return BUDGET_STAYS;
		budget->mode--;
		budget->intervals_since_mode = 0;
	}
	budget->quiet_intervals = 0;
	return BUDGET_UP;
}

/**
 * budget_take_step() - choose the mode and the rates of the next interval
 * @budget: the choice to change
 * @hooks: overhead of the hooks in the interval, as a share of the time of all CPUs
 * @events: overhead of the events, with the reader of the events
 *
 * Return: enum budget_change.
 */
enum budget_change budget_take_step(struct overhead_budget *budget, double hooks, double events)
{
	if (!budget->patience_intervals)
		budget->patience_intervals = PATIENCE_MIN;
	budget->intervals_since_mode++;
	if (hooks + events > budget->overhead_limit)
		return step_down(budget, hooks, events);
	if (hooks + events > budget->overhead_limit / 2) {
		budget->quiet_intervals = 0;
		return BUDGET_STAYS;
	}
	budget->quiet_intervals++;
	return step_up(budget, hooks, events);
}
