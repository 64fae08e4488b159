/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_CACHE_H
#define _NTKLOG_NAMES_CACHE_H

/*
 * Names of addresses as they are written: the same few locks and callers come again and
 * again, and searching and formatting their symbols each time is most of the work.
 */

#include <stddef.h>
#include <stdint.h>

#include "names.h"

#define NAMES_CACHE_BITS	12

/* Of a name whose every character is written as two, and quotes. */
#define NAMES_CACHE_TEXT	(2 * NAME_SIZE + 4)

/**
 * struct cached_name - of an address
 * @address: the address
 * @is_set: there is one
 * @length: of @text; 0: it has no name
 * @text: its name as it is written
 */
struct cached_name {
	uint64_t address;
	uint16_t is_set;
	uint16_t length;
	char text[NAMES_CACHE_TEXT];
};

/**
 * struct names_cache - names by a few bits of their addresses
 * @names: where they are from, or NULL
 * @format: writes a name; NULL: as it is; returns the length
 * @entries: the names
 */
struct names_cache {
	const struct names *names;
	size_t (*format)(char *to, const char *name);
	struct cached_name entries[1 << NAMES_CACHE_BITS];
};

const struct cached_name *names_cache_fill(struct names_cache *cache,
					   struct cached_name *entry, uint64_t address);
size_t names_format_json(char *to, const char *name);

/**
 * names_cache_find() - the name of an address
 * @cache: where
 * @address: whose
 *
 * Return: it, until the next call.
 */
static inline const struct cached_name *names_cache_find(struct names_cache *cache,
							 uint64_t address)
{
	uint64_t mixed = address * UINT64_C(0x9E3779B97F4A7C15);
	struct cached_name *entry = &cache->entries[mixed >> (64 - NAMES_CACHE_BITS)];

	if (entry->is_set && entry->address == address)
		return entry;
	return names_cache_fill(cache, entry, address);
}

#endif /* _NTKLOG_NAMES_CACHE_H */
