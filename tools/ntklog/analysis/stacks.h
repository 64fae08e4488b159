/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STACKS_H
#define _NTKLOG_STACKS_H

/*
 * Events with their stacks. ntklog writes a stack right behind its event. Windows may write it
 * later, and the user part of the stack later still. So up to STACKS_PENDING_MAX events wait in a
 * queue for their stacks. stack_matcher_next() returns them in their order.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/stack_walk.h>

/* Greatest number of addresses of a stack, the kernel's part and the program's part together. */
#define STACK_ADDRESSES_MAX	(2 * STACK_WALK_MAX)

/* Number of places in the queue of events. */
#define STACKS_PENDING_MAX	1024

/**
 * enum stack_state - state of the stack of an event
 * @STACK_FOUND: the addresses are known
 * @STACK_MISSING: the event should have a stack, which was lost or left out
 * @STACK_UNKNOWN: the event has the key of a stack, which the file does not define
 * @STACK_ALONE: the event is itself a stack, and the event that it belongs to is not in the queue
 */
enum stack_state {
	STACK_FOUND,
	STACK_MISSING,
	STACK_UNKNOWN,
	STACK_ALONE,
};

/* @addresses: addresses, the innermost first */
struct stack {
	enum stack_state state;
	uint64_t event_time_stamp;
	uint32_t process_id;
	uint32_t thread_id;
	size_t count;
	const uint64_t *addresses;
};

struct stack_counts {
	uint64_t found_count;
	uint64_t missing_count;
	uint64_t unknown_count;
	uint64_t alone_count;
};

/**
 * stack_counts_add() - count an event by the state of its stack
 * @counts: counts to change
 * @stack: stack of the event, or NULL, which is not counted
 */
static inline void stack_counts_add(struct stack_counts *counts, const struct stack *stack)
{
	if (!stack)
		return;
	counts->found_count += stack->state == STACK_FOUND;
	counts->missing_count += stack->state == STACK_MISSING;
	counts->unknown_count += stack->state == STACK_UNKNOWN;
	counts->alone_count += stack->state == STACK_ALONE;
}

struct stack_matcher;

struct stack_matcher *stack_matcher_open_session(struct etl_file *file);
struct stack_matcher *stack_matcher_open(struct etl_file *file, struct etl_merge *merge);
void stack_matcher_add(struct stack_matcher *stacks, const struct etl_event *event);
const struct etl_event *stack_matcher_next(struct stack_matcher *stacks,
					   const struct stack **stack);
const struct etl_event *stack_matcher_next_pending(struct stack_matcher *stacks,
						   const struct stack **stack);
void stack_matcher_report_missing(const struct stack_matcher *stacks, const struct etl_file *file);
bool stack_matcher_has_stacks(const struct stack_matcher *stacks);
void stack_matcher_close(struct stack_matcher *stacks);

#endif /* _NTKLOG_STACKS_H */
