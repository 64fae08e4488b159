/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TOP_KEYS_H
#define _NTKLOG_TOP_KEYS_H

/* The keys of ntklog top, which the terminal gives without a newline. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <termios.h>

/**
 * struct top_keys - what the keys have chosen
 * @is_raw: the terminal gives keys at once, without echo
 * @saved: settings of the terminal, if @is_raw
 * @has_new: keys were pressed that the screen does not show yet
 * @quits: q was pressed
 * @is_paused: the screen stays as it is
 * @shows_help: the screen has the list of keys
 * @toggles_addresses: a was pressed: the next interval shows each lock, or classes again
 * @sort: number of times that s was pressed
 * @is_typing: the next keys belong to @filter
 * @filter: part of the names of the locks that are shown; "": all
 * @filter_length: bytes of @filter
 */
struct top_keys {
	bool is_raw;
	struct termios saved;
	bool has_new;
	bool quits;
	bool is_paused;
	bool shows_help;
	bool toggles_addresses;
	size_t sort;
	bool is_typing;
	char filter[64];
	size_t filter_length;
};

void top_keys_begin(struct top_keys *keys);
bool top_keys_read(struct top_keys *keys);
size_t top_keys_lines(const struct top_keys *keys);
void top_keys_print(const struct top_keys *keys, FILE *stream);
void top_keys_end(struct top_keys *keys);

#endif /* _NTKLOG_TOP_KEYS_H */
