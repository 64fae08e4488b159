// SPDX-License-Identifier: GPL-2.0-only

#include "budget.h"

/* Intervals below half of the budget before a lower rate, and before a richer mode, is tried. */
#define QUIET_INTERVALS	3
#define PATIENCE_MIN	6
#define PATIENCE_MAX	384

/* Share of the budget that a step aims at. */
#define AIM		.75

/**
 * budget_multiplier() - compute the factor of the rates
 * @budget: the choice
 *
 * Return: the factor, 1 or more.
 */
unsigned int budget_multiplier(const struct budget *budget)
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
static void leave_mode(struct budget *budget)
{
	if (budget->since_mode <= budget->patience) {
		budget->patience *= 2;
		if (budget->patience > PATIENCE_MAX)
			budget->patience = PATIENCE_MAX;
	} else {
		budget->patience = PATIENCE_MIN;
	}
	budget->mode++;
}

static enum recording_change step_down(struct budget *budget, double hooks, double events)
{
	budget->quiet = 0;
	if (budget->rate_step < BUDGET_RATE_STEPS &&
	    (events >= hooks || budget->mode + 1 == budget->modes)) {
		do {
			budget->rate_step++;
			events /= BUDGET_RATE_FACTOR;
		} while (budget->rate_step < BUDGET_RATE_STEPS &&
			 hooks + events > AIM * budget->limit);
		return BUDGET_DOWN;
	}
	if (budget->mode + 1 == budget->modes)
		return BUDGET_STAYS;
	leave_mode(budget);
	return BUDGET_DOWN;
}

static enum recording_change step_up(struct budget *budget, double hooks, double events)
{
	if (budget->rate_step) {
		if (budget->quiet < QUIET_INTERVALS ||
		    hooks + events * BUDGET_RATE_FACTOR > AIM * budget->limit)
			return BUDGET_STAYS;
		budget->rate_step--;
	} else {
		if (!budget->mode || budget->quiet < budget->patience)
			return BUDGET_STAYS;
		budget->mode--;
		budget->since_mode = 0;
	}
	budget->quiet = 0;
	return BUDGET_UP;
}

/**
 * budget_step() - choose the mode and the rates of the next interval
 * @budget: the choice to change
 * @hooks: overhead of the hooks in the interval, as a share of the time of all CPUs
 * @events: overhead of the events, with the reader of the events
 *
 * Return: enum recording_change.
 */
enum recording_change budget_step(struct budget *budget, double hooks, double events)
{
	if (!budget->patience)
		budget->patience = PATIENCE_MIN;
	budget->since_mode++;
	if (hooks + events > budget->limit)
		return step_down(budget, hooks, events);
	if (hooks + events > budget->limit / 2) {
		budget->quiet = 0;
		return BUDGET_STAYS;
	}
	budget->quiet++;
	return step_up(budget, hooks, events);
}
