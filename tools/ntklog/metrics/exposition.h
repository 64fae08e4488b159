/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EXPOSITION_H
#define _NTKLOG_EXPOSITION_H

/* Metrics as text, in Prometheus' own format, version 0.0.4, or in OpenMetrics 1.0. */

#include <stdbool.h>
#include <stdio.h>

enum metric_type {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_HISTOGRAM,
};

/*
 * A family of samples.
 * @name: name without the suffix that samples of its type have
 * @unit: unit at the end of @name, or NULL
 * @help: meaning, without a full stop
 */
struct metric {
	const char *name;
	enum metric_type type;
	const char *unit;
	const char *help;
};

/* @name: NULL after the last label of a sample */
struct metric_label {
	const char *name;
	const char *value;
};

struct exposition {
	FILE *stream;
	bool is_openmetrics;
	const struct metric *current_metric;
};

void exposition_begin(struct exposition *exposition, const struct metric *metric);
void exposition_put(const struct exposition *exposition, const char *suffix,
		    const struct metric_label *labels, const struct metric_label *more,
		    double value);
void exposition_put_value(const struct exposition *exposition, const struct metric_label *labels,
			  double value);
void exposition_end(const struct exposition *exposition);

#endif /* _NTKLOG_EXPOSITION_H */
