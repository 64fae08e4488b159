// SPDX-License-Identifier: GPL-2.0-only

#include "etl_reader.h"
#include "whole_ticks.h"
#include "window.h"

/* Seconds by which the time that is read is larger at both ends, so that rounding loses no event */
#define MARGIN_S	.001

/* The switches around a window tell which threads run at its begin and at its end. */
static bool is_skipped(uint16_t hook_id)
{
	return window_can_skip_event(hook_id) && hook_id != PERFINFO_LOG_TYPE_CONTEXTSWAP;
}

/**
 * window_skip_buffers() - skip the buffers that have nothing for a window
 * @selection: the window, or NULL
 * @file: file of @merge
 * @merge: merge of which no event was read
 */
void window_skip_buffers(const struct selection *selection, const struct etl_file *file,
			 struct etl_merge *merge)
{
	uint64_t first = 0, last = UINT64_MAX;
	double frequency = (double)file->perf_freq;

	if (!selection || file->start_clock > INT64_MAX)
		return;
	if (selection->has_begin && selection->begin_seconds > MARGIN_S)
		first = file->start_clock +
			floor_ticks((selection->begin_seconds - MARGIN_S) * frequency);
	if (selection->has_end && selection->end_seconds > 0)
		last = file->start_clock +
		       floor_ticks((selection->end_seconds + MARGIN_S) * frequency);
	if (first || last < UINT64_MAX)
		etl_merge_skip(merge, first, last, is_skipped);
}
