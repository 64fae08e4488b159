/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LOCK_CLASSES_H
#define _NTKLOG_LOCK_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

/* Greatest number of locks that are counted. Further locks are summed up, but not counted. */
#define LOCK_CLASSES_LOCKS_MAX	262144

#define LOCK_CLASSES_CACHE_BITS	10

struct counted_lock;
struct counted_class;

struct lock_classes {
	struct counted_lock *locks;
	struct counted_class *counted_classes;
	struct cached_class_key {
		uint64_t address;
		uint64_t names_version;
		struct lock_key_span span;
		bool is_counted;
	} cache[1 << LOCK_CLASSES_CACHE_BITS];
};

uint64_t lock_classes_fill_cache(struct lock_classes *classes, struct cached_class_key *cached,
				 const struct names *names, uint64_t address, uint64_t clock,
				 bool is_counted);
size_t lock_classes_lock_count(const struct lock_classes *classes, uint64_t key);

/**
 * lock_classes_find_key() - find the key under which a lock is summed up
 * @classes: counts to change
 * @names: names, or NULL
 * @address: address of the lock
 * @clock: session clock of the event
 * @is_counted: count the lock, because the event is summed up
 *
 * Return: the key of the lock's class at that time, or @address if the class is not known.
 */
static inline uint64_t lock_classes_find_key(struct lock_classes *classes,
					     const struct names *names, uint64_t address,
					     uint64_t clock, bool is_counted)
{
	uint64_t mixed = address * UINT64_C(0x9E3779B97F4A7C15);
	struct cached_class_key *cached = &classes->cache[mixed >> (64 - LOCK_CLASSES_CACHE_BITS)];

	if (cached->address == address && clock >= cached->span.begin &&
	    clock < cached->span.end && cached->names_version == names_lock_version(names) &&
	    (cached->is_counted || !is_counted))
		return cached->span.key;
	return lock_classes_fill_cache(classes, cached, names, address, clock, is_counted);
}

void lock_classes_free(struct lock_classes *classes);

#endif /* _NTKLOG_LOCK_CLASSES_H */
