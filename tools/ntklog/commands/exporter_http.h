/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EXPORTER_HTTP_H
#define _NTKLOG_EXPORTER_HTTP_H

/*
 * The HTTP server of ntklog exporter. It has no thread: the caller calls exporter_http_serve() when
 * exporter_http_fd() is readable, and from time to time, so that connections can time out.
 */

#include <stdbool.h>
#include <stddef.h>

struct MHD_Daemon;
struct MHD_Response;

#define EXPORTER_HTTP_CONNECTIONS	16

/**
 * struct exporter_http_client - a connection
 * @fd: its socket; 0: none
 * @active_since: time at which it was opened, or its last request was answered, seconds
 */
struct exporter_http_client {
	int fd;
	double active_since;
};

/*
 * A server; all zero: none.
 * @get_text: makes the text of the metrics; returns NULL without memory
 * @metrics_responses: answers with the metrics in Prometheus' format, and in OpenMetrics; NULL: not
 *	made yet
 */
struct exporter_http {
	struct MHD_Daemon *daemon;
	const char *(*get_text)(void *argument, bool is_openmetrics, size_t *size);
	void *argument;
	struct MHD_Response *metrics_responses[2];
	struct exporter_http_client clients[EXPORTER_HTTP_CONNECTIONS];
};

bool exporter_http_is_address(const char *address);
int exporter_http_open(struct exporter_http *http, const char *address);
int exporter_http_fd(const struct exporter_http *http);
void exporter_http_serve(struct exporter_http *http);
void exporter_http_drop_text(struct exporter_http *http);
void exporter_http_close(struct exporter_http *http);

#endif /* _NTKLOG_EXPORTER_HTTP_H */
