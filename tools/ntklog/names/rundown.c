// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that a file has itself. Windows logs processes, threads and images as they come and
 * go, and all that there are at the start or the end of a session. They may be anywhere in
 * the file, so that all of it is read once before what the names are for.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etl_reader.h"
#include "hash.h"
#include "rundown.h"
#include "utf16.h"

/* Groups of hook ids, and the types that they have in common. */
#define GROUP_PROCESS		0x0300
#define GROUP_THREAD		0x0500
#define GROUP_IMAGE		0x1400
#define TYPE_START		0x01
#define TYPE_DC_END		0x04
#define TYPE_LOAD		0x0A
#define HOOK_OLD_IMAGE_LOAD	0x030A
#define HOOK_THREAD_SET_NAME	0x0548

/* KernelTraceControl's ImageID, which says what an image was called when it was linked. */
static const unsigned char image_id_provider[] = {
	0xD7, 0x75, 0xE6, 0xB3, 0x54, 0x25, 0x18, 0x4F,
	0x83, 0x0B, 0x27, 0x62, 0x73, 0x25, 0x60, 0xDE
};

/* What a stranger's file may have of each; who has more is not told their names. */
#define PROCESSES_MAX	0x40000
#define THREADS_MAX	0x100000
#define IMAGES_MAX	0x10000

/*
 * @id: of it
 * @name: of its program; NULL: there was no memory
 */
struct process {
	uint32_t id;
	char *name;
	UT_hash_handle hh;
};

/*
 * @id: of it
 * @process_id: whose
 * @name: of its own, or NULL
 */
struct thread {
	uint32_t id;
	uint32_t process_id;
	char *name;
	UT_hash_handle hh;
};

/*
 * @names: where the names go
 * @processes: by their ids
 * @threads: likewise
 * @images: how many
 * @no_memory: for one of them
 */
struct rundown {
	struct names **names;
	struct process *processes;
	struct thread *threads;
	unsigned int images;
	bool no_memory;
};

/*
 * What has not been read of an event's data.
 *
 * @at: where that begins
 * @left: bytes; what is taken beyond them is 0, and nothing is left
 * @pointer_size: of the data
 * @is_short: there was less than was taken
 */
struct rest {
	const unsigned char *at;
	size_t left;
	unsigned int pointer_size;
	bool is_short;
};

static void skip(struct rest *rest, size_t bytes)
{
	if (bytes > rest->left) {
		rest->is_short = true;
		bytes = rest->left;
	}
	rest->at += bytes;
	rest->left -= bytes;
}

static uint64_t take(struct rest *rest, size_t bytes)
{
	uint64_t value = 0;

	if (bytes <= rest->left)
		memcpy(&value, rest->at, bytes);
	skip(rest, bytes);
	return value;
}

static uint64_t take_pointer(struct rest *rest)
{
	return take(rest, rest->pointer_size);
}

/* A TOKEN_USER and the SID that it points to; or four bytes of 0, if there is none. */
static void skip_user(struct rest *rest)
{
	struct rest sid = *rest;

	if (!take(&sid, 4)) {
		skip(rest, 4);
		return;
	}
	skip(rest, 2 * (size_t)rest->pointer_size + 1);
	skip(rest, 6 + 4 * take(rest, 1));
}

/* Without the directories that it is in. Nothing of it is a space: that ends a symbol. */
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
	struct rest rest = { event->data, event->data_size, event->pointer_size, false };
	struct process *process;
	char path[NAME_SIZE] = "", *name;
	uint32_t id;
	size_t i;

	if (!event->version) {
		id = take_pointer(&rest);
		take_pointer(&rest);
	} else {
		take_pointer(&rest);
		id = take(&rest, 4);
		/* Its parent, session, and status at the end; then what later ones have. */
		skip(&rest, 12);
		if (event->version >= 3)
			take_pointer(&rest);
		if (event->version >= 4)
			skip(&rest, 4);
	}
	skip_user(&rest);
	if (rest.is_short || !memchr(rest.at, 0, rest.left))
		return;
	for (i = 0; rest.at[i] && i < sizeof(path) - 1; i++)
		path[i] = rest.at[i];
	name = base_name(path);
	if (!*name)
		return;
	hash_find_or_add(rundown->processes, id, &id, PROCESSES_MAX, process);
	if (!process) {
		rundown->no_memory |= HASH_COUNT(rundown->processes) < PROCESSES_MAX;
		return;
	}
	/* The id of one that has ended is used again: the last one has it. */
	free(process->name);
	process->name = strdup(name);
	rundown->no_memory |= !process->name;
}

static struct thread *find_thread(struct rundown *rundown, uint32_t id)
{
	struct thread *thread;

	hash_find_or_add(rundown->threads, id, &id, THREADS_MAX, thread);
	rundown->no_memory |= !thread && HASH_COUNT(rundown->threads) < THREADS_MAX;
	return thread;
}

