/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_OUTPUT_FILE_H
#define _NTKLOG_OUTPUT_FILE_H

/*
 * Files that a command writes as a whole. A write that fails, or a signal that ends the process,
 * leaves an earlier file as it is, and no part of the new one.
 */

#include <stdbool.h>
#include <stdio.h>

FILE *output_open(const char *path);
int output_close(FILE *stream, const char *path, int err);
bool output_note(const char *path);
void output_keep(void);
void output_remove(void);

#endif /* _NTKLOG_OUTPUT_FILE_H */
