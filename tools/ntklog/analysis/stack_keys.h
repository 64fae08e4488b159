/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STACK_KEYS_H
#define _NTKLOG_STACK_KEYS_H

/*
 * Keys of stacks. Windows writes a stack once, as the definition of a key, and then events that
 * have the key instead of the stack. A key may be deleted and defined anew.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>
#include <ntklog/stack_walk.h>

struct stack_key;

/**
 * struct stack_definition - stack that a key stands for from a time on
 * @time: time of the event that defines or deletes the key, session clock
 * @count: number of @addresses; 0 if the key is deleted
 * @addresses: return addresses, the innermost first
 */
struct stack_definition {
	uint64_t time;
	size_t count;
	uint64_t *addresses;
};

struct stack_keys {
	struct stack_key *keys;
	size_t count;
	bool is_full;
};

void stack_keys_define(struct stack_keys *keys, const struct etl_event *event,
		       const struct etl_stack *stack);
const struct stack_definition *stack_keys_find(const struct stack_keys *keys, uint64_t value,
					       uint64_t time);
void stack_keys_free(struct stack_keys *keys);

#endif /* _NTKLOG_STACK_KEYS_H */
