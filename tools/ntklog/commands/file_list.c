// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file_list.h"
#include "grow.h"
#include "message.h"
#include "text.h"

#define SUFFIX	".etl"

static int entry_is_etl_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > strlen(SUFFIX) &&
	       !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX);
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_path(struct file_list *list, char *path)
{
	char **more = path ? grow_by_one(list->paths, list->path_count, sizeof(*more)) : NULL;
	size_t i;

	if (!more) {
		message("no memory for the list of files");
		free(path);
		return -1;
	}
	for (i = 0; i < list->path_count; i++)
		if (!strcmp(more[i], path))
			message("%s: given twice: its events count twice", path);
	list->paths = more;
	list->paths[list->path_count++] = path;
	return 0;
}

/**
 * file_list_add() - add a file, or the files *.etl of a directory
 * @list: list to change
 * @path: path of the file or of the directory; "-" is the standard input
 *
 * Return: 0, or -1 after a message.
 */
int file_list_add(struct file_list *list, const char *path)
{
	struct dirent **entries;
	struct stat status;
	int count, err = 0, i;
	char *joined_path;

	if (!strcmp(path, "-") || stat(path, &status) || !S_ISDIR(status.st_mode))
		return add_path(list, strdup(path));
	count = scandir(path, &entries, entry_is_etl_file, compare_entries);
	if (count <= 0)
		message("%s: %s", path, count ? strerror(errno) :
			"the directory has no file *" SUFFIX);
	if (count < 0)
		return -1;
	for (i = 0; i < count; i++) {
		if (!err && asprintf(&joined_path, "%s/%s", path, entries[i]->d_name) < 0)
			joined_path = NULL;
		if (!err)
			err = add_path(list, joined_path);
		free(entries[i]);
	}
	free(entries);
	return count ? err : -1;
}

/* Set @length to its length without the suffix. */
static const char *name_without_suffix(const char *path, int *length)
{
	const char *name = strrchr(path, '/');
	size_t full_length;

	name = name ? name + 1 : path;
	full_length = strlen(name);
	if (full_length > strlen(SUFFIX) && !strcmp(name + full_length - strlen(SUFFIX), SUFFIX))
		full_length -= strlen(SUFFIX);
	*length = (int)full_length;
	return name;
}

/*
 * Copy a name that is shown. Characters that are no UTF-8 or may control a terminal are replaced;
 * the number of the file then tells it apart from others.
 */
static char *copy_shown_name(const char *name, int length, size_t file_index)
{
	char *copy, *numbered;

	if (asprintf(&copy, "%.*s", length, name) < 0)
		return NULL;
	text_clean_line(copy);
	if (!strncmp(copy, name, length))
		return copy;
	if (asprintf(&numbered, "%s #%zu", copy, file_index + 1) < 0)
		numbered = NULL;
	free(copy);
	return numbered;
}

/**
 * file_list_make_host_name() - name the machine of a file after the file
 * @list: list of the file
 * @file_index: index of the file
 *
 * Return: the name of the file without its directory and ".etl", or the whole path if another file
 * of the list has the same name. The caller frees it. NULL without memory.
 */
char *file_list_make_host_name(const struct file_list *list, size_t file_index)
{
	int length, other_length;
	const char *name = name_without_suffix(list->paths[file_index], &length);
	const char *other;
	size_t i;

	for (i = 0; i < list->path_count; i++) {
		other = name_without_suffix(list->paths[i], &other_length);
		if (i != file_index && length == other_length && !strncmp(name, other, length))
			return copy_shown_name(list->paths[file_index], INT_MAX, file_index);
	}
	return copy_shown_name(name, length, file_index);
}

/**
 * file_list_free() - free a list
 * @list: list, which is empty afterwards
 */
void file_list_free(struct file_list *list)
{
	size_t i;

	for (i = 0; i < list->path_count; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct file_list) { 0 };
}
