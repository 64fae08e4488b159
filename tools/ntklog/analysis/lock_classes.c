// SPDX-License-Identifier: GPL-2.0-only

#include "hash.h"
#include "lock_classes.h"

struct counted_lock_key {
	uint64_t address;
	uint64_t key;
};

/*
 * @lock_key: address of a lock, and key of its class. A lock that changed its class has an entry
 *	for each
 */
struct counted_lock {
	struct counted_lock_key lock_key;
	UT_hash_handle hh;
};

struct counted_class {
	uint64_t key;
	size_t lock_count;
	UT_hash_handle hh;
};

static void count_lock(struct lock_classes *classes, uint64_t address, uint64_t key)
{
	const struct counted_lock_key lock_key = { address, key };
	struct counted_class *counted_class;
	struct counted_lock *lock;

	HASH_FIND(hh, classes->locks, &lock_key, sizeof(lock_key), lock);
	if (lock || HASH_COUNT(classes->locks) >= LOCK_CLASSES_LOCKS_MAX)
		return;
	hash_add(classes->locks, lock_key, &lock_key, lock);
	hash_find_or_add(classes->counted_classes, key, &key, LOCK_CLASSES_LOCKS_MAX,
			 counted_class);
	if (lock && counted_class)
		counted_class->lock_count++;
}

/**
 * lock_classes_fill_cache() - put a lock into the cache
 * @classes: counts to change
 * @cached: entry to replace
 * @names: names, or NULL
 * @address: address of the lock
 * @clock: session clock of the event
 * @is_counted: count the lock
 *
 * Return: the key, as lock_classes_find_key().
 */
uint64_t lock_classes_fill_cache(struct lock_classes *classes, struct cached_class_key *cached,
				 const struct names *names, uint64_t address, uint64_t clock,
				 bool is_counted)
{
	*cached = (struct cached_class_key) {
		.address = address,
		.names_version = names_lock_version(names),
		.span = names_find_lock_span(names, address, clock),
		.is_counted = is_counted,
	};
	if (is_counted && names_key_is_class(names, cached->span.key))
		count_lock(classes, address, cached->span.key);
	return cached->span.key;
}

/**
 * lock_classes_lock_count() - get the number of locks that were summed up under a key
 * @classes: counts
 * @key: key from lock_classes_find_key()
 *
 * Return: number of locks of a class; 1 for an address.
 */
size_t lock_classes_lock_count(const struct lock_classes *classes, uint64_t key)
{
	struct counted_class *counted_class;

	HASH_FIND(hh, classes->counted_classes, &key, sizeof(key), counted_class);
	return counted_class ? counted_class->lock_count : 1;
}

/**
 * lock_classes_free() - free the counts
 * @classes: counts; all zero afterwards
 */
void lock_classes_free(struct lock_classes *classes)
{
	struct counted_class *counted_class;
	struct counted_lock *lock;

	while ((lock = hash_take_first(classes->locks)))
		free(lock);
	while ((counted_class = hash_take_first(classes->counted_classes)))
		free(counted_class);
	memset(classes, 0, sizeof(*classes));
}
