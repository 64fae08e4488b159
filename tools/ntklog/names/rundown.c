// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names in the events of a file. The events may be anywhere in it, so the whole file is read once
 * for names before it is read for use.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etl_reader.h"
#include "hash.h"
#include "rundown.h"
#include "utf16.h"

/* Groups of hook ids, and types of events that these groups share. */
#define GROUP_PROCESS		0x0300
#define GROUP_THREAD		0x0500
#define GROUP_IMAGE		0x1400
#define TYPE_START		0x01
#define TYPE_DC_END		0x04
#define TYPE_LOAD		0x0A
#define HOOK_OLD_IMAGE_LOAD	0x030A
#define HOOK_THREAD_SET_NAME	0x0548

/* GUID of KernelTraceControl's ImageID event, which has the name that the linker gave an image. */
static const unsigned char image_id_provider[] = {
	0xD7, 0x75, 0xE6, 0xB3, 0x54, 0x25, 0x18, 0x4F,
	0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE
};

/* Limits for crafted files. */
#define PROCESSES_MAX	0x40000
#define THREADS_MAX	0x100000
#define IMAGES_MAX	0x10000

/* @name: name of its program; NULL if there was no memory */
struct rundown_process {
	uint32_t id;
	char *name;
	UT_hash_handle hh;
};

/* @name: name that the thread has set, or NULL */
struct rundown_thread {
	uint32_t id;
	uint32_t process_id;
	char *name;
	UT_hash_handle hh;
};

struct rundown {
	struct names **names;
	struct rundown_process *processes;
	struct rundown_thread *threads;
	unsigned int image_count;
	bool no_memory;
};

/*
 * The part of an event's data that has not been read.
 *
 * @size: bytes of the part. A value that exceeds the part reads as 0 and consumes all of it
 * @was_exceeded: a value has exceeded the part
 */
struct unread_data {
	const unsigned char *position;
	size_t size;
	unsigned int pointer_size;
	bool was_exceeded;
};

static void skip_bytes(struct unread_data *unread, size_t bytes)
{
	if (bytes > unread->size) {
		unread->was_exceeded = true;
		bytes = unread->size;
	}
	unread->position += bytes;
	unread->size -= bytes;
}

static uint64_t read_number(struct unread_data *unread, size_t bytes)
{
	uint64_t value = 0;

	if (bytes <= unread->size)
		memcpy(&value, unread->position, bytes);
	skip_bytes(unread, bytes);
	return value;
}

static uint64_t read_pointer(struct unread_data *unread)
{
	return read_number(unread, unread->pointer_size);
}

/* Skip a TOKEN_USER and the SID that it points to; without a user there are four zero bytes. */
static void skip_user_sid(struct unread_data *unread)
{
	struct unread_data sid = *unread;

	if (!read_number(&sid, 4)) {
		skip_bytes(unread, 4);
		return;
	}
	skip_bytes(unread, 2 * (size_t)unread->pointer_size + 1);
	skip_bytes(unread, 6 + 4 * read_number(unread, 1));
}

/* Return the name of a file without its directories. Spaces become "_": a space ends a symbol. */
static char *base_name(char *path)
{
	char *slash = strrchr(path, '\\'), *name = slash ? slash + 1 : path, *at;

	for (at = name; *at; at++)
		if (*at == ' ')
			*at = '_';
	return name;
}

