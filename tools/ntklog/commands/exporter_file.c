// SPDX-License-Identifier: GPL-2.0-only
/* See exporter_file.h. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter_file.h"
#include "message.h"

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t got = write(fd, text, size);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0) {
			text += got;
			size -= got;
		}
	}
	return 0;
}

/**
 * exporter_file_write() - replace a file as a whole
 * @path: path of the file
 * @text: its new contents
 * @size: bytes of @text
 *
 * The collector runs as another user, and has to read the file. It skips the unfinished file, whose
 * name does not end in ".prom".
 *
 * Return: 0, or -1 after a message.
 */
int exporter_file_write(const char *path, const char *text, size_t size)
{
	char part[PATH_MAX];
	int fd, err;

	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part)) {
		message("%s: %s", path, strerror(ENAMETOOLONG));
		return -1;
	}
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		message("%s: %s", part, strerror(errno));
		return -1;
	}
	err = write_all(fd, text, size);
	if (fchmod(fd, 0644) && !err)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(part, path))
		err = -errno;
	if (!err)
		return 0;
	unlink(part);
	message("%s: %s", path, strerror(-err));
	return -1;
}
