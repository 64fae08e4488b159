// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enable and disable tracking as fast as possible, starting from no instrumentation and from
 * counting, for a session, for the tracepoint, and for both in turn:
 *
 *	switching spinlock|resource TURNS PREFIX
 *
 * Session 0 tracks; each turn in which it runs leaves PREFIX-TURN.etl. Session 1 counts. The time
 * in session 1's header is the limit of the tracepoint's filter, which lets only wrong events into
 * the ring buffer.
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
/* Offset of the time stamp of the first event in a session's header, in bytes. */
#define TIME_STAMP_OFFSET	0x58

static const char *tracepoint, *group;

static void die(const char *what)
{
	fprintf(stderr, "switching: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), "%s%s", directory, name);
	file = open(path, O_WRONLY);
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(file);
}

static ssize_t read_file(const char *path, void *buffer, size_t size)
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

static void save_session(const char *prefix, int turn)
{
	static char buffer[1 << 20];
	char path[256];
	ssize_t length;
	FILE *out;
	int cpu;

	snprintf(path, sizeof(path), "%s-%d.etl", prefix, turn);
	out = fopen(path, "w");
	if (!out)
		die(path);
	length = read_file(DEBUGFS "0/header", buffer, sizeof(buffer));
	for (cpu = 0; length >= 0; cpu++) {
		fwrite(buffer, 1, length, out);
		snprintf(path, sizeof(path), DEBUGFS "0/cpu%d", cpu);
		length = read_file(path, buffer, sizeof(buffer));
	}
	if (fclose(out))
		die(path);
}

/* The filter passes wrong events: locks that were acquired before, or at a greater depth. */
static void enable_tracepoint(void)
{
	char directory[256], text[256];
	unsigned char header[8192];
	unsigned long long enable_time;

	write_file(DEBUGFS, "1/state", "start");
	if (read_file(DEBUGFS "1/header", header, sizeof(header)) < TIME_STAMP_OFFSET + 8)
		die("header");
	memcpy(&enable_time, header + TIME_STAMP_OFFSET, sizeof(enable_time));
	snprintf(directory, sizeof(directory), EVENTS "%s/", tracepoint);
	/* A resource event has times 0 to 2 if they are unknown. */
	snprintf(text, sizeof(text), "acquire_time > 2 && acquire_time < %llu%s",
		 enable_time,
		 strcmp(tracepoint, "spinlock") ? "" : " || acquire_depth > 4");
	write_file(directory, "filter", text);
	write_file(directory, "enable", "1");
}

static void disable_tracepoint(void)
{
	char directory[256];

	snprintf(directory, sizeof(directory), EVENTS "%s/", tracepoint);
	write_file(directory, "enable", "0");
	write_file(DEBUGFS, "1/state", "stop");
}

static void pause_a_little(void)
{
	usleep(3000);
}

/* Return the sum over all CPUs of the column Events, or ResourceEvents, of the file counters. */
static unsigned long count_events(void)
{
	const char *wanted = strcmp(tracepoint, "spinlock") ? "ResourceEvents" : "Events";
	static char text[1 << 16];
	unsigned long sum = 0;
	int column = 0, i;
	char *line, *word, *rest_of_text, *rest;
	ssize_t length = read_file(DEBUGFS "../counters", text, sizeof(text) - 1);

	text[length < 0 ? 0 : length] = '\0';
	for (line = strtok_r(text, "\n", &rest_of_text); line;
	     line = strtok_r(NULL, "\n", &rest_of_text)) {
		word = strtok_r(line, " ", &rest);
		for (i = 0; word; i++, word = strtok_r(NULL, " ", &rest))
			if (!strcmp(word, wanted))
				column = i;
			else if (column && i == column)
				sum += strtoul(word, NULL, 10);
	}
	return sum;
}

/* Return when the torture has made some events, however slow the machine is. */
static void pause_until_events_come(void)
{
	unsigned long before = count_events();
	int tries;

	for (tries = 0; tries < 20000; tries++) {
		pause_a_little();
		if (count_events() - before >= 30)
			return;
	}
	errno = ETIME;
	die("counters");
}

int main(int argc, char **argv)
{
	char group_mask[64];
	int turns, i;

	if (argc != 4)
		return 2;
	tracepoint = argv[1];
	group = strcmp(tracepoint, "spinlock") ? "PERF_SYNC_OBJECTS" : "PERF_SPINLOCK";
	turns = atoi(argv[2]);
	write_file(DEBUGFS, "1/group_mask", "PERF_SPINLOCK_CNTRS");
	for (i = 0; i < turns; i++) {
		switch (i % 4) {
		case 0:		/* start and stop a session */
			write_file(DEBUGFS, "0/group_mask", group);
			write_file(DEBUGFS, "0/state", "start");
			pause_until_events_come();
			write_file(DEBUGFS, "0/state", "stop");
			break;
		case 1:		/* enable and disable the tracepoint */
			enable_tracepoint();
			pause_until_events_come();
			disable_tracepoint();
			continue;
		case 2:		/* the session stops before the tracepoint is disabled */
			write_file(DEBUGFS, "0/state", "start");
			enable_tracepoint();
			pause_until_events_come();
			write_file(DEBUGFS, "0/state", "stop");
			pause_a_little();
			disable_tracepoint();
			break;
		case 3:		/* session 0 changes from counting to tracking and back */
			write_file(DEBUGFS, "0/group_mask", "PERF_SPINLOCK_CNTRS");
			write_file(DEBUGFS, "0/state", "start");
			pause_a_little();
			snprintf(group_mask, sizeof(group_mask), "+%s", group);
			write_file(DEBUGFS, "0/group_mask", group_mask);
			pause_until_events_come();
			group_mask[0] = '-';
			write_file(DEBUGFS, "0/group_mask", group_mask);
			write_file(DEBUGFS, "0/state", "stop");
			break;
		}
		save_session(argv[3], i);
	}
	return 0;
}
