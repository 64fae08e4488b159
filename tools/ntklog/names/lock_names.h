/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LOCK_NAMES_H
#define _NTKLOG_LOCK_NAMES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Base of the keys of classes, where no address can be. A key can be used in place of a lock's
 * address.
 */
#define NAMES_CLASS_KEY		UINT64_C(0x0C1A550000000000)

struct known_class;
struct lock_name;

/*
 * Classes of locks; all zero if no class is known.
 * @locks: class of each lock, by address and time after lock_names_sort()
 * @version: a number that no other sorted table of the program has; 0: nothing was sorted
 */
struct lock_names {
	struct lock_name *locks;
	size_t lock_count;
	struct known_class **classes;
	size_t class_count;
	struct known_class *class_table;
	uint64_t version;
};

/* The key of a lock, and the time for which it holds: from @begin to before @end, session clock. */
struct lock_key_span {
	uint64_t key;
	uint64_t begin;
	uint64_t end;
};

int lock_names_add(struct lock_names *names, uint64_t address, uint64_t clock, const char *class);
void lock_names_sort(struct lock_names *names);
struct lock_key_span lock_names_find_key(const struct lock_names *names, uint64_t address,
					 uint64_t clock);
const char *lock_names_find_class(const struct lock_names *names, uint64_t key);
void lock_names_free(struct lock_names *names);

#endif /* _NTKLOG_LOCK_NAMES_H */
