// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repeat an operation, and make its first allocation fail, then its second, and so on, until it
 * needs no more. For a kernel with failslab.
 *
 *	fail load MODULE.ko STRIDE SEED		load and unload a module
 *	fail start SESSION [STRIDE SEED LINUX]	start and stop a session; the file LINUX (linux in
 *						debugfs) lists the kinds of lock that could not be
 *						redirected
 *
 * After a failed allocation that did not make the operation fail, only each STRIDEth allocation is
 * tried (default: each) until one makes it fail; SEED selects which. The first allocations of a
 * load are all tried, because the module cannot do without some of them.
 *
 * The kernel also allocates before it calls the module's init function, and its tracing warns
 * about some failures there. Nearly all of these are left out: their number is about that of a load
 * with buffers=0, which the module's init function refuses before it allocates.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOCATIONS_MAX 50000

/*
 * Upper limit of the allocations that the kernel makes to clean up after a refused load.
 * allocations_before_init() counts these too, so this program starts so many allocations earlier.
 */
#define CLEANUP_ALLOCATIONS 15

/* Number of allocations of a load that are all tried. */
#define DENSE (2 * CLEANUP_ALLOCATIONS)

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

static void fail_test(const char *what, int nth)
{
	printf("not ok - fail: %s (allocation %d)\n", what, nth);
	exit(1);
}

/* The @nth from now on; none if @nth is 0. @fd is the thread's file fail-nth. */
static void set_failing_allocation(int fd, int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", nth);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		fail_test("cannot write fail-nth", nth);
}

static int read_allocations_until_failure(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		fail_test("cannot read fail-nth", 0);
	return atoi(text);
}

static void check_not_loaded(int nth)
{
	if (!access("/sys/kernel/debug/ntklog", F_OK) || !access("/dev/ntklog", F_OK) ||
	    !access("/sys/module/ntklog", F_OK))
		fail_test("a load that failed left something", nth);
}

static void check_stopped(int nth)
{
	char text[16] = "";
	int fd = open(state_path, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) < 0 || strcmp(text, "stopped\n"))
		fail_test("a start that failed is not stopped", nth);
	close(fd);
}

/* The reason of each kind of lock in the file must be -ENOMEM. */
static int count_failed_kinds(const char *path, int nth)
{
	char text[1024] = "";
	const char *at = text;
	int fd = open(path, O_RDONLY), count = 0;

	if (read(fd, text, sizeof(text) - 1) <= 0)
		fail_test("cannot read the file of the kinds that failed", nth);
	close(fd);
	while ((at = strstr(at, ": failed: "))) {
		at = strchr(at, '(');
		if (!at || strncmp(at, "(-12)", 5))
			fail_test("a kind failed for another reason than -ENOMEM", nth);
		count++;
	}
	return count;
}

static int allocations_before_init(const char *module, int fail_fd)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), allocations_left;

	set_failing_allocation(fail_fd, 1000000);
	if (!syscall(SYS_finit_module, fd, "buffers=0", 0))
		fail_test("the module accepts buffers=0", 0);
	allocations_left = read_allocations_until_failure(fail_fd);
	set_failing_allocation(fail_fd, 0);
	close(fd);
	return 1000000 - allocations_left;
}

int main(int argc, char **argv)
{
	int is_module_load, first_allocation = 1, nth, err, allocations_left, tried = 0, failed = 0;
	int fd, fail_fd, state_fd = -1;
	int stride = 1, skip = 0;

	if (argc != 3 && argc != 5 && argc != 6)
		return 2;
	if (argc >= 5) {
		stride = atoi(argv[3]);
		skip = atoi(argv[4]) % stride;
	}
	is_module_load = !strcmp(argv[1], "load");
	snprintf(state_path, sizeof(state_path), "%s/state", argv[2]);
	fail_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_fd < 0)
		fail_test("no fail-nth", 0);
	if (is_module_load)
		first_allocation = allocations_before_init(argv[2], fail_fd) - CLEANUP_ALLOCATIONS;
	for (nth = first_allocation; nth < first_allocation + ALLOCATIONS_MAX; nth++) {
		tried++;
		fd = -1;
		if (is_module_load)
			fd = open(argv[2], O_RDONLY | O_CLOEXEC);
		else
			state_fd = open(state_path, O_WRONLY);
		set_failing_allocation(fail_fd, nth);
		if (is_module_load)
			err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
		else
			err = write(state_fd, "start", 5) < 0 ? -errno : 0;
		allocations_left = read_allocations_until_failure(fail_fd);
		set_failing_allocation(fail_fd, 0);
		close(is_module_load ? fd : state_fd);
		if (err) {
			failed++;
			if (is_module_load)
				check_not_loaded(nth);
			else
				check_stopped(nth);
			continue;
		}
		if (is_module_load && syscall(SYS_delete_module, "ntklog", 0))
			fail_test("cannot be unloaded", nth);
		if (argc == 6)
			failed += count_failed_kinds(argv[5], nth);
		if (!is_module_load && write_text(state_path, "stop"))
			fail_test("cannot be stopped", nth);
		if (allocations_left)
			break;
		if (is_module_load && nth < first_allocation + DENSE)
			continue;
		/* The first skip is SEED % STRIDE, so that each seed tries other allocations. */
		nth += skip;
		skip = stride - 1;
	}
	printf("# %s: %d of %d failed allocations made it fail, of %d\n", argv[1], failed,
	       tried - 1, nth - first_allocation - allocations_left + 1);
	printf("%s - fail: each allocation of %s\n",
	       failed && nth < first_allocation + ALLOCATIONS_MAX ? "ok" : "not ok", argv[1]);
	return 0;
}
