/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TOP_H
#define _NTKLOG_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/session.h>

#include "live_sums.h"
#include "report.h"
#include "task_names.h"
#include "top_keys.h"
#include "top_screen.h"

/*
 * @interval_s: seconds
 * @rows_max: rows of each table; 0: as many as fit the screen
 * @view: how the present interval is summed up
 * @live_sums: the session, and the sums of the present interval; its symbols have names of tasks,
 *	too
 * @task_name_count: number of their names in the symbols
 * @next_names_time: read_monotonic_seconds() at which names of young tasks are read again
 * @interval_seconds: length of the last interval
 * @shown_view: how that interval was summed up
 * @left_out_count: number of damaged events of that interval
 * @reading_waits_failed: reading the waits that go on has failed, and is not tried again
 */
struct top {
	const char *groups;
	double interval_s;
	size_t rows_max;
	bool prints_once, prints_json;
	struct top_view view;
	struct live_sums live_sums;
	struct task_names task_names;
	size_t task_name_count;
	double next_names_time;
	struct ntklog_session_counts counts_before;
	double interval_seconds;
	struct report shown_report;
	struct top_view shown_view;
	uint64_t event_count, lost_count, left_out_count;
	bool reading_waits_failed;
	struct top_keys keys;
	struct top_screen screen;
};

void top_tasks_prepare(struct top *top);
void top_tasks_take_event(void *argument, const struct etl_event *event);
void top_tasks_read_notes(void *argument);
void top_tasks_free(struct top *top);

void top_print_screen(struct top *top);
void top_print_object(const struct top *top);
void top_show_rates(struct report *report);

#endif /* _NTKLOG_TOP_H */
