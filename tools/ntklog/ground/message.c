// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "message.h"
#include "status.h"

/* Greatest size of a line, bytes: the end of a longer message is cut. */
#define LINE_SIZE	(3 * PATH_MAX)

/* Further messages are dropped when the deferred ones have this many bytes. */
#define DEFERRED_MAX	4096

/* Smallest width of a line, characters: in less the columns of a table have no room. */
#define WIDTH_MIN	50

/* Stream of the messages that wait for message_release(); NULL: messages are printed at once. */
static FILE *deferred_stream;
static char *deferred_text;
static size_t deferred_size;

/**
 * message() - print a line to the standard error
 * @format: format of the message, for printf(), without the end of the line
 *
 * The line is one write(), because processes that read files share the standard error.
 */
void message(const char *format, ...)
{
	FILE *stream = deferred_stream ? deferred_stream : stderr;
	char line[LINE_SIZE] = "ntklog: ";
	size_t prefix_length = strlen(line), length;
	va_list arguments;

	if (deferred_stream && ftell(deferred_stream) >= DEFERRED_MAX)
		return;
	/* Keep the order of both streams if they go to the same file or terminal. */
	fflush(stdout);
	va_start(arguments, format);
	vsnprintf(line + prefix_length, sizeof(line) - prefix_length, format, arguments);
	va_end(arguments);
	/* The end of the line takes the place of the text's NUL. */
	length = strlen(line);
	line[length] = '\n';
	fwrite(line, 1, length + 1, stream);
}

/**
 * message_ended_by_signal() - report that a signal has ended a process
 * @process: description of the process
 * @number: the signal
 * @remedy: advice for a lack of memory
 */
void message_ended_by_signal(const char *process, int number, const char *remedy)
{
	if (number == SIGKILL)
		message("%s was ended by signal %d (%s): if memory ran out (see dmesg), %s",
			process, number, strsignal(number), remedy);
	else
		message("%s was ended by signal %d (%s)", process, number, strsignal(number));
}

/**
 * message_defer() - from now on keep messages for the terminal until message_release()
 *
 * Messages that go elsewhere are printed at once.
 */
void message_defer(void)
{
	if (!deferred_stream && isatty(STDERR_FILENO))
		deferred_stream = open_memstream(&deferred_text, &deferred_size);
}

/**
 * message_release() - print the kept messages, and further ones at once
 */
void message_release(void)
{
	if (!deferred_stream)
		return;
	fclose(deferred_stream);
	deferred_stream = NULL;
	fwrite(deferred_text, 1, deferred_size, stderr);
	free(deferred_text);
}

/**
 * stream_has_cursor() - test whether control sequences can move a cursor
 * @stream: stream to print to; one in memory counts as the standard output
 *
 * Return: true if @stream is a terminal that TERM names, and not a dumb one.
 */
bool stream_has_cursor(FILE *stream)
{
	const char *terminal = getenv("TERM");
	int fd = fileno(stream);

	return isatty(fd < 0 ? STDOUT_FILENO : fd) && terminal && *terminal &&
	       strcmp(terminal, "dumb");
}

/**
 * stream_has_colour() - test whether to print colours
 * @stream: as for stream_has_cursor()
 *
 * Return: true if @stream is a terminal with colours and NO_COLOR is empty (no-color.org).
 */
bool stream_has_colour(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");

	return stream_has_cursor(stream) && !(no_color && *no_color);
}

/**
 * terminal_width() - get the number of characters that a line has room for
 * @stream: stream to print to
 *
 * Return: the value of COLUMNS, or the width of the terminal, or 80; at least WIDTH_MIN.
 */
size_t terminal_width(FILE *stream)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	long width = columns ? strtol(columns, NULL, 10) : 0;

	if (!width && isatty(fileno(stream)))
		ioctl(fileno(stream), TIOCGWINSZ, &size);
	if (!width)
		width = size.ws_col ? size.ws_col : 80;
	return width > WIDTH_MIN ? width : WIDTH_MIN;
}

/* A failed write to the standard output was reported. check_output() does not repeat it. */
static bool output_has_failed;

/**
 * check_output() - report unwritten standard output when the program ends
 *
 * For atexit(), because argp prints help and ends the program by itself.
 */
void check_output(void)
{
	if (!output_has_failed && finish_output(stdout, NULL))
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
	output_has_failed |= stream == stdout;
	return -1;
}
