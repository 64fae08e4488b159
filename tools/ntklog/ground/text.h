/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TEXT_H
#define _NTKLOG_TEXT_H

/* Text from files, made safe for terminals and for formats that allow only UTF-8. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Test whether a byte of UTF-8 is not the first one of its character. */
static inline bool text_is_continuation(char byte)
{
	return (byte & 0xC0) == 0x80;
}

void text_clean(char *text);
void text_clean_line(char *text);
bool text_cut_module(char *text);
void text_clean_large(char *text, size_t size);
void text_print_wrapped(const char *text, size_t width, FILE *stream);
void text_send(const char *text, FILE *stream);
char *text_receive(FILE *stream);

#endif /* _NTKLOG_TEXT_H */
