// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "etl_reader.h"
#include "grow.h"
#include "hash.h"
#include "search.h"
#include "stack_keys.h"

/*
 * Greatest number of definitions, which limits the memory that a damaged file can make the tool
 * use.
 */
#define STACK_DEFINITIONS_MAX	0x10000

/* @definitions: definitions, sorted by time; two deletions never follow each other */
struct stack_key {
	uint64_t key;
	struct stack_definition *definitions;
	size_t count;
	UT_hash_handle hh;
};

static uint64_t *copy_addresses(const struct etl_stack *stack)
{
	uint64_t *addresses = calloc(stack->count, sizeof(*addresses));

	if (addresses)
		etl_copy_stack(addresses, stack, stack->count);
	return addresses;
}

static size_t count_definitions_until(const struct stack_key *key, uint64_t time)
{
	return count_until_time(key->definitions, key->count, sizeof(*key->definitions), time);
}

/**
 * stack_keys_define() - add the definition or the deletion of a key
 * @keys: keys of the file
 * @event: event that defines or deletes the key
 * @stack: contents of @event
 */
void stack_keys_define(struct stack_keys *keys, const struct etl_event *event,
		       const struct etl_stack *stack)
{
	struct stack_definition new = { .time = event->time_stamp, .count = stack->count };
	struct stack_definition *more;
	struct stack_key *key;
	size_t at;

	if (keys->count >= STACK_DEFINITIONS_MAX) {
		keys->is_full = true;
		return;
	}
	hash_find_or_add(keys->keys, key, &stack->key, STACK_DEFINITIONS_MAX, key);
	if (!key)
		return;
	at = count_definitions_until(key, new.time);
	if (!new.count && at && !key->definitions[at - 1].count)
		return;
	if (!new.count && at < key->count && !key->definitions[at].count) {
		key->definitions[at].time = new.time;
		return;
	}
	more = grow_by_one(key->definitions, key->count, sizeof(*more));
	if (!more)
		return;
	key->definitions = more;
	new.addresses = new.count ? copy_addresses(stack) : NULL;
	if (new.count && !new.addresses)
		return;
	memmove(more + at + 1, more + at, (key->count - at) * sizeof(*more));
	more[at] = new;
	key->count++;
	keys->count++;
}

/**
 * stack_keys_find() - find the definition of a key at a time
 * @keys: keys of the file
 * @value: number of the key
 * @time: time at which the key was used, session clock
 *
 * If the last definition before @time is a deletion or missing, the next one after it is found; it
 * may be in the rundown at the end of the file.
 *
 * Return: the definition, or NULL if there is none.
 */
const struct stack_definition *stack_keys_find(const struct stack_keys *keys, uint64_t value,
					       uint64_t time)
{
	const struct stack_key *key;
	size_t at;

	HASH_FIND(hh, keys->keys, &value, sizeof(value), key);
	if (!key)
		return NULL;
	at = count_definitions_until(key, time);
	if (at && key->definitions[at - 1].count)
		return &key->definitions[at - 1];
	while (at < key->count && !key->definitions[at].count)
		at++;
	return at < key->count ? &key->definitions[at] : NULL;
}

static void free_key(struct stack_key *key)
{
	while (key->count--)
		free(key->definitions[key->count].addresses);
	free(key->definitions);
	free(key);
}

/**
 * stack_keys_free() - free the keys
 * @keys: keys of the file
 */
void stack_keys_free(struct stack_keys *keys)
{
	struct stack_key *key;

	while ((key = hash_take_first(keys->keys)))
		free_key(key);
}
