/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CACHE_INDEX_H
#define _NTKLOG_CACHE_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* An index of @bits bits, which depends on all bits of three numbers. */
static inline size_t cache_index(uint64_t a, uint64_t b, uint64_t c, unsigned int bits)
{
	uint64_t mixed = a * UINT64_C(0x9E3779B97F4A7C15);

	mixed = ((mixed ^ mixed >> 32) + b) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = ((mixed ^ mixed >> 32) + c) * UINT64_C(0x94D049BB133111EB);
	return mixed >> (64 - bits);
}

#endif /* _NTKLOG_CACHE_INDEX_H */
