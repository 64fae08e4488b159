// SPDX-License-Identifier: GPL-2.0-only
/* Comma-separated values, as RFC 4180 has them. */

#include <string.h>

#include "csv.h"

/**
 * csv_print() - print a value, quoted if it has to be
 * @stream: where to
 * @text: the value
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
