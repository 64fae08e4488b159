/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WANTED_LOCK_H
#define _NTKLOG_WANTED_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"

#define WANTED_LOCKS_BITS	8

/*
 * The only lock to sum up.
 * @name: name or address as the user wrote it, or NULL for all locks
 * @event_count: number of selected events of the lock
 * @whole_name: the name, with its module, of the first lock that @name fits only without it
 * @matches_whole_name: @name fits the whole name of a lock
 * @is_ambiguous: @name fits locks of several modules
 * @cache: recent locks, by the two keys whose names were compared with @name
 */
struct wanted_lock {
	const char *name;
	uint64_t event_count;
	char whole_name[NAME_SIZE];
	bool matches_whole_name;
	bool is_ambiguous;
	struct cached_lock_test {
		uint64_t key;
		uint64_t name_key;
		bool is_known;
		bool is_wanted;
	} cache[1 << WANTED_LOCKS_BITS];
};

bool wanted_lock_count_event(struct wanted_lock *wanted, const struct names *names,
			     uint64_t address, uint64_t clock, bool sums_by_address);

#endif /* _NTKLOG_WANTED_LOCK_H */
