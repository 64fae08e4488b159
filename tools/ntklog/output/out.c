// SPDX-License-Identifier: GPL-2.0-only

#include "out.h"

const char out_digit_pairs[] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/**
 * out_flush() - write the buffer to the stream
 * @out: output
 *
 * ferror() of the stream tells a failure.
 */
void out_flush(struct out_buffer *out)
{
	fwrite(out->buffer, 1, out->used, out->stream);
	out->used = 0;
}

/**
 * out_large_text() - write text that is larger than the buffer
 * @out: output
 * @text: text to write
 * @length: bytes of @text
 */
void out_large_text(struct out_buffer *out, const char *text, size_t length)
{
	out_flush(out);
	fwrite(text, 1, length, out->stream);
}

/**
 * out_hex() - write a number in hexadecimal, with 0x
 * @out: output
 * @value: number
 */
void out_hex(struct out_buffer *out, uint64_t value)
{
	unsigned int digits = value ? (67 - __builtin_clzll(value)) / 4 : 1, i;
	char *to = out_reserve(out, 2 + digits);

	to[0] = '0';
	to[1] = 'x';
	for (i = digits; i > 0; i--, value >>= 4)
		to[1 + i] = "0123456789abcdef"[value & 0xF];
	out->used += 2 + digits;
}

/**
 * out_fixed_point() - write a number with decimals
 * @out: output
 * @value: number times 10 to the power of @decimals
 * @decimals: number of decimals
 * @width: least number of characters, filled up with spaces on the left
 */
void out_fixed_point(struct out_buffer *out, int64_t value, unsigned int decimals,
		     unsigned int width)
{
	char text[2 * OUT_DIGITS + 2], *end = text + sizeof(text), *start;
	size_t length, digits;

	start = out_digits(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
	digits = end - start;
	while (digits <= decimals) {
		*--start = '0';
		digits++;
	}
	if (decimals) {
		memmove(start - 1, start, digits - decimals);
		start--;
		start[digits - decimals] = '.';
	}
	if (value < 0)
		*--start = '-';
	for (length = end - start; length < width; length++)
		out_char(out, ' ');
	out_bytes(out, start, end - start);
}

/**
 * out_json() - write text, escaped for JSON, without quotes
 * @out: output
 * @text: text in UTF-8
 */
void out_json(struct out_buffer *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			out_char(out, '\\');
		if (c >= 0x20) {
			out_char(out, c);
			continue;
		}
		out_literal(out, "\\u00");
		out_char(out, '0' + (c >> 4));
		out_char(out, "0123456789abcdef"[c & 0xF]);
	}
}
