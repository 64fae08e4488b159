/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PUT_H
#define _NTKLOG_PUT_H

/*
 * Text by a pointer that goes on: each function writes where @to is and returns what is
 * behind that. Whoever calls has seen that there is room, once for all of a line, with
 * PUT_MORE to spare: what has a known length is copied faster than what there is of it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "out.h"

/* Bytes that may be written behind the end of what is put. */
#define PUT_MORE	64

/**
 * struct label - a short text that is written again and again
 * @length: of @text
 * @text: it
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

/* Bytes that are mostly few; @text may be read up to a multiple of 16. */
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

/* More than what a reader's numbers have is text: it would take it for less. */
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

/* Eight digits in hexadecimal as they lie in memory, without a loop. */
static inline uint64_t hex_digits(uint32_t value)
{
	uint64_t digits = value, letters;

	/* Each digit to a byte of its own. */
	digits = (digits << 16 | digits) & UINT64_C(0x0000FFFF0000FFFF);
	digits = (digits << 8 | digits) & UINT64_C(0x00FF00FF00FF00FF);
	digits = (digits << 4 | digits) & UINT64_C(0x0F0F0F0F0F0F0F0F);
	/* 1 in those from 10 on. */
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
