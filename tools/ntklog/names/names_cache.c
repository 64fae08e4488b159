// SPDX-License-Identifier: GPL-2.0-only
/* Names of addresses and threads as they are written. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names_cache.h"
#include "text.h"

/* What it is called; false: nothing. */
static bool find_name(const struct names_cache *cache, uint64_t key, char name[NAME_SIZE])
{
	const char *thread;

	if (cache->kind != CACHED_THREADS)
		return names_symbol(cache->names, key, cache->kind == CACHED_CODE ?
				    NAMES_OF_CODE : NAMES_OF_ANY, name, NAME_SIZE);
	thread = names_thread(cache->names, key);
	if (!thread)
		return false;
	/* It may be cut within a character. */
	if (snprintf(name, NAME_SIZE, "%s", thread) >= NAME_SIZE)
		text_clean(name);
	return true;
}

/**
 * names_cache_fill() - find a name that is not there
 * @cache: where
 * @entry: place for it
 * @key: whose
 *
 * Return: @entry, or another one if there is no memory.
 */
const struct cached_name *names_cache_fill(struct names_cache *cache,
					   struct cached_name *entry, uint64_t key)
{
	char name[NAME_SIZE];
	size_t length = 0;

	if (find_name(cache, key, name)) {
		if (cache->format) {
			length = cache->format(cache->other_text, name);
		} else {
			length = strlen(name);
			memcpy(cache->other_text, name, length);
		}
	}
	free(entry->text);
	entry->text = malloc(length + NAMES_CACHE_MORE);
	if (!entry->text) {
		entry = &cache->other;
		entry->text = cache->other_text;
	}
	if (entry->text != cache->other_text)
		memcpy(entry->text, cache->other_text, length + NAMES_CACHE_MORE);
	entry->key = key;
	entry->length = length;
	return entry;
}

/**
 * names_format_json() - for struct names_cache: between the quotes of JSON
 * @to: NAMES_CACHE_TEXT bytes
 * @name: of control characters it may have tabs and ends of lines alone
 *
 * Return: the length.
 */
size_t names_format_json(char *to, const char *name)
{
	char *at = to;

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
	return at - to;
}

/**
 * names_cache_clear() - let all go
 * @cache: whose
 */
void names_cache_clear(struct names_cache *cache)
{
	size_t i;

	for (i = 0; i < 1 << NAMES_CACHE_BITS; i++) {
		free(cache->entries[i].text);
		cache->entries[i].text = NULL;
	}
}
