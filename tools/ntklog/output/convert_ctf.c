// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Common Trace Format 1.8: a stream for each processor, an event class for each type of event,
 * fields with NT's names. All fields are packed whole bytes.
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert.h"
#include "grow.h"
#include "macros.h"
#include "message.h"
#include "names_cache.h"
#include "put.h"

#define CTF_MAGIC	0xC1FC1FC1u

/* A packet ends when the next event may exceed this size. */
#define PACKET_FULL_SIZE	0x10000

/* Upper limit of the bytes of an event's fields with symbols, and of a stack with symbols. */
#define EVENT_SIZE_MAX	0x1000
#define STACK_SIZE_MAX	(STACK_ADDRESSES_MAX * (8 + NAME_SIZE + NAMES_CACHE_PADDING))
#define PACKET_SIZE	(PACKET_FULL_SIZE + STACK_SIZE_MAX)

/* Latest time of an event. Later ones get the time before: readers count ns in 64 bits. */
#define TICKS_MAX	(UINT64_MAX >> 4)

/* Header of a packet. put_metadata() describes the header to readers. */
struct packet_header {
	uint32_t magic;
	unsigned char uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin;
	uint64_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
} __attribute__((__packed__));

/*
 * @has_file: this process has created the file of the stream
 * @last_time: time of the last event of the stream, ticks
 */
struct ctf_stream {
	bool has_file;
	size_t used_bytes;
	uint64_t first_time;
	uint64_t last_time;
	char packet[PACKET_SIZE];
};

/*
 * @metadata: file that this process has created, or NULL
 * @has_stack: events of this type with a stack exist; they are a class of their own
 */
struct ctf_conversion {
	struct conversion *conversion;
	const char *directory;
	FILE *metadata;
	unsigned char uuid[16];
	struct ctf_stream **streams;
	size_t stream_count;
	struct names_cache lock_names;
	struct names_cache code_names;
	bool has_stack[EVENT_TYPES];
};

/* Make the UUID from the header of the trace, so that two conversions of it are equal. */
static void make_uuid(struct ctf_conversion *ctf)
{
	const struct etl_file *file = ctf->conversion->file;
	const uint64_t parts[] = { file->start_time, file->start_clock, file->perf_freq,
				   file->end_time, file->processors };
	uint64_t hash[2] = { UINT64_C(0xCBF29CE484222325), UINT64_C(0x84222325CBF29CE4) };
	size_t i, j;

	/* A hash like FNV-1a, but of words. */
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		for (j = 0; j < 2; j++)
			hash[j] = (hash[j] ^ parts[i]) * UINT64_C(0x100000001B3) ^ hash[j] >> 29;
	memcpy(ctf->uuid, hash, sizeof(ctf->uuid));
	/* Mark a random UUID: version 4, variant 1. */
	ctf->uuid[6] = (ctf->uuid[6] & 0x0F) | 0x40;
	ctf->uuid[8] = (ctf->uuid[8] & 0x3F) | 0x80;
}

static void put_field(FILE *stream, const struct event_field *field)
{
	unsigned int bits = 8 * field->places[1].size;
	size_t i;

	if (field->format == FIELD_SYMBOL) {
		fprintf(stream,
			"\t\tenum : integer { size = %u; align = 8; signed = false; } {", bits);
		for (i = 0; i < field->symbol_count; i++)
			fprintf(stream, "%s \"%s\" = %" PRIu32, i ? "," : "",
				field->symbols[i].name, field->symbols[i].value);
		fprintf(stream, " } _%s;\n", field->name);
		return;
	}
	fprintf(stream, "\t\tinteger { size = %u; align = 8; signed = %s; base = %d; } _%s;\n",
		bits, field->format == FIELD_SIGNED ? "true" : "false",
		field->format == FIELD_HEX ? 16 : 10, field->name);
	if (field->format == FIELD_HEX)
		fprintf(stream, "\t\tstring { encoding = UTF8; } _%sSymbol;\n", field->name);
}

