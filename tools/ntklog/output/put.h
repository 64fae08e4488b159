/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PUT_H
#define _NTKLOG_PUT_H

/*
 * Fast formatting into a buffer. Each function writes at @to and returns the end of the text. The
 * caller reserves memory for a whole line and PUT_MORE bytes, because the functions copy blocks of
 * a fixed size, which is faster than the exact length.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "out.h"

/* Greatest number of bytes that a function may write behind the end of its text. */
#define PUT_MORE	64

/**
 * struct label - a short text that is written often
 * @length: bytes of @text
 * @text: text
 */
struct label {
	unsigned int length;
	char text[PUT_MORE];
};

static inline char *put_bytes(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

#define put_literal(to, text)	put_bytes(to, text, sizeof(text) - 1)

static inline char *put_text(char *to, const char *text)
{
	return put_bytes(to, text, strlen(text));
}

static inline char *put_label(char *to, const struct label *label)
{
	memcpy(to, label->text, sizeof(label->text) / 2);
	if (label->length > sizeof(label->text) / 2)
		memcpy(to + sizeof(label->text) / 2, label->text + sizeof(label->text) / 2,
		       sizeof(label->text) / 2);
	return to + label->length;
}

/* Put bytes that are usually few. Reads @text up to a multiple of 16 bytes. */
static inline char *put_short(char *to, const char *text, size_t length)
{
	size_t at = 0;

	do {
		memcpy(to + at, text + at, 16);
		at += 16;
	} while (at < length);
	return to + length;
}

static inline char *put_unsigned(char *to, uint64_t value)
{
	unsigned int length;

	if (value < 10) {
		*to = '0' + value;
		return to + 1;
	}
	length = out_length(value);
	out_digits(to + length, value);
	return to + length;
}

/* Put a number of JSON. Above 63 bits it becomes a string, which no reader rounds. */
static inline char *put_json_unsigned(char *to, uint64_t value)
{
	if (value <= INT64_MAX)
		return put_unsigned(to, value);
	*to++ = '"';
	to = put_unsigned(to, value);
	*to++ = '"';
	return to;
}

static inline char *put_signed(char *to, int64_t value)
{
	if (value >= 0)
		return put_unsigned(to, value);
	*to++ = '-';
	return put_unsigned(to, -(uint64_t)value);
}

/* Return the eight hexadecimal digits of a number, as they are in memory. */
static inline uint64_t hex_digits(uint32_t value)
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

static inline char *put_hex(char *to, uint64_t value)
{
	unsigned int length = value ? (67 - __builtin_clzll(value)) / 4 : 1;
	uint64_t digits;

	to[0] = '0';
	to[1] = 'x';
	value <<= 64 - 4 * length;
	digits = hex_digits(value >> 32);
	memcpy(to + 2, &digits, 8);
	digits = hex_digits(value);
	memcpy(to + 10, &digits, 8);
	return to + 2 + length;
}

#endif /* _NTKLOG_PUT_H */
