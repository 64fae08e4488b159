// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repeat an operation, and make its first allocation fail, then its second, and so on, until it
 * needs no more. For a kernel with failslab.
 *
 *	fail load MODULE.ko STRIDE SEED		load and unload a module
 *	fail start SESSION [STRIDE SEED LINUX]	start and stop a session; the file LINUX lists the
 *						kinds of lock whose hooks failed
 *
 * Most allocations of a load are debugfs' for its files, which the module can do without. After a
 * failed allocation that did not make the load fail, only each STRIDEth allocation is tried until
 * one does; SEED selects which. The first allocations of a load are all tried, because some are
 * vital.
 *
 * The kernel also allocates before it calls the module's init function, and its tracing warns
 * about some failures there. A load that the module refuses at once shows how many these are; they
 * are not tried.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 50000

/* Maximum of allocations that the kernel may make to clean up after a refused load. */
#define MARGIN 15

/* Number of allocations of a load that are all tried: the margin and the module's first ones. */
#define DENSE (2 * MARGIN)

static char state_path[256];

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Make the @n-th allocation of this thread fail. Returns the number left until then. */
static int fail_nth(int fd, int n)
{
	char text[16] = "";

	if (n >= 0) {
		snprintf(text, sizeof(text), "%d", n);
		return pwrite(fd, text, strlen(text), 0) < 0 ? -errno : 0;
	}
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	return atoi(text);
}

static void complain(const char *what, int n)
{
	printf("not ok - fail: %s (allocation %d)\n", what, n);
	exit(1);
}

static void check_not_loaded(int n)
{
	if (!access("/sys/kernel/debug/ntklog", F_OK) || !access("/dev/ntklog", F_OK) ||
	    !access("/sys/module/ntklog", F_OK))
		complain("a load that failed left something", n);
}

static void check_stopped(int n)
{
	char text[16] = "";
	int fd = open(state_path, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) < 0 || strcmp(text, "stopped\n"))
		complain("a start that failed is not stopped", n);
	close(fd);
}

/*
 * Return the number of kinds that the file reports as failed. Each must have failed with -ENOMEM,
 * and must not be attached in part.
 */
static int failed_kinds(const char *path, int n)
{
	char text[1024] = "";
	const char *at = text;
	int fd = open(path, O_RDONLY), count = 0;

	if (read(fd, text, sizeof(text) - 1) <= 0)
		complain("cannot read what is redirected", n);
	close(fd);
	while ((at = strstr(at, ": failed: "))) {
		at = strchr(at, '(');
		if (!at || strncmp(at, "(-12)", 5))
			complain("redirecting fails otherwise", n);
		count++;
	}
	return count;
}

/* Return the number of allocations of a load that the module refuses. */
static int allocations_before_init(const char *module, int fail_fd)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), left;

	fail_nth(fail_fd, 1000000);
	if (!syscall(SYS_finit_module, fd, "buffers=0", 0))
		complain("buffers=0 is taken", 0);
	left = fail_nth(fail_fd, -1);
	fail_nth(fail_fd, 0);
	close(fd);
	return 1000000 - left;
}

int main(int argc, char **argv)
{
	int is_load, first = 1, n, err, left, tried = 0, failed = 0, fd, fail_fd, state_fd = -1;
	int stride = 1, skip = 0;

	if (argc != 3 && argc != 5 && argc != 6)
		return 2;
	if (argc >= 5) {
		stride = atoi(argv[3]);
		skip = atoi(argv[4]) % stride;
	}
	is_load = !strcmp(argv[1], "load");
	snprintf(state_path, sizeof(state_path), "%s/state", argv[2]);
	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		complain("no fail-nth", 0);
	if (is_load)
		first = allocations_before_init(argv[2], fail_fd) - MARGIN;
	for (n = first; n < first + MOST; n++) {
		tried++;
		fd = -1;
		if (is_load)
			fd = open(argv[2], O_RDONLY | O_CLOEXEC);
		else
			state_fd = open(state_path, O_WRONLY);
		fail_nth(fail_fd, n);
		if (is_load)
			err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
		else
			err = write(state_fd, "start", 5) < 0 ? -errno : 0;
		left = fail_nth(fail_fd, -1);
		fail_nth(fail_fd, 0);
		close(is_load ? fd : state_fd);
		if (err) {
			failed++;
			if (is_load)
				check_not_loaded(n);
			else
				check_stopped(n);
			continue;
		}
		if (is_load && syscall(SYS_delete_module, "ntklog", 0))
			complain("cannot be unloaded", n);
		if (argc == 6)
			failed += failed_kinds(argv[5], n);
		if (!is_load && write_text(state_path, "stop"))
			complain("cannot be stopped", n);
		if (left)
			break;
		if (is_load && n < first + DENSE)
			continue;
		/* Skip fewer the first time, so that each seed tries other allocations. */
		n += skip;
		skip = stride - 1;
	}
	printf("# %s: %d of %d failed allocations made it fail, of %d\n", argv[1], failed,
	       tried - 1, n - first - left + 1);
	printf("%s - fail: each allocation of %s\n",
	       failed && n < first + MOST ? "ok" : "not ok", argv[1]);
	return 0;
}
