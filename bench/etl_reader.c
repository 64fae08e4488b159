// SPDX-License-Identifier: GPL-2.0-only
/*
 * etl_reader FILE time|file [keep]: read all events with libntklog-etl, in the order of time or of
 * the file, for python.py. Print the number of events and the CPU time in nanoseconds. With keep,
 * also store the header values and the data of each spin lock in growing memory, as the Python
 * package does for columns.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ntklog/etl.h>

struct kept_event {
	uint64_t time_stamp;
	uint32_t cpu;
	uint32_t version;
	unsigned char data[];
};

static char *kept_memory;
static size_t kept_bytes, kept_capacity;

static double cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static void keep_event(const struct etl_event *event)
{
	size_t size = sizeof(struct kept_event) + event->data_size;
	struct kept_event *kept;

	if (kept_bytes + size > kept_capacity) {
		kept_capacity = kept_capacity ? 2 * kept_capacity : 0x10000;
		kept_memory = realloc(kept_memory, kept_capacity);
		if (!kept_memory)
			exit(1);
	}
	kept = (struct kept_event *)(kept_memory + kept_bytes);
	kept->time_stamp = event->time_stamp;
	kept->cpu = event->processor;
	kept->version = event->version;
	memcpy(kept->data, event->data, event->data_size);
	kept_bytes += size;
}

int main(int argc, char **argv)
{
	bool is_by_time = argc > 2 && !strcmp(argv[2], "time"), keeps = argc > 3;
	struct etl_merge *merge = NULL;
	const struct etl_event *event;
	double start = cpu_ns();
	struct etl_file *file;
	size_t events = 0;

	if (argc < 3 || etl_open(&file, argv[1]))
		return 1;
	if (is_by_time)
		merge = etl_merge_open(file);
	while ((event = merge ? etl_merge_next(merge) : etl_next_event(file))) {
		events++;
		if (keeps && event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK)
			keep_event(event);
	}
	etl_merge_close(merge);
	etl_close(file);
	printf("%zu %.0f\n", events, cpu_ns() - start);
	free(kept_memory);
	return 0;
}
