// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "kernel.h"
#include "message.h"

/* Most columns and CPUs of the file. */
#define COLUMNS_MAX	128
#define CPUS_MAX	65536

static const char *const counter_names[COUNTERS] = {
	[COUNTER_SPINLOCK_ACQUISITIONS] = "SpinLockAcquireCount",
	[COUNTER_SPINLOCK_CONTENTIONS] = "SpinLockContentionCount",
	[COUNTER_SPINLOCK_UNTRACKED] = "Untracked",
	[COUNTER_SPINLOCK_SUPPRESSED] = "Suppressed",
	[COUNTER_SPINLOCK_EVENTS] = "Events",
	[COUNTER_RESOURCE_EXCLUSIVE_RELEASES] = "ResourceExclusiveReleases",
	[COUNTER_RESOURCE_SHARED_RELEASES] = "ResourceSharedReleases",
	[COUNTER_RESOURCE_UNTRACKED] = "ResourceUntracked",
	[COUNTER_RESOURCE_SUPPRESSED] = "ResourceSuppressed",
	[COUNTER_RESOURCE_EVENTS] = "ResourceEvents",
	[COUNTER_SLEEPING_ACQUISITIONS] = "SleepingAcquired",
	[COUNTER_SLEEPING_UNTRACKED] = "SleepingUntracked",
	[COUNTER_SLEEPING_WAITS] = "SleepingWaits",
	[COUNTER_BLOCKERS_DROPPED] = "BlockersDropped",
	[COUNTER_SLEEPING_BLOCKERS_DROPPED] = "SleepingBlockersDropped",
};

/* Find the counter of each column; COUNTERS stands for a column that the tool does not read. */
static size_t find_columns(char *line, enum counter_kind *columns)
{
	size_t count = 0;
	const char *name;

	while ((name = strsep(&line, " \t\n")) && count < COLUMNS_MAX) {
		enum counter_kind i = 0;

		if (!*name)
			continue;
		while (i < COUNTERS && strcmp(name, counter_names[i]))
			i++;
		columns[count++] = i;
	}
	return count;
}

/* Values of a new CPU count from 0 on. */
static int add_cpus(struct counters *counters, size_t cpus)
{
	uint32_t *last;

	if (cpus <= counters->cpu_count)
		return 0;
	last = cpus <= CPUS_MAX ? realloc(counters->last_values, cpus * COUNTERS * sizeof(*last)) :
				  NULL;
	if (!last)
		return -ENOMEM;
	memset(last + counters->cpu_count * COUNTERS, 0,
	       (cpus - counters->cpu_count) * COUNTERS * sizeof(*last));
	counters->last_values = last;
	counters->cpu_count = cpus;
	return 0;
}

static int read_line(struct counters *counters, char *line, const enum counter_kind *columns,
		     size_t count, bool is_first)
{
	char *next = line + 3, *end;
	uint32_t *last;
	size_t cpu, i;

	if (strncmp(line, "cpu", 3))
		return -EINVAL;
	cpu = strtoul(next, &end, 10);
	if (end == next)
		return -EINVAL;
	if (add_cpus(counters, cpu + 1))
		return -ENOMEM;
	last = counters->last_values + cpu * COUNTERS;
	/* The first column is the CPU. */
	for (i = 1; i < count; i++) {
		uint32_t value;

		next = end;
		value = strtoull(next, &end, 10);
		if (end == next)
			return -EINVAL;
		if (columns[i] == COUNTERS)
			continue;
		/* The difference is right even if the counter has wrapped meanwhile. */
		if (!is_first)
			counters->totals[columns[i]] += (uint32_t)(value - last[columns[i]]);
		last[columns[i]] = value;
	}
	return 0;
}

/**
 * counters_read() - add what the module has counted since the last reading
 * @counters: all zero before the first reading, which adds nothing
 *
 * Return: 0, or -1 after a message.
 */
int counters_read(struct counters *counters)
{
	enum counter_kind columns[COLUMNS_MAX];
	bool is_first = !counters->cpu_count;
	char path[PATH_SIZE], *line = NULL;
	size_t size = 0, count;
	FILE *stream;
	int err;

	snprintf(path, sizeof(path), "%s/counters", kernel_directory());
	stream = fopen(path, "re");
	if (!stream) {
		message("%s: %s", path, strerror(errno));
		return -1;
	}
	err = getline(&line, &size, stream) > 0 ? 0 : -EINVAL;
	count = err ? 0 : find_columns(line, columns);
	while (!err && getline(&line, &size, stream) > 0)
		err = read_line(counters, line, columns, count, is_first);
	free(line);
	fclose(stream);
	if (err)
		message("%s: %s", path, strerror(-err));
	return err ? -1 : 0;
}

/**
 * counters_free() - free the values
 * @counters: read or not
 */
void counters_free(struct counters *counters)
{
	free(counters->last_values);
	*counters = (struct counters) { 0 };
}
