// SPDX-License-Identifier: GPL-2.0-only

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "exporter_http.h"
#include "macros.h"
#include "message.h"
#include "recording.h"

/*
 * The library is loaded when the server is opened. Linked with the tool, it would slow down the
 * start of each command.
 */
#define LIBRARY		"libmicrohttpd.so.12"

/*
 * Limits for clients: seconds without a byte, seconds for a request and for reading its answer, and
 * bytes of a connection. A client that sends a byte now and then leaves its place to another one
 * before Prometheus gives up, by default after 10 s.
 */
#define TIMEOUT_S	15
#define IDLE_TIMEOUT_S	8
#define CONNECTION_SIZE	(32 << 10)

/* Connections that wait until another one ends. */
#define BACKLOG		16

/* Turns of the library until the caller reads buffers again. */
#define DAEMON_RUNS_MAX	16

#define TEXT_TYPE		"text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE	"application/openmetrics-text"
#define HTML_TYPE		"text/html; charset=utf-8"

static const char start_page_html[] =
	"<!DOCTYPE html><title>ntklog exporter</title><a href=\"/metrics\">Metrics</a>\n";

static struct {
	typeof(MHD_start_daemon) *start_daemon;
	typeof(MHD_stop_daemon) *stop_daemon;
	typeof(MHD_run) *run;
	typeof(MHD_get_timeout) *get_timeout;
	typeof(MHD_get_daemon_info) *get_daemon_info;
	typeof(MHD_get_connection_info) *get_connection_info;
	typeof(MHD_get_connection_values) *get_connection_values;
	typeof(MHD_create_response_from_buffer) *create_response;
	typeof(MHD_add_response_header) *add_response_header;
	typeof(MHD_queue_response) *queue_response;
	typeof(MHD_destroy_response) *destroy_response;
} mhd;

static int load_library(void)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{ "MHD_start_daemon", &mhd.start_daemon },
		{ "MHD_stop_daemon", &mhd.stop_daemon },
		{ "MHD_run", &mhd.run },
		{ "MHD_get_timeout", &mhd.get_timeout },
		{ "MHD_get_daemon_info", &mhd.get_daemon_info },
		{ "MHD_get_connection_info", &mhd.get_connection_info },
		{ "MHD_get_connection_values", &mhd.get_connection_values },
		{ "MHD_create_response_from_buffer", &mhd.create_response },
		{ "MHD_add_response_header", &mhd.add_response_header },
		{ "MHD_queue_response", &mhd.queue_response },
		{ "MHD_destroy_response", &mhd.destroy_response },
	};
	void *library = dlopen(LIBRARY, RTLD_NOW);
	size_t i;

	for (i = 0; library && i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			library = NULL;
		memcpy(functions[i].function, &function, sizeof(function));
	}
	if (library)
		return 0;
	message("--listen needs a library: %s: install libmicrohttpd12, or use --textfile",
		dlerror());
	return -1;
}

/* Split ADDRESS:PORT, and look the address up without asking a name server. */
static struct addrinfo *parse_address(const char *text)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : "";
	struct addrinfo *found;
	char address[64];
	size_t length = colon ? colon - text : 0;

	/* getaddrinfo() takes a greater number, and cuts it to 16 bits. */
	if (!length || length >= sizeof(address) || strspn(port, "0123456789") != strlen(port) ||
	    !strtoul(port, NULL, 10) || strtoul(port, NULL, 10) > UINT16_MAX)
		return NULL;
	if (*text == '[' && colon[-1] == ']') {
		text++;
		length -= 2;
	}
	snprintf(address, sizeof(address), "%.*s", (int)length, text);
	return getaddrinfo(address, port, &hints, &found) ? NULL : found;
}

/**
 * exporter_http_is_address() - test whether a text is an address to listen on
 * @address: text
 *
 * Return: true if it is ADDRESS:PORT with a numeric address.
 */
