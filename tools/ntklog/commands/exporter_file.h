/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EXPORTER_FILE_H
#define _NTKLOG_EXPORTER_FILE_H

/* A file of metrics for node_exporter's textfile collector, which reads no unfinished file. */

#include <stddef.h>

int exporter_file_write(const char *path, const char *text, size_t size);

#endif /* _NTKLOG_EXPORTER_FILE_H */
