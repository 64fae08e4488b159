/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LOCK_CLASSES_H
#define _NTKLOG_LOCK_CLASSES_H

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
		uint64_t key;
	} cache[1 << LOCK_CLASSES_CACHE_BITS];
};

uint64_t lock_classes_find_key(struct lock_classes *classes, const struct names *names,
			       uint64_t address, uint64_t clock);
size_t lock_classes_lock_count(const struct lock_classes *classes, uint64_t key);
void lock_classes_free(struct lock_classes *classes);

#endif /* _NTKLOG_LOCK_CLASSES_H */
