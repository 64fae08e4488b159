// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "exporter.h"
#include "exposition.h"
#include "linux_mode.h"

static const struct metric build_metric = {
	.name = "ntklog_build_info",
	.type = METRIC_GAUGE,
	.help = "The version of ntklog exporter, as a label; the value is 1",
};

static const struct metric events_metric = {
	.name = "ntklog_events",
	.type = METRIC_COUNTER,
	.help = "Events that the module has generated for the exporter, the lost ones too",
};

static const struct metric events_lost_metric = {
	.name = "ntklog_events_lost",
	.type = METRIC_COUNTER,
	.help =
		"Events that the sums lack, by reason. no_space: no buffer had space. suppressed: the CPU was writing another event or was in an NMI, or RCU was not watching. limited: releases with a waiter beyond 10000 a second. untracked: acquisitions beyond those that are tracked at once. damaged: its size or its times are wrong",
};

static const struct metric buffers_lost_metric = {
	.name = "ntklog_buffers_lost",
	.type = METRIC_COUNTER,
	.help = "Buffers with events that the sums lack, by reason. missing: the exporter did not get them in time",
};

static const struct metric notes_lost_metric = {
	.name = "ntklog_class_notes_lost",
	.type = METRIC_COUNTER,
	.help = "Notes about the classes of locks that were lost: these locks may be in class unnamed",
};

static const struct metric overhead_seconds_metric = {
	.name = "ntklog_overhead_seconds",
	.type = METRIC_COUNTER,
	.unit = "seconds",
	.help =
		"CPU time that the recording costs, by part. hooks: functions of locks, and events: writing events, estimated from counts and constant costs. tool: the exporter itself, measured",
};

static const struct metric overhead_ratio_metric = {
	.name = "ntklog_overhead_ratio",
	.type = METRIC_GAUGE,
	.unit = "ratio",
	.help = "Share of the time of all CPUs that the recording cost in the last interval",
};

static const struct metric budget_ratio_metric = {
	.name = "ntklog_overhead_budget_ratio",
	.type = METRIC_GAUGE,
	.unit = "ratio",
	.help = "Share of the time of all CPUs that the recording may cost",
};

static const struct metric budget_changes_metric = {
	.name = "ntklog_overhead_budget_changes",
	.type = METRIC_COUNTER,
	.help = "Changes of the mode or the rates that the budget made. down: less is recorded. up: more is recorded",
};

static const struct metric sampling_rate_metric = {
	.name = "ntklog_sampling_rate",
	.type = METRIC_GAUGE,
	.help = "Rates in force: one in so many acquisitions or releases is written. 0: none for this reason",
};

static const struct metric recording_mode_metric = {
	.name = "ntklog_recording_mode",
	.type = METRIC_GAUGE,
	.help = "1 for the mode in force of Linux' spin locks and rwlocks, 0 for the others",
};

static const struct metric recording_group_metric = {
	.name = "ntklog_recording_group",
	.type = METRIC_GAUGE,
	.help = "1 for each group of events that is recorded at present, 0 for the others",
};

static const struct metric series_metric = {
	.name = "ntklog_lock_series",
	.type = METRIC_GAUGE,
	.help = "Classes and holders that have series of their own",
};

static const struct metric series_limit_metric = {
	.name = "ntklog_lock_series_limit",
	.type = METRIC_GAUGE,
	.help = "Most classes, and most holders, that get series of their own: option --top",
};

static const struct metric updates_metric = {
	.name = "ntklog_updates",
	.type = METRIC_COUNTER,
	.help = "Intervals whose sums are in the metrics",
};

static const struct metric updated_metric = {
	.name = "ntklog_last_update_timestamp_seconds",
	.type = METRIC_GAUGE,
	.unit = "seconds",
	.help = "Time of the last update, since the epoch",
};

static void put_sample(struct exposition *exposition, const struct metric *metric, const char *name,
		       const char *value, double number)
{
	const struct metric_label labels[] = { { name, value }, { 0 } };

	if (exposition->current_metric != metric)
		exposition_begin(exposition, metric);
	exposition_put_value(exposition, name ? labels : NULL, number);
}

static void put_loss(const struct exporter *exporter, struct exposition *exposition)
{
	const struct exporter_loss *loss = &exporter->loss;

	put_sample(exposition, &events_metric, NULL, NULL, (double)exporter->event_count);
	put_sample(exposition, &events_lost_metric, "reason", "no_space",
		   (double)loss->lost_event_count);
	put_sample(exposition, &events_lost_metric, "reason", "suppressed",
		   (double)loss->suppressed_event_count);
	put_sample(exposition, &events_lost_metric, "reason", "limited",
		   (double)loss->limited_release_count);
	put_sample(exposition, &events_lost_metric, "reason", "untracked",
		   (double)loss->untracked_acquisition_count);
	put_sample(exposition, &events_lost_metric, "reason", "damaged",
		   (double)loss->damaged_event_count);
	put_sample(exposition, &buffers_lost_metric, "reason", "missing",
		   (double)loss->missing_buffer_count);
	put_sample(exposition, &notes_lost_metric, NULL, NULL, (double)loss->lost_note_count);
}

