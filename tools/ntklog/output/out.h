/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_OUT_H
#define _NTKLOG_OUT_H

/*
 * Text for programs and people, much of it: what printf() takes most of its time for,
 * understanding a format, is left out. What is written is in the stream after out_flush().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUT_SIZE	0x10000

/* Digits of a uint64_t at most. */
#define OUT_DIGITS	20

/**
 * struct out - what is on its way to a stream
 * @stream: the stream
 * @used: bytes of @buffer
 * @buffer: them
 */
struct out {
	FILE *stream;
	size_t used;
	char buffer[OUT_SIZE];
};

void out_flush(struct out *out);
void out_large(struct out *out, const char *text, size_t length);
void out_json(struct out *out, const char *text);

/* 00 to 99. */
extern const char out_pairs[];

/* Digits of a number. */
static inline unsigned int out_length(uint64_t value)
{
	static const uint64_t powers[] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
		10000000000000000000u,
	};
	/* The logarithm of 2 is 1233 / 4096, nearly: one too few at most. */
	unsigned int length = (64 - __builtin_clzll(value | 1)) * 1233 >> 12;

	return length + (value >= powers[length]);
}

/**
 * out_digits() - a number in decimal
 * @end: behind the place of its last digit; OUT_DIGITS are before
 * @value: the number
 *
 * Return: its first digit.
 */
static inline char *out_digits(char *end, uint64_t value)
{
	/* Four at a time: each division waits for the one before. */
	while (value >= 10000) {
		unsigned int four = value % 10000;

		end -= 4;
		memcpy(end, out_pairs + 2 * (four / 100), 2);
		memcpy(end + 2, out_pairs + 2 * (four % 100), 2);
		value /= 10000;
	}
	if (value >= 100) {
		end -= 2;
		memcpy(end, out_pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, out_pairs + 2 * value, 2);
	} else {
		*--end = '0' + value;
	}
	return end;
}

/* Room for so many bytes. */
static inline char *out_room(struct out *out, size_t length)
{
	if (out->used + length > sizeof(out->buffer))
		out_flush(out);
	return out->buffer + out->used;
}

static inline void out_bytes(struct out *out, const char *text, size_t length)
{
	if (length > sizeof(out->buffer)) {
		out_large(out, text, length);
		return;
	}
	memcpy(out_room(out, length), text, length);
	out->used += length;
}

static inline void out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->used++;
}

/* Of text that the compiler knows, so does it the length. */
#define out_literal(out, text)	out_bytes(out, text, sizeof(text) - 1)

static inline void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

static inline void out_unsigned(struct out *out, uint64_t value)
{
	char digits[OUT_DIGITS], *start = out_digits(digits + OUT_DIGITS, value);

	out_bytes(out, start, digits + OUT_DIGITS - start);
}

static inline void out_signed(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_unsigned(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void out_hex(struct out *out, uint64_t value);
void out_fixed(struct out *out, int64_t value, unsigned int decimals, unsigned int width);

#endif /* _NTKLOG_OUT_H */
