// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads COUNT: create COUNT threads. Each acquires and releases a mutex of the kernel, that of
 * an empty pipe, and blocks. Prints "ready" when all are blocked, and ends with its standard input.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int pipe_ends[2];
static atomic_ulong blocked_count;

static void *acquire_and_block(void *unused)
{
	char byte;

	if (read(pipe_ends[0], &byte, 1) == 0)
		return unused;
	atomic_fetch_add(&blocked_count, 1);
	pause();
	return unused;
}

int main(int argc, char **argv)
{
	unsigned long i, count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	/* One mapping for all stacks, because the kernel limits their number. */
	char *stacks = mmap(NULL, count * PTHREAD_STACK_MIN, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	char byte;

	if (stacks == MAP_FAILED || pipe2(pipe_ends, O_NONBLOCK)) {
		perror("threads");
		return 1;
	}
	pthread_attr_init(&attributes);
	for (i = 0; i < count; i++) {
		pthread_attr_setstack(&attributes, stacks + i * PTHREAD_STACK_MIN,
				      PTHREAD_STACK_MIN);
		if (pthread_create(&thread, &attributes, acquire_and_block, NULL)) {
			perror("threads: pthread_create");
			return 1;
		}
	}
	while (atomic_load(&blocked_count) < count)
		usleep(1000);
	puts("ready");
	fflush(stdout);
	return read(0, &byte, 1) < 0;
}
