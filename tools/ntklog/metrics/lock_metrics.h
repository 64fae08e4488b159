/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LOCK_METRICS_H
#define _NTKLOG_LOCK_METRICS_H

#include "analysis.h"
#include "exposition.h"
#include "lock_series.h"

void lock_metrics_add(struct lock_metrics *metrics, const struct analysis *analysis,
		      const struct etl_file *file);
void lock_metrics_put(const struct lock_metrics *metrics, struct exposition *exposition);
void lock_metrics_free(struct lock_metrics *metrics);

#endif /* _NTKLOG_LOCK_METRICS_H */
