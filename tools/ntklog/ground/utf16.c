// SPDX-License-Identifier: GPL-2.0-only
/* The strings of NT's events. */

#include "text.h"
#include "utf16.h"

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
	char *to = text, *limit = text + size - 4;

	for (; end - from >= 2; from += 2) {
		unsigned int unit = from[0] | from[1] << 8;

		if (!unit) {
			from += 2;
			break;
		}
		if (to > limit)
			continue;
		/* Halves of a pair are no characters by themselves. */
		if (unit >= 0xD800 && unit < 0xE000)
			unit = '?';
		if (unit < 0x80) {
			*to++ = unit;
		} else if (unit < 0x800) {
			*to++ = 0xC0 | unit >> 6;
			*to++ = 0x80 | (unit & 0x3F);
		} else {
			*to++ = 0xE0 | unit >> 12;
			*to++ = 0x80 | (unit >> 6 & 0x3F);
			*to++ = 0x80 | (unit & 0x3F);
		}
	}
	*to = '\0';
	text_clean_line(text);
	return from;
}
