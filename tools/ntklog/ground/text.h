/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TEXT_H
#define _NTKLOG_TEXT_H

/* Text from files, made safe for terminals and for formats that allow only UTF-8. */

#include <stddef.h>
#include <stdio.h>

void text_clean(char *text);
void text_clean_line(char *text);
void text_clean_large(char *text, size_t size);
void text_write(const char *text, FILE *stream);
char *text_read(FILE *stream);

#endif /* _NTKLOG_TEXT_H */
