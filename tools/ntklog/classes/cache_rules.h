/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CACHE_RULES_H
#define _NTKLOG_CACHE_RULES_H

/* Which structure the objects of a slab cache are: by the cache's name, proved by BTF. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

/**
 * struct lock_place - where in an object a lock is
 * @cache: the cache's name
 * @object_size: of its objects, bytes
 * @offset: of the lock in the object
 * @kind: of the lock, NTKLOG_IDENTITY_*
 */
struct lock_place {
	const char *cache;
	uint32_t object_size;
	uint32_t offset;
	unsigned int kind;
};

enum cache_match {
	CACHE_NOT_KNOWN,	/* no structure of that name, or of another size */
	CACHE_NO_LOCK,		/* there is one, and no such lock at that place */
	CACHE_NAMED,
};

enum cache_match cache_rules_apply(const struct types *types, const struct lock_place *place,
				   char *text, size_t size);
bool cache_is_kmalloc(const struct lock_place *place);
bool cache_guess(const struct types *types, const struct lock_place *place, const char *function,
		 const char *module, char *text, size_t size);

#endif /* _NTKLOG_CACHE_RULES_H */
