// SPDX-License-Identifier: GPL-2.0-only
/* Making the file that a session is written to. */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "names.h"
#include "trace_create.h"

#define OLD_SUFFIX	".old"

/* An earlier file, and its names, are kept: one of each. */
static int keep_old(const char *path)
{
	char *old = NULL, *names = NULL, *old_names = NULL;
	int err = -1;

	if (asprintf(&old, "%s" OLD_SUFFIX, path) < 0 ||
	    asprintf(&names, "%s" NAMES_SUFFIX, path) < 0 ||
	    asprintf(&old_names, "%s" NAMES_SUFFIX, old) < 0)
		message("%s", strerror(ENOMEM));
	else if (rename(path, old))
		message("%s: cannot be kept as %s: %s", path, old, strerror(errno));
	/* Else the old one would have the names of one before. */
	else if (rename(names, old_names) && (errno != ENOENT ||
					      (remove(old_names) && errno != ENOENT)))
		message("%s: cannot be kept as %s: %s", names, old_names, strerror(errno));
	else
		err = 0;
	free(old);
	free(names);
	free(old_names);
	return err;
}

/**
 * trace_create() - make a file for a trace
 * @path: of it; if there is one, it is kept as PATH.old
 * @fd: of the file; or -1
 *
 * Return: 0, or -1 after a message.
 */
int trace_create(const char *path, int *fd)
{
	struct stat status;

	*fd = -1;
	if (!stat(path, &status) && S_ISREG(status.st_mode) && keep_old(path))
		return -1;
	/* It tells where the kernel is in memory. */
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (*fd >= 0)
		return 0;
	message("%s: %s", path, strerror(errno));
	return -1;
}
