/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EXPORTER_FILE_H
#define _NTKLOG_EXPORTER_FILE_H

/* A file of metrics for node_exporter's textfile collector, which reads no unfinished file. */

#include <stddef.h>
#include <sys/types.h>

/* @inode: inode of that file; 0: none was written */
struct exporter_file {
	const char *path;
	dev_t device;
	ino_t inode;
};

int exporter_file_check(const struct exporter_file *file);
int exporter_file_write(struct exporter_file *file, const char *text, size_t size);
void exporter_file_remove(const struct exporter_file *file);

#endif /* _NTKLOG_EXPORTER_FILE_H */
