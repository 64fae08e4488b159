/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STACK_STATS_H
#define _NTKLOG_STACK_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "charge.h"
#include "hash.h"
#include "histogram.h"
#include "stacks.h"

/* Greatest number of stacks that have sums of their own, and of the addresses in all of them. */
#define STACK_STATS_MAX			16384
#define STACK_STATS_ADDRESSES_MAX	0x80000

/*
 * Sums of the records with one stack: estimates, times in cycles.
 * @is_sampled: @record_count is not all acquisitions, because a sample rate is above 1
 * @greatest_wait_variance_part, @greatest_hold_variance_part: greatest part of a single record in
 *	the variance
 * @waits_are_sampled: not all acquisitions that waited have a record, because their rate is above 1
 * @wait_only_count: number of records that have a wait and no hold, as in mode waits: those of the
 *	other acquisitions are missing
 * @known_hold_count: estimated number of acquisitions whose hold is known
 * @charged_ticks: estimated sum of the waits of others that are charged to these holds, session
 *	clock
 */
struct stack_sum {
	uint64_t record_count;
	uint64_t acquisition_count;
	double variance;
	bool is_sampled;
	uint64_t waited_count;
	double wait_sum;
	double wait_variance;
	double greatest_wait_variance_part;
	double waited_variance;
	bool waits_are_sampled;
	uint64_t wait_max;
	uint64_t wait_only_count;
	uint64_t known_hold_count;
	double hold_sum;
	double hold_variance;
	double greatest_hold_variance_part;
	uint64_t hold_max;
	double charged_ticks;
};

/*
 * Values of a record of a spin lock or a resource; times in cycles.
 * @is_sampled: not all acquisitions have a record, because a sample rate is above 1
 * @is_wait_only: the record has a wait and no hold
 * @class: key of the lock's class; used, as @is_sleeping_lock and @kind, only if stacks are told
 *	apart by lock
 * @kind: of a lock that tasks sleep for: enum resource_kind; of a spin lock 0
 * @attribute_number: the task, or the number of the value of the attribute of --by; used only if
 *	@has_attribute
 * @caller: address of the caller, which is the stack of a record without one if stacks are told
 *	apart by lock; 0: not recorded
 */
struct stack_record {
	uint64_t weight;
	bool is_sampled;
	bool waits_are_sampled;
	bool has_waited;
	uint64_t wait;
	bool is_wait_only;
	bool has_hold;
	uint64_t hold;
	uint64_t class;
	bool is_sleeping_lock;
	uint8_t kind;
	uint32_t attribute_number;
	uint64_t caller;
};

/* @lock and @attribute_number are 0 if stacks are not told apart by them. */
struct stack_stats_key {
	struct charged_class_key lock;
	uint64_t attribute_number;
	uint64_t addresses[];
};

struct stack_entry {
	struct stack_sum sum;
	UT_hash_handle hh;
	size_t address_count;
	struct stack_stats_key key;
};

/*
 * Sums of the records of a file, by stack; all zero: empty.
 * @sums_by_lock: set by the caller: stacks of different classes of locks are told apart
 * @has_attribute: set by the caller: stacks are told apart by stack_record::attribute_number
 * @stacks: table; a stack without addresses was lost, or is not known
 * @others: sums of records whose stack the full table, or missing memory, keeps out of @stacks
 */
struct stack_stats {
	bool sums_by_lock;
	bool has_attribute;
	struct stack_entry *stacks;
	size_t address_count;
	struct stack_sum others;
	struct stack_counts counts;
	bool has_any;
	bool no_memory;
};

void stack_stats_add(struct stack_stats *stats, const struct stack *stack,
		     const struct stack_record *record);
void stack_stats_charge(struct stack_stats *stats, const struct charge_hold *holder, double ticks);
void stack_stats_free(struct stack_stats *stats);

#endif /* _NTKLOG_STACK_STATS_H */
