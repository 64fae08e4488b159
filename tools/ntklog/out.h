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
char *out_digits(char *end, uint64_t value);
void out_json(struct out *out, const char *text);

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
