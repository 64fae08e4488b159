// SPDX-License-Identifier: GPL-2.0-only
/* What all commands say to people, and how. */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "message.h"
#include "status.h"

/**
 * message() - tell what is wrong, on a line of the standard error
 * @format: what
 */
void message(const char *format, ...)
{
	va_list arguments;

	/* In order with what has been printed, where both go to one place. */
	fflush(stdout);
	fputs("ntklog: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/**
 * stream_has_colour() - is this a terminal of somebody who wants colours?
 * @stream: what is printed to
 *
 * Return: whether it is: see no-color.org.
 */
bool stream_has_colour(FILE *stream)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(fileno(stream)) && !(none && *none) && terminal &&
	       strcmp(terminal, "dumb");
}

/**
 * terminal_width() - how wide is it?
 * @stream: what is printed to
 *
 * Return: columns, or 0: it is no terminal.
 */
size_t terminal_width(FILE *stream)
{
	struct winsize size = { 0 };

	if (!isatty(fileno(stream)))
		return 0;
	ioctl(fileno(stream), TIOCGWINSZ, &size);
	return size.ws_col ? size.ws_col : 80;
}

/* It is told once that the standard output cannot be written. */
static bool has_failed;

/**
 * check_output() - for atexit(): was all written, of help too?
 */
void check_output(void)
{
	if (!has_failed && finish_output(stdout, NULL))
		_exit(NTKLOG_FAILED);
}

/**
 * finish_output() - has all been written?
 * @stream: what was printed to
 * @path: of it, for the message; NULL: the standard output
 *
 * Return: 0, or -1 after a message.
 */
int finish_output(FILE *stream, const char *path)
{
	if (!fflush(stream) && !ferror(stream))
		return 0;
	if (path)
		message("%s: cannot write: %s", path, strerror(errno));
	else
		message("cannot write: %s", strerror(errno));
	has_failed |= stream == stdout;
	return -1;
}
