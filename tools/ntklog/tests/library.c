// SPDX-License-Identifier: GPL-2.0-only
/*
 * library FILE [N]: print the facts that a program gets from libntklog-etl about a file, one on a
 * line, for test_library.py. With N, report all events after the first N as damaged.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/buffer.h>
#include <ntklog/etl.h>
#include <ntklog/wmi_spinlock.h>

/* The pipe stays empty for ever, because this process also holds its other end. */
static void tell_wait(void *argument)
{
	printf("waited %s\n", (const char *)argument);
	exit(0);
}

static void print_header(const struct etl_event *event)
{
	struct trace_logfile_header64 header;
	const unsigned char *names;

	printf("logfile_header %d", etl_logfile_header(event, &header, &names));
	if (!etl_logfile_header(event, &header, &names))
		printf(" %u %c", header.pointer_size, names[0]);
	putchar('\n');
}

static void print_event(const struct etl_file *file, const struct etl_event *event)
{
	struct etl_event_header header;
	char guid[ETL_GUID_SIZE] = "-";
	const char *name = NULL;

	etl_read_event_header(&header, event);
	if (header.has_provider) {
		etl_format_guid(header.provider, guid);
		name = etl_provider_name(header.provider);
	}
	printf("event 0x%llx %u 0x%02x 0x%04x %.6f %u %s %s %d\n",
	       (unsigned long long)event->offset, event->processor, event->header_type,
	       event->has_hook_id ? event->hook_id : 0, etl_seconds(file, event->time_stamp),
	       header.has_process ? header.process_id : 0, guid, name ? name : "-",
	       header.has_opcode ? header.opcode : -1);
	if (event->has_hook_id && event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK &&
	    event->pointer_size == 8 && event->data_size == sizeof(struct wmi_spinlock64)) {
		struct wmi_spinlock64 record;

		memcpy(&record, event->data, sizeof(record));
		printf("spinlock 0x%llx\n", (unsigned long long)record.spin_lock_address);
	}
}

/* A file can be merged when it has been read, a pipe cannot. */
static void read_again(struct etl_file *file)
{
	struct etl_merge *merge = etl_merge_open(file);
	size_t count = 0;

	while (merge && etl_merge_next(merge))
		count++;
	etl_merge_close(merge);
	printf("again %zu %s\n", count, merge ? "" : file->error);
}

int main(int argc, char **argv)
{
	size_t good_event_count = argc > 2 ? strtoul(argv[2], NULL, 10) : SIZE_MAX, count = 0;
	struct perfinfo_groupmask mask = { { 0 } };
	const struct etl_event *event;
	struct etl_file *file;
	int err;

	if (argc < 2)
		return 2;
	err = etl_open(&file, argv[1]);
	printf("open %d %s\n", err, file->path);
	if (!err) {
		printf("group_mask %d 0x%x\n", etl_group_mask(file, &mask),
		       (unsigned int)mask.masks[0]);
		printf("header %zu %u %u %llu\n", file->buffer_size, file->pointer_size,
		       file->processors, (unsigned long long)file->perf_freq);
		printf("unix_time %llu\n",
		       (unsigned long long)etl_unix_time(file, file->start_clock));
		printf("cycles_ns %.0f\n", etl_cycles_ns(file, 1000));
	}
	printf("mode %d %d %d\n", etl_is_circular(file), etl_overwrites_buffers(file),
	       etl_is_compressed(file));
	etl_on_wait(file, tell_wait, "for more");
	while ((event = etl_next_event(file))) {
		if (event->offset < file->buffer_size)
			print_header(event);
		else
			print_event(file, event);
		if (count++ >= good_event_count)
			etl_leave_out_event(file, event, "event %zu is not liked", count);
	}
	printf("buffers %zu\n", file->buffers);
	printf("damaged %llu %llu %llu\n", (unsigned long long)file->damaged_buffers,
	       (unsigned long long)file->damaged_events, (unsigned long long)file->left_out_bytes);
	printf("error %s\n", file->error);
	if (!err)
		read_again(file);
	etl_close(file);
	etl_close(NULL);
	etl_merge_close(NULL);
	return 0;
}
