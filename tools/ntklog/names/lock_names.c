// SPDX-License-Identifier: GPL-2.0-only
/* What locks are one of, each from a time on. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "hash.h"
#include "lock_names.h"
#include "names.h"

/*
 * @address: of the lock
 * @clock: from which on it is one of the class; 0: from the beginning
 * @class: number of the class
 * @order: in which they came: of two from the same time on the later counts
 */
struct lock_name {
	uint64_t address;
	uint64_t clock;
	uint32_t class;
	uint32_t order;
};

/*
 * @number: of the class
 * @hh: in the table
 * @text: of the class
 */
struct class_name {
	uint32_t number;
	UT_hash_handle hh;
	char text[];
};

static struct class_name *find_class(struct lock_names *names, const char *text)
{
	size_t length = strlen(text);
	struct class_name *class, **more;

	HASH_FIND(hh, names->table, text, length, class);
	if (class)
		return class;
	more = grown(names->classes, names->class_count, sizeof(*more));
	if (!more)
		return NULL;
	names->classes = more;
	class = calloc(1, sizeof(*class) + length + 1);
	if (!class)
		return NULL;
	memcpy(class->text, text, length);
	class->number = names->class_count;
	HASH_ADD_KEYPTR(hh, names->table, class->text, length, class);
	if (!class->hh.tbl) {
		free(class);
		return NULL;
	}
	names->classes[names->class_count++] = class;
	return class;
}

/**
 * lock_names_add() - say of which class a lock is
 * @names: where to
 * @address: of the lock
 * @clock: from which on it is
 * @class: name of the class
 *
 * Nothing is found before lock_names_sort().
 *
 * Return: 0, or -ENOMEM.
 */
int lock_names_add(struct lock_names *names, uint64_t address, uint64_t clock, const char *class)
{
	struct class_name *known = find_class(names, class);
	struct lock_name *more = known && names->count < UINT32_MAX ?
		grown(names->locks, names->count, sizeof(*more)) : NULL;

	if (!more)
		return -ENOMEM;
	names->locks = more;
	more[names->count] = (struct lock_name) { address, clock, known->number, names->count };
	names->count++;
	return 0;
}

static int compare_locks(const void *a, const void *b)
{
	const struct lock_name *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->clock != right->clock)
		return left->clock < right->clock ? -1 : 1;
	return left->order < right->order ? -1 : 1;
}

/**
 * lock_names_sort() - put what was added where it is found
 * @names: them
 */
void lock_names_sort(struct lock_names *names)
{
	if (names->count)
		qsort(names->locks, names->count, sizeof(*names->locks), compare_locks);
}

/**
 * lock_names_key() - what a lock is summed up as
 * @names: them
 * @address: of the lock
 * @clock: of the event
 *
 * Return: as names_lock_key().
 */
uint64_t lock_names_key(const struct lock_names *names, uint64_t address, uint64_t clock)
{
	size_t low = 0, high = names->count;

	/* The first one behind that time. */
	while (low < high) {
		const struct lock_name *middle = &names->locks[low + (high - low) / 2];

		if (middle->address < address ||
		    (middle->address == address && middle->clock <= clock))
			low = middle - names->locks + 1;
		else
			high = middle - names->locks;
	}
	if (low && names->locks[low - 1].address == address)
		return NAMES_CLASS_KEY + names->locks[low - 1].class;
	/* What was before the first is not known to have been anything else. */
	if (low < names->count && names->locks[low].address == address)
		return NAMES_CLASS_KEY + names->locks[low].class;
	return address;
}

/**
 * lock_names_class() - the name of a class
 * @names: them
 * @key: from lock_names_key()
 *
 * Return: it, or NULL: it is no class, but an address.
 */
const char *lock_names_class(const struct lock_names *names, uint64_t key)
{
	uint64_t number = key - NAMES_CLASS_KEY;

	return number < names->class_count ? names->classes[number]->text : NULL;
}

/**
 * lock_names_free() - know nothing of locks any more
 * @names: them
 */
void lock_names_free(struct lock_names *names)
{
	size_t i;

	HASH_CLEAR(hh, names->table);
	for (i = 0; i < names->class_count; i++)
		free(names->classes[i]);
	free(names->classes);
	free(names->locks);
	*names = (struct lock_names) { 0 };
}