static void add_process(struct rundown *rundown, const struct etl_event *event)
{
	struct unread_data unread = { event->data, event->data_size, event->pointer_size, false };
	struct rundown_process *process;
	char path[NAME_SIZE] = "", *name;
	uint32_t id;
	size_t i;

	if (!event->version) {
		id = read_pointer(&unread);
		read_pointer(&unread);
	} else {
		read_pointer(&unread);
		id = read_number(&unread, 4);
		/* Parent, session and exit status; then a member of version 3 and one of 4. */
		skip_bytes(&unread, 12);
		if (event->version >= 3)
			read_pointer(&unread);
		if (event->version >= 4)
			skip_bytes(&unread, 4);
	}
	skip_user_sid(&unread);
	if (unread.was_exceeded || !memchr(unread.position, 0, unread.size))
		return;
	for (i = 0; unread.position[i] && i < sizeof(path) - 1; i++)
		path[i] = unread.position[i];
	name = base_name(path);
	if (!*name)
		return;
	hash_find_or_add(rundown->processes, id, &id, PROCESSES_MAX, process);
	if (!process) {
		rundown->no_memory |= HASH_COUNT(rundown->processes) < PROCESSES_MAX;
		return;
	}
	/* Windows reuses the ids of processes that have ended. The last name counts. */
	free(process->name);
	process->name = strdup(name);
	rundown->no_memory |= !process->name;
}

static struct rundown_thread *find_thread(struct rundown *rundown, uint32_t id)
{
	struct rundown_thread *thread;

	hash_find_or_add(rundown->threads, id, &id, THREADS_MAX, thread);
	rundown->no_memory |= !thread && HASH_COUNT(rundown->threads) < THREADS_MAX;
	return thread;
}

static void add_thread(struct rundown *rundown, const struct etl_event *event)
{
	struct unread_data unread = { event->data, event->data_size, event->pointer_size, false };
	bool has_name = event->version >= 4 || event->hook_id == HOOK_THREAD_SET_NAME;
	uint32_t first = read_number(&unread, 4), second = read_number(&unread, 4);
	/* Windows 2000 logs the id of the thread before that of the process. */
	bool is_first = !event->version && event->hook_id != HOOK_THREAD_SET_NAME;
	char name[NAME_SIZE] = "";
	struct rundown_thread *thread;

	if (unread.was_exceeded)
		return;
	thread = find_thread(rundown, is_first ? first : second);
	if (!thread)
		return;
	thread->process_id = is_first ? second : first;
	/* Six addresses, affinity, a tag, three priorities and flags. */
	if (event->hook_id != HOOK_THREAD_SET_NAME)
		skip_bytes(&unread, 7 * (size_t)unread.pointer_size + 8);
	if (has_name)
		utf16_string_read(unread.position, unread.position + unread.size, name,
				  sizeof(name));
	free(thread->name);
	thread->name = *name ? strdup(name) : NULL;
	rundown->no_memory |= *name && !thread->name;
}

/*
 * Test whether an address is in the kernel's half. Images of programs share addresses between
 * processes, and the locks of a trace are the kernel's.
 */
static bool is_kernel_address(uint64_t address, unsigned int pointer_size)
{
	return address >= (pointer_size == 8 ? UINT64_C(0xFFFF800000000000) :
			   UINT64_C(0x80000000));
}

static void add_image(struct rundown *rundown, const struct etl_event *event,
		      bool is_image_id_event, unsigned int version)
{
	struct unread_data unread = { event->data, event->data_size, event->pointer_size, false };
	uint64_t base = read_pointer(&unread), size = read_pointer(&unread);
	char path[NAME_SIZE] = "", *name;

	if (is_image_id_event) {
		/* Id of the process, and time stamp of the image. */
		skip_bytes(&unread, 8);
	} else if (version) {
		skip_bytes(&unread, 4);
		/* Checksum, time stamp, signature, base before relocation, reserved members. */
		if (version >= 2) {
			skip_bytes(&unread, 12);
			read_pointer(&unread);
			skip_bytes(&unread, 16);
		}
	}
	utf16_string_read(unread.position, unread.position + unread.size, path, sizeof(path));
	name = base_name(path);
	if (unread.was_exceeded || !*name || !is_kernel_address(base, unread.pointer_size) ||
	    !size || size > UINT64_C(0x40000000) || rundown->image_count >= IMAGES_MAX)
		return;
	rundown->image_count++;
	/* The linker's name, such as ntkrnlmp.exe, counts less than the file's, ntoskrnl.exe. */
	if (names_add_image(rundown->names, base, size, name, is_image_id_event ? 0 : 1))
		rundown->no_memory = true;
}

