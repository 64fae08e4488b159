/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TOP_SCREEN_H
#define _NTKLOG_TOP_SCREEN_H

/* The screen of ntklog top: the standard output, whether it is a terminal or not. */

#include <stdbool.h>
#include <sys/ioctl.h>

/**
 * struct top_screen - the standard output
 * @is_printed_once: one text is printed, which stays in the terminal
 * @is_open: the terminal shows its alternate screen, without a cursor
 */
struct top_screen {
	bool is_printed_once;
	bool is_open;
};

struct winsize top_screen_size(void);
bool top_screen_is_visible(void);
void top_screen_draw(struct top_screen *screen, const char *text);
void top_screen_close(struct top_screen *screen);

#endif /* _NTKLOG_TOP_SCREEN_H */
