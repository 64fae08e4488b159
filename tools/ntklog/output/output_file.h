/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_OUTPUT_FILE_H
#define _NTKLOG_OUTPUT_FILE_H

/*
 * Files that a command writes as a whole. Until a file is complete it has no name: if a write fails
 * or the process is killed, an earlier file stays as it is, and no part of the new one is left.
 */

#include <stdio.h>

FILE *output_open(const char *path);
int output_close(FILE *stream, const char *path, int err);

#endif /* _NTKLOG_OUTPUT_FILE_H */
