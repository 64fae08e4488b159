// SPDX-License-Identifier: GPL-2.0-only

#include <stdbool.h>

#include "text.h"
#include "utf16.h"

/* A character above 0xFFFF is a pair of units: a high surrogate, then a low surrogate. */
static bool is_high_surrogate(unsigned int unit)
{
	return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low_surrogate(unsigned int unit)
{
	return unit >= 0xDC00 && unit < 0xE000;
}

static unsigned int unit_at(const unsigned char *from, const unsigned char *end)
{
	return end - from >= 2 ? from[0] | from[1] << 8 : 0;
}

static char *put_utf8(char *dest, unsigned int character)
{
	static const unsigned char first[] = { 0, 0xC0, 0xE0, 0xF0 };
	unsigned int more = (character >= 0x80) + (character >= 0x800) + (character >= 0x10000);

	*dest++ = first[more] | character >> 6 * more;
	while (more--)
		*dest++ = 0x80 | (character >> 6 * more & 0x3F);
	return dest;
}

/**
 * utf16_string_read() - convert a string to UTF-8, up to its NUL or the end of the data
 * @from: begin of the string
 * @end: end of the data
 * @text: set to the string, cleaned by text_clean_line()
 * @size: bytes of @text, at least 5; a longer string is cut
 *
 * Return: the end of the string in the data, behind its NUL.
 */
const unsigned char *utf16_string_read(const unsigned char *from, const unsigned char *end,
				       char *text, size_t size)
{
	/* The last place where a character of four bytes and the NUL fit. */
	char *dest = text, *limit = text + size - 5;

	for (; end - from >= 2; from += 2) {
		unsigned int unit = unit_at(from, end), next = unit_at(from + 2, end);

		if (!unit) {
			from += 2;
			break;
		}
		if (is_high_surrogate(unit) && is_low_surrogate(next)) {
			unit = 0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00);
			from += 2;
		} else if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
			/* A surrogate without its other half is malformed. */
			unit = '?';
		}
		if (dest <= limit)
			dest = put_utf8(dest, unit);
	}
	*dest = '\0';
	text_clean_line(text);
	return from;
}
