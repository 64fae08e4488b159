/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_BYTES_H
#define _NTKLOG_ETL_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t get_u16(const unsigned char *from)
{
	uint16_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static inline uint32_t get_u32(const unsigned char *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static inline uint64_t get_u64(const unsigned char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

#endif /* _NTKLOG_ETL_BYTES_H */
