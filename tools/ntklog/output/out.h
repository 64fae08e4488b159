/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_OUT_H
#define _NTKLOG_OUT_H

/* Buffered output without formats. The stream has all output after out_flush(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUT_SIZE	0x10000

/* Most digits of a uint64_t. */
#define OUT_DIGITS	20

struct out_buffer {
	FILE *stream;
	size_t used;
	char buffer[OUT_SIZE];
};

void out_flush(struct out_buffer *out);
void out_large_text(struct out_buffer *out, const char *text, size_t length);
void out_json(struct out_buffer *out, const char *text);

/* The numbers 00 to 99, two digits each. */
extern const char out_digit_pairs[];

static inline unsigned int out_digit_count(uint64_t value)
{
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000u,
	};
	/* The binary logarithm times 1233 / 4096, about log10(2), is at most one too small. */
	unsigned int length = (64 - __builtin_clzll(value | 1)) * 1233 >> 12;

	return length + (value >= powers[length]);
}

/**
 * out_digits() - format a number in decimal
 * @end: end of the number, with OUT_DIGITS bytes before it
 * @value: number
 *
 * Return: the first digit.
 */
static inline char *out_digits(char *end, uint64_t value)
{
	/* Take four digits at a time, because each division waits for the one before. */
	while (value >= 10000) {
		unsigned int four = value % 10000;

		end -= 4;
		memcpy(end, out_digit_pairs + 2 * (four / 100), 2);
		memcpy(end + 2, out_digit_pairs + 2 * (four % 100), 2);
		value /= 10000;
	}
	if (value >= 100) {
		end -= 2;
		memcpy(end, out_digit_pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, out_digit_pairs + 2 * value, 2);
	} else {
		*--end = '0' + value;
	}
	return end;
}

/*
 * Reserve @length bytes: flush the buffer if fewer are free. Returns the first free byte. The
 * caller increases @out->used by the bytes that it writes there.
 */
static inline char *out_reserve(struct out_buffer *out, size_t length)
{
	if (out->used + length > sizeof(out->buffer))
		out_flush(out);
	return out->buffer + out->used;
}

static inline void out_bytes(struct out_buffer *out, const char *text, size_t length)
{
	if (length > sizeof(out->buffer)) {
		out_large_text(out, text, length);
		return;
	}
	memcpy(out_reserve(out, length), text, length);
	out->used += length;
}

static inline void out_char(struct out_buffer *out, char c)
{
	*out_reserve(out, 1) = c;
	out->used++;
}

/* Write a string literal, whose length the compiler knows. */
#define out_literal(out, text)	out_bytes(out, text, sizeof(text) - 1)

static inline void out_text(struct out_buffer *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

static inline void out_unsigned(struct out_buffer *out, uint64_t value)
{
	char digits[OUT_DIGITS], *start = out_digits(digits + OUT_DIGITS, value);

	out_bytes(out, start, digits + OUT_DIGITS - start);
}

static inline void out_signed(struct out_buffer *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void out_hex(struct out_buffer *out, uint64_t value);
void out_fixed_point(struct out_buffer *out, int64_t value, unsigned int decimals,
		     unsigned int width);

#endif /* _NTKLOG_OUT_H */
