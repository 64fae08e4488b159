/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PAGE_TIMELINES_H
#define _NTKLOG_PAGE_TIMELINES_H

#include <jansson.h>

#include "page_locks.h"
#include "report.h"

json_t *page_timelines_json(const struct report *report, const struct page_lock *locks,
			    size_t count, unsigned int tables);

#endif /* _NTKLOG_PAGE_TIMELINES_H */
