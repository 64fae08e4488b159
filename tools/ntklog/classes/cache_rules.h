/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CACHE_RULES_H
#define _NTKLOG_CACHE_RULES_H

/* Finding the structure of a slab cache's objects by the name of the cache, checked with BTF. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"

/*
 * Place of a lock in an object of a slab cache.
 * @offset: offset of the lock in the object, bytes
 */
struct lock_place {
	const char *cache;
	uint32_t object_size;
	uint32_t offset;
	unsigned int kind;
};

enum cache_result {
	CACHE_NOT_KNOWN,
	CACHE_NO_LOCK,
	CACHE_NAMED,
};

enum cache_result cache_rules_apply(const struct kernel_types *types,
				    const struct lock_place *place, char *text, size_t size);
bool cache_is_kmalloc(const struct lock_place *place);
bool cache_guess_type(const struct kernel_types *types, const struct lock_place *place,
		      const char *function, const char *module, char *text, size_t size);

#endif /* _NTKLOG_CACHE_RULES_H */
