/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SLAB_NAMES_H
#define _NTKLOG_SLAB_NAMES_H

/* Names of slab caches that the kernel can merge into one: /sys/kernel/slab has all of them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A name of a cache that can be merged.
 * @cache: target of the link of this name, which all names of the cache share
 */
struct slab_name {
	char *name;
	char *cache;
};

/* @is_known: the kernel tells which caches are merged; with slab_nomerge none are */
struct slab_names {
	bool is_known;
	struct slab_name *names;
	size_t count;
};

void slab_names_read(struct slab_names *names, const char *directory);
size_t slab_names_find(const struct slab_names *names, const char *name,
		       const struct slab_name **first);
uint32_t slab_read_red_zone(const char *directory, const char *cache);
void slab_names_free(struct slab_names *names);

#endif /* _NTKLOG_SLAB_NAMES_H */
