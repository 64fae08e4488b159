// SPDX-License-Identifier: GPL-2.0-only

#include "lock_metrics.h"

static const struct metric acquisitions_metric = {
	.name = "ntklog_lock_acquisitions",
	.type = METRIC_COUNTER,
	.help =
		"Acquisitions of locks, estimated from a sample with its rates. In mode waits those of spin locks and rwlocks are not counted",
};

static const struct metric contended_metric = {
	.name = "ntklog_lock_contended_acquisitions",
	.type = METRIC_COUNTER,
	.help =
		"Acquisitions of locks that waited, estimated from a sample with its rates",
};

static const struct metric wait_metric = {
	.name = "ntklog_lock_wait_seconds",
	.type = METRIC_HISTOGRAM,
	.unit = "seconds",
	.help = "Waits for locks, estimated from a sample with its rates",
};

static const struct metric hold_metric = {
	.name = "ntklog_lock_hold_seconds",
	.type = METRIC_HISTOGRAM,
	.unit = "seconds",
	.help =
		"Holds of locks, estimated from a sample with its rates. In mode waits those of spin locks and rwlocks are not recorded",
};

static const struct metric charged_metric = {
	.name = "ntklog_lock_charged_wait_seconds",
	.type = METRIC_COUNTER,
	.unit = "seconds",
	.help =
		"Waiting for locks by the function that held the lock meanwhile, estimated from a sample with its rates. Holder free: the lock was free. Holder unknown: the hold was not recorded",
};

static void put_count(const struct lock_metrics *metrics, struct exposition *exposition,
		      const struct metric *metric, double (*count)(const struct lock_series *))
{
	const struct lock_series *series;

	exposition_begin(exposition, metric);
	for (series = metrics->locks; series; series = series->hh.next) {
		const struct metric_label labels[] = {
			{ "kind", series->kind }, { "class", series->class }, { 0 }
		};

		exposition_put_value(exposition, labels, count(series));
	}
}

static void put_times(const struct lock_metrics *metrics, struct exposition *exposition,
		      const struct metric *metric,
		      const struct time_buckets *(*times)(const struct lock_series *))
{
	const struct lock_series *series;

	exposition_begin(exposition, metric);
	for (series = metrics->locks; series; series = series->hh.next) {
		const struct metric_label labels[] = {
			{ "kind", series->kind }, { "class", series->class }, { 0 }
		};

		time_buckets_write(times(series), exposition, labels);
	}
}

static double get_acquisition_count(const struct lock_series *series)
{
	return series->acquisition_count;
}

static double get_contended_count(const struct lock_series *series)
{
	return series->contended_count;
}

static const struct time_buckets *get_wait_buckets(const struct lock_series *series)
{
	return &series->wait;
}

static const struct time_buckets *get_hold_buckets(const struct lock_series *series)
{
	return &series->hold;
}

/**
 * lock_metrics_put() - write all series
 * @metrics: series
 * @exposition: text to write
 */
void lock_metrics_put(const struct lock_metrics *metrics, struct exposition *exposition)
{
	const struct holder_series *series;

	put_count(metrics, exposition, &acquisitions_metric, get_acquisition_count);
	put_count(metrics, exposition, &contended_metric, get_contended_count);
	put_times(metrics, exposition, &wait_metric, get_wait_buckets);
	put_times(metrics, exposition, &hold_metric, get_hold_buckets);
	exposition_begin(exposition, &charged_metric);
	for (series = metrics->holders; series; series = series->hh.next) {
		const struct metric_label labels[] = {
			{ "kind", series->lock->kind }, { "class", series->lock->class },
			{ "holder", series->holder }, { 0 }
		};

		exposition_put_value(exposition, labels, series->seconds);
	}
}
