// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "macros.h"
#include "message.h"
#include "output_file.h"

/* A file or directory that is not finished. */
struct made_path {
	struct made_path *older;
	char path[];
};

/* The newest unfinished file. The handler of signals reads the list at any time. */
static struct made_path *_Atomic newest_path;

/* Path that the newest unfinished file gets when output_close() has written it; NULL: none. */
static char *final_path;

static void remove_made_paths(void)
{
	const struct made_path *made;

	/* The files of a directory are newer than the directory. */
	for (made = newest_path; made; made = made->older)
		if (unlink(made->path))
			rmdir(made->path);
}

static void remove_and_end(int number)
{
	remove_made_paths();
	/* SA_RESETHAND has restored the default action, which follows when the handler returns. */
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ };
	const struct sigaction action = { .sa_handler = remove_and_end, .sa_flags = SA_RESETHAND };
	struct sigaction present;
	size_t i;

	/* A signal that nohup or a shell ignores stays ignored. */
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!sigaction(numbers[i], NULL, &present) && present.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
}

/**
 * output_note() - note a new file or an empty new directory, which is removed if the command fails
 * @path: path of the file; files of a directory are noted after the directory
 *
 * Return: false if there is no memory.
 */
bool output_note(const char *path)
{
	size_t size = strlen(path) + 1;
	struct made_path *made = malloc(sizeof(*made) + size);

	if (!made)
		return false;
	memcpy(made->path, path, size);
	made->older = newest_path;
	newest_path = made;
	catch_signals();
	return true;
}

/**
 * output_keep() - keep all noted files: they are finished, and are no longer removed
 */
void output_keep(void)
{
	struct made_path *made = newest_path, *older;

	newest_path = NULL;
	for (; made; made = older) {
		older = made->older;
		free(made);
	}
}

/**
 * output_remove() - remove all noted files
 */
void output_remove(void)
{
	remove_made_paths();
	output_keep();
}

/* Test whether a path may name a file that is open already, such as /dev/stdout. */
static bool names_open_file(const char *path)
{
	return !strncmp(path, "/dev/std", 8) || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6);
}

static void forget_final_path(void)
{
	free(final_path);
	final_path = NULL;
}

/*
 * Make and note the file @part, with the owner and mode of @replaced; NULL: it replaces no file.
 * Returns a file descriptor, or -1.
 */
static int make_part(const char *part, const struct stat *replaced)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaced ? 0600 : 0666);

	if (fd < 0)
		return -1;
	if ((!replaced || (!fchown(fd, replaced->st_uid, replaced->st_gid) &&
			   !fchmod(fd, replaced->st_mode & 07777))) && output_note(part))
		return fd;
	close(fd);
	unlink(part);
	return -1;
}

/*
 * Make a file beside the one at @path, whose place it will take. Returns a file descriptor, or -1
 * if the file at @path has to be written in place: a device, a pipe, a link to an absent file, or a
 * file in a directory that cannot be changed.
 */
static int open_part(const char *path)
{
	struct stat status, *replaced = stat(path, &status) ? NULL : &status;
	char *part;
	int fd = -1;

	if (names_open_file(path))
		return -1;
	if (replaced ? !S_ISREG(status.st_mode) || access(path, W_OK) : !lstat(path, &status))
		return -1;
	/* A symbolic link stays, and its target is replaced. */
	final_path = replaced ? realpath(path, NULL) : strdup(path);
	if (final_path && asprintf(&part, "%s.%d.part", final_path, getpid()) >= 0) {
		fd = make_part(part, replaced);
		free(part);
	}
	if (fd < 0)
		forget_final_path();
	return fd;
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
	fd = open_part(path);
	stream = fd < 0 ? fopen(path, "w") : fdopen(fd, "w");
	if (stream)
		return stream;
	message("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	output_remove();
	forget_final_path();
	return NULL;
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
	if (((stream != stdout && fclose(stream)) ||
	     (!err && final_path && rename(newest_path->path, final_path))) && !err) {
		message("%s: cannot write: %s", path, strerror(errno));
		err = -1;
	}
	if (err)
		output_remove();
	else
		output_keep();
	forget_final_path();
	return err ? -1 : 0;
}