bool exporter_http_is_address(const char *address)
{
	struct addrinfo *found = parse_address(address);

	if (found)
		freeaddrinfo(found);
	return found;
}

static int open_socket(const char *address)
{
	struct addrinfo *found = parse_address(address);
	const int one = 1;
	int fd, err;

	if (!found)
		return -EINVAL;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A socket of an earlier exporter may still be closing. */
	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !bind(fd, found->ai_addr, found->ai_addrlen) && !listen(fd, BACKLOG)) {
		freeaddrinfo(found);
		return fd;
	}
	err = -errno;
	if (fd >= 0)
		close(fd);
	freeaddrinfo(found);
	return err;
}

static struct MHD_Response *make_response(const char *type, const char *text, size_t size)
{
	struct MHD_Response *response = mhd.create_response(size, (void *)text,
							    MHD_RESPMEM_MUST_COPY);

	if (response)
		mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return response;
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, unsigned int status,
				   const char *type, const char *text)
{
	struct MHD_Response *response = make_response(type, text, strlen(text));
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	result = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return result;
}

/* The quality of the formats that a client accepts, by RFC 9110; 0: the format is not accepted. */
struct accepted_formats {
	double text_quality;
	double openmetrics_quality;
};

static void read_format_quality(struct accepted_formats *accepted, const char *format,
				size_t length)
{
	size_t type = strcspn(format, ";, \t"), i;
	double quality = 1;

	if (type > length)
		type = length;
	for (i = type; i + 1 < length; i++)
		if (strchr("; \t", format[i]) && !strncasecmp(format + i + 1, "q=", 2))
			quality = strtod(format + i + 3, NULL);
	if (type == strlen(OPENMETRICS_TYPE) && !strncasecmp(format, OPENMETRICS_TYPE, type))
		accepted->openmetrics_quality = quality;
	else if (type == strlen("text/plain") && !strncasecmp(format, "text/plain", type))
		accepted->text_quality = quality;
}

static enum MHD_Result read_header(void *argument, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	if (strcasecmp(name, MHD_HTTP_HEADER_ACCEPT))
		return MHD_YES;
	while (value && *value) {
		size_t length;

		value += strspn(value, ", \t");
		length = strcspn(value, ",");
		read_format_quality(argument, value, length);
		value += length;
	}
	return MHD_YES;
}

static enum MHD_Result answer_metrics(struct exporter_http *http,
				      struct MHD_Connection *connection)
{
	struct accepted_formats accepted = { 0 };
	struct MHD_Response **response;
	const char *text;
	bool is_openmetrics;
	size_t size;

	mhd.get_connection_values(connection, MHD_HEADER_KIND, read_header, &accepted);
	is_openmetrics = accepted.openmetrics_quality > 0 &&
			 accepted.openmetrics_quality >= accepted.text_quality;
	response = &http->metrics_responses[is_openmetrics];
	if (!*response) {
		text = http->get_text(http->argument, is_openmetrics, &size);
		if (!text)
			return MHD_NO;
		*response = make_response(is_openmetrics ?
					  OPENMETRICS_TYPE "; version=1.0.0; charset=utf-8" :
					  TEXT_TYPE, text, size);
	}
	return *response ? mhd.queue_response(connection, MHD_HTTP_OK, *response) : MHD_NO;
}

/* Set the begin of the time in which a client has to read its answer, and to send a request. */
static void restart_timeout(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct exporter_http_client *client = info ? info->socket_context : NULL;

	if (client)
		client->active_since = read_monotonic_seconds();
}

static enum MHD_Result answer_request(void *argument, struct MHD_Connection *connection,
				      const char *url, const char *method, const char *version,
				      const char *data, size_t *data_size, void **request)
{
	static const char no_method[] = "only GET and HEAD are understood\n";
	static const char no_page[] = "the metrics are at /metrics\n";
	static char has_header;

	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return send_answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, TEXT_TYPE, no_method);
	/* The connection stays open only if the request has been read as a whole. */
	if (!*request || *data_size) {
		*request = &has_header;
		*data_size = 0;
		return MHD_YES;
	}
	restart_timeout(connection);
	if (!strcmp(url, "/metrics"))
		return answer_metrics(argument, connection);
	if (!strcmp(url, "/"))
		return send_answer(connection, MHD_HTTP_OK, HTML_TYPE, start_page_html);
	return send_answer(connection, MHD_HTTP_NOT_FOUND, TEXT_TYPE, no_page);
}