/* The stack under LTTng's name, and its symbols, before the other fields. */
static const char stack_fields_text[] =
	"\t\tinteger { size = 32; align = 8; signed = false; } __callstack_kernel_length;\n"
	"\t\tinteger { size = 64; align = 8; signed = false; base = 16; } _callstack_kernel[__callstack_kernel_length];\n"
	"\t\tstring { encoding = UTF8; } _callstack_symbols[__callstack_kernel_length];\n";

/* An older version of an event, with other fields, has a name of its own. */
static void put_event_class(FILE *stream, size_t number, bool with_stack)
{
	const struct event_type *type = &event_types[number];
	bool is_older_version = number + 1 < EVENT_TYPES &&
			event_types[number + 1].hook_id == type->hook_id;
	size_t i;

	fprintf(stream, "\nevent {\n\tname = \"%s%s\";\n\tid = %zu;\n\tstream_id = 0;\n",
		type->name, is_older_version ? "V1" : "", number + with_stack * EVENT_TYPES);
	fputs("\tfields := struct {\n", stream);
	if (with_stack)
		fputs(stack_fields_text, stream);
	/* The fields of all versions. The symbol of an address follows it. */
	for (i = 0; i < type->field_count; i++)
		if (!event_field_is_derived(&type->fields[i]))
			put_field(stream, &type->fields[i]);
	fputs("\t};\n};\n", stream);
}

static void put_metadata(const struct ctf_conversion *ctf)
{
	const struct etl_file *file = ctf->conversion->file;
	uint64_t start = etl_unix_time(file, file->start_clock);
	const unsigned char *u = ctf->uuid;
	FILE *stream = ctf->metadata;
	size_t i;

	fputs("/* CTF 1.8 */\n\n", stream);
	fprintf(stream,
		"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\";\n",
		u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		u[13], u[14], u[15]);
	fputs("\tbyte_order = le;\n\tpacket.header := struct {\n"
	      "\t\tinteger { size = 32; align = 8; signed = false; base = 16; } magic;\n"
	      "\t\tinteger { size = 8; align = 8; signed = false; } uuid[16];\n"
	      "\t\tinteger { size = 32; align = 8; signed = false; } stream_id;\n\t};\n};\n\n",
	      stream);
	fprintf(stream,
		"env {\n\ttracer_name = \"ntklog\";\n\tevents_lost = %" PRIu32 ";\n};\n\n",
		file->events_lost);
	fprintf(stream,
		"clock {\n\tname = \"session\";\n\tfreq = %" PRIu64 ";\n", file->perf_freq);
	fprintf(stream,
		"\toffset_s = %" PRIu64 ";\n\toffset = %" PRIu64 ";\n};\n\n", start / 10000000,
		(uint64_t)((double)(start % 10000000) / 1e7 * (double)file->perf_freq));
	fputs("typealias integer {\n\tsize = 64; align = 8; signed = false;\n"
	      "\tmap = clock.session.value;\n} := session_t;\n\n"
	      "stream {\n\tid = 0;\n\tpacket.context := struct {\n"
	      "\t\tsession_t timestamp_begin;\n\t\tsession_t timestamp_end;\n"
	      "\t\tinteger { size = 64; align = 8; signed = false; } content_size;\n"
	      "\t\tinteger { size = 64; align = 8; signed = false; } packet_size;\n\t};\n"
	      "\tevent.header := struct {\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } id;\n"
	      "\t\tsession_t timestamp;\n\t};\n\tevent.context := struct {\n"
	      "\t\tinteger { size = 16; align = 8; signed = false; } _cpu_id;\n\t};\n};\n",
	      stream);
	for (i = 0; i < EVENT_TYPES; i++) {
		put_event_class(stream, i, false);
		if (ctf->has_stack[i])
			put_event_class(stream, i, true);
	}
}

/*
 * Create the file of metadata before all others. This fails if another conversion writes to the
 * directory at the same time.
 */
static int create_metadata(struct ctf_conversion *ctf)
{
	char *path;

	if (asprintf(&path, "%s/metadata", ctf->directory) < 0)
		return -1;
	ctf->metadata = fopen(path, "wx");
	if (!ctf->metadata)
		message("%s: %s", path, strerror(errno));
	free(path);
	return ctf->metadata ? 0 : -1;
}

