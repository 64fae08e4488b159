// SPDX-License-Identifier: GPL-2.0-only

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grow.h"
#include "slab_names.h"

static int compare_names(const void *a, const void *b)
{
	const struct slab_name *left = a, *right = b;

	return strcmp(left->cache, right->cache);
}

/**
 * slab_names_read() - read the names of the caches that can be merged
 * @names: set to the names; old names are freed
 * @directory: directory of the caches, /sys/kernel/slab
 *
 * A cache that cannot be merged is a directory there. The names of any other cache are links to its
 * directory.
 */
void slab_names_read(struct slab_names *names, const char *directory)
{
	DIR *caches = opendir(directory);
	struct slab_name *more;
	char path[512], target[256];
	struct dirent *entry;
	ssize_t length;

	slab_names_free(names);
	names->is_known = caches;
	while (caches && (entry = readdir(caches))) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		if (length <= 0)
			continue;
		target[length] = '\0';
		more = grow_by_one(names->names, names->count, sizeof(*more));
		if (!more)
			break;
		names->names = more;
		more += names->count;
		*more = (struct slab_name) { strdup(entry->d_name), strdup(target) };
		if (!more->name || !more->cache) {
			free(more->name);
			free(more->cache);
			break;
		}
		names->count++;
	}
	if (caches)
		closedir(caches);
	if (names->count)
		qsort(names->names, names->count, sizeof(*names->names), compare_names);
}

/**
 * slab_names_find() - find all names of a cache
 * @names: from slab_names_read()
 * @name: one of the names of the cache
 * @first: set to the first name; the others follow it
 *
 * Return: number of names, more than 1 if caches were merged; 0 if the cache cannot be merged.
 */
size_t slab_names_find(const struct slab_names *names, const char *name,
		       const struct slab_name **first)
{
	size_t i, first_index, end_index;

	for (i = 0; i < names->count && strcmp(names->names[i].name, name); i++)
		;
	if (i == names->count)
		return 0;
	first_index = i;
	while (first_index && !compare_names(&names->names[first_index - 1], &names->names[i]))
		first_index--;
	end_index = i + 1;
	while (end_index < names->count &&
	       !compare_names(&names->names[end_index], &names->names[i]))
		end_index++;
	*first = &names->names[first_index];
	return end_index - first_index;
}

static bool read_number(const char *directory, const char *cache, const char *name,
			unsigned int *number)
{
	char path[512];
	FILE *stream;
	bool is_read;

	if (snprintf(path, sizeof(path), "%s/%s/%s", directory, cache, name) >= (int)sizeof(path))
		return false;
	stream = fopen(path, "r");
	if (!stream)
		return false;
	is_read = fscanf(stream, "%u", number) == 1;
	fclose(stream);
	return is_read;
}

/**
 * slab_read_red_zone() - get the size of the red zone before each object of a cache
 * @directory: directory of the caches, /sys/kernel/slab
 * @cache: name of the cache
 *
 * With slab_debug=Z the kernel puts a red zone before each object: the size of a pointer, rounded
 * up to the alignment.
 *
 * Return: size in bytes, or 0 if the cache has no red zones.
 */
uint32_t slab_read_red_zone(const char *directory, const char *cache)
{
	unsigned int has_red_zone, align;

	if (!read_number(directory, cache, "red_zone", &has_red_zone) || !has_red_zone)
		return 0;
	if (!read_number(directory, cache, "align", &align) || align < sizeof(void *))
		align = sizeof(void *);
	return align;
}

/**
 * slab_names_free() - free names
 * @names: names, all zero afterwards
 */
void slab_names_free(struct slab_names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++) {
		free(names->names[i].name);
		free(names->names[i].cache);
	}
	free(names->names);
	*names = (struct slab_names) { 0 };
}
