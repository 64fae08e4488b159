// SPDX-License-Identifier: GPL-2.0-only
/* Text of strangers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text.h"

/* Bytes of the character that begins here; 0: none of UTF-8 does, or it controls something. */
static size_t character_length(const unsigned char *at)
{
	/* The least character that has so many bytes: no longer form of a shorter one. */
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int character;
	size_t length, i;

	if (*at < 0x80)
		return *at >= 0x20 && *at != 0x7F;
	if (*at >= 0xC2 && *at < 0xE0)
		length = 2;
	else if (*at >= 0xE0 && *at < 0xF0)
		length = 3;
	else if (*at >= 0xF0 && *at < 0xF5)
		length = 4;
	else
		return 0;
	character = *at & (0x7F >> length);
	for (i = 1; i < length; i++) {
		/* A NUL is none of these: nothing behind the end is read. */
		if ((at[i] & 0xC0) != 0x80)
			return 0;
		character = character << 6 | (at[i] & 0x3F);
	}
	if (character < least[length] || character > 0x10FFFF ||
	    (character >= 0xD800 && character < 0xE000) ||
	    /* C1: a terminal obeys them as it does an escape. */
	    (character >= 0x80 && character < 0xA0))
		return 0;
	return length;
}

/* Are these eight characters of ASCII that stay? */
static bool are_plain(const char *text)
{
	static const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word, low, high;

	memcpy(&word, text, sizeof(word));
	/* The highest bits of bytes that are less than 0x20, or 0x7F and more. */
	low = word - 0x20 * ones;
	high = word + ones;
	return !((low | high | word) & 0x80 * ones);
}

/**
 * text_clean_large() - as text_clean(), of much text that has little to clean
 * @text: in which
 * @size: of it, without the NUL behind it
 */
void text_clean_large(char *text, size_t size)
{
	size_t at = 0, i, length;

	while (at < size) {
		if (size - at >= 8 && are_plain(text + at)) {
			at += 8;
			continue;
		}
		for (i = 0; i < 8 && at < size; i += length, at += length) {
			length = character_length((const unsigned char *)text + at);
			if (length)
				continue;
			if (text[at] != '\t' && text[at] != '\n')
				text[at] = '?';
			length = 1;
		}
	}
}

/**
 * text_clean() - put "?" where there is no UTF-8, or what a terminal obeys
 * @text: in which; tabs and ends of lines stay
 *
 * Linux cuts names of threads at 15 bytes, wherever that is.
 */
void text_clean(char *text)
{
	while (*text) {
		size_t length = character_length((const unsigned char *)text);

		if (!length && *text != '\t' && *text != '\n')
			*text = '?';
		text += length ? length : 1;
	}
}

/**
 * text_clean_line() - as text_clean(), of a name: it is on one line, and in one column
 * @text: in which; of tabs and ends of lines nothing stays
 */
void text_clean_line(char *text)
{
	text_clean(text);
	for (; *text; text++)
		if (*text == '\t' || *text == '\n')
			*text = '?';
}
