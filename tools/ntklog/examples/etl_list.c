// SPDX-License-Identifier: GPL-2.0-only
/*
 * List the events of an ETL file in the order of time, one on a line. The program needs only
 * libntklog-etl:
 *
 *	cc -o etl_list etl_list.c $(pkg-config --cflags --libs libntklog-etl)
 */

#include <inttypes.h>
#include <stdio.h>

#include <ntklog/etl.h>

/* Events of the kernel have a hook id, most others a provider. */
static void print_name(const struct etl_event *event)
{
	struct etl_event_header header;
	char guid[ETL_GUID_SIZE];
	const char *name;

	if (event->has_hook_id) {
		printf("hook id 0x%04x", event->hook_id);
		return;
	}
	etl_read_event_header(&header, event);
	if (!header.has_provider) {
		printf("header type 0x%02x", event->header_type);
		return;
	}
	name = etl_provider_name(header.provider);
	etl_format_guid(header.provider, guid);
	printf("%s %u", name ? name : guid, header.has_id ? header.id : header.opcode);
}

static void print_event(const struct etl_file *file, const struct etl_event *event)
{
	printf("%15.9f cpu %-3u ", etl_seconds(file, event->time_stamp), event->processor);
	print_name(event);
	printf(", %zu bytes\n", event->data_size);
}

int main(int argc, char **argv)
{
	const struct etl_event *event;
	struct etl_merge *merge = NULL;
	struct etl_file *file;
	int status;

	if (argc != 2) {
		fprintf(stderr, "usage: etl_list FILE\n");
		return 2;
	}
	if (!etl_open(&file, argv[1]))
		merge = etl_merge_open(file);
	while (merge && (event = etl_merge_next(merge)))
		print_event(file, event);
	etl_merge_close(merge);
	/* Damage does not end the reading. Report it when all events have been read. */
	if (*file->error)
		fprintf(stderr, "%s: %s\n", argv[1], file->error);
	if (file->left_out_bytes)
		fprintf(stderr, "%s: left out: %" PRIu64 " bytes\n", argv[1], file->left_out_bytes);
	if (file->missing_buffers || file->repeated_buffers || file->late_buffers ||
	    file->wrong_times)
		fprintf(stderr,
			"%s: buffers missing: %" PRIu64 ", twice: %" PRIu64 ", too late: %" PRIu64
			"; events with wrong times: %" PRIu64 "\n",
			argv[1], file->missing_buffers, file->repeated_buffers, file->late_buffers,
			file->wrong_times);
	/* These events were lost when the file was recorded. */
	if (file->events_lost || file->lossy_buffers)
		fprintf(stderr, "%s: events were lost in recording\n", argv[1]);
	status = *file->error || file->missing_buffers || file->repeated_buffers ||
		 file->late_buffers || file->wrong_times;
	etl_close(file);
	return status;
}
