// SPDX-License-Identifier: GPL-2.0-only
/* Sums of records, by their stack. */

#include <stdlib.h>
#include <string.h>

#include "stack_stats.h"

static void add_variance(double *sum, double *greatest, uint64_t value, double variance)
{
	variance *= (double)value * (double)value;
	*sum += variance;
	if (variance > *greatest)
		*greatest = variance;
}

static void add_record(struct stack_sum *sum, const struct stack_record *record)
{
	double variance = weight_variance(record->weight);

	sum->sampled++;
	sum->acquisitions += record->weight;
	sum->variance += variance;
	sum->is_sample |= record->is_sample;
	sum->waits_are_sample |= record->waits_are_sample;
	if (record->has_waited) {
		sum->waited += record->weight;
		sum->wait += (double)record->wait * (double)record->weight;
		add_variance(&sum->wait_variance, &sum->wait_greatest, record->wait, variance);
		sum->waited_variance += variance;
		if (record->wait > sum->wait_max)
			sum->wait_max = record->wait;
	}
	if (record->has_hold) {
		sum->held += record->weight;
		sum->hold += (double)record->hold * (double)record->weight;
		add_variance(&sum->hold_variance, &sum->hold_greatest, record->hold, variance);
		if (record->hold > sum->hold_max)
			sum->hold_max = record->hold;
	}
}

static struct stack_entry *find_stack(struct stack_stats *stats, const struct stack *stack)
{
	size_t size = stack->count * sizeof(*stack->addresses);
	struct stack_entry *entry;

	HASH_FIND(hh, stats->stacks, stack->addresses, size, entry);
	if (entry || HASH_COUNT(stats->stacks) >= STACK_STATS_MAX ||
	    stack->count > STACK_STATS_ADDRESSES_MAX - stats->address_count)
		return entry;
	entry = calloc(1, sizeof(*entry) + size);
	if (!entry)
		goto no_memory;
	entry->count = stack->count;
	memcpy(entry->addresses, stack->addresses, size);
	HASH_ADD_KEYPTR(hh, stats->stacks, entry->addresses, size, entry);
	if (entry->hh.tbl) {
		stats->address_count += entry->count;
		return entry;
	}
	free(entry);
no_memory:
	stats->no_memory = true;
	return NULL;
}

/**
 * stack_stats_add() - add a record
 * @stats: where to
 * @stack: of its event, or NULL: it was to have none
 * @record: weight and times of the record
 */
void stack_stats_add(struct stack_stats *stats, const struct stack *stack,
		     const struct stack_record *record)
{
	struct stack_entry *entry;

	/* Written only because it left a waiter behind: it stands for no acquisition. */
	if (!stack || !record->weight)
		return;
	if (stack->state != STACK_FOUND) {
		add_record(&stats->without, record);
		return;
	}
	entry = find_stack(stats, stack);
	add_record(entry ? &entry->sum : &stats->others, record);
}

/**
 * stack_stats_free() - make it an empty one
 * @stats: whatever it holds
 */
void stack_stats_free(struct stack_stats *stats)
{
	struct stack_entry *entry, *next;

	HASH_ITER(hh, stats->stacks, entry, next) {
		HASH_DEL(stats->stacks, entry);
		free(entry);
	}
	*stats = (struct stack_stats) { 0 };
}
