// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter_textfile.h"
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

/*
 * Open the unfinished file, whose path is put into @part. Refuse a device node, a FIFO or a link in
 * its place, or in place of the file. Returns the file descriptor, or -1 after a message.
 */
static int open_part(const struct exporter_textfile *file, char part[PATH_MAX], struct stat *status)
{
	int fd;

	if (snprintf(part, PATH_MAX, "%s.part", file->path) >= PATH_MAX) {
		message("%s: %s", file->path, strerror(ENAMETOOLONG));
		return -1;
	}
	if (!lstat(file->path, status) && !S_ISREG(status->st_mode)) {
		message("%s: not a regular file: choose another name (--textfile)", file->path);
		return -1;
	}
	fd = open(part, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (fd < 0) {
		message("%s: %s", part, strerror(errno));
		return -1;
	}
	if (!fstat(fd, status) && S_ISREG(status->st_mode))
		return fd;
	message("%s: not a regular file: remove it", part);
	close(fd);
	return -1;
}

/**
 * exporter_textfile_check() - test whether the file can be written, and leave it as it is
 * @file: its path is set
 *
 * Return: 0, or -1 after a message.
 */
int exporter_textfile_check(const struct exporter_textfile *file)
{
	char part[PATH_MAX];
	struct stat status;
	int fd = open_part(file, part, &status);

	if (fd < 0)
		return -1;
	close(fd);
	unlink(part);
	return 0;
}

/**
 * exporter_textfile_write() - replace the file as a whole
 * @file: its path is set
 * @text: its new contents
 * @size: bytes of @text
 *
 * The collector runs as another user, and has to read the file. It skips the unfinished file, whose
 * name does not end in ".prom".
 *
 * Return: 0, or -1 after a message.
 */
int exporter_textfile_write(struct exporter_textfile *file, const char *text, size_t size)
{
	char part[PATH_MAX];
	struct stat status;
	int fd = open_part(file, part, &status), err;

	if (fd < 0)
		return -1;
	err = ftruncate(fd, 0) ? -errno : write_all(fd, text, size);
	if (fchmod(fd, 0644) && !err)
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(part, file->path))
		err = -errno;
	if (!err) {
		file->device = status.st_dev;
		file->inode = status.st_ino;
		return 0;
	}
	unlink(part);
	message("%s: %s", file->path, strerror(-err));
	return -1;
}

/**
 * exporter_textfile_remove() - remove the file, unless another process has replaced it
 * @file: written or not
 */
void exporter_textfile_remove(const struct exporter_textfile *file)
{
	struct stat status;

	if (file->inode && !lstat(file->path, &status) && status.st_dev == file->device &&
	    status.st_ino == file->inode)
		unlink(file->path);
}
