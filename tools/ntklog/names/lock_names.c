// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hash.h"
#include "lock_names.h"

/*
 * @clock: session clock from which on the lock is of the class; 0 for the whole trace
 * @addition_number: number of the addition: the later of two with the same time counts
 */
struct lock_name {
	uint64_t address;
	uint64_t clock;
	uint32_t class_number;
	uint32_t addition_number;
};

struct known_class {
	uint32_t number;
	UT_hash_handle hh;
	char text[];
};

static struct known_class *find_class(struct lock_names *names, const char *text)
{
	size_t length = strlen(text);
	struct known_class *class, **more;

	HASH_FIND(hh, names->class_table, text, length, class);
	if (class)
		return class;
	more = grow_by_one(names->classes, names->class_count, sizeof(*more));
	if (!more)
		return NULL;
	names->classes = more;
	class = calloc(1, sizeof(*class) + length + 1);
	if (!class)
		return NULL;
	memcpy(class->text, text, length);
	class->number = names->class_count;
	HASH_ADD_KEYPTR(hh, names->class_table, class->text, length, class);
	if (!class->hh.tbl) {
		free(class);
		return NULL;
	}
	names->classes[names->class_count++] = class;
	return class;
}

/**
 * lock_names_add() - add the class of a lock
 * @names: classes to add to
 * @address: address of the lock
 * @clock: session clock from which on the lock is of this class
 * @class: name of the class
 *
 * Searches find the class after lock_names_sort().
 *
 * Return: 0, or -ENOMEM.
 */
int lock_names_add(struct lock_names *names, uint64_t address, uint64_t clock, const char *class)
{
	struct known_class *known = find_class(names, class);
	struct lock_name *more = known && names->lock_count < UINT32_MAX ?
		grow_by_one(names->locks, names->lock_count, sizeof(*more)) : NULL;

	if (!more)
		return -ENOMEM;
	names->locks = more;
	more[names->lock_count] =
		(struct lock_name){address, clock, known->number, names->lock_count};
	names->lock_count++;
	return 0;
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock_name *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->clock != right->clock)
		return left->clock < right->clock ? -1 : 1;
	return left->addition_number < right->addition_number ? -1 : 1;
}

/**
 * lock_names_sort() - make searches find the classes that were added
 * @names: classes of locks
 */
void lock_names_sort(struct lock_names *names)
{
	static uint64_t last_version;

	if (names->lock_count)
		qsort(names->locks, names->lock_count, sizeof(*names->locks), compare_locks);
	names->version = ++last_version;
}

/**
 * lock_names_find_key() - find the key by which statistics of a lock are collected
 * @names: classes of locks
 * @address: address of the lock
 * @clock: session clock of the event
 *
 * Return: the key of the lock's class at that time, or @address if the class is not known, and the
 * time for which the key holds.
 */
struct lock_key_span lock_names_find_key(const struct lock_names *names, uint64_t address,
					 uint64_t clock)
{
	struct lock_key_span span = { .key = address, .end = UINT64_MAX };
	size_t low = 0, high = names->lock_count;
	const struct lock_name *locks = names->locks;

	/* Find the first entry that is after @clock, or of a greater address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (locks[middle].address < address ||
		    (locks[middle].address == address && locks[middle].clock <= clock))
			low = middle + 1;
		else
			high = middle;
	}
	if (low < names->lock_count && locks[low].address == address) {
		/* The class before the first known one is assumed to be the same. */
		span.key = NAMES_CLASS_KEY + locks[low].class_number;
		span.end = locks[low].clock;
	}
	if (low && locks[low - 1].address == address) {
		span.key = NAMES_CLASS_KEY + locks[low - 1].class_number;
		span.begin = locks[low - 1].clock;
	}
	return span;
}

/**
 * lock_names_find_class() - get the name of a class
 * @names: classes of locks
 * @key: key from lock_names_find_key()
 *
 * Return: the name, or NULL if @key is an address.
 */
const char *lock_names_find_class(const struct lock_names *names, uint64_t key)
{
	uint64_t number = key - NAMES_CLASS_KEY;

	return number < names->class_count ? names->classes[number]->text : NULL;
}

/**
 * lock_names_free() - remove all classes
 * @names: classes of locks, all zero afterwards
 */
void lock_names_free(struct lock_names *names)
{
	size_t i;

	HASH_CLEAR(hh, names->class_table);
	for (i = 0; i < names->class_count; i++)
		free(names->classes[i]);
	free(names->classes);
	free(names->locks);
	*names = (struct lock_names) { 0 };
}
