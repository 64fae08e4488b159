// SPDX-License-Identifier: GPL-2.0-only
/* See exporter_http.h. */

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "exporter_http.h"
#include "macros.h"
#include "message.h"

/*
 * The library is loaded when the server is opened. Linked with the tool, its TLS library would add
 * four milliseconds to the start of every command.
 */
#define LIBRARY		"libmicrohttpd.so.12"

/* Limits: connections, seconds in which a client sends no byte, bytes of memory of a connection. */
#define CONNECTIONS	16
#define TIMEOUT_S	15
#define CONNECTION_SIZE	(32 << 10)

#define TEXT_TYPE		"text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE	"application/openmetrics-text"
#define HTML_TYPE		"text/html; charset=utf-8"

static const char start_page[] =
	"<!DOCTYPE html><title>ntklog exporter</title><a href=\"/metrics\">Metrics</a>\n";

/* Functions of the library. */
static struct {
	typeof(MHD_start_daemon) *start_daemon;
	typeof(MHD_stop_daemon) *stop_daemon;
	typeof(MHD_run) *run;
	typeof(MHD_get_daemon_info) *get_daemon_info;
	typeof(MHD_lookup_connection_value) *lookup_connection_value;
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
		{ "MHD_get_daemon_info", &mhd.get_daemon_info },
		{ "MHD_lookup_connection_value", &mhd.lookup_connection_value },
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
	    !bind(fd, found->ai_addr, found->ai_addrlen) && !listen(fd, CONNECTIONS)) {
		freeaddrinfo(found);
		return fd;
	}
	err = -errno;
	if (fd >= 0)
		close(fd);
	freeaddrinfo(found);
	return err;
}

static enum MHD_Result answer_with(struct MHD_Connection *connection, unsigned int status,
				   const char *type, const char *text, size_t size)
{
	struct MHD_Response *response = mhd.create_response(size, (void *)text,
							    MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	result = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return result;
}

static enum MHD_Result answer_metrics(struct exporter_http *http,
				      struct MHD_Connection *connection)
{
	const char *accepted = mhd.lookup_connection_value(connection, MHD_HEADER_KIND,
							   MHD_HTTP_HEADER_ACCEPT);
	bool is_openmetrics = accepted && strstr(accepted, OPENMETRICS_TYPE);
	size_t size;
	const char *text = http->get_text(http->argument, is_openmetrics, &size);

	if (!text)
		return MHD_NO;
	return answer_with(connection, MHD_HTTP_OK, is_openmetrics ?
			   OPENMETRICS_TYPE "; version=1.0.0; charset=utf-8" : TEXT_TYPE, text,
			   size);
}

static enum MHD_Result answer(void *argument, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *data_size, void **request)
{
	static const char no_method[] = "only GET and HEAD are understood\n";
	static const char no_page[] = "the metrics are at /metrics\n";

	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_with(connection, MHD_HTTP_METHOD_NOT_ALLOWED, TEXT_TYPE, no_method,
				   sizeof(no_method) - 1);
	if (!strcmp(url, "/metrics"))
		return answer_metrics(argument, connection);
	if (!strcmp(url, "/"))
		return answer_with(connection, MHD_HTTP_OK, HTML_TYPE, start_page,
				   sizeof(start_page) - 1);
	return answer_with(connection, MHD_HTTP_NOT_FOUND, TEXT_TYPE, no_page,
			   sizeof(no_page) - 1);
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
	http->daemon = mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, http,
					MHD_OPTION_LISTEN_SOCKET, fd,
					MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS,
					MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
					MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					(size_t)CONNECTION_SIZE, MHD_OPTION_END);
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
 * exporter_http_work() - answer requests, and close connections that have timed out
 * @http: open or not
 */
void exporter_http_work(struct exporter_http *http)
{
	if (http->daemon)
		mhd.run(http->daemon);
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
