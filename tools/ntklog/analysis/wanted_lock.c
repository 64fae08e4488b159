// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "wanted_lock.h"

/* Test whether a name is the wanted one, with or without the cache in parentheses behind it. */
static bool name_matches(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return !strncmp(name, wanted, length) &&
	       (!name[length] || !strncmp(name + length, " (", 2));
}

/* Compare the name of a lock, which narrow tables print without its module. */
static bool lock_matches(struct wanted_lock *wanted, const struct names *names, uint64_t key)
{
	char name[NAME_SIZE], whole_name[NAME_SIZE];

	names_format_address(names, key, name, sizeof(name));
	if (name_matches(name, wanted->name)) {
		wanted->matches_whole_name = true;
	} else {
		memcpy(whole_name, name, sizeof(name));
		while (text_cut_module(name))
			;
		if (!name_matches(name, wanted->name))
			return false;
		if (!wanted->whole_name[0])
			memcpy(wanted->whole_name, whole_name, sizeof(whole_name));
		else if (strcmp(wanted->whole_name, whole_name))
			wanted->is_ambiguous = true;
	}
	wanted->is_ambiguous |= wanted->matches_whole_name && wanted->whole_name[0];
	return true;
}

static bool text_is_address(const char *text, uint64_t address)
{
	char *end;

	/* A table of addresses prints the class of the lock behind its address. */
	return strtoull(text, &end, 16) == address && end != text && (!*end || *end == ' ');
}

/**
 * wanted_lock_count_event() - test whether the user wants the events of a lock, and count this one
 * @wanted: @name is NULL if the user wants all locks; then nothing is counted
 * @names: names, or NULL
 * @address: address of the lock
 * @clock: session clock of the event
 * @sums_by_address: the lock is summed up by itself, and printed by its own name
 *
 * Return: true for all locks if the user asked for none, otherwise for the wanted lock.
 */
bool wanted_lock_count_event(struct wanted_lock *wanted, const struct names *names,
			     uint64_t address, uint64_t clock, bool sums_by_address)
{
	struct cached_lock_test *cached;
	uint64_t key, name_key;

	if (!wanted->name)
		return true;
	key = names_find_lock_key(names, address, clock);
	name_key = sums_by_address ? address : key;
	cached = &wanted->cache[name_key * UINT64_C(0x9E3779B97F4A7C15) >>
				(64 - WANTED_LOCKS_BITS)];
	if (!cached->is_known || cached->key != key || cached->name_key != name_key)
		*cached = (struct cached_lock_test) {
			.is_known = true, .key = key, .name_key = name_key,
			.is_wanted = lock_matches(wanted, names, key) ||
				     (name_key != key && lock_matches(wanted, names, name_key)),
		};
	if (!cached->is_wanted && !text_is_address(wanted->name, address))
		return false;
	wanted->event_count++;
	return true;
}
