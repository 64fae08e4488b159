/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_HTML_H
#define _NTKLOG_REPORT_HTML_H

/* What the page and its pictures have in common. */

#include <stdio.h>

#include "report.h"

void html_print_escaped(FILE *stream, const char *text);

void html_print_lock_pictures(const struct report *report, FILE *stream);
void html_print_resource_pictures(const struct report *report, FILE *stream);
void html_print_flames(const struct report *report, FILE *stream);
void html_print_thread_pictures(const struct report *report, FILE *stream);

#endif /* _NTKLOG_REPORT_HTML_H */
