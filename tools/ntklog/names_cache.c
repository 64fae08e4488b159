// SPDX-License-Identifier: GPL-2.0-only
/* Names of addresses as they are written. */

#include <string.h>

#include "names_cache.h"

/**
 * names_cache_fill() - find a name that is not there
 * @cache: where
 * @entry: place for it
 * @address: whose
 *
 * Return: @entry.
 */
const struct cached_name *names_cache_fill(struct names_cache *cache,
					   struct cached_name *entry, uint64_t address)
{
	char name[NAME_SIZE];

	entry->address = address;
	entry->is_set = 1;
	entry->length = 0;
	if (!names_symbol(cache->names, address, name, sizeof(name)))
		return entry;
	if (cache->format) {
		entry->length = cache->format(entry->text, name);
	} else {
		entry->length = strlen(name);
		memcpy(entry->text, name, entry->length);
	}
	return entry;
}

/**
 * names_format_json() - for struct names_cache: between the quotes of JSON
 * @to: NAMES_CACHE_TEXT bytes
 * @name: without control characters
 *
 * Return: the length.
 */
size_t names_format_json(char *to, const char *name)
{
	char *at = to;

	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			*at++ = '\\';
		*at++ = *name;
	}
	return at - to;
}
