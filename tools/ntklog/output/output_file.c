// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "output_file.h"

/*
 * Path that the unnamed file of output_open() gets when it is complete; NULL: there is none. Only
 * the main thread uses it.
 */
static char *final_path;

/*
 * output_open() has made a named file, which did not exist before: it is removed upon an error.
 * Only the main thread uses this.
 */
static bool is_new_file;

/* Test whether a path may name a file that is open already, such as /dev/stdout. */
static bool names_open_file(const char *path)
{
	return !strncmp(path, "/dev/std", 8) || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6);
}

/* Open a file without a name in the directory of @path. Returns a file descriptor, or -1. */
static int open_unnamed(const char *path, mode_t mode)
{
	char *copy = strdup(path), *directory = copy ? dirname(copy) : NULL;
	struct statx status;
	int fd = -1;

	/* In an append-only directory the file could not be renamed later. */
	if (directory && !statx(AT_FDCWD, directory, 0, 0, &status) &&
	    !(status.stx_attributes & STATX_ATTR_APPEND))
		fd = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
	free(copy);
	return fd;
}

/*
 * Open an unnamed file that will take the place of the one at @path, if there is one, with its
 * owner and mode. Returns -1 if the caller has to open @path itself, because
 * - it is a device, a pipe, a mount point, or a link to an absent file, which are written in place;
 * - the directory cannot be changed, or its file system has no unnamed files;
 * - /proc, by which an unnamed file gets a name, is not mounted;
 * - or it cannot be opened at all, so that the caller gets the error before anything is written.
 */
static int open_replacement(const char *path)
{
	struct statx status;
	bool exists = !statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &status);
	int fd;

	if (!exists && (errno != ENOENT ||
			!statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &status)))
		return -1;
	if (!*path || path[strlen(path) - 1] == '/')
		return -1;
	if (names_open_file(path) || access("/proc/self/fd", X_OK))
		return -1;
	if (exists && (!S_ISREG(status.stx_mode) || access(path, W_OK) ||
		       status.stx_attributes & (STATX_ATTR_MOUNT_ROOT | STATX_ATTR_APPEND)))
		return -1;
	/* A symbolic link stays, and its target is replaced. */
	final_path = exists ? realpath(path, NULL) : strdup(path);
	fd = final_path ? open_unnamed(final_path, exists ? 0600 : 0666) : -1;
	if (fd >= 0 && exists && (fchown(fd, status.stx_uid, status.stx_gid) ||
				  fchmod(fd, status.stx_mode & 07777))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Let the unnamed file replace the one at the path. Returns 0, or -1 with errno. */
static int replace(int fd, const char *path)
{
	char *copy = strdup(path), source[32], name[32];
	int directory = copy ? open(dirname(copy), O_PATH | O_CLOEXEC) : -1;
	unsigned int number = 0;
	int err;

	free(copy);
	if (directory < 0)
		return -1;
	snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
	/* In containers PIDs recur: a killed process may have left this file. Try the next name. */
	do {
		snprintf(name, sizeof(name), ".ntklog.%d.%u", getpid(), number++);
		err = linkat(AT_FDCWD, source, directory, name, AT_SYMLINK_FOLLOW);
	} while (err && errno == EEXIST);
	if (!err) {
		err = renameat(directory, name, AT_FDCWD, path);
		if (err)
			unlinkat(directory, name, 0);
	}
	close(directory);
	return err;
}

/**
 * output_open() - begin to write a file; one at a time
 * @path: path of the file; "-" is the standard output
 *
 * Return: the stream, for output_close(); NULL after a message.
 */
FILE *output_open(const char *path)
{
	FILE *stream;
	int fd;

	if (!strcmp(path, "-"))
		return stdout;
	fd = open_replacement(path);
	if (fd < 0) {
		free(final_path);
		final_path = NULL;
		stream = fopen(path, "wx");
		is_new_file = stream;
		if (!stream)
			stream = fopen(path, "w");
	} else {
		stream = fdopen(fd, "w");
	}
	if (!stream)
		message("%s: %s", path, strerror(errno));
	return stream;
}

/**
 * output_close() - end a file, which replaces an earlier one if nothing has failed
 * @stream: stream from output_open()
 * @path: path of the file; "-" is the standard output
 * @err: not 0 if the file is incomplete, which has been reported
 *
 * Return: 0, or -1 after a message.
 */
int output_close(FILE *stream, const char *path, int err)
{
	if (!err)
		err = finish_output(stream, stream == stdout ? NULL : path);
	if (!err && final_path && replace(fileno(stream), final_path)) {
		message("%s: cannot write: %s", path, strerror(errno));
		err = -1;
	}
	if (stream != stdout && fclose(stream) && !err) {
		message("%s: cannot write: %s", path, strerror(errno));
		err = -1;
	}
	if (err && is_new_file)
		unlink(path);
	is_new_file = false;
	free(final_path);
	final_path = NULL;
	return err ? -1 : 0;
}
