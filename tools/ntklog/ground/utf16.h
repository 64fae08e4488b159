/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_UTF16_H
#define _NTKLOG_UTF16_H

#include <stddef.h>

const unsigned char *utf16_string_read(const unsigned char *from, const unsigned char *end,
				       char *text, size_t size);

#endif /* _NTKLOG_UTF16_H */
