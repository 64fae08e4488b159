/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PUT_H
#define _NTKLOG_PUT_H

/*
 * Fast formatting into a buffer. Each function writes at @dest and returns the end of the text. The
 * caller reserves memory for a whole line and PUT_OVERRUN_MAX bytes, because the functions copy
 * blocks of a fixed size, which is faster than the exact length.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "out.h"

/* Greatest number of bytes that a function may write behind the end of its text. */
#define PUT_OVERRUN_MAX	64

struct short_text {
	unsigned int length;
	char text[PUT_OVERRUN_MAX];
};

static inline char *put_bytes(char *dest, const char *text, size_t length)
{
	memcpy(dest, text, length);
	return dest + length;
}

#define put_literal(dest, text)	put_bytes(dest, text, sizeof(text) - 1)

static inline char *put_text(char *dest, const char *text)
{
	return put_bytes(dest, text, strlen(text));
}

static inline char *put_short_text(char *dest, const struct short_text *label)
{
	memcpy(dest, label->text, sizeof(label->text) / 2);
	if (label->length > sizeof(label->text) / 2)
		memcpy(dest + sizeof(label->text) / 2, label->text + sizeof(label->text) / 2,
		       sizeof(label->text) / 2);
	return dest + label->length;
}

/* Put bytes that are usually few. Reads @text up to a multiple of 16 bytes. */
static inline char *put_short_bytes(char *dest, const char *text, size_t length)
{
	size_t at = 0;

	do {
		memcpy(dest + at, text + at, 16);
		at += 16;
	} while (at < length);
	return dest + length;
}

static inline char *put_unsigned(char *dest, uint64_t value)
{
	unsigned int length;

	if (value < 10) {
		*dest = '0' + value;
		return dest + 1;
	}
	length = out_digit_count(value);
	out_digits(dest + length, value);
	return dest + length;
}

/* Put a number of JSON. Above 63 bits it becomes a string, which no reader rounds. */
static inline char *put_json_unsigned(char *dest, uint64_t value)
{
	if (value <= INT64_MAX)
		return put_unsigned(dest, value);
	*dest++ = '"';
	dest = put_unsigned(dest, value);
	*dest++ = '"';
	return dest;
}

static inline char *put_signed(char *dest, int64_t value)
{
	if (value >= 0)
		return put_unsigned(dest, value);
	*dest++ = '-';
	return put_unsigned(dest, -(uint64_t)value);
}

/* Return the eight hexadecimal digits of a number, as they are in memory. */
static inline uint64_t format_eight_hex_digits(uint32_t value)
{
	uint64_t digits = value, letters;

	/* Spread the digits, one to a byte. */
	digits = (digits << 16 | digits) & UINT64_C(0x0000FFFF0000FFFF);
	digits = (digits << 8 | digits) & UINT64_C(0x00FF00FF00FF00FF);
	digits = (digits << 4 | digits) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	/* Set 1 in the bytes of digits from 10 on. */
	letters = (digits + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	digits += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
	return __builtin_bswap64(digits);
}

static inline char *put_hex(char *dest, uint64_t value)
{
	unsigned int length = value ? (67 - __builtin_clzll(value)) / 4 : 1;
	uint64_t digits;

	dest[0] = '0';
	dest[1] = 'x';
	value <<= 64 - 4 * length;
	digits = format_eight_hex_digits(value >> 32);
	memcpy(dest + 2, &digits, 8);
	digits = format_eight_hex_digits(value);
	memcpy(dest + 10, &digits, 8);
	return dest + 2 + length;
}

#endif /* _NTKLOG_PUT_H */
