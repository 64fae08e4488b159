/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WINDOW_H
#define _NTKLOG_WINDOW_H

/* The window of a report: the time that the user has selected with --from and --to. */

#include <ntklog/etl.h>

#include "filter.h"

bool window_can_skip_event(uint16_t hook_id);
void window_skip_buffers(const struct selection *selection, const struct etl_file *file,
			 struct etl_merge *merge);

#endif /* _NTKLOG_WINDOW_H */
