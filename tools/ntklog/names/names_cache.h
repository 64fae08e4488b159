/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_CACHE_H
#define _NTKLOG_NAMES_CACHE_H

/* A cache of names in the form in which they are printed. */

#include <stddef.h>
#include <stdint.h>

#include "names.h"

#define NAMES_CACHE_BITS	13

/* Bytes of the longest text: each character escaped, and quotes. */
#define NAMES_CACHE_TEXT	(2 * NAME_SIZE + 4)

/* Bytes behind a text that put_short_bytes() may read. */
#define NAMES_CACHE_PADDING	16

/*
 * @text: name as it is printed, with NAMES_CACHE_PADDING bytes behind it; NULL in an unused entry
 * @length: bytes of @text; 0 if the key has no name
 */
struct cached_name {
	uint64_t key;
	char *text;
	size_t length;
};

enum cached_name_kind {
	CACHED_LOCKS,
	CACHED_CODE,
	CACHED_THREADS,
};

/*
 * @format: formats a name and returns its length; NULL to print names as they are
 * @fallback: entry to return without memory
 */
struct names_cache {
	const struct names *names;
	size_t (*format)(char *dest, const char *name);
	enum cached_name_kind kind;
	struct cached_name entries[1 << NAMES_CACHE_BITS];
	struct cached_name fallback;
	char fallback_text[NAMES_CACHE_TEXT + NAMES_CACHE_PADDING];
};

const struct cached_name *names_cache_fill(struct names_cache *cache,
					   struct cached_name *entry, uint64_t key);
size_t names_format_json(char *dest, const char *name);
void names_cache_clear(struct names_cache *cache);

/**
 * names_cache_find() - find the name of an address or a thread
 * @cache: cache to search
 * @key: address, key of a class, or id of a thread
 *
 * Return: the name, which is valid until the next call.
 */
static inline const struct cached_name *names_cache_find(struct names_cache *cache,
							 uint64_t key)
{
	uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
	struct cached_name *entry = &cache->entries[mixed >> (64 - NAMES_CACHE_BITS)];

	if (entry->text && entry->key == key)
		return entry;
	return names_cache_fill(cache, entry, key);
}

/**
 * names_cache_find_at() - find the name of a lock, which is its class at the time of an event
 * @cache: cache to search
 * @address: address of the lock
 * @clock: session clock of the event
 *
 * Return: the name, which is valid until the next call.
 */
static inline const struct cached_name *names_cache_find_at(struct names_cache *cache,
							    uint64_t address, uint64_t clock)
{
	return names_cache_find(cache, names_find_lock_key(cache->names, address, clock));
}

#endif /* _NTKLOG_NAMES_CACHE_H */
