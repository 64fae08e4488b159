/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_FLAMES_H
#define _NTKLOG_REPORT_FLAMES_H

/* The flame graphs of a page. */

#include <stdio.h>

#include "report.h"

void report_print_flames(const struct report *report, FILE *stream);

#endif /* _NTKLOG_REPORT_FLAMES_H */
