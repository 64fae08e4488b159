/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TEXT_H
#define _NTKLOG_TEXT_H

/* Text of strangers, for terminals and formats that take UTF-8 alone. */

void text_clean(char *text);

#endif /* _NTKLOG_TEXT_H */
