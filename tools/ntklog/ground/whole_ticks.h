/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WHOLE_TICKS_H
#define _NTKLOG_WHOLE_TICKS_H

#include <stdint.h>

/* Round down. A damaged file may have times of centuries, which do not fit into 63 bits. */
static inline uint64_t floor_ticks(double ticks)
{
	return ticks < 0x1p63 ? (uint64_t)ticks : INT64_MAX;
}

#endif /* _NTKLOG_WHOLE_TICKS_H */
