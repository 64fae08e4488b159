/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_FILE_LIST_H
#define _NTKLOG_FILE_LIST_H

/* The files that a command reads. A directory stands for its files *.etl. */

#include <stddef.h>

/* Files, those of a directory sorted by name; all zero: none. */
struct file_list {
	char **paths;
	size_t path_count;
};

int file_list_add(struct file_list *list, const char *path);
char *file_list_make_host_name(const struct file_list *list, size_t file_index);
void file_list_free(struct file_list *list);

#endif /* _NTKLOG_FILE_LIST_H */