static bool directory_is_empty_or_missing(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	bool is_empty = true;

	if (!entries)
		return errno == ENOENT;
	while ((entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			is_empty = false;
	closedir(entries);
	return is_empty;
}

/* Open the file for each packet: there may be more processors than a process can have files. */
static int write_packet(struct ctf_conversion *ctf, size_t processor)
{
	struct ctf_stream *stream = ctf->streams[processor];
	struct packet_header header = {
		.magic = CTF_MAGIC,
		.timestamp_begin = stream->first_time,
		.timestamp_end = stream->last_time,
		.content_size = 8 * stream->used_bytes,
		.packet_size = 8 * stream->used_bytes,
	};
	size_t written = 0;
	char *path;
	int fd;

	memcpy(header.uuid, ctf->uuid, sizeof(header.uuid));
	memcpy(stream->packet, &header, sizeof(header));
	if (asprintf(&path, "%s/cpu%zu", ctf->directory, processor) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC | (stream->has_file ? O_APPEND : O_CREAT | O_EXCL),
		  0666);
	stream->has_file |= fd >= 0;
	while (fd >= 0 && written < stream->used_bytes) {
		ssize_t n = write(fd, stream->packet + written, stream->used_bytes - written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		written += n;
	}
	if (written < stream->used_bytes)
		message("%s: cannot write: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(path);
	if (written < stream->used_bytes)
		return -1;
	stream->used_bytes = sizeof(header);
	return 0;
}

static struct ctf_stream *find_stream(struct ctf_conversion *ctf, unsigned int processor)
{
	struct ctf_stream **more;

	if (processor >= ctf->stream_count) {
		more = grow_to(ctf->streams, ctf->stream_count, processor + 1,
			       sizeof(struct ctf_stream *));
		if (!more)
			return NULL;
		ctf->streams = more;
		ctf->stream_count = processor + 1;
	}
	if (!ctf->streams[processor]) {
		ctf->streams[processor] = calloc(1, sizeof(struct ctf_stream));
		if (ctf->streams[processor])
			ctf->streams[processor]->used_bytes = sizeof(struct packet_header);
	}
	return ctf->streams[processor];
}

static char *put_fields(struct ctf_conversion *ctf, char *dest, const struct etl_event *event,
			const struct event_type *type)
{
	int is_64bit = event->pointer_size == 8;
	size_t i;

	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		const unsigned char *from = event->data + field->places[is_64bit].offset;
		unsigned int size = field->places[1].size;
		const struct cached_name *name;
		uint64_t value = 0;

		if (event_field_is_derived(field))
			continue;
		/* The output has the 64-bit layout. Copy a field that has the same size there. */
		if (field->mask || field->places[is_64bit].size != size)
			value = event_has_field(event, field) ?
				event_field_value(field, event) : 0;
		else if (!event_has_field(event, field))
			value = 0;
		else if (size == 8)
			memcpy(&value, from, 8);
		else if (size == 4)
			memcpy(&value, from, 4);
		else
			memcpy(&value, from, size);
		memcpy(dest, &value, sizeof(value));
		dest += size;
		if (field->format != FIELD_HEX)
			continue;
		name = field->is_code_address ? names_cache_find(&ctf->code_names, value) :
			names_cache_find_at(&ctf->lock_names, value, event->time_stamp);
		dest = put_short_bytes(dest, name->text, name->length);
		*dest++ = '\0';
	}
	return dest;
}

static char *put_stack(struct ctf_conversion *ctf, const struct stack *stack, char *dest)
{
	const struct cached_name *name;
	uint32_t count = stack->count, i;

	dest = put_bytes(dest, (const char *)&count, sizeof(count));
	for (i = 0; i < count; i++)
		dest = put_bytes(dest, (const char *)&stack->addresses[i], sizeof(uint64_t));
	for (i = 0; i < count; i++) {
		name = names_cache_find(&ctf->code_names, stack->addresses[i]);
		dest = put_bytes(dest, name->text, name->length);
		*dest++ = '\0';
	}
	return dest;
}

static int put_event(struct ctf_conversion *ctf, const struct etl_event *event,
		     const struct event_type *type)
{
	struct ctf_stream *stream = find_stream(ctf, event->processor);
	const struct stack *stack = ctf->conversion->stack;
	bool has_stack = stack && stack->count;
	uint64_t time = event->time_stamp - ctf->conversion->file->start_clock;
	uint16_t id = type - event_types, processor = event->processor;
	uint16_t class = id + has_stack * EVENT_TYPES;
	char *dest;

	if (!stream) {
		message("%s: %s", ctf->directory, strerror(ENOMEM));
		return -1;
	}
	if (stream->used_bytes > PACKET_FULL_SIZE - EVENT_SIZE_MAX &&
	    write_packet(ctf, event->processor))
		return -1;
	/* CTF requires times that do not decrease, and none before the start. */
	if (time > TICKS_MAX || time < stream->last_time)
		time = stream->last_time;
	stream->last_time = time;
	if (stream->used_bytes == sizeof(struct packet_header))
		stream->first_time = time;
	dest = stream->packet + stream->used_bytes;
	dest = put_bytes(dest, (const char *)&class, sizeof(class));
	dest = put_bytes(dest, (const char *)&time, sizeof(time));
	dest = put_bytes(dest, (const char *)&processor, sizeof(processor));
	if (has_stack)
		dest = put_stack(ctf, stack, dest);
	ctf->has_stack[id] |= has_stack;
	dest = put_fields(ctf, dest, event, type);
	stream->used_bytes = dest - stream->packet;
	return 0;
}

static int write_events(struct ctf_conversion *ctf)
{
	const struct event_type *type;
	const struct etl_event *event;
	size_t i;

	while ((event = conversion_next(ctf->conversion, &type)))
		if (put_event(ctf, event, type))
			return -1;
	for (i = 0; i < ctf->stream_count; i++)
		if (ctf->streams[i] && write_packet(ctf, i))
			return -1;
	/* The metadata comes last, because only now the classes with stacks are known. */
	put_metadata(ctf);
	return finish_output(ctf->metadata, ctf->directory);
}

static void remove_file(const struct ctf_conversion *ctf, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", ctf->directory, name) < 0)
		return;
	unlink(path);
	free(path);
}

/* Remove what this process has made, so that the user can try again. */
static void remove_all(const struct ctf_conversion *ctf, bool has_made_directory)
{
	char name[32];
	size_t i;

	for (i = 0; i < ctf->stream_count; i++) {
		snprintf(name, sizeof(name), "cpu%zu", i);
		if (ctf->streams[i] && ctf->streams[i]->has_file)
			remove_file(ctf, name);
	}
	if (ctf->metadata) {
		fclose(ctf->metadata);
		remove_file(ctf, "metadata");
	}
	if (has_made_directory)
		rmdir(ctf->directory);
}

/**
 * convert_to_ctf() - write a trace in the Common Trace Format
 * @conversion: trace to convert
 * @directory: path of a new or empty directory
 *
 * Return: 0, or -1 after a message.
 */
int convert_to_ctf(struct conversion *conversion, const char *directory)
{
	struct ctf_conversion *ctf;
	bool has_made_directory;
	size_t i;
	int err;

	if (!directory_is_empty_or_missing(directory)) {
		message("%s: is not a new or an empty directory: choose another one", directory);
		return -1;
	}
	ctf = calloc(1, sizeof(*ctf));
	if (!ctf) {
		message("%s: %s", directory, strerror(ENOMEM));
		return -1;
	}
	ctf->conversion = conversion;
	ctf->directory = directory;
	ctf->lock_names.names = conversion->names;
	ctf->lock_names.kind = CACHED_LOCKS;
	ctf->code_names.names = conversion->names;
	ctf->code_names.kind = CACHED_CODE;
	make_uuid(ctf);
	has_made_directory = !mkdir(directory, 0777);
	err = has_made_directory || errno == EEXIST ? 0 : -1;
	if (err)
		message("%s: %s", directory, strerror(errno));
	else
		err = create_metadata(ctf) || write_events(ctf) ? -1 : 0;
	if (err)
		remove_all(ctf, has_made_directory);
	else
		fclose(ctf->metadata);
	for (i = 0; i < ctf->stream_count; i++)
		free(ctf->streams[i]);
	free(ctf->streams);
	names_cache_clear(&ctf->lock_names);
	names_cache_clear(&ctf->code_names);
	free(ctf);
	return err;
}
