/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_CACHE_H
#define _NTKLOG_NAMES_CACHE_H

/*
 * Names of addresses, or of threads, as they are written: the same few locks and callers
 * come again and again, and searching and formatting their symbols each time is most of the
 * work. Texts are no longer than they have to be, so that those in use are near each other.
 */

#include <stddef.h>
#include <stdint.h>

#include "names.h"

#define NAMES_CACHE_BITS	13

/* Of a name whose every character is written as two, and quotes. */
#define NAMES_CACHE_TEXT	(2 * NAME_SIZE + 4)

/* Behind a text: see put_short(). */
#define NAMES_CACHE_MORE	16

/**
 * struct cached_name - of an address or a thread
 * @key: the address, or the thread's id
 * @text: the name as it is written, with NAMES_CACHE_MORE bytes behind it; NULL: empty
 * @length: of @text; 0: it has no name
 */
struct cached_name {
	uint64_t key;
	char *text;
	size_t length;
};

/**
 * enum cached_kind - what the keys of a cache are
 * @CACHED_LOCKS: addresses of locks, or keys of their classes
 * @CACHED_CODE: addresses of instructions
 * @CACHED_THREADS: ids of threads
 */
enum cached_kind {
	CACHED_LOCKS,
	CACHED_CODE,
	CACHED_THREADS,
};

/**
 * struct names_cache - names by a few bits of their addresses
 * @names: where they are from, or NULL
 * @format: writes a name; NULL: as it is; returns the length
 * @kind: what the keys are
 * @entries: the names
 * @other: what there was no memory for
 * @other_text: its text
 */
struct names_cache {
	const struct names *names;
	size_t (*format)(char *to, const char *name);
	enum cached_kind kind;
	struct cached_name entries[1 << NAMES_CACHE_BITS];
	struct cached_name other;
	char other_text[NAMES_CACHE_TEXT + NAMES_CACHE_MORE];
};

const struct cached_name *names_cache_fill(struct names_cache *cache,
					   struct cached_name *entry, uint64_t key);
size_t names_format_json(char *to, const char *name);
void names_cache_clear(struct names_cache *cache);

/**
 * names_cache_find() - the name of an address or a thread
 * @cache: where
 * @key: whose
 *
 * Return: it, until the next call.
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
 * names_cache_find_at() - the name of an address as it is at a time: a lock's is its class
 * @cache: where
 * @address: whose
 * @clock: of the event that has it
 *
 * Return: it, until the next call.
 */
static inline const struct cached_name *names_cache_find_at(struct names_cache *cache,
							    uint64_t address, uint64_t clock)
{
	return names_cache_find(cache, names_lock_key(cache->names, address, clock));
}

#endif /* _NTKLOG_NAMES_CACHE_H */