static void put_overhead(const struct exporter *exporter, struct exposition *exposition)
{
	const struct overhead *overhead = &exporter->overhead;

	put_sample(exposition, &overhead_seconds_metric, "part", "hooks", overhead->hook_seconds);
	put_sample(exposition, &overhead_seconds_metric, "part", "events", overhead->event_seconds);
	put_sample(exposition, &overhead_seconds_metric, "part", "tool", overhead->tool_seconds);
	put_sample(exposition, &overhead_ratio_metric, NULL, NULL, exporter->overhead_share);
	put_sample(exposition, &budget_ratio_metric, NULL, NULL, exporter->budget.overhead_limit);
	put_sample(exposition, &budget_changes_metric, "direction", "down",
		   (double)exporter->budget_change_counts[BUDGET_DOWN]);
	put_sample(exposition, &budget_changes_metric, "direction", "up",
		   (double)exporter->budget_change_counts[BUDGET_UP]);
}

static void put_settings(const struct exporter *exporter, struct exposition *exposition)
{
	static const char *const rates[EXPORTER_RATES] = {
		[EXPORTER_SPINLOCK_ACQUIRE] = "spinlock_acquire",
		[EXPORTER_SPINLOCK_CONTENTION] = "spinlock_contention",
		[EXPORTER_SPINLOCK_BLOCKERS] = "spinlock_blockers",
		[EXPORTER_RESOURCE_RELEASE] = "resource_release",
		[EXPORTER_RESOURCE_CONTENTION] = "resource_contention",
	};
	size_t i;

	for (i = 0; i < EXPORTER_RATES; i++)
		put_sample(exposition, &sampling_rate_metric, "parameter", rates[i],
			   exporter->rate_settings[i].rate);
	for (i = 0; i < LINUX_MODES; i++)
		put_sample(exposition, &recording_mode_metric, "mode", linux_modes[i].name,
			   !strcmp(linux_modes[i].name, exporter_mode_name(exporter)));
	for (i = 0; i < session_group_count; i++)
		put_sample(exposition, &recording_group_metric, "group", session_groups[i].name,
			   *exporter->present_groups &&
				   session_groups_include(exporter->present_groups,
							  session_groups[i].mask));
}

static void put_all_metrics(const struct exporter *exporter, struct exposition *exposition)
{
	put_sample(exposition, &build_metric, "version", NTKLOG_VERSION, 1);
	lock_metrics_put(&exporter->lock_metrics, exposition);
	put_loss(exporter, exposition);
	put_overhead(exporter, exposition);
	put_settings(exporter, exposition);
	put_sample(exposition, &series_metric, "of", "classes",
		   (double)exporter->lock_metrics.lock_count);
	put_sample(exposition, &series_metric, "of", "holders",
		   (double)exporter->lock_metrics.holder_count);
	put_sample(exposition, &series_limit_metric, NULL, NULL,
		   (double)exporter->lock_metrics.series_limit);
	put_sample(exposition, &updates_metric, NULL, NULL, (double)exporter->update_count);
	put_sample(exposition, &updated_metric, NULL, NULL, exporter->update_time);
	exposition_end(exposition);
}

/**
 * exporter_metrics_text() - get the metrics as text
 * @argument: the struct exporter
 * @is_openmetrics: the format is OpenMetrics, not Prometheus' own
 * @size: set to the bytes of the text
 *
 * Return: the text, which stays until exporter_drop_text(); NULL without memory.
 */
const char *exporter_metrics_text(void *argument, bool is_openmetrics, size_t *size)
{
	struct exporter *exporter = argument;
	struct exporter_text *text = &exporter->metrics_texts[is_openmetrics];
	struct exposition exposition = { .is_openmetrics = is_openmetrics };

	if (!text->text) {
		exposition.stream = open_memstream(&text->text, &text->size);
		if (!exposition.stream)
			return NULL;
		put_all_metrics(exporter, &exposition);
		if (fclose(exposition.stream)) {
			free(text->text);
			text->text = NULL;
		}
	}
	*size = text->size;
	return text->text;
}

/**
 * exporter_drop_text() - free the text, because the metrics change
 * @exporter: the command
 */
void exporter_drop_text(struct exporter *exporter)
{
	size_t i;

	exporter_http_drop_text(&exporter->http);
	for (i = 0; i < ARRAY_SIZE(exporter->metrics_texts); i++) {
		free(exporter->metrics_texts[i].text);
		exporter->metrics_texts[i].text = NULL;
	}
}
