/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_SLAB_CACHE_H
#define _NTKLOG_GROUND_SLAB_CACHE_H

/*
 * Members of struct slab and struct kmem_cache, which are private to mm/. Their offsets are
 * found at module load: a cache with a known name and object size is created and searched.
 */

#include <linux/types.h>

/* Size of a buffer for the name of a cache. Longer names are not read. */
#define NTKLOG_CACHE_NAME_SIZE	64

/*
 * Offset in words of the pointer to the cache in struct slab; 0 if it was not found. Constant after
 * load.
 */
extern unsigned int ntklog_slab_cache_word_index;

void ntklog_describe_cache(unsigned long cache, u32 *size, u32 *object_size,
			   char name[NTKLOG_CACHE_NAME_SIZE]);

void ntklog_slab_cache_init(void);

#endif /* _NTKLOG_GROUND_SLAB_CACHE_H */
