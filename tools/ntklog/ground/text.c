// SPDX-License-Identifier: GPL-2.0-only

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* Test for an invisible character that makes text appear in another order than it is in. */
static bool controls_direction(unsigned int character)
{
	return character == 0x061C || character == 0x200E || character == 0x200F ||
	       (character >= 0x202A && character <= 0x202E) ||
	       (character >= 0x2066 && character <= 0x2069);
}

/* Return the length of the UTF-8 character at @at, or 0 if it is malformed or a control one. */
static size_t utf8_character_length(const unsigned char *at)
{
	/* Least character of each length in bytes. A lesser one is an overlong form. */
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
		/* The NUL at the end of the text fails this test, so no byte behind it is read. */
		if ((at[i] & 0xC0) != 0x80)
			return 0;
		character = character << 6 | (at[i] & 0x3F);
	}
	if (character < least[length] || character > 0x10FFFF ||
	    (character >= 0xD800 && character < 0xE000) ||
	    /* Terminals obey control characters of the set C1 like escape sequences. */
	    (character >= 0x80 && character < 0xA0) || controls_direction(character))
		return 0;
	return length;
}

static bool eight_are_printable_ascii(const char *text)
{
	static const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word, low, high;

	memcpy(&word, text, sizeof(word));
	/* A byte below 0x20, or from 0x7F on, sets its highest bit in one of these words. */
	low = word - 0x20 * ones;
	high = word + ones;
	return !((low | high | word) & 0x80 * ones);
}

/**
 * text_cut_module() - cut out the last name of a module, as in "holds_long [module]"
 * @text: names of functions and variables
 *
 * Return: false if @text has none.
 */
bool text_cut_module(char *text)
{
	char *at = text + strlen(text), *end;

	while (at > text) {
		at--;
		if (strncmp(at, " [", 2))
			continue;
		end = at + 2 + strcspn(at + 2, " []");
		if (*end != ']')
			continue;
		memmove(at, end + 1, strlen(end + 1) + 1);
		return true;
	}
	return false;
}

/**
 * text_print_wrapped() - print a text and a newline, broken at spaces
 * @text: the text
 * @width: bytes that a line has room for
 * @stream: stream to print to
 *
 * Further lines are indented by two spaces. A longer word has a line of its own.
 */
void text_print_wrapped(const char *text, size_t width, FILE *stream)
{
	size_t used = 0;

	while (*text) {
		size_t length = strcspn(text + 1, " ") + 1;

		if (used && used + length > width) {
			fputs("\n ", stream);
			used = 1;
		}
		fwrite(text, 1, length, stream);
		used += length;
		text += length;
	}
	putc('\n', stream);
}

/**
 * text_clean_large() - clean a text as text_clean() does, eight bytes at a time
 * @text: text to change
 * @size: bytes of @text, without the NUL behind it
 */
void text_clean_large(char *text, size_t size)
{
	size_t at = 0, i, length;

	while (at < size) {
		if (size - at >= 8 && eight_are_printable_ascii(text + at)) {
			at += 8;
			continue;
		}
		for (i = 0; i < 8 && at < size; i += length, at += length) {
			length = utf8_character_length((const unsigned char *)text + at);
			if (length)
				continue;
			if (text[at] != '\t' && text[at] != '\n')
				text[at] = '?';
			length = 1;
		}
	}
}

/**
 * text_clean() - replace malformed UTF-8 and control characters by "?"
 * @text: text to change; each byte of such a character becomes "?"; tabs and newlines stay
 */
void text_clean(char *text)
{
	while (*text) {
		size_t length = utf8_character_length((const unsigned char *)text);

		if (!length && *text != '\t' && *text != '\n')
			*text = '?';
		text += length ? length : 1;
	}
}

/**
 * text_clean_line() - clean a name, which is on one line and in one column
 * @text: text to change as text_clean() does; tabs and newlines become "?" too
 */
void text_clean_line(char *text)
{
	text_clean(text);
	for (; *text; text++)
		if (*text == '\t' || *text == '\n')
			*text = '?';
}

/**
 * text_send() - write a text for text_receive() in another process of this program
 * @text: the text
 * @stream: stream to write to; after a failed write ferror() is true
 */
void text_send(const char *text, FILE *stream)
{
	size_t length = strlen(text);

	fwrite(&length, sizeof(length), 1, stream);
	fwrite(text, 1, length, stream);
}

/**
 * text_receive() - read a text that text_send() has written
 * @stream: stream to read from
 *
 * Return: the text, for free(); NULL if it is not complete, or without memory.
 */
char *text_receive(FILE *stream)
{
	size_t length;
	char *text;

	if (fread(&length, sizeof(length), 1, stream) != 1)
		return NULL;
	text = calloc(1, length + 1);
	if (text && fread(text, 1, length, stream) == length)
		return text;
	free(text);
	return NULL;
}
