/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EXPORTER_TEXTFILE_H
#define _NTKLOG_EXPORTER_TEXTFILE_H

/* A file of metrics for node_exporter's textfile collector, which reads no unfinished file. */

#include <stddef.h>
#include <sys/types.h>

/* @inode: inode of that file; 0: none was written */
struct exporter_textfile {
	const char *path;
	dev_t device;
	ino_t inode;
};

int exporter_textfile_check(const struct exporter_textfile *file);
int exporter_textfile_write(struct exporter_textfile *file, const char *text, size_t size);
void exporter_textfile_remove(const struct exporter_textfile *file);

#endif /* _NTKLOG_EXPORTER_TEXTFILE_H */
