// SPDX-License-Identifier: GPL-2.0-only

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

	sum->record_count++;
	sum->acquisition_count += record->weight;
	sum->variance += variance;
	sum->is_sampled |= record->is_sampled;
	sum->waits_are_sampled |= record->waits_are_sampled;
	if (record->has_waited) {
		sum->waited_count += record->weight;
		sum->wait_sum += (double)record->wait * (double)record->weight;
		add_variance(&sum->wait_variance, &sum->greatest_wait_variance_part, record->wait,
			     variance);
		sum->waited_variance += variance;
		if (record->wait > sum->wait_max)
			sum->wait_max = record->wait;
	}
	sum->wait_only_count += record->is_wait_only;
	if (record->has_hold) {
		sum->known_hold_count += record->weight;
		sum->hold_sum += (double)record->hold * (double)record->weight;
		add_variance(&sum->hold_variance, &sum->greatest_hold_variance_part, record->hold,
			     variance);
		if (record->hold > sum->hold_max)
			sum->hold_max = record->hold;
	}
}

static struct stack_entry *find_stack(struct stack_stats *stats, const struct stack_stats_key *key,
				      const uint64_t *addresses, size_t count)
{
	union {
		struct stack_stats_key key;
		uint64_t words[sizeof(struct stack_stats_key) / sizeof(uint64_t) +
			       STACK_ADDRESSES_MAX];
	} wanted;
	size_t size = count * sizeof(*addresses);
	size_t key_size = sizeof(wanted.key) + size;
	struct stack_entry *entry;

	wanted.key.lock = stats->sums_by_lock ? key->lock : (struct charged_class_key) { 0 };
	wanted.key.attribute_number = stats->has_attribute ? key->attribute_number : 0;
	memcpy(wanted.key.addresses, addresses, size);
	HASH_FIND(hh, stats->stacks, &wanted, key_size, entry);
	if (entry || HASH_COUNT(stats->stacks) >= STACK_STATS_MAX ||
	    count > STACK_STATS_ADDRESSES_MAX - stats->address_count)
		return entry;
	entry = calloc(1, sizeof(*entry) + size);
	if (!entry)
		goto no_memory;
	entry->address_count = count;
	memcpy(&entry->key, &wanted, key_size);
	HASH_ADD_KEYPTR(hh, stats->stacks, &entry->key, key_size, entry);
	if (entry->hh.tbl) {
		stats->address_count += entry->address_count;
		return entry;
	}
	free(entry);
no_memory:
	stats->no_memory = true;
	return NULL;
}

/**
 * stack_stats_add() - add a record
 * @stats: sums to change
 * @stack: stack of the record's event; NULL if the event was written without one
 * @record: weight and times of the record
 */
void stack_stats_add(struct stack_stats *stats, const struct stack *stack,
		     const struct stack_record *record)
{
	const struct stack_stats_key key = {
		{ record->class, record->is_sleeping_lock, record->kind }, record->attribute_number
	};
	const uint64_t *addresses = &record->caller;
	size_t count = 1;
	struct stack_entry *entry;

	/* A record that only the blocker rule has written stands for no acquisition. */
	if (!record->weight)
		return;
	if (stack && stack->state == STACK_FOUND) {
		addresses = stack->addresses;
		count = stack->count;
	} else if (stats->sums_by_lock) {
		count = record->caller ? 1 : 0;
	} else if (stack) {
		count = 0;
	} else {
		return;
	}
	entry = find_stack(stats, &key, addresses, count);
	add_record(entry ? &entry->sum : &stats->others, record);
}

/**
 * stack_stats_charge() - charge a part of a wait to the stack of the holder
 * @stats: sums to change
 * @holder: hold that others waited for; of its stack only CHARGE_FRAMES_MAX functions are known
 * @ticks: the part of the wait, session clock, times the waits that it stands for
 */
void stack_stats_charge(struct stack_stats *stats, const struct charge_hold *holder, double ticks)
{
	const struct stack_stats_key key = {
		{ holder->class, holder->is_sleeping_lock, holder->kind }, holder->thread_id
	};
	const uint64_t *addresses = holder->frames;
	struct stack_entry *entry;
	size_t count = 0;

	while (addresses && count < CHARGE_FRAMES_MAX && addresses[count])
		count++;
	if (!count) {
		addresses = &holder->caller;
		count = holder->caller ? 1 : 0;
	}
	entry = find_stack(stats, &key, addresses, count);
	if (entry)
		entry->sum.charged_ticks += ticks;
	else
		stats->others.charged_ticks += ticks;
}

/**
 * stack_stats_free() - free the sums
 * @stats: sums; all zero afterwards
 */
void stack_stats_free(struct stack_stats *stats)
{
	struct stack_entry *entry;

	while ((entry = hash_take_first(stats->stacks)))
		free(entry);
	*stats = (struct stack_stats) { 0 };
}
