// SPDX-License-Identifier: GPL-2.0-only

#include "exposition.h"

/**
 * exposition_begin() - write the description of a metric, whose samples follow
 * @exposition: text to write
 * @metric: the metric; it has to stay until the next one begins
 */
void exposition_begin(struct exposition *exposition, const struct metric *metric)
{
	static const char *const types[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
	};
	/* In OpenMetrics the name of a counter has no suffix, only its samples have one. */
	const char *suffix = metric->type == METRIC_COUNTER && !exposition->is_openmetrics ?
		"_total" : "";

	exposition->current_metric = metric;
	fprintf(exposition->stream, "# HELP %s%s %s.\n# TYPE %s%s %s\n", metric->name, suffix,
		metric->help, metric->name, suffix, types[metric->type]);
	if (metric->unit && exposition->is_openmetrics)
		fprintf(exposition->stream, "# UNIT %s %s\n", metric->name, metric->unit);
}

static void put_label(FILE *stream, const struct metric_label *label, bool is_first)
{
	const char *next;

	fprintf(stream, "%c%s=\"", is_first ? '{' : ',', label->name);
	for (next = label->value; *next; next++) {
		if (*next == '\n')
			fputs("\\n", stream);
		else if (*next == '"' || *next == '\\')
			fprintf(stream, "\\%c", *next);
		else
			fputc(*next, stream);
	}
	fputc('"', stream);
}

/**
 * exposition_put() - write a sample
 * @exposition: its metric has begun
 * @suffix: suffix of the metric's name
 * @labels: labels, with a NULL name after the last one; or NULL
 * @more: labels after these, or NULL
 * @value: value
 */
void exposition_put(const struct exposition *exposition, const char *suffix,
		    const struct metric_label *labels, const struct metric_label *more,
		    double value)
{
	FILE *stream = exposition->stream;
	bool is_first = true;

	fprintf(stream, "%s%s", exposition->current_metric->name, suffix);
	for (; labels && labels->name; labels++, is_first = false)
		put_label(stream, labels, is_first);
	for (; more && more->name; more++, is_first = false)
		put_label(stream, more, is_first);
	fprintf(stream, "%s %.15g\n", is_first ? "" : "}", value);
}

/**
 * exposition_put_value() - write a sample of a counter or a gauge
 * @exposition: its metric has begun
 * @labels: labels, with a NULL name after the last one; or NULL
 * @value: value
 */
void exposition_put_value(const struct exposition *exposition, const struct metric_label *labels,
			  double value)
{
	exposition_put(exposition,
		       exposition->current_metric->type == METRIC_COUNTER ? "_total" : "", labels,
		       NULL, value);
}

/**
 * exposition_end() - write what follows the last sample
 * @exposition: text to write
 */
void exposition_end(const struct exposition *exposition)
{
	if (exposition->is_openmetrics)
		fputs("# EOF\n", exposition->stream);
}
