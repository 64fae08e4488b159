// SPDX-License-Identifier: GPL-2.0-only
/* Sums by the attribute of --by: see splits.h. */

#include <stdlib.h>

#include "grow.h"
#include "splits.h"

struct split_entry {
	struct split split;
	uint32_t number;
	UT_hash_handle hh;
};

/* Return the number of a pair, or 0 if there is no memory. */
static uint32_t find_number(struct splits *splits, const struct split *split)
{
	const struct split **more;
	struct split_entry *entry;

	HASH_FIND(hh, splits->entries, split, sizeof(*split), entry);
	if (entry)
		return entry->number;
	more = grow_by_one(splits->pairs_by_number, splits->count, sizeof(*more));
	if (more) {
		splits->pairs_by_number = more;
		hash_add(splits->entries, split, split, entry);
	}
	if (!entry) {
		splits->no_memory = true;
		return 0;
	}
	splits->pairs_by_number[splits->count++] = &entry->split;
	entry->number = splits->count;
	return entry->number;
}

/**
 * splits_open() - begin to split sums
 * @names: of functions and tasks, or NULL
 * @attribute: attribute that splits them
 *
 * Return: sums without records, to be freed with splits_free(); NULL without memory.
 */
struct splits *splits_open(const struct names *names, enum charge_attribute attribute)
{
	static const struct split others;
	struct splits *splits = calloc(1, sizeof(*splits));

	if (!splits)
		return NULL;
	splits->labels.names = names;
	splits->labels.attribute = attribute;
	if (find_number(splits, &others))
		return splits;
	splits_free(splits);
	return NULL;
}

/**
 * splits_find() - find or add the pair of a lock or a thread and the label of a hold
 * @splits: open
 * @key: class of the lock, its address, or id of the thread; 0: none
 * @hold: hold with the members that make its label
 *
 * Return: the number of the pair; 1, which stands for all others, if it cannot be added.
 */
uint32_t splits_find(struct splits *splits, uint64_t key, const struct charge_hold *hold)
{
	struct split split = { .key = key, .label = label_table_find_hold(&splits->labels, hold) };
	struct split_entry *entry;
	uint32_t number = 0;

	if (split.label && splits->count < SPLITS_MAX) {
		number = find_number(splits, &split);
	} else if (split.label) {
		HASH_FIND(hh, splits->entries, &split, sizeof(split), entry);
		number = entry ? entry->number : 0;
	}
	return number ? number : 1;
}

/**
 * splits_at() - get a pair
 * @splits: open
 * @number: from splits_find()
 *
 * Return: the pair.
 */
const struct split *splits_at(const struct splits *splits, uint64_t number)
{
	return splits->pairs_by_number[number - 1];
}

/**
 * splits_are_complete() - test whether memory sufficed for all sums
 * @splits: sums; NULL: there are none
 *
 * Return: true if it did.
 */
bool splits_are_complete(const struct splits *splits)
{
	return !splits ||
	       !(splits->no_memory || splits->labels.no_memory || splits->spinlocks.no_memory ||
		 splits->resources.no_memory || splits->switches.no_memory);
}

/**
 * splits_free() - free the sums
 * @splits: sums, or NULL
 */
void splits_free(struct splits *splits)
{
	struct split_entry *entry;

	if (!splits)
		return;
	spinlock_stats_free(&splits->spinlocks);
	resource_stats_free(&splits->resources);
	switch_stats_free(&splits->switches);
	while ((entry = hash_take(splits->entries)))
		free(entry);
	label_table_free(&splits->labels);
	free(splits->pairs_by_number);
	free(splits);
}
