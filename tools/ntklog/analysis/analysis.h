/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ANALYSIS_H
#define _NTKLOG_ANALYSIS_H

#include "analysis_sums.h"

void analysis_find_rates(struct analysis *analysis, struct etl_file *file);
int analysis_add(struct analysis *analysis, struct etl_file *file,
		 const struct etl_event *event, const struct stack *stack);
void analysis_read(struct analysis *analysis, struct etl_file *file);
double analysis_length_s(const struct analysis *analysis, const struct etl_file *file);
double analysis_find_end_s(const struct analysis *analysis, const struct etl_file *file);
bool analysis_has_group(const struct analysis *analysis, uint32_t group);
void analysis_finish(struct analysis *analysis);
void analysis_free(struct analysis *analysis);

#endif /* _NTKLOG_ANALYSIS_H */
