// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions to claim, in a directory like the module's: a library for LD_PRELOAD. It answers
 * open() of sessions/claim and the like, and the ioctls of <ntklog/session.h>:
 *
 *	sessions/<n>/start		written by START: struct ntklog_session_start
 *	sessions/<n>/state		written by START, STOP, and the close of a claim
 *	sessions/<n>/fail_start		errno of START
 *	sessions/<n>/slow_start		START makes is_starting, and waits for a signal
 *	sessions/<n>/failures		lines "GROUP ERRNO" for INFO
 *	sessions/<n>/owner		makes a claim fail with EBUSY, unless it is "none"
 *	sessions/<n>/{stats,header,cpu<m>}	read
 *	FILE.slow_rename		rename() of FILE makes FILE.is_renaming, and waits until
 *					FILE.slow_rename is removed
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ntklog/session.h>

#define SESSION_COUNT	8
#define FDS_MAX		1024

static char directory[4096];
static struct {
	bool is_claim, is_kept, is_cpu;
	int session;
} open_files[FDS_MAX];

static int real_open(const char *path, int flags, mode_t mode)
{
	int (*function)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");

	return function(path, flags, mode);
}

static int real_close(int fd)
{
	int (*function)(int) = dlsym(RTLD_NEXT, "close");

	return function(fd);
}

static int open_file(int session, const char *name, int flags)
{
	char path[8192];

	snprintf(path, sizeof(path), "%s/%d/%s", directory, session, name);
	return real_open(path, flags | O_CLOEXEC, 0600);
}

