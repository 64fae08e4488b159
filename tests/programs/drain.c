// SPDX-License-Identifier: GPL-2.0-only
/*
 * A real-time reader: copy the files of all CPUs of a session whenever poll() reports data, until
 * the session has stopped and all data are read.
 *
 *	drain SESSION PREFIX	copies SESSION/cpu0 to PREFIX.cpu0, and so on
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MAX 64

static void die(const char *what)
{
	fprintf(stderr, "drain: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Copy up to 1 MiB. Return: true if there were any data. */
static int copy_data(int from, int to)
{
	static char buffer[1 << 20];
	ssize_t got = read(from, buffer, sizeof(buffer));

	if (got < 0)
		die("read");
	if (got && write(to, buffer, got) != got)
		die("write");
	return got > 0;
}

int main(int argc, char **argv)
{
	struct pollfd files[CPUS_MAX];
	int out[CPUS_MAX];
	int count, open_files, waits = 0, i;
	char path[256];

	if (argc != 3)
		return 2;
	for (count = 0; count < CPUS_MAX; count++) {
		snprintf(path, sizeof(path), "%s/cpu%d", argv[1], count);
		files[count].fd = open(path, O_RDONLY);
		files[count].events = POLLIN;
		if (files[count].fd < 0)
			break;
		snprintf(path, sizeof(path), "%s.cpu%d", argv[2], count);
		out[count] = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (out[count] < 0)
			die(path);
	}
	open_files = count;
	while (open_files) {
		if (poll(files, count, -1) < 0)
			die("poll");
		waits++;
		for (i = 0; i < count; i++) {
			if (!(files[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (copy_data(files[i].fd, out[i]) || !(files[i].revents & POLLHUP))
				continue;
			/* End of file: poll() ignores a negative descriptor. */
			files[i].fd = -1;
			open_files--;
		}
	}
	printf("%d processors, %d waits\n", count, waits);
	return count ? 0 : 1;
}
