// SPDX-License-Identifier: GPL-2.0-only
/* Comma-separated values of RFC 4180. */

#include <string.h>

#include "csv.h"

/**
 * csv_print() - print a value, in quotes if it needs them
 * @stream: stream to print to
 * @text: value
 */
void csv_print(FILE *stream, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, stream);
		return;
	}
	fputc('"', stream);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}