/* Read a file of a session; a file that does not exist counts as empty. */
static char *read_text(int session, const char *name)
{
	static char text[65536];
	int fd = open_file(session, name, O_RDONLY);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		real_close(fd);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

static void write_data(int session, const char *name, const void *data, size_t size)
{
	int fd = open_file(session, name, O_WRONLY | O_CREAT | O_TRUNC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	real_close(fd);
}

static bool file_exists(int session, const char *name)
{
	int fd = open_file(session, name, O_RDONLY);

	if (fd >= 0)
		real_close(fd);
	return fd >= 0;
}

static off_t file_size(int session, const char *name)
{
	int fd = open_file(session, name, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);

	if (fd >= 0)
		real_close(fd);
	return size;
}

static bool session_is_started(int session)
{
	return !strncmp(read_text(session, "state"), "started", 7);
}

static void get_counts(int session, struct ntklog_session_counts *counts)
{
	const char *total = strstr(read_text(session, "stats"), "total");
	unsigned long long values[6] = { 0 };

	if (total)
		sscanf(total + 5, "%llu %llu %llu %llu %llu %llu", &values[0], &values[1],
		       &values[2], &values[3], &values[4], &values[5]);
	memcpy(&counts->generated, values, sizeof(values));
}

static bool session_is_free(int session, bool adopts)
{
	const char *owner = read_text(session, "owner");

	return (!*owner || !strncmp(owner, "none", 4)) && (adopts || !session_is_started(session));
}

static int claim_session(const char *path)
{
	const char *relative_path = strstr(path, "/sessions/");
	struct ntklog_session_counts counts;
	char word[16], rest;
	int session, fd;

	snprintf(directory, sizeof(directory), "%.*s", (int)(relative_path + 9 - path), path);
	if (!strcmp(relative_path, "/sessions/claim")) {
		for (session = SESSION_COUNT; session-- > 0;) {
			get_counts(session, &counts);
			if (session_is_free(session, false) && !counts.unread)
				break;
		}
	} else if (sscanf(relative_path, "/sessions/%d/%15[a-z]%c", &session, word, &rest) != 2 ||
		   (strcmp(word, "claim") && strcmp(word, "adopt"))) {
		return -2;
	} else if (!session_is_free(session, !strcmp(word, "adopt"))) {
		session = -1;
	}
	if (session < 0) {
		errno = EBUSY;
		return -1;
	}
	fd = open_file(session, "header", O_RDONLY | O_CREAT);
	if (fd >= 0 && fd < FDS_MAX) {
		open_files[fd].is_claim = true;
		open_files[fd].is_kept = false;
		open_files[fd].session = session;
	}
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;
	int fd = strstr(path, "/sessions/") ? claim_session(path) : -2;

	if (fd != -2)
		return fd;
	va_start(arguments, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0;
	va_end(arguments);
	return real_open(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

static bool is_at_end(int fd)
{
	struct stat status;

	return fd >= 0 && fd < FDS_MAX && open_files[fd].is_cpu && !fstat(fd, &status) &&
	       lseek(fd, 0, SEEK_CUR) >= status.st_size;
}

/* A file is always readable for poll(), but the module's buffers are not when there is none. */
int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int (*function)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
	struct pollfd polled[FDS_MAX];
	int step_ms, got;
	nfds_t i;

	if (count > FDS_MAX)
		abort();
	for (;;) {
		for (i = 0; i < count; i++) {
			polled[i] = fds[i];
			if (is_at_end(fds[i].fd))
				polled[i].fd = -1;
		}
		step_ms = timeout_ms < 0 || timeout_ms > 10 ? 10 : timeout_ms;
		got = function(polled, count, step_ms);
		if (timeout_ms >= 0)
			timeout_ms -= step_ms;
		if (got || !timeout_ms)
			break;
	}
	for (i = 0; i < count; i++)
		fds[i].revents = polled[i].revents;
	return got;
}

int close(int fd)
{
	if (fd >= 0 && fd < FDS_MAX)
		open_files[fd].is_cpu = false;
	if (fd >= 0 && fd < FDS_MAX && open_files[fd].is_claim) {
		open_files[fd].is_claim = false;
		if (!open_files[fd].is_kept)
			write_data(open_files[fd].session, "state", "stopped\n", 8);
	}
	return real_close(fd);
}

int rename(const char *from, const char *to)
{
	int (*function)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
	const struct timespec moment = { .tv_nsec = 50000000 };
	char slow[8192], mark[8192];

	snprintf(slow, sizeof(slow), "%s.slow_rename", from);
	snprintf(mark, sizeof(mark), "%s.is_renaming", from);
	while (!access(slow, F_OK)) {
		real_close(real_open(mark, O_WRONLY | O_CREAT, 0600));
		nanosleep(&moment, NULL);
	}
	return function(from, to);
}

static int start_session(int session, const void *argument)
{
	const struct timespec second = { .tv_sec = 1 };
	int tries;

	for (tries = 0; file_exists(session, "slow_start") && tries < 600; tries++) {
		write_data(session, "is_starting", "", 0);
		if (nanosleep(&second, NULL))
			return EINTR;
	}
	if (file_exists(session, "fail_start"))
		return atoi(read_text(session, "fail_start"));
	if (session_is_started(session))
		return EBUSY;
	write_data(session, "start", argument, sizeof(struct ntklog_session_start));
	write_data(session, "state", "started\n", 8);
	return 0;
}

static int stop_session(int session)
{
	if (!session_is_started(session))
		return EINVAL;
	write_data(session, "state", "stopped\n", 8);
	return 0;
}

static int fill_info(int session, struct ntklog_session_info *info)
{
	char *next = read_text(session, "failures");

	info->session = session;
	info->failures = 0;
	for (; sscanf(next, "%i %i", (int *)&info->failure[info->failures].group,
		      (int *)&info->failure[info->failures].error) == 2; next++) {
		info->failures++;
		next += strcspn(next, "\n");
	}
	info->state = NTKLOG_SESSION_IDLE;
	if (session_is_started(session))
		info->state = NTKLOG_SESSION_STARTED;
	else if (file_size(session, "header") > 0)
		info->state = NTKLOG_SESSION_FINISHED;
	return 0;
}

static int answer_ioctl(int fd, unsigned long request, void *argument)
{
	const struct ntklog_session_cpu *cpu;
	int session = open_files[fd].session;
	char name[32];

	switch (request) {
	case NTKLOG_SESSION_START:
		return start_session(session, argument);
	case NTKLOG_SESSION_STOP:
		return stop_session(session);
	case NTKLOG_SESSION_COUNTS:
		get_counts(session, argument);
		return 0;
	case NTKLOG_SESSION_INFO:
		return fill_info(session, argument);
	case NTKLOG_SESSION_FLUSH:
		return 0;
	case NTKLOG_SESSION_KEEP:
		open_files[fd].is_kept = true;
		return 0;
	case NTKLOG_SESSION_OPEN_CPU:
		cpu = argument;
		snprintf(name, sizeof(name), "cpu%u", cpu->cpu);
		fd = open_file(session, name, O_RDONLY | O_NONBLOCK);
		if (fd >= 0 && fd < FDS_MAX)
			open_files[fd].is_cpu = true;
		return fd < 0 ? ENXIO : -fd;
	}
	return ENOTTY;
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*function)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	va_list arguments;
	void *argument;
	int err;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (fd < 0 || fd >= FDS_MAX || !open_files[fd].is_claim)
		return function(fd, request, argument);
	err = answer_ioctl(fd, request, argument);
	if (err <= 0)
		return -err;
	errno = err;
	return -1;
}
