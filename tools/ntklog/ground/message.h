/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_MESSAGE_H
#define _NTKLOG_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "macros.h"

__printf(1, 2)
void message(const char *format, ...);
void message_ended_by_signal(const char *process, int number, const char *remedy);
void message_defer(void);
void message_release(void);
size_t terminal_width(FILE *stream);
bool stream_has_cursor(FILE *stream);
bool stream_has_colour(FILE *stream);
void check_output(void);
int finish_output(FILE *stream, const char *path);

#endif /* _NTKLOG_MESSAGE_H */
