/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_PICTURES_H
#define _NTKLOG_REPORT_PICTURES_H

/* The pictures of a page. */

#include <stdio.h>

#include "report.h"

void report_print_lock_pictures(const struct report *report, FILE *stream);
void report_print_resource_pictures(const struct report *report, FILE *stream);
void report_print_thread_pictures(const struct report *report, FILE *stream);

#endif /* _NTKLOG_REPORT_PICTURES_H */
