// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader that follows the ABI document: it opens the files of two CPUs as soon as they exist,
 * reads, polls for the end with a timeout of a millisecond, and then reads the rest. It reports an
 * end that is announced too early: before the session was asked to stop, or before its last bytes
 * could be read. Prints TAP.
 *
 *	follow SESSION poll|state DIRECTORY
 *
 * poll: POLLHUP is the end; state: the file "state" of the session reads "stopped"
 * DIRECTORY/opened: written by this program when all files are open
 * DIRECTORY/stopping: written by the script just before it stops the session
 * DIRECTORY/over: written by the script when the session has stopped
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS 2

static const char *session_path, *directory;
static int uses_poll, early_end_count, fds[CPUS];

static int file_exists(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return !access(path, F_OK);
}

static void fail(const char *what)
{
	printf("not ok - follow: %s\n", what);
	exit(1);
}

static long read_available_bytes(int fd)
{
	static char buffer[1 << 16];
	long sum = 0, got;

	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		sum += got;
	/* A session in buffering mode returns EBUSY before its end. */
	if (got < 0 && errno != EBUSY)
		fail(strerror(errno));
	return sum;
}

static int session_is_stopped(void)
{
	char path[256], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/state", session_path);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		fail("no state");
	close(fd);
	return !strcmp(text, "stopped\n");
}

/* Open the files, which do not exist or cannot be opened until the session has started. */
static void open_files(void)
{
	struct pollfd file = { .events = POLLIN };
	char path[256];
	int i;

	for (i = 0; i < CPUS; i++) {
		snprintf(path, sizeof(path), "%s/cpu%d", session_path, i);
		while ((fds[i] = open(path, O_RDONLY)) < 0)
			if (errno != ENOENT && errno != EBUSY && errno != ENODATA)
				fail(strerror(errno));
		file.fd = fds[i];
		poll(&file, 1, 0);
		early_end_count += uses_poll ? !!(file.revents & POLLHUP) : session_is_stopped();
	}
	snprintf(path, sizeof(path), "%s/opened", directory);
	close(open(path, O_WRONLY | O_CREAT, 0600));
}

int main(int argc, char **argv)
{
	struct pollfd files[CPUS];
	int open_count = CPUS, i;
	long sum = 0, late_bytes = 0;

	if (argc != 4)
		return 2;
	session_path = argv[1];
	uses_poll = !strcmp(argv[2], "poll");
	directory = argv[3];
	open_files();
	for (i = 0; i < CPUS; i++)
		files[i] = (struct pollfd) { .fd = fds[i], .events = POLLIN };
	while (open_count) {
		/*
		 * An end came too early if "stopping" is missing both before and after the end
		 * was seen.
		 */
		int stop_was_requested = file_exists("stopping");
		int stopped = !uses_poll && session_is_stopped();

		if (poll(files, CPUS, 1) < 0)
			fail("poll");
		for (i = 0; i < CPUS; i++) {
			if (files[i].fd < 0)
				continue;
			if (uses_poll)
				stopped = files[i].revents & POLLHUP;
			sum += read_available_bytes(fds[i]);
			if (!stopped)
				continue;
			if (!stop_was_requested && !file_exists("stopping"))
				early_end_count++;
			files[i].fd = -1;
			open_count--;
		}
	}
	while (!file_exists("over"))
		usleep(1000);
	for (i = 0; i < CPUS; i++)
		late_bytes += read_available_bytes(fds[i]);
	printf("%s - follow: %s, by %s: %ld bytes, %ld after the end; %d ends before the stop\n",
	       early_end_count || late_bytes || !sum ? "not ok" : "ok", session_path, argv[2], sum,
	       late_bytes, early_end_count);
	return 0;
}
