/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_MIX_H
#define _NTKLOG_CHARGE_MIX_H

#include <stdint.h>

/* Return a number whose high bits depend on all bits of three numbers. */
static inline uint64_t mix_numbers(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t mixed = a * UINT64_C(0x9E3779B97F4A7C15);

	mixed = ((mixed ^ mixed >> 32) + b) * UINT64_C(0xBF58476D1CE4E5B9);
	return ((mixed ^ mixed >> 32) + c) * UINT64_C(0x94D049BB133111EB);
}

#endif /* _NTKLOG_CHARGE_MIX_H */
