// SPDX-License-Identifier: GPL-2.0-only
/*
 * generate MIB [SEED]: print a valid ETL file of that size, with the events of a busy machine of
 * four processors, to measure the speed and the memory of a reader. generate names: print the
 * file of names that belongs to it.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/buffer.h>
#include <ntklog/event.h>
#include <ntklog/logfile.h>
#include <ntklog/wmi_contextswap.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#define BUFFER_SIZE	0x10000
#define PROCESSOR_COUNT	4
#ifndef LOCK_COUNT
#define LOCK_COUNT	200
#endif
#define LOCKS_BASE	0xFFFFFFFF82000000ULL
#define CALLERS_BASE	0xFFFFFFFF81000000ULL
#define CALLER_COUNT	5
#define RESOURCE_COUNT	50
#define THREAD_COUNT	100
#define FREQUENCY	2000000000ULL
#define START_CLOCK	1000000000ULL

static unsigned char buffer[BUFFER_SIZE];
static size_t buffer_used;
static unsigned long long processor_clocks[PROCESSOR_COUNT];
static unsigned int running_threads[PROCESSOR_COUNT];
static unsigned long long random_state;

static unsigned int random_below(unsigned int bound)
{
	/* A linear congruential generator with the constants of Knuth's MMIX. */
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % bound;
}

static void append_event(const void *header, size_t header_size, const void *data, size_t data_size)
{
	memcpy(buffer + buffer_used, header, header_size);
	memcpy(buffer + buffer_used + header_size, data, data_size);
	buffer_used += (header_size + data_size + 7) / 8 * 8;
}

static void add_event(unsigned int processor, unsigned int hook_id, unsigned int version,
		      const void *data, size_t data_size)
{
	struct perfinfo_trace_header header = {
		.version = version,
		.header_type = TRACE_HEADER_TYPE_PERFINFO64,
		.flags = TRACE_HEADER_FLAGS,
		.size = sizeof(header) + data_size,
		.hook_id = hook_id,
		.time_stamp = processor_clocks[processor],
	};

	append_event(&header, sizeof(header), data, data_size);
}

static void add_system_event(unsigned int hook_id, const void *data, size_t data_size)
{
	struct system_trace_header header = {
		.version = EVENT_TRACE_HEADER_VERSION,
		.header_type = TRACE_HEADER_TYPE_SYSTEM64,
		.flags = TRACE_HEADER_FLAGS,
		.size = sizeof(header) + data_size,
		.hook_id = hook_id,
		.system_time = START_CLOCK,
	};

	append_event(&header, sizeof(header), data, data_size);
}

static void write_buffer(unsigned int processor, unsigned long long sequence,
			 unsigned int type)
{
	struct wmi_buffer_header header = {
		.buffer_size = BUFFER_SIZE,
		.saved_offset = buffer_used,
		.current_offset = buffer_used,
		.offset = buffer_used,
		.time_stamp = sequence ? processor_clocks[processor] : 0,
		.sequence_number = sequence,
		.clock_type = ETW_CLOCK_CPU_CYCLE,
		.frequency = FREQUENCY,
		.processor_index = processor,
		.state = ETW_BUFFER_STATE_FLUSH,
		.buffer_flag = ETW_BUFFER_FLAG_PROCESSOR_INDEX,
		.buffer_type = type,
	};

	memcpy(buffer, &header, sizeof(header));
	memset(buffer + buffer_used, ETW_BUFFER_FILL, BUFFER_SIZE - buffer_used);
	if (fwrite(buffer, BUFFER_SIZE, 1, stdout) != 1) {
		perror("generate");
		exit(1);
	}
	buffer_used = sizeof(struct wmi_buffer_header);
}

static void write_first_buffer(unsigned int buffer_count)
{
	static const unsigned char names[] = { 'L', 0, 0, 0, 'F', 0, 0, 0 };
	struct trace_logfile_header64 logfile = {
		.buffer_size = BUFFER_SIZE,
		.number_of_processors = PROCESSOR_COUNT,
		.end_time = FILETIME_UNIX_EPOCH + 17000000010000000LL,
		.timer_resolution = 40000,
		.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.buffers_written = buffer_count,
		.start_buffers = 1,
		.pointer_size = 8,
		.cpu_speed_in_mhz = FREQUENCY / 1000000,
		.perf_freq = FREQUENCY,
		.start_time = FILETIME_UNIX_EPOCH + 17000000000000000LL,
		.reserved_flags = ETW_CLOCK_CPU_CYCLE,
	};
	struct trace_group_mask_event groups = { .event_version = 0x46 };
	unsigned char data[sizeof(logfile) + sizeof(names)];

	groups.group_mask.masks[PERF_MASK_INDEX(PERF_SPINLOCK)] =
		PERF_MASK_BITS(PERF_SPINLOCK | PERF_SYNC_OBJECTS);
	groups.group_mask.masks[PERF_MASK_INDEX(PERF_CONTEXT_SWITCH)] |=
		PERF_MASK_BITS(PERF_CONTEXT_SWITCH);

	memcpy(data, &logfile, sizeof(logfile));
	memcpy(data + sizeof(logfile), names, sizeof(names));
	add_system_event(EVENT_TRACE_TYPE_LOGFILE_HEADER, data, sizeof(data));
	add_system_event(EVENT_TRACE_TYPE_GROUP_MASK, &groups, sizeof(groups));
	write_buffer(0, 0, ETW_BUFFER_TYPE_HEADER);
}

