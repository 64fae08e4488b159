/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TEXT_H
#define _NTKLOG_TEXT_H

/* Text from files, made safe for terminals and for formats that allow only UTF-8. */

#include <stddef.h>

void text_clean(char *text);
void text_clean_line(char *text);
void text_clean_large(char *text, size_t size);

#endif /* _NTKLOG_TEXT_H */