static void add_event(struct rundown *rundown, const struct etl_event *event)
{
	unsigned int type = event->hook_id & 0xFF;
	struct etl_event_header header;

	if (!event->has_hook_id) {
		if (event->header_type != TRACE_HEADER_TYPE_FULL_HEADER64 &&
		    event->header_type != TRACE_HEADER_TYPE_FULL_HEADER32)
			return;
		etl_read_event_header(&header, event);
		if (!header.opcode &&
		    !memcmp(header.provider, image_id_provider, sizeof(header.provider)))
			add_image(rundown, event, true, header.version);
		return;
	}
	if (event->hook_id == HOOK_THREAD_SET_NAME) {
		add_thread(rundown, event);
		return;
	}
	if (event->hook_id == HOOK_OLD_IMAGE_LOAD) {
		add_image(rundown, event, false, event->version);
		return;
	}
	switch (event->hook_id & 0xFF00) {
	case GROUP_PROCESS:
		if (type >= TYPE_START && type <= TYPE_DC_END)
			add_process(rundown, event);
		break;
	case GROUP_THREAD:
		if (type >= TYPE_START && type <= TYPE_DC_END)
			add_thread(rundown, event);
		break;
	case GROUP_IMAGE:
		if (type == TYPE_LOAD || (type > TYPE_START && type <= TYPE_DC_END))
			add_image(rundown, event, false, event->version);
		break;
	}
}

static void add_name(struct rundown *rundown, const struct thread_name *name)
{
	if (names_add_thread(rundown->names, name))
		rundown->no_memory = true;
}

/*
 * Name each process after its program, and each thread after the program of its process, followed
 * by the name that the thread has set.
 */
static void name_threads(struct rundown *rundown)
{
	const struct rundown_process *process;
	const struct rundown_thread *thread;
	const char *program_name;
	char name[NAME_SIZE];

	for (process = rundown->processes; process; process = process->hh.next)
		if (process->name)
			add_name(rundown, &(struct thread_name) {
				.id = process->id,
				.process_id = process->id,
				.name = process->name,
				.is_windows_process = true,
			});
	for (thread = rundown->threads; thread; thread = thread->hh.next) {
		HASH_FIND(hh, rundown->processes, &thread->process_id,
			  sizeof(thread->process_id), process);
		program_name = process ? process->name : NULL;
		if (!program_name && !thread->name)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", program_name ? program_name : "",
			 program_name && thread->name ? "/" : "",
			 thread->name ? thread->name : "");
		add_name(rundown, &(struct thread_name) {
			.id = thread->id,
			.process_id = thread->process_id,
			.name = name,
		});
	}
}

static void free_rundown(struct rundown *rundown)
{
	struct rundown_process *process;
	struct rundown_thread *thread;

	while ((process = hash_take_first(rundown->processes))) {
		free(process->name);
		free(process);
	}
	while ((thread = hash_take_first(rundown->threads))) {
		free(thread->name);
		free(thread);
	}
}

/**
 * rundown_read() - add the names from the events of a file
 * @names: names to add to, in which names from a file of names stay; allocated if NULL
 * @file: open file, whose position and error stay; a stream is not read
 *
 * Return: 0, or -1 if there was no memory for all names.
 */
int rundown_read(struct names **names, const struct etl_file *file)
{
	struct rundown rundown = { .names = names };
	const struct etl_reader *reader = etl_const_reader_of(file);
	struct etl_reader copy = *reader;
	const struct etl_event *event;

	if (reader->input || !etl_may_have_names(reader))
		return 0;
	/* Read with a copy that has its own buffer. The next reader of the file reports damage. */
	copy.cursor.buffer = NULL;
	copy.cursor.next_offset = 0;
	copy.cursor.end_offset = 0;
	copy.next_index = 0;
	while ((event = etl_next_event(&copy.file)))
		if (event->offset >= file->buffer_size)
			add_event(&rundown, event);
	free(copy.cursor.buffer);
	name_threads(&rundown);
	free_rundown(&rundown);
	names_sort(*names);
	return rundown.no_memory ? -1 : 0;
}