static void add_thread(struct rundown *rundown, const struct etl_event *event)
{
	struct rest rest = { event->data, event->data_size, event->pointer_size, false };
	bool has_name = event->version >= 4 || event->hook_id == HOOK_THREAD_SET_NAME;
	uint32_t first = take(&rest, 4), second = take(&rest, 4);
	/* The ids of Windows 2000 are the other way round. */
	bool is_first = !event->version && event->hook_id != HOOK_THREAD_SET_NAME;
	char name[NAME_SIZE] = "";
	struct thread *thread;

	if (rest.is_short)
		return;
	thread = find_thread(rundown, is_first ? first : second);
	if (!thread)
		return;
	thread->process_id = is_first ? second : first;
	/* Addresses of its stacks and its code, affinity, a tag and priorities. */
	if (event->hook_id != HOOK_THREAD_SET_NAME)
		skip(&rest, 7 * (size_t)rest.pointer_size + 8);
	if (has_name)
		utf16_read(rest.at, rest.at + rest.left, name, sizeof(name));
	free(thread->name);
	thread->name = *name ? strdup(name) : NULL;
}

/* Those of programs are at one address in some processes; locks are the kernel's. */
static bool is_of_kernel(uint64_t address, unsigned int pointer_size)
{
	return address >= (pointer_size == 8 ? UINT64_C(0xFFFF800000000000) :
			   UINT64_C(0x80000000));
}

static void add_image(struct rundown *rundown, const struct etl_event *event, bool is_id,
		      unsigned int version)
{
	struct rest rest = { event->data, event->data_size, event->pointer_size, false };
	uint64_t base = take_pointer(&rest), size = take_pointer(&rest);
	char path[NAME_SIZE] = "", *name;

	if (is_id) {
		/* A process and a time. */
		skip(&rest, 8);
	} else if (version) {
		skip(&rest, 4);
		/* A sum, a time, a signature's level, the base before it was moved, reserved. */
		if (version >= 2) {
			skip(&rest, 12);
			take_pointer(&rest);
			skip(&rest, 16);
		}
	}
	utf16_read(rest.at, rest.at + rest.left, path, sizeof(path));
	name = base_name(path);
	if (rest.is_short || !*name || !is_of_kernel(base, rest.pointer_size) ||
	    !size || size > UINT64_C(0x40000000) || rundown->images >= IMAGES_MAX)
		return;
	rundown->images++;
	/* What it was linked as is next best: ntkrnlmp.exe is ntoskrnl.exe. */
	if (names_add_image(rundown->names, base, size, name, is_id ? 0 : 1))
		rundown->no_memory = true;
}

static void take_event(struct rundown *rundown, const struct etl_event *event)
{
	unsigned int type = event->hook_id & 0xFF;
	struct etl_event_header info;

	if (!event->has_hook_id) {
		if (event->header_type != TRACE_HEADER_TYPE_FULL_HEADER64 &&
		    event->header_type != TRACE_HEADER_TYPE_FULL_HEADER32)
			return;
		etl_read_event_header(&info, event);
		if (!info.opcode &&
		    !memcmp(info.provider, image_id_provider, sizeof(info.provider)))
			add_image(rundown, event, true, info.version);
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

/* A thread is called as its program is, and behind that as it calls itself. */
static void name_threads(struct rundown *rundown)
{
	const struct process *process;
	const struct thread *thread;
	const char *program;
	char name[NAME_SIZE];

	for (thread = rundown->threads; thread; thread = thread->hh.next) {
		HASH_FIND(hh, rundown->processes, &thread->process_id,
			  sizeof(thread->process_id), process);
		program = process ? process->name : NULL;
		if (!program && !thread->name)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", program ? program : "",
			 program && thread->name ? "/" : "",
			 thread->name ? thread->name : "");
		if (names_add_thread(rundown->names, thread->id, name))
			rundown->no_memory = true;
	}
}

static void free_all(struct rundown *rundown)
{
	struct process *process, *next_process;
	struct thread *thread, *next_thread;

	HASH_ITER(hh, rundown->processes, process, next_process) {
		HASH_DEL(rundown->processes, process);
		free(process->name);
		free(process);
	}
	HASH_ITER(hh, rundown->threads, thread, next_thread) {
		HASH_DEL(rundown->threads, thread);
		free(thread->name);
		free(thread);
	}
}

/**
 * rundown_read() - add the names that a file has itself
 * @names: where to; made if there are none yet and the file has some
 * @file: a file that is open; its place and error stay. A stream is not looked at: it comes
 *	once, and one that says that it has names has been kept in a file
 *
 * Names that are there already, from a file of names, stay.
 *
 * Return: 0, or -1: there was no memory for all.
 */
int rundown_read(struct names **names, const struct etl_file *file)
{
	struct rundown rundown = { .names = names };
	const struct etl_reader *reader = etl_const_reader(file);
	struct etl_reader copy = *reader;
	const struct etl_event *event;

	if (reader->input || !etl_may_have_names(reader))
		return 0;
	/* A buffer of its own; what is wrong with the file is told by who reads it next. */
	copy.cursor.buffer = NULL;
	copy.cursor.next = 0;
	copy.cursor.end = 0;
	copy.next_place = 0;
	while ((event = etl_next_event(&copy.file)))
		if (event->offset >= file->buffer_size)
			take_event(&rundown, event);
	free(copy.cursor.buffer);
	name_threads(&rundown);
	free_all(&rundown);
	names_sort(*names);
	return rundown.no_memory ? -1 : 0;
}
