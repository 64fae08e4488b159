// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claim a session by opening FILE, one of the files claim and adopt of debugfs, and do one
 * operation on it for each WORD. See <ntklog/session.h>.
 *
 *	claim FILE WORD...
 *
 * Words: start, start=GROUP (a number), wrong (a start with too few buffers), stop, flush, keep,
 * counts, info, header (write it to header.claim), cpus (write all buffers to cpus.claim), hold
 * (create the file "claimed" and wait to be killed). Each word prints "WORD: ok" or "WORD: ERROR";
 * counts and info also print figures. The exit status is 1 if the last operation failed.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <ntklog/session.h>

static int claim_fd;
static char buffer[1 << 20];

static int start_session(uint32_t group, uint32_t buffers)
{
	struct ntklog_session_start start = {
		.size = sizeof(start),
		.name = "claim",
		.buffer_size = 16384,
		.buffers = buffers,
		.flush_timer = 100,
	};

	start.group_mask.masks[PERF_MASK_INDEX(group)] = PERF_MASK_BITS(group);
	return ioctl(claim_fd, NTKLOG_SESSION_START, &start);
}

static int print_counts(void)
{
	struct ntklog_session_counts counts = {
		.size = sizeof(counts),
		.cpu = NTKLOG_SESSION_ALL_CPUS,
	};

	if (ioctl(claim_fd, NTKLOG_SESSION_COUNTS, &counts))
		return -1;
	printf("generated %llu written %llu lost %llu finished %llu unread %llu processors %u\n",
	       (unsigned long long)counts.generated, (unsigned long long)counts.written,
	       (unsigned long long)counts.lost, (unsigned long long)counts.finished,
	       (unsigned long long)counts.unread, counts.processors);
	return 0;
}

static int print_info(void)
{
	struct ntklog_session_info info = { .size = sizeof(info) };
	unsigned int i;

	if (ioctl(claim_fd, NTKLOG_SESSION_INFO, &info))
		return -1;
	printf("session %u state %u failures %u\n", info.session, info.state, info.failures);
	for (i = 0; i < info.failures; i++)
		printf("failure 0x%08x %s\n", info.failure[i].group,
		       strerror(info.failure[i].error));
	return 0;
}

static int write_file(const char *path, int mode, const void *source, size_t size)
{
	int out = open(path, O_WRONLY | O_CREAT | mode, 0600);

	if (out < 0 || write(out, source, size) != (ssize_t)size || close(out))
		return -1;
	return 0;
}

/* Read the header in two parts, to test a read at an offset. */
static int save_header(void)
{
	ssize_t first_part = pread(claim_fd, buffer, 100, 0), second_part;

	if (first_part != 100)
		return -1;
	second_part = pread(claim_fd, buffer + first_part, sizeof(buffer) - first_part, first_part);
	if (second_part < 0)
		return -1;
	return write_file("header.claim", O_TRUNC, buffer, first_part + second_part);
}

static int save_cpus(void)
{
	struct ntklog_session_cpu call = { .size = sizeof(call) };
	int fd;

	unlink("cpus.claim");
	for (;; call.cpu++) {
		struct pollfd poll_fd = { .events = POLLIN };
		ssize_t length;

		fd = ioctl(claim_fd, NTKLOG_SESSION_OPEN_CPU, &call);
		if (fd < 0)
			return errno == EINVAL && call.cpu ? 0 : -1;
		if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			return -1;
		poll_fd.fd = fd;
		while (poll(&poll_fd, 1, -1) == 1 && poll_fd.revents & POLLIN) {
			length = read(fd, buffer, sizeof(buffer));
			if (length < 0 || write_file("cpus.claim", O_APPEND, buffer, length))
				return -1;
		}
		if (!(poll_fd.revents & POLLHUP))
			return -1;
		close(fd);
	}
}

static int hold_claim(void)
{
	if (write_file("claimed", O_TRUNC, "", 0))
		return -1;
	for (;;)
		pause();
}

static int run_command(const char *word)
{
	if (!strcmp(word, "start"))
		return start_session(PERF_SPINLOCK, 4);
	if (!strncmp(word, "start=", 6))
		return start_session(strtoul(word + 6, NULL, 0), 4);
	if (!strcmp(word, "wrong"))
		return start_session(PERF_SPINLOCK, 1);
	if (!strcmp(word, "stop"))
		return ioctl(claim_fd, NTKLOG_SESSION_STOP);
	if (!strcmp(word, "flush"))
		return ioctl(claim_fd, NTKLOG_SESSION_FLUSH);
	if (!strcmp(word, "keep"))
		return ioctl(claim_fd, NTKLOG_SESSION_KEEP);
	if (!strcmp(word, "counts"))
		return print_counts();
	if (!strcmp(word, "info"))
		return print_info();
	if (!strcmp(word, "header"))
		return save_header();
	if (!strcmp(word, "cpus"))
		return save_cpus();
	if (!strcmp(word, "hold"))
		return hold_claim();
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	int i, last_failed = 0;

	if (argc < 2)
		return 2;
	claim_fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (claim_fd < 0) {
		printf("open: %s\n", strerror(errno));
		return 1;
	}
	for (i = 2; i < argc; i++) {
		last_failed = run_command(argv[i]) < 0;
		printf("%s: %s\n", argv[i], last_failed ? strerror(errno) : "ok");
		fflush(stdout);
	}
	return last_failed;
}
