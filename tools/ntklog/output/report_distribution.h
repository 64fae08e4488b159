/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_DISTRIBUTION_H
#define _NTKLOG_REPORT_DISTRIBUTION_H

#include <stdio.h>

#include "report.h"

void report_print_distributions(const struct report *report, FILE *stream);

#endif /* _NTKLOG_REPORT_DISTRIBUTION_H */
