/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HTML_H
#define _NTKLOG_HTML_H

/* Text of a page. */

#include <stdint.h>
#include <stdio.h>

#include "names.h"

void html_print_escaped(FILE *stream, const char *text);
void html_print_name(FILE *stream, const char *name);
void html_print_lock(FILE *stream, const struct names *names, uint64_t lock);
void html_print_time(FILE *stream, double ns);

#endif /* _NTKLOG_HTML_H */
