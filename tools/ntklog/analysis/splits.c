// SPDX-License-Identifier: GPL-2.0-only
/* Sums by the attribute of --by: see splits.h. */

#include <stdlib.h>

#include "grow.h"
#include "splits.h"

struct split_pair_entry {
	struct split_pair split;
	uint32_t number;
	UT_hash_handle hh;
};

/* Return the number of a pair, or 0 if there is no memory. */
static uint32_t find_pair_number(struct split_sums *split_sums, const struct split_pair *split)
{
	const struct split_pair **more;
	struct split_pair_entry *entry;

	HASH_FIND(hh, split_sums->entries, split, sizeof(*split), entry);
	if (entry)
		return entry->number;
	more = grow_by_one(split_sums->pairs_by_number, split_sums->count, sizeof(*more));
	if (more) {
		split_sums->pairs_by_number = more;
		hash_add(split_sums->entries, split, split, entry);
	}
	if (!entry) {
		split_sums->no_memory = true;
		return 0;
	}
	split_sums->pairs_by_number[split_sums->count++] = &entry->split;
	entry->number = split_sums->count;
	return entry->number;
}

/**
 * split_sums_open() - begin to split sums
 * @names: of functions and tasks, or NULL
 * @attribute: attribute that splits them
 *
 * Return: sums without records, to be freed with split_sums_free(); NULL without memory.
 */
struct split_sums *split_sums_open(const struct names *names, enum charge_attribute attribute)
{
	static const struct split_pair others;
	struct split_sums *split_sums = calloc(1, sizeof(*split_sums));

	if (!split_sums)
		return NULL;
	split_sums->labels.names = names;
	split_sums->labels.attribute = attribute;
	if (find_pair_number(split_sums, &others))
		return split_sums;
	split_sums_free(split_sums);
	return NULL;
}

/**
 * split_sums_find() - find or add the pair of a lock or a thread and the label of a hold
 * @split_sums: open
 * @key: class of the lock, its address, or id of the thread; 0: none
 * @hold: hold with the members that make its label
 *
 * Return: the number of the pair; 1, which stands for all others, if it cannot be added.
 */
uint32_t split_sums_find(struct split_sums *split_sums, uint64_t key,
			 const struct charge_hold *hold)
{
	struct split_pair split = { .key = key, .label = label_table_find_hold(&split_sums->labels,
									       hold) };
	struct split_pair_entry *entry;
	uint32_t number = 0;

	if (split.label && split_sums->count < SPLITS_MAX) {
		number = find_pair_number(split_sums, &split);
	} else if (split.label) {
		HASH_FIND(hh, split_sums->entries, &split, sizeof(split), entry);
		number = entry ? entry->number : 0;
	}
	return number ? number : 1;
}

/**
 * split_sums_pair_at() - get a pair
 * @split_sums: open
 * @number: from split_sums_find()
 *
 * Return: the pair.
 */
const struct split_pair *split_sums_pair_at(const struct split_sums *split_sums, uint64_t number)
{
	return split_sums->pairs_by_number[number - 1];
}

/**
 * split_sums_are_complete() - test whether memory sufficed for all sums
 * @split_sums: sums; NULL: there are none
 *
 * Return: true if it did.
 */
bool split_sums_are_complete(const struct split_sums *split_sums)
{
	return !split_sums ||
	       !(split_sums->no_memory || split_sums->labels.no_memory ||
		 split_sums->spinlocks.no_memory || split_sums->resources.no_memory ||
		 split_sums->switches.no_memory);
}

/**
 * split_sums_free() - free the sums
 * @split_sums: sums, or NULL
 */
void split_sums_free(struct split_sums *split_sums)
{
	struct split_pair_entry *entry;

	if (!split_sums)
		return;
	spinlock_stats_free(&split_sums->spinlocks);
	resource_stats_free(&split_sums->resources);
	switch_stats_free(&split_sums->switches);
	while ((entry = hash_take_first(split_sums->entries)))
		free(entry);
	label_table_free(&split_sums->labels);
	free(split_sums->pairs_by_number);
	free(split_sums);
}
