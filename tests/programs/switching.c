// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enable and disable tracking as fast as possible, starting from no instrumentation and from
 * counting, for a session, for the tracepoint, and for both:
 *
 *	switching spinlock|resource TIMES PREFIX
 *
 * Session 0 tracks and leaves PREFIX-TIME.etl. Session 1 counts. The time in its header is the
 * limit of a filter that lets only wrong events into the ring buffer.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEBUGFS		"/sys/kernel/debug/ntklog/sessions/"
#define EVENTS		"/sys/kernel/tracing/events/ntklog/"
#define CPUS_MAX	64
/* Offset of the time stamp of the first event in a session's header. */
#define TIME_STAMP	0x58

static const char *kind, *group;

static void die(const char *what)
{
	fprintf(stderr, "switching: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(const char *directory, const char *name, const char *text)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), "%s%s", directory, name);
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(file);
}

/* Read a file. Returns its size, or -1 if it does not exist. */
static ssize_t get(const char *path, void *buffer, size_t size)
{
	int file = open(path, O_RDONLY);
	size_t length = 0;
	ssize_t got;

	if (file < 0)
		return -1;
	while ((got = read(file, (char *)buffer + length, size - length)) > 0)
		length += got;
	if (got < 0)
		die(path);
	close(file);
	return length;
}

static void save(const char *prefix, int time)
{
	static char buffer[1 << 20];
	char path[256];
	ssize_t length;
	FILE *out;
	int cpu;

	snprintf(path, sizeof(path), "%s-%d.etl", prefix, time);
	out = fopen(path, "w");
	if (!out)
		die(path);
	length = get(DEBUGFS "0/header", buffer, sizeof(buffer));
	for (cpu = 0; length >= 0; cpu++) {
		fwrite(buffer, 1, length, out);
		snprintf(path, sizeof(path), DEBUGFS "0/cpu%d", cpu);
		length = get(path, buffer, sizeof(buffer));
	}
	if (fclose(out))
		die(path);
}

/* Enable the tracepoint, with a filter for wrong events. */
static void tracepoint_on(void)
{
	char directory[256], text[256];
	unsigned char header[8192];
	unsigned long long now;

	put(DEBUGFS, "1/state", "start");
	if (get(DEBUGFS "1/header", header, sizeof(header)) < TIME_STAMP + 8)
		die("header");
	memcpy(&now, header + TIME_STAMP, sizeof(now));
	snprintf(directory, sizeof(directory), EVENTS "%s/", kind);
	/* A resource event has times 0 to 2 if they are unknown. */
	snprintf(text, sizeof(text), "acquire_time > 2 && acquire_time < %llu%s",
		 now,
		 strcmp(kind, "spinlock") ? "" : " || acquire_depth > 4");
	put(directory, "filter", text);
	put(directory, "enable", "1");
}

static void tracepoint_off(void)
{
	char directory[256];

	snprintf(directory, sizeof(directory), EVENTS "%s/", kind);
	put(directory, "enable", "0");
	put(DEBUGFS, "1/state", "stop");
}

static void pause_a_little(void)
{
	usleep(3000);
}

int main(int argc, char **argv)
{
	char mask[64];
	int times, i;

	if (argc != 4)
		return 2;
	kind = argv[1];
	group = strcmp(kind, "spinlock") ? "PERF_SYNC_OBJECTS" : "PERF_SPINLOCK";
	times = atoi(argv[2]);
	put(DEBUGFS, "1/group_mask", "PERF_SPINLOCK_CNTRS");
	for (i = 0; i < times; i++) {
		switch (i % 4) {
		case 0:		/* start and stop a session */
			put(DEBUGFS, "0/group_mask", group);
			put(DEBUGFS, "0/state", "start");
			pause_a_little();
			put(DEBUGFS, "0/state", "stop");
			break;
		case 1:		/* enable and disable the tracepoint */
			tracepoint_on();
			pause_a_little();
			tracepoint_off();
			continue;
		case 2:		/* the session stops before the tracepoint is disabled */
			put(DEBUGFS, "0/state", "start");
			tracepoint_on();
			pause_a_little();
			put(DEBUGFS, "0/state", "stop");
			pause_a_little();
			tracepoint_off();
			break;
		case 3:		/* a counting session changes to tracking and back */
			put(DEBUGFS, "0/group_mask", "PERF_SPINLOCK_CNTRS");
			put(DEBUGFS, "0/state", "start");
			pause_a_little();
			snprintf(mask, sizeof(mask), "+%s", group);
			put(DEBUGFS, "0/group_mask", mask);
			pause_a_little();
			mask[0] = '-';
			put(DEBUGFS, "0/group_mask", mask);
			put(DEBUGFS, "0/state", "stop");
			break;
		}
		save(argv[3], i);
	}
	return 0;
}
