/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SLAB_NAMES_H
#define _NTKLOG_SLAB_NAMES_H

/* Caches that the kernel has made one of: /sys/kernel/slab has all their names. */

#include <stddef.h>
#include <stdint.h>

/**
 * struct slab_name - a name of a cache
 * @name: it
 * @cache: what it stands for: the same for all names of one cache
 */
struct slab_name {
	char *name;
	char *cache;
};

/**
 * struct slab_names - all of them
 * @names: sorted by @cache
 * @count: of them
 */
struct slab_names {
	struct slab_name *names;
	size_t count;
};

void slab_names_read(struct slab_names *names, const char *directory);
size_t slab_names_find(const struct slab_names *names, const char *name,
		       const struct slab_name **first);
uint32_t slab_red_zone(const char *directory, const char *cache);
void slab_names_free(struct slab_names *names);

#endif /* _NTKLOG_SLAB_NAMES_H */
