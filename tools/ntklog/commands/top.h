/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TOP_H
#define _NTKLOG_TOP_H

/* The state of ntklog top, for its files. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/session.h>

#include "live_sums.h"
#include "report.h"
#include "task_names.h"
#include "top_keys.h"
#include "top_screen.h"

/**
 * struct top - the command
 * @groups: names of event groups
 * @interval: seconds
 * @top: rows of each table; 0: as many as fit the screen
 * @once: end after one interval
 * @json: print JSON
 * @view: how the present interval is summed up
 * @live: the session, and the sums of the present interval; its symbols have names of tasks, too
 * @tasks: the tasks whose events are charged, while waiters are shown
 * @task_names: number of their names in the symbols
 * @next_names: recording_now() at which names of young tasks are read again
 * @before: counts at the start of the present interval
 * @seconds: length of the last interval
 * @shown: tables of the interval that is on the screen
 * @shown_view: how that interval was summed up
 * @events: number of events of that interval
 * @lost: number of its events that were lost
 * @has_no_waits: reading the waits that go on has failed, and is not tried again
 * @keys: keys that change the screen
 * @screen: the terminal
 */
struct top {
	const char *groups;
	double interval;
	size_t top;
	bool once, json;
	struct top_view view;
	struct live_sums live;
	struct task_names tasks;
	size_t task_names;
	double next_names;
	struct ntklog_session_counts before;
	double seconds;
	struct report shown;
	struct top_view shown_view;
	uint64_t events, lost;
	bool has_no_waits;
	struct top_keys keys;
	struct top_screen screen;
};

/* top_tasks.c: names of tasks, for the views that have waiters */
void top_tasks_prepare(struct top *top);
void top_tasks_take(void *argument, const struct etl_event *event);
void top_tasks_read_notes(void *argument);
void top_tasks_free(struct top *top);

/* top_tables.c: the tables */
void top_print_screen(struct top *top);
void top_print_object(const struct top *top);
void top_show_rates(struct report *report);

#endif /* _NTKLOG_TOP_H */
