// SPDX-License-Identifier: GPL-2.0-only
/* Messages to users, and the state of the terminal. */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "message.h"
#include "status.h"

/**
 * message() - print a line to the standard error
 * @format: format of the message, for printf(), without the end of the line
 */
void message(const char *format, ...)
{
	va_list arguments;

	/* Keep the order of both streams if they go to the same file or terminal. */
	fflush(stdout);
	fputs("ntklog: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

/**
 * stream_has_colour() - test whether to print colours
 * @stream: stream to print to
 *
 * Return: true if @stream is a terminal with colours and NO_COLOR is empty (no-color.org).
 */
bool stream_has_colour(FILE *stream)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(fileno(stream)) && !(none && *none) && terminal &&
	       strcmp(terminal, "dumb");
}

/**
 * terminal_width() - get the number of characters that a line has room for
 * @stream: stream to print to
 *
 * Return: the value of COLUMNS, or the width of the terminal, or 80.
 */
size_t terminal_width(FILE *stream)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;

	if (width)
		return width;
	if (isatty(fileno(stream)))
		ioctl(fileno(stream), TIOCGWINSZ, &size);
	return size.ws_col ? size.ws_col : 80;
}

/* A failed write to the standard output was reported. check_output() does not repeat it. */
static bool has_failed;

/**
 * check_output() - report unwritten standard output when the program ends
 *
 * For atexit(), because argp prints help and ends the program by itself.
 */
void check_output(void)
{
	if (!has_failed && finish_output(stdout, NULL))
		_exit(NTKLOG_FAILED);
}

/**
 * finish_output() - flush a stream, and report a failed write
 * @stream: stream to flush
 * @path: path for the message, or NULL for the standard output
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
