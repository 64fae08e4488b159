/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANALYSIS_RECORDS_H
#define _NTKLOG_ANALYSIS_RECORDS_H

/* The records of locks and context switches, added to the sums of an analysis. */

#include "analysis_sums.h"
#include "charge_events.h"

void analysis_add_switch(struct analysis *analysis, const struct etl_event *event,
			 const struct contextswap_record *record, bool is_in_window);
void analysis_add_record(struct analysis *analysis, const struct record_source *source,
			 union wmi_record *record);

#endif /* _NTKLOG_ANALYSIS_RECORDS_H */
