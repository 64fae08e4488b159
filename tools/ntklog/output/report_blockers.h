/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_REPORT_BLOCKERS_H
#define _NTKLOG_REPORT_BLOCKERS_H

#include "report.h"

#define BLOCKER_COLUMNS		7

extern const struct column blocker_columns[BLOCKER_COLUMNS];

void report_make_blockers(struct report *report);

#endif /* _NTKLOG_REPORT_BLOCKERS_H */
