/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STACK_STATS_H
#define _NTKLOG_STACK_STATS_H

/* Sums of records by their stacks. */

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

/**
 * struct stack_sum - sums of the records with one stack
 * @sampled: number of records
 * @acquisitions: estimated number of acquisitions
 * @variance: variance of @acquisitions
 * @is_sample: @sampled is not all acquisitions, because a sample rate is above 1
 * @waited: estimated number of acquisitions that waited
 * @wait: estimated sum of their waits, cycles
 * @wait_variance: variance of @wait
 * @wait_greatest: greatest part of a single record in @wait_variance
 * @waited_variance: variance of @waited
 * @waits_are_sample: not all acquisitions that waited have a record, because their rate is above 1
 * @wait_max: longest wait, cycles
 * @held: estimated number of acquisitions whose hold is known
 * @hold: estimated sum of their holds, cycles
 * @hold_variance: variance of @hold
 * @hold_greatest: greatest part of a single record in @hold_variance
 * @hold_max: longest hold, cycles
 * @charged: estimated sum of the waits of others that are charged to these holds, session clock
 */
struct stack_sum {
	uint64_t sampled;
	uint64_t acquisitions;
	double variance;
	bool is_sample;
	uint64_t waited;
	double wait;
	double wait_variance;
	double wait_greatest;
	double waited_variance;
	bool waits_are_sample;
	uint64_t wait_max;
	uint64_t held;
	double hold;
	double hold_variance;
	double hold_greatest;
	uint64_t hold_max;
	double charged;
};

/**
 * struct stack_record - values of a record of a spin lock or a resource
 * @weight: number of acquisitions that the record stands for
 * @is_sample: not all acquisitions have a record, because a sample rate is above 1
 * @waits_are_sample: not all acquisitions that waited have a record, because their rate is above 1
 * @has_waited: the acquisition waited
 * @wait: duration of the wait, cycles
 * @has_hold: the hold is known
 * @hold: duration of the hold, cycles
 * @class: key of the lock's class; used only if stacks are told apart by lock
 * @is_sleeping: tasks sleep for the lock; used as @class
 * @thread_id: the task; used only if stacks are told apart by task
 * @caller: address of the caller, which is the stack of a record without one if stacks are told
 *	apart by lock; 0: not recorded
 */
struct stack_record {
	uint64_t weight;
	bool is_sample;
	bool waits_are_sample;
	bool has_waited;
	uint64_t wait;
	bool has_hold;
	uint64_t hold;
	uint64_t class;
	bool is_sleeping;
	uint32_t thread_id;
	uint64_t caller;
};

/**
 * struct stack_stats_key - key of a stack in the table, with its addresses
 * @class: key of the lock's class, or 0
 * @is_sleeping: tasks sleep for the lock; 0 if @class is 0
 * @thread_id: the task, or 0
 * @addresses: return addresses, the innermost first
 */
struct stack_stats_key {
	uint64_t class;
	uint64_t is_sleeping;
	uint64_t thread_id;
	uint64_t addresses[];
};

/**
 * struct stack_entry - a stack
 * @sum: sums of its records
 * @hh: entry of the table
 * @count: number of addresses of @key
 * @key: the stack, and of which locks and task it is
 */
struct stack_entry {
	struct stack_sum sum;
	UT_hash_handle hh;
	size_t count;
	struct stack_stats_key key;
};

/**
 * struct stack_stats - sums of the records of a file, by stack; all zero: empty
 * @by_lock: set by the caller: stacks of different classes of locks are told apart
 * @by_task: set by the caller: stacks of different tasks are told apart
 * @stacks: hash table of stacks
 * @address_count: number of addresses in @stacks
 * @others: sums of records whose stack the full table, or missing memory, keeps out of @stacks
 * @without: sums of records whose stack was lost or is not known; unused if @by_lock
 * @counts: numbers of stacks by their state
 * @has_any: events have stacks, or should have them
 * @no_memory: a stack is missing in @stacks for want of memory
 */
struct stack_stats {
	bool by_lock;
	bool by_task;
	struct stack_entry *stacks;
	size_t address_count;
	struct stack_sum others;
	struct stack_sum without;
	struct stacks_counts counts;
	bool has_any;
	bool no_memory;
};

void stack_stats_add(struct stack_stats *stats, const struct stack *stack,
		     const struct stack_record *record);
void stack_stats_charge(struct stack_stats *stats, const struct charge_hold *holder, double ticks);
void stack_stats_free(struct stack_stats *stats);

#endif /* _NTKLOG_STACK_STATS_H */