static void note_connection(void *argument, struct MHD_Connection *connection, void **context,
			    enum MHD_ConnectionNotificationCode what)
{
	struct exporter_http *http = argument;
	struct exporter_http_client *client = *context;
	const union MHD_ConnectionInfo *info;
	size_t i;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client)
			client->fd = 0;
		return;
	}
	for (i = 0; i < EXPORTER_HTTP_CONNECTIONS; i++) {
		client = &http->clients[i];
		if (client->fd)
			continue;
		info = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		client->fd = info->connect_fd;
		client->active_since = read_monotonic_seconds();
		*context = client;
		return;
	}
}

/**
 * exporter_http_open() - open the server
 * @http: its @get_text and @argument are set
 * @address: ADDRESS:PORT
 *
 * Return: 0, or -1 after a message.
 */
int exporter_http_open(struct exporter_http *http, const char *address)
{
	int fd;

	if (load_library())
		return -1;
	fd = open_socket(address);
	if (fd < 0) {
		message("cannot listen on %s: %s%s", address, strerror(-fd),
			fd == -EADDRINUSE ? ": end the other program, or choose another port" : "");
		return -1;
	}
	http->daemon = mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer_request, http,
					MHD_OPTION_LISTEN_SOCKET, fd,
					MHD_OPTION_CONNECTION_LIMIT,
					(unsigned int)EXPORTER_HTTP_CONNECTIONS,
					MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
					MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					(size_t)CONNECTION_SIZE, MHD_OPTION_NOTIFY_CONNECTION,
					note_connection, http, MHD_OPTION_END);
	if (http->daemon)
		return 0;
	close(fd);
	message("cannot listen on %s: the HTTP library refuses it", address);
	return -1;
}

/**
 * exporter_http_fd() - get the file that is readable when the server has something to do
 * @http: open
 *
 * Return: the file descriptor.
 */
int exporter_http_fd(const struct exporter_http *http)
{
	return mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

/**
 * exporter_http_serve() - answer requests, and close connections that have timed out
 * @http: open or not
 */
void exporter_http_serve(struct exporter_http *http)
{
	double now = read_monotonic_seconds();
	MHD_UNSIGNED_LONG_LONG timeout;
	size_t i;

	if (!http->daemon)
		return;
	for (i = 0; i < EXPORTER_HTTP_CONNECTIONS; i++)
		if (http->clients[i].fd && now - http->clients[i].active_since > IDLE_TIMEOUT_S)
			shutdown(http->clients[i].fd, SHUT_RDWR);
	/* Requests that were read already make no file readable. */
	for (i = 0; i < DAEMON_RUNS_MAX; i++) {
		mhd.run(http->daemon);
		if (mhd.get_timeout(http->daemon, &timeout) != MHD_YES || timeout)
			break;
	}
}

/**
 * exporter_http_drop_text() - free the answers with the metrics, because these change
 * @http: open or not
 *
 * Clients that still read an answer keep it until they have it, or their time is over.
 */
void exporter_http_drop_text(struct exporter_http *http)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(http->metrics_responses); i++) {
		if (http->metrics_responses[i])
			mhd.destroy_response(http->metrics_responses[i]);
		http->metrics_responses[i] = NULL;
	}
}

/**
 * exporter_http_close() - close the server and all connections
 * @http: open or not
 */
void exporter_http_close(struct exporter_http *http)
{
	if (http->daemon)
		mhd.stop_daemon(http->daemon);
	http->daemon = NULL;
}
