// SPDX-License-Identifier: GPL-2.0-only

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "top_keys.h"

/**
 * top_view_is_same() - test whether two views sum up an interval in the same way
 * @a: a view
 * @b: another view
 *
 * Return: true if they do.
 */
bool top_view_is_same(const struct top_view *a, const struct top_view *b)
{
	return a->sums_by_address == b->sums_by_address && a->has_waiters == b->has_waiters &&
	       (!a->has_waiters || a->attribute == b->attribute);
}

/**
 * top_keys_begin() - let the terminal give each key at once
 * @keys: all zero, or in use: another program may have changed the terminal meanwhile
 *
 * Without a terminal, or in the background of one, nothing is changed.
 */
void top_keys_begin(struct top_keys *keys)
{
	struct termios raw;

	if (!isatty(STDOUT_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
	    tcgetattr(STDIN_FILENO, &raw))
		return;
	if (!keys->is_raw)
		keys->saved_termios = raw;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	keys->is_raw |= !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void take_filter_key(struct top_keys *keys, char key)
{
	if (key == '\n' || key == '\r')
		keys->is_typing = false;
	else if ((key == '\b' || key == 0x7F) && keys->filter_length)
		keys->filter[--keys->filter_length] = '\0';
	else if (key >= ' ' && key < 0x7F && keys->filter_length < sizeof(keys->filter) - 1)
		keys->filter[keys->filter_length++] = key;
}

/* Show waiters by an attribute; or locks again, if waiters by this attribute are shown. */
static void toggle_waiters(struct top_view *view, enum charge_attribute attribute)
{
	view->has_waiters = !view->has_waiters || view->attribute != attribute;
	view->attribute = attribute;
}

static void take_key(struct top_keys *keys, char key)
{
	switch (key) {
	case 'q':
		keys->must_quit = true;
		break;
	case ' ':
		keys->is_paused = !keys->is_paused;
		break;
	case 'a':
		keys->view.sums_by_address = !keys->view.sums_by_address;
		break;
	case 'p':
		toggle_waiters(&keys->view, CHARGE_BY_PROCESS);
		break;
	case 't':
		toggle_waiters(&keys->view, CHARGE_BY_THREAD);
		break;
	case 's':
		keys->sort_presses++;
		break;
	case 'f':
		keys->is_typing = true;
		keys->filter_length = 0;
		memset(keys->filter, 0, sizeof(keys->filter));
		break;
	case 'h':
	case '?':
		keys->shows_help = !keys->shows_help;
		break;
	}
}

/**
 * top_keys_read() - take the keys that were pressed
 * @keys: begun
 *
 * Return: true if there were any.
 */
bool top_keys_read(struct top_keys *keys)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char typed_keys[64];
	ssize_t count, i;

	if (!keys->is_raw || tcgetpgrp(STDIN_FILENO) != getpgrp() || poll(&input, 1, 0) <= 0)
		return false;
	count = read(STDIN_FILENO, typed_keys, sizeof(typed_keys));
	for (i = 0; i < count; i++)
		if (keys->is_typing)
			take_filter_key(keys, typed_keys[i]);
		else
			take_key(keys, typed_keys[i]);
	keys->has_new_keys = true;
	/* The terminal was closed, or cannot be read. */
	keys->must_quit |= count <= 0;
	return true;
}

/**
 * top_keys_lines() - count the lines of top_keys_print()
 * @keys: begun
 *
 * Return: the number of lines.
 */
size_t top_keys_lines(const struct top_keys *keys)
{
	if (!keys->is_raw)
		return 0;
	return (keys->is_typing || keys->filter_length) + keys->is_paused + 3 * keys->shows_help;
}

/**
 * top_keys_print() - print the line about the keys, and their list if it is wanted
 * @keys: begun
 * @stream: where to
 */
void top_keys_print(const struct top_keys *keys, FILE *stream)
{
	if (!keys->is_raw)
		return;
	if (keys->is_typing || keys->filter_length)
		fprintf(stream, "Rows with \"%s%s\" in their names%s\n", keys->filter,
			keys->is_typing ? "_" : "", keys->is_typing ? ": type, then Enter" : "");
	if (keys->is_paused)
		fputs("Paused: space goes on\n", stream);
	if (keys->shows_help)
		fputs("Keys: s sort by the next column   f show only rows with a name (f Enter: all)\n"
		      "      p processes that wait, or locks   t threads that wait, or locks\n"
		      "      a locks one by one, or by class   space pause   h help   q quit\n",
		      stream);
}

/**
 * top_keys_end() - restore the terminal
 * @keys: begun or not
 */
void top_keys_end(struct top_keys *keys)
{
	if (keys->is_raw && tcgetpgrp(STDIN_FILENO) == getpgrp())
		tcsetattr(STDIN_FILENO, TCSANOW, &keys->saved_termios);
	keys->is_raw = false;
}
