// SPDX-License-Identifier: GPL-2.0-only

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "text.h"
#include "top_screen.h"

/* Control sequences of xterm. */
#define ALTERNATE_SCREEN	"\033[?1049h"
#define NORMAL_SCREEN		"\033[?1049l"
#define HIDE_CURSOR		"\033[?25l"
#define SHOW_CURSOR		"\033[?25h"
#define CLEAR			"\033[H\033[J"
#define PLAIN			"\033[0m"

/**
 * top_screen_size() - get the size of the screen
 *
 * Return: the terminal's size; 24 x 80 if it does not tell it; 50 long lines without a terminal.
 */
struct winsize top_screen_size(void)
{
	struct winsize size = { 0 };

	if (!isatty(STDOUT_FILENO))
		return (struct winsize) { .ws_row = 50, .ws_col = USHRT_MAX };
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (!size.ws_row)
		size.ws_row = 24;
	if (!size.ws_col)
		size.ws_col = 80;
	return size;
}

/**
 * top_screen_is_visible() - test whether the terminal shows what this process prints
 *
 * Return: false while another job is in the foreground of the terminal.
 */
bool top_screen_is_visible(void)
{
	pid_t foreground = tcgetpgrp(STDOUT_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

static void open_screen(struct top_screen *screen)
{
	/* A message would be lost with the alternate screen. */
	if (!screen->is_open)
		message_defer();
	screen->is_open = true;
	fputs(ALTERNATE_SCREEN HIDE_CURSOR, stdout);
}

static void print_clipped(const char *text, const struct winsize *size)
{
	size_t rows = size->ws_row, used = 0;
	bool in_control_sequence = false;

	for (; *text; text++) {
		if (*text == '\n') {
			/* A newline in the last line would scroll the first one away. */
			if (!--rows)
				break;
			used = 0;
		} else if (*text == '\033') {
			in_control_sequence = true;
		} else if (!in_control_sequence) {
			used += !text_is_continuation(*text);
		}
		if (in_control_sequence || used <= size->ws_col)
			putchar(*text);
		/* A letter ends a control sequence. */
		if (in_control_sequence && ((*text | 0x20) >= 'a' && (*text | 0x20) <= 'z'))
			in_control_sequence = false;
	}
	if (*text)
		fputs(PLAIN, stdout);
}

/**
 * top_screen_draw() - replace the contents of the screen
 * @screen: all zero, or drawn before
 * @text: lines; a file, or a terminal that cannot move its cursor, gets them behind the last ones
 */
void top_screen_draw(struct top_screen *screen, const char *text)
{
	const struct winsize size = top_screen_size();

	if (!stream_has_cursor(stdout)) {
		fputs(text, stdout);
	} else if (screen->is_printed_once) {
		printf(CLEAR "%s", text);
	} else {
		open_screen(screen);
		fputs(CLEAR, stdout);
		print_clipped(text, &size);
	}
	fflush(stdout);
}

/**
 * top_screen_close() - restore what the terminal has shown before
 * @screen: drawn or not
 *
 * In the background the terminal belongs to another job, and stays as it is.
 */
void top_screen_close(struct top_screen *screen)
{
	if (screen->is_open && top_screen_is_visible()) {
		fputs(SHOW_CURSOR NORMAL_SCREEN, stdout);
		fflush(stdout);
	}
	if (screen->is_open)
		message_release();
	screen->is_open = false;
}
