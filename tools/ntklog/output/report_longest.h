/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_LONGEST_H
#define _NTKLOG_REPORT_LONGEST_H

#include <stdio.h>

#include <jansson.h>

#include "report.h"

void report_print_longest(const struct report *report, FILE *stream, size_t waits_max);
json_t *report_longest_json(const struct report *report);
const char *report_link_context(const struct chain_link *link);
json_t *report_links_json(const struct report *report, const struct chain_link *links,
			  size_t count);

#endif /* _NTKLOG_REPORT_LONGEST_H */
