// SPDX-License-Identifier: GPL-2.0-only
/* The strings of NT's events. */

#include <stdbool.h>

#include "text.h"
#include "utf16.h"

/* Of those that are more than one unit can say, the two halves. */
static bool is_high(unsigned int unit)
{
	return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low(unsigned int unit)
{
	return unit >= 0xDC00 && unit < 0xE000;
}

static unsigned int unit_at(const unsigned char *from, const unsigned char *end)
{
	return end - from >= 2 ? from[0] | from[1] << 8 : 0;
}

/* Up to 0x10FFFF. */
static char *put_utf8(char *to, unsigned int character)
{
	static const unsigned char first[] = { 0, 0xC0, 0xE0, 0xF0 };
	unsigned int more = (character >= 0x80) + (character >= 0x800) + (character >= 0x10000);

	*to++ = first[more] | character >> 6 * more;
	while (more--)
		*to++ = 0x80 | (character >> 6 * more & 0x3F);
	return to;
}

/**
 * utf16_read() - a string as UTF-8, up to its NUL or the end of the data
 * @from: where it begins
 * @end: of the data
 * @text: where it goes, without what a terminal obeys, on one line
 * @size: of @text; what has no room is left out
 *
 * Return: what is behind the string.
 */
const unsigned char *utf16_read(const unsigned char *from, const unsigned char *end,
				char *text, size_t size)
{
	/* The longest character, and the NUL. */
	char *to = text, *limit = text + size - 5;

	for (; end - from >= 2; from += 2) {
		unsigned int unit = unit_at(from, end), next = unit_at(from + 2, end);

		if (!unit) {
			from += 2;
			break;
		}
		if (is_high(unit) && is_low(next)) {
			unit = 0x10000 + ((unit - 0xD800) << 10) + (next - 0xDC00);
			from += 2;
		} else if (is_high(unit) || is_low(unit)) {
			/* A half is no character by itself. */
			unit = '?';
		}
		if (to <= limit)
			to = put_utf8(to, unit);
	}
	*to = '\0';
	text_clean_line(text);
	return from;
}
