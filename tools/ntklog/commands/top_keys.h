/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TOP_KEYS_H
#define _NTKLOG_TOP_KEYS_H

/* The keys of ntklog top, which the terminal gives without a newline. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <termios.h>

#include "charge_labels.h"

/*
 * @has_waiters: the tables are those of waiters and blockers, and not those of locks
 * @attribute: if @has_waiters, attribute by which waiters and holders are told apart
 */
struct top_view {
	bool sums_by_address;
	bool has_waiters;
	enum charge_attribute attribute;
};

/*
 * @saved_termios: settings of the terminal, if @is_raw
 * @has_new_keys: keys were pressed that the screen does not show yet
 * @sort_presses: number of times that s was pressed
 * @is_typing: the next keys belong to @filter
 * @filter: part of the names in the rows that are shown; "": all
 */
struct top_keys {
	bool is_raw;
	struct termios saved_termios;
	bool has_new_keys;
	bool must_quit;
	bool is_paused;
	bool shows_help;
	struct top_view view;
	size_t sort_presses;
	bool is_typing;
	char filter[64];
	size_t filter_length;
};

bool top_view_is_same(const struct top_view *a, const struct top_view *b);
void top_keys_begin(struct top_keys *keys);
bool top_keys_read(struct top_keys *keys);
size_t top_keys_lines(const struct top_keys *keys);
void top_keys_print(const struct top_keys *keys, FILE *stream);
void top_keys_end(struct top_keys *keys);

#endif /* _NTKLOG_TOP_KEYS_H */
