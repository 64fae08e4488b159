// SPDX-License-Identifier: GPL-2.0-only
/* Text of a page: names come from the traced system and may hold any character. */

#include <string.h>

#include "html.h"
#include "table.h"

static void print_character(FILE *stream, char character)
{
	switch (character) {
	case '<':
		fputs("&lt;", stream);
		break;
	case '>':
		fputs("&gt;", stream);
		break;
	case '&':
		fputs("&amp;", stream);
		break;
	case '"':
		fputs("&quot;", stream);
		break;
	default:
		if ((unsigned char)character >= 0x20)
			fputc(character, stream);
	}
}

/**
 * html_print_escaped() - print text in which nothing is markup
 * @stream: stream of the page
 * @text: text; control characters are left out
 */
void html_print_escaped(FILE *stream, const char *text)
{
	for (; *text; text++)
		print_character(stream, *text);
}

/**
 * html_print_name() - print a name that may be broken between its words
 * @stream: stream of the page
 * @name: name of a function, a lock or a thread
 */
void html_print_name(FILE *stream, const char *name)
{
	for (; *name; name++) {
		print_character(stream, *name);
		if (strchr("_.:/+", *name))
			fputs("<wbr>", stream);
	}
}

/**
 * html_print_lock() - print the name of a lock
 * @stream: stream of the page
 * @names: names of the trace, or NULL
 * @lock: address of the lock, or key of its class
 */
void html_print_lock(FILE *stream, const struct names *names, uint64_t lock)
{
	char text[NAME_SIZE];

	names_address(names, lock, text, sizeof(text));
	html_print_escaped(stream, text);
}

/**
 * html_print_time() - print a time as the tables do
 * @stream: stream of the page
 * @ns: nanoseconds
 */
void html_print_time(FILE *stream, double ns)
{
	const union cell cell = { .number = ns };
	char text[32];

	cell_format(CELL_TIME, &cell, text, sizeof(text));
	fputs(text, stream);
}
