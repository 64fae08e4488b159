/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EXPORTER_H
#define _NTKLOG_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/session.h>

#include "budget.h"
#include "counters.h"
#include "exporter_textfile.h"
#include "exporter_http.h"
#include "live_sums.h"
#include "lock_metrics.h"
#include "overhead.h"
#include "setting.h"

/* Files with the rates that the budget changes. */
enum exporter_rate_kind {
	EXPORTER_SPINLOCK_ACQUIRE,
	EXPORTER_SPINLOCK_CONTENTION,
	EXPORTER_SPINLOCK_BLOCKERS,
	EXPORTER_RESOURCE_RELEASE,
	EXPORTER_RESOURCE_CONTENTION,
	EXPORTER_RATES,
};

/*
 * @base_rate: value of the first step of the budget
 * @rate: present value; 0: off, or the module has no such rate
 */
struct exporter_rate_setting {
	struct setting setting;
	uint32_t base_rate;
	uint32_t rate;
};

/*
 * Numbers of things that the sums lack, since the start.
 * @damaged_event_count: events that were left out: damaged ones, and ones with impossible times
 * @suppressed_event_count: events that occurred while their CPU was writing another event or was in
 *	an NMI, or where RCU was not watching
 * @limited_release_count: releases that left a waiter behind, beyond the module's limit for each
 *	second
 * @untracked_acquisition_count: acquisitions beyond the number that the module tracks at once
 */
struct exporter_loss {
	uint64_t lost_event_count;
	uint64_t damaged_event_count;
	uint64_t suppressed_event_count;
	uint64_t limited_release_count;
	uint64_t untracked_acquisition_count;
	uint64_t lost_note_count;
	uint64_t missing_buffer_count;
};

/* The metrics as text, made when it is first wanted after an update. */
struct exporter_text {
	char *text;
	size_t size;
};

/*
 * @interval_s: seconds between two updates
 * @groups: names of event groups that the user wants; NULL: those that the kernel allows
 * @richest_mode: richest of exporter_modes[] that may be used
 * @wake_fd: epoll file of the server and of the signals; -1: none
 * @overhead_share: overhead of the last interval, as a share of the time of all CPUs
 * @hook_share: part of the hooks in @overhead_share
 * @old_session_counts: counts of the session at the begin of the present interval
 * @update_time: time of the last update, seconds since the epoch
 */
struct exporter {
	const char *listen_address;
	struct exporter_textfile textfile;
	double interval_s;
	const char *groups;
	unsigned int richest_mode;
	struct live_sums live_sums;
	struct exporter_http http;
	int wake_fd;
	struct lock_metrics lock_metrics;
	struct counters counters;
	struct setting mode_setting;
	struct exporter_rate_setting rate_settings[EXPORTER_RATES];
	char present_groups[SESSION_GROUPS_SIZE];
	struct overhead_budget budget;
	struct overhead_counts overhead_counts;
	struct overhead overhead;
	double overhead_share;
	double hook_share;
	double counted_cpu_seconds;
	struct ntklog_session_counts old_session_counts;
	uint64_t old_missing_buffer_count;
	unsigned int old_lost_note_count;
	uint64_t event_count;
	struct exporter_loss loss;
	uint64_t budget_change_counts[BUDGET_UP + 1];
	uint64_t update_count;
	double update_time;
	struct exporter_text metrics_texts[2];
};

int exporter_find_mode(const char *name);
const char *exporter_mode_name(const struct exporter *exporter);
int exporter_begin_settings(struct exporter *exporter);
int exporter_apply_rates(struct exporter *exporter);
int exporter_start_session(struct exporter *exporter);
int exporter_change_mode(struct exporter *exporter, unsigned int old_mode);
void exporter_restore_settings(struct exporter *exporter);

double exporter_cpu_seconds(void);
int exporter_count_interval(struct exporter *exporter, double seconds);
int exporter_keep_budget(struct exporter *exporter);

const char *exporter_metrics_text(void *argument, bool is_openmetrics, size_t *size);
void exporter_drop_text(struct exporter *exporter);

#endif /* _NTKLOG_EXPORTER_H */
