// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names_cache.h"
#include "text.h"

static bool format_uncached_name(const struct names_cache *cache, uint64_t key,
				 char name[NAME_SIZE])
{
	const char *thread;

	if (cache->kind != CACHED_THREADS)
		return names_format_symbol(cache->names, key, cache->kind == CACHED_CODE ?
					   NAMES_OF_CODE : NAMES_OF_ANY, name, NAME_SIZE);
	thread = names_find_thread_name(cache->names, key);
	if (!thread)
		return false;
	/* snprintf() may have cut the name within a character. */
	if (snprintf(name, NAME_SIZE, "%s", thread) >= NAME_SIZE)
		text_clean(name);
	return true;
}

/**
 * names_cache_fill() - put a name into the cache
 * @cache: cache that lacks the name
 * @entry: entry to replace
 * @key: address or id of the name
 *
 * Return: @entry, or &cache->fallback without memory.
 */
const struct cached_name *names_cache_fill(struct names_cache *cache,
					   struct cached_name *entry, uint64_t key)
{
	char name[NAME_SIZE];
	size_t length = 0;

	if (format_uncached_name(cache, key, name)) {
		if (cache->format) {
			length = cache->format(cache->fallback_text, name);
		} else {
			length = strlen(name);
			memcpy(cache->fallback_text, name, length);
		}
	}
	free(entry->text);
	entry->text = malloc(length + NAMES_CACHE_PADDING);
	if (!entry->text) {
		entry = &cache->fallback;
		entry->text = cache->fallback_text;
	}
	if (entry->text != cache->fallback_text)
		memcpy(entry->text, cache->fallback_text, length + NAMES_CACHE_PADDING);
	entry->key = key;
	entry->length = length;
	return entry;
}

/**
 * names_format_json() - escape a name for JSON, for member format of struct names_cache
 * @dest: set to the escaped name, without quotes and NUL; NAMES_CACHE_TEXT bytes
 * @name: name, without control characters other than tabs and newlines
 *
 * Return: length of the escaped name.
 */
size_t names_format_json(char *dest, const char *name)
{
	char *at = dest;

	for (; *name; name++) {
		if (*name == '\t' || *name == '\n') {
			*at++ = '\\';
			*at++ = *name == '\t' ? 't' : 'n';
			continue;
		}
		if (*name == '"' || *name == '\\')
			*at++ = '\\';
		*at++ = *name;
	}
	return at - dest;
}

/**
 * names_cache_clear() - remove all names
 * @cache: cache to clear
 */
void names_cache_clear(struct names_cache *cache)
{
	size_t i;

	for (i = 0; i < 1 << NAMES_CACHE_BITS; i++) {
		free(cache->entries[i].text);
		cache->entries[i].text = NULL;
	}
}
