/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TOP_H
#define _NTKLOG_TOP_H

/* The state of ntklog top, for its files. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/session.h>

#include "identities.h"
#include "recording.h"
#include "report.h"
#include "symbols.h"
#include "top_keys.h"
#include "top_screen.h"

/**
 * struct top - the command
 * @groups: names of event groups
 * @interval: seconds
 * @top: rows of each table; 0: as many as fit the screen
 * @once: whether to end after one interval
 * @json: whether to print JSON
 * @by_address: whether each lock has a row of its own, not each class
 * @recording: the session
 * @file: header of the session's trace
 * @analysis: events of the present interval
 * @symbols: symbols of the kernel, and classes of locks
 * @identities: the module's notes about classes of locks
 * @has_new_class: whether a class was added to @symbols, which must be sorted again
 * @before: counts at the start of the present interval
 * @seconds: length of the last interval
 * @shown: tables of the interval that is on the screen
 * @events: number of events of that interval
 * @lost: number of its events that were lost
 * @has_no_waits: the waits that go on cannot be read
 * @keys: keys that change the screen
 * @screen: the terminal
 */
struct top {
	const char *groups;
	double interval;
	size_t top;
	bool once, json;
	bool by_address;
	struct recording recording;
	struct etl_file *file;
	struct analysis analysis;
	struct symbols symbols;
	struct identities identities;
	bool has_new_class;
	struct ntklog_session_counts before;
	double seconds;
	struct report shown;
	uint64_t events, lost;
	bool has_no_waits;
	struct top_keys keys;
	struct top_screen screen;
};

void top_print_screen(struct top *top);
void top_print_object(const struct top *top);
void top_show_rates(struct report *report);

#endif /* _NTKLOG_TOP_H */