static void add_rundowns(unsigned int processor)
{
	struct perfinfo_spinlock_dc spinlock = { 1, 1, 1000, 1000000 };
	struct perfinfo_eresource_dc resource = { 1000, 1, 1 };
	/* Write the rundowns that a reader looks for before it starts. */
	struct ntklog_dc rules = { NTKLOG_LINUX_MODE_FULL, 0 };
	struct ntklog_observed spinlock_begin = { PERF_SPINLOCK, 1 };
	struct ntklog_observed resource_begin = { PERF_SYNC_OBJECTS, 1 };

	add_event(processor, NTKLOG_LOG_TYPE_DC_START, NTKLOG_DC_VERSION, &rules, sizeof(rules));
	add_event(processor, PERFINFO_LOG_TYPE_SPINLOCK_DC_START,
		  PERFINFO_SPINLOCK_DC_VERSION, &spinlock, sizeof(spinlock));
	add_event(processor, PERFINFO_LOG_TYPE_ERESOURCE_DC_START,
		  PERFINFO_ERESOURCE_DC_VERSION, &resource, sizeof(resource));
	add_event(processor, PERFINFO_LOG_TYPE_NTKLOG_OBSERVED, NTKLOG_OBSERVED_VERSION,
		  &spinlock_begin, sizeof(spinlock_begin));
	add_event(processor, PERFINFO_LOG_TYPE_NTKLOG_OBSERVED, NTKLOG_OBSERVED_VERSION,
		  &resource_begin, sizeof(resource_begin));
}

static void add_spinlock(unsigned int processor)
{
	unsigned int lock = random_below(random_below(LOCK_COUNT) + 1);
	bool contended = random_below(4);
	struct wmi_spinlock64 record = {
		.spin_lock_address = LOCKS_BASE + lock * 0x40,
		.caller_address =
			CALLERS_BASE + (lock * CALLER_COUNT + random_below(CALLER_COUNT)) * 0x100,
		.release_time = processor_clocks[processor],
		.wait_time_in_cycles = contended ? random_below(1 << random_below(20)) + 50 : 20,
		.spin_count = contended ? random_below(1000) + 1 : 0,
		.thread_id = running_threads[processor],
		.irql = 2,
		.acquire_depth = random_below(random_below(8) + 1) + 1,
		.acquire_mode = lock % 4,
		.execute_dpc = !random_below(10),
		.execute_isr = !random_below(50),
	};

	record.acquire_time = record.release_time - random_below(1 << random_below(18)) - 30;
	add_event(processor, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION, &record,
		  sizeof(record));
}

static void add_resource(unsigned int processor)
{
	struct wmi_resource64 record = {
		.acquire_time = processor_clocks[processor] - 1000,
		.hold_time = random_below(1 << random_below(24)) + 100,
		.wait_time = random_below(2) ? random_below(1 << random_below(24)) + 100 : 0,
		.max_recursion_depth = 1 + !random_below(10),
		.thread_id = running_threads[processor],
		.resource = 0xFFFF888000000000ULL + random_below(RESOURCE_COUNT) * 0x80,
		.action = random_below(2) ? WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE :
				     WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED,
		.contention_delta = random_below(3),
	};

	add_event(processor, PERFINFO_LOG_TYPE_RESOURCE, PERFINFO_RESOURCE_VERSION, &record,
		  sizeof(record));
}

static void add_contextswap(unsigned int processor)
{
	struct wmi_contextswap record = {
		.old_thread_id = running_threads[processor],
		.new_thread_id = random_below(THREAD_COUNT) * !!random_below(4),
		.old_thread_state = random_below(2) ? KTHREAD_STATE_READY : KTHREAD_STATE_WAITING,
	};

	running_threads[processor] = record.new_thread_id;
	add_event(processor, PERFINFO_LOG_TYPE_CONTEXTSWAP, 4, &record, sizeof(record));
}

static void fill_buffer(unsigned int processor, bool first)
{
	if (first)
		add_rundowns(processor);
	while (buffer_used + 0x60 <= BUFFER_SIZE) {
		unsigned int kind = random_below(10);

		processor_clocks[processor] += random_below(2000) + 1;
		if (kind == 0)
			add_resource(processor);
		else if (kind == 1)
			add_contextswap(processor);
		else
			add_spinlock(processor);
	}
}

/* The callers are within functions of the kernel and a module. */
static void print_names(void)
{
	unsigned int i;

	for (i = 0; i < LOCK_COUNT * CALLER_COUNT; i++)
		printf("%016llx t caller_%u%s\n", CALLERS_BASE + i * 0x100 - 0x20, i,
		       i % 4 ? "" : "\t[driver]");
	for (i = 0; i < LOCK_COUNT; i++)
		printf("%016llx b lock_%u\n", LOCKS_BASE + i * 0x40, i);
	for (i = 1; i < THREAD_COUNT; i++)
		printf("thread %u worker/%u\n", i, i);
}

int main(int argc, char **argv)
{
	unsigned long mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long buffer_count = mib * ((1 << 20) / BUFFER_SIZE), i;

	if (argc == 2 && !strcmp(argv[1], "names")) {
		print_names();
		return 0;
	}
	if (argc > 3 || mib < 1 || mib > 1 << 16) {
		fprintf(stderr, "usage: generate MIB [SEED] >FILE.etl\n"
				"       generate names >FILE.etl.names\n");
		return 2;
	}
	random_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	for (i = 0; i < PROCESSOR_COUNT; i++)
		processor_clocks[i] = START_CLOCK;
	buffer_used = sizeof(struct wmi_buffer_header);
	write_first_buffer(buffer_count);
	for (i = 1; i < buffer_count; i++) {
		fill_buffer(i % PROCESSOR_COUNT, i == 1);
		write_buffer(i % PROCESSOR_COUNT, i, ETW_BUFFER_TYPE_GENERIC);
	}
	return 0;
}
