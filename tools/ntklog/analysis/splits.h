/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SPLITS_H
#define _NTKLOG_SPLITS_H

/*
 * Sums by lock, or by thread, and by the attribute of --by. A number stands for both, in place of
 * the lock or the thread in the records that are summed up.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "label_table.h"
#include "resource_stats.h"
#include "spinlock_stats.h"
#include "switch_stats.h"

/* Greatest number of pairs of a lock or a thread and a label; one of them stands for all others. */
#define SPLITS_MAX	0x40000

/**
 * struct split_pair - a lock or a thread, and a label
 * @key: class of the lock, its address, or id of the thread; 0: none
 * @label: of the attribute; NULL: further pairs
 */
struct split_pair {
	uint64_t key;
	const struct charge_label *label;
};

struct split_pair_entry;

/**
 * struct split_sums - pairs of a lock or a thread and a label, and sums by the number of a pair
 * @labels: labels of the pairs
 * @entries: table of the pairs
 * @pairs_by_number: the same pairs; the first one has the number 1 and stands for all others
 * @count: number of pairs
 * @spinlocks: sums of spin locks
 * @resources: sums of locks that sleep
 * @switches: sums of threads by CPU; empty if the attribute is another one
 * @no_memory: something is missing for want of memory
 */
struct split_sums {
	struct label_table labels;
	struct split_pair_entry *entries;
	const struct split_pair **pairs_by_number;
	size_t count;
	struct spinlock_stats spinlocks;
	struct resource_stats resources;
	struct switch_stats switches;
	bool no_memory;
};

struct split_sums *split_sums_open(const struct names *names, enum charge_attribute attribute);
uint32_t split_sums_find(struct split_sums *split_sums, uint64_t key,
			 const struct charge_hold *hold);
const struct split_pair *split_sums_pair_at(const struct split_sums *split_sums, uint64_t number);
bool split_sums_are_complete(const struct split_sums *split_sums);
void split_sums_free(struct split_sums *split_sums);

#endif /* _NTKLOG_SPLITS_H */
