// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols are read before the session begins, and again when a module has been loaded. The module's
 * notes about classes of locks are read while the session runs; only notes of locks that are in the
 * trace are written.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntklog/ready_thread.h>

#include "etl_reader.h"
#include "event_type.h"
#include "grow.h"
#include "hash.h"
#include "kernel.h"
#include "message.h"
#include "names.h"
#include "names_writer.h"
#include "wmi_record.h"

/* Most locks whose class is kept. */
#define LOCKS_MAX	1048576

/* @is_written: the address is that of a symbol whose line is in the file */
struct names_address {
	uint64_t address;
	bool is_written;
	UT_hash_handle hh;
};

/* A class that a lock has from a time on, session clock. */
struct lock_note {
	uint64_t time;
	char *class;
};

/*
 * A lock with a class, whether it is in the trace or not.
 *
 * @notes: notes that are not written yet
 * @is_written: a line of the file has the lock
 */
struct noted_lock {
	uint64_t address;
	struct lock_note *notes;
	size_t count;
	char *last_class;
	bool is_written;
	UT_hash_handle hh;
};

/* Keep a note about a lock, unless it repeats the lock's latest class. */
static void add_class_note(struct noted_lock *lock, const struct class_note *note)
{
	struct lock_note *more;
	char *class;

	if (lock->last_class && !strcmp(lock->last_class, note->class))
		return;
	more = grow_by_one(lock->notes, lock->count, sizeof(*more));
	if (!more)
		return;
	lock->notes = more;
	class = strdup(note->class);
	more[lock->count].class = strdup(note->class);
	if (!class || !more[lock->count].class) {
		free(class);
		free(more[lock->count].class);
		return;
	}
	more[lock->count++].time = note->time;
	free(lock->last_class);
	lock->last_class = class;
}

/* Write the notes of a lock. A second line for a lock has the time from which on it holds. */
static void write_notes(struct names_writer *writer, struct noted_lock *lock)
{
	size_t i;

	for (i = 0; i < lock->count; i++) {
		fprintf(writer->stream, "lock 0x%" PRIx64, lock->address);
		if (lock->is_written)
			fprintf(writer->stream, "@%" PRIu64, lock->notes[i].time);
		fprintf(writer->stream, " %s\n", lock->notes[i].class);
		lock->is_written = true;
		free(lock->notes[i].class);
	}
	free(lock->notes);
	lock->notes = NULL;
	lock->count = 0;
}

/* Keep a note. It is written when the lock is in this trace: other sessions cause notes too. */
static void take_note(void *argument, const struct class_note *note)
{
	struct names_writer *writer = argument;
	struct names_address *known;
	struct noted_lock *lock;

	if (writer->adds_classes && names_lock_count(writer->symbols.names) < LOCKS_MAX &&
	    !names_add_lock(&writer->symbols.names, note->address, note->time, note->class))
		writer->has_new_class = true;
	hash_find_or_add(writer->locks, address, &note->address, LOCKS_MAX, lock);
	if (!lock) {
		writer->dropped_note_count++;
		return;
	}
	add_class_note(lock, note);
	HASH_FIND(hh, writer->addresses, &note->address, sizeof(note->address), known);
	if (known && writer->stream)
		write_notes(writer, lock);
}

static void take_address(struct names_writer *writer, uint64_t address)
{
	uint64_t mixed = address * UINT64_C(0x9E3779B97F4A7C15);
	uint64_t *seen = &writer->seen_addresses[mixed >> (64 - NAMES_SEEN_BITS)], *more;
	struct names_address *known;

	if (*seen == address)
		return;
	*seen = address;
	HASH_FIND(hh, writer->addresses, &address, sizeof(address), known);
	if (known)
		return;
	hash_add(writer->addresses, address, &address, known);
	if (!known)
		return;
	more = grow_by_one(writer->unresolved, writer->unresolved_count, sizeof(*more));
	if (!more)
		return;
	writer->unresolved = more;
	writer->unresolved[writer->unresolved_count++] = address;
}

static void take_event(struct names_writer *writer, const struct etl_event *event)
{
	struct contextswap_record contextswap;
	struct etw_ready_thread_event ready;
	struct resource_record resource;
	struct spinlock_record spinlock;
	struct ntklog_open_hold open;
	struct ntklog_block_stack block;
	struct ntklog_caller_v1 caller;
	size_t i;

	switch (event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&spinlock, event);
		take_address(writer, spinlock.lock);
		take_address(writer, spinlock.caller);
		task_names_add(&writer->task_names, spinlock.thread_id);
		break;
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		take_address(writer, resource.resource);
		task_names_add(&writer->task_names, resource.thread_id);
		break;
	case PERFINFO_LOG_TYPE_NTKLOG_CALLER:
		/* Each version of the record begins with the members of version 1. */
		memcpy(&caller, event->data, sizeof(caller));
		take_address(writer, caller.caller);
		break;
	case PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK:
		memcpy(&block, event->data, sizeof(block));
		for (i = 0; i < NTKLOG_BLOCK_FRAMES && block.frames[i]; i++)
			take_address(writer, block.frames[i]);
		break;
	case NTKLOG_LOG_TYPE_OPEN_HOLD:
		/* Each version of the record begins with the members of version 1. */
		memcpy(&open, event->data, NTKLOG_OPEN_HOLD_V1_SIZE);
		take_address(writer, open.lock);
		take_address(writer, open.caller);
		task_names_add(&writer->task_names, open.thread_id);
		break;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		contextswap_record_read(&contextswap, event);
		task_names_add(&writer->task_names, contextswap.new_thread_id);
		task_names_add(&writer->task_names, contextswap.old_thread_id);
		break;
	case PERFINFO_LOG_TYPE_READY_THREAD:
		memcpy(&ready, event->data, sizeof(ready));
		task_names_add(&writer->task_names, ready.thread_id);
		break;
	}
}

static void take_stack(struct names_writer *writer, const struct etl_event *event)
{
	struct etl_stack stack;
	size_t i;

	if (etl_read_stack(&stack, writer->file, event))
		return;
	if (stack.thread_id)
		task_names_add(&writer->task_names, stack.thread_id);
	for (i = 0; i < stack.count; i++) {
		uint64_t address = etl_stack_address(&stack, i);

		take_address(writer, address);
		/* A call at the end of a function returns to the first byte after it. */
		take_address(writer, address - 1);
	}
}

/**
 * names_writer_add_event() - add the addresses and threads of an event to those of the trace
 * @writer: opened
 * @event: an event of the trace
 */
void names_writer_add_event(struct names_writer *writer, const struct etl_event *event)
{
	const struct event_type *type = event_type_find(event);

	if (!type)
		take_stack(writer, event);
	else if (!event_check_size(writer->file, event, type))
		take_event(writer, event);
}

/**
 * names_writer_prepare() - read the present names before the session begins
 * @writer: all zero
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_prepare(struct names_writer *writer)
{
	if (symbols_read(&writer->symbols))
		return -1;
	task_names_prepare(&writer->task_names);
	identities_open(&writer->identities);
	return 0;
}

/* Write the id of the boot: in another boot the same addresses belong to other symbols. */
static void write_boot(struct names_writer *writer)
{
	char path[PATH_SIZE], id[64];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", kernel_proc_directory());
	stream = fopen(path, "re");
	if (!stream)
		return;
	if (fgets(id, sizeof(id), stream))
		fprintf(writer->stream, "boot %.*s %" PRIu64 "\n", (int)strcspn(id, "\n"), id,
			writer->file->boot_time);
	fclose(stream);
}

static void write_thread(void *stream, const struct thread_name *thread)
{
	fprintf(stream, "thread %" PRIu32, thread->id);
	if (thread->valid_from)
		fprintf(stream, "@%" PRIu64, thread->valid_from);
	fprintf(stream, " %s", thread->name);
	if (thread->process_id)
		fprintf(stream, "\t%" PRIu32, thread->process_id);
	if (thread->process_id && thread->cgroup)
		fprintf(stream, "\t%s", thread->cgroup);
	fputc('\n', stream);
}

/**
 * names_writer_open() - make the file of names
 * @writer: prepared
 * @trace_path: path of the trace
 * @file: header of the trace, for as long as @writer is used
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_open(struct names_writer *writer, const char *trace_path, struct etl_file *file)
{
	int fd;

	writer->file = file;
	if (asprintf(&writer->path, "%s%s", trace_path, NAMES_SUFFIX) < 0) {
		writer->path = NULL;
		message("%s: no memory for its file of names", trace_path);
		return -1;
	}
	/* The file shows where the kernel is in memory: one that others may read is not reused. */
	if (unlink(writer->path) && errno != ENOENT) {
		message("%s: the earlier file of names cannot be removed: %s", writer->path,
			strerror(errno));
		return -1;
	}
	fd = open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	writer->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!writer->stream) {
		message("%s: cannot be created: %s", writer->path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	writer->task_names.on_name = write_thread;
	writer->task_names.argument = writer->stream;
	write_boot(writer);
	return 0;
}

/* Write the symbol that an address is in, and the next symbol, which shows where the first ends. */
static void write_symbols(struct names_writer *writer, uint64_t address)
{
	struct names_address *known;
	struct names_symbol symbol;
	size_t index = names_symbol_index(writer->symbols.names, address);
	unsigned int i;

	for (i = 0; i < 2 && names_symbol_at(writer->symbols.names, index, &symbol); i++) {
		hash_find_or_add(writer->addresses, address, &symbol.address, UINT_MAX, known);
		if (!known || !known->is_written) {
			fprintf(writer->stream, "%016" PRIx64 " %c %s%s%s\n", symbol.address,
				symbol.type, symbol.name, symbol.module ? "\t" : "",
				symbol.module ? symbol.module : "");
			if (known)
				known->is_written = true;
		}
		index = names_next_symbol_index(writer->symbols.names, index);
	}
}

/**
 * names_writer_read_notes() - read the module's new notes about classes of locks and about tasks
 * @writer: prepared
 *
 * The module keeps a bounded number of notes, so they must be read often.
 */
void names_writer_read_notes(struct names_writer *writer)
{
	identities_read(&writer->identities, take_note, writer);
	if (writer->has_new_class)
		names_sort_locks(writer->symbols.names);
	writer->has_new_class = false;
	task_names_read_notes(&writer->task_names);
}

static void resolve_addresses(struct names_writer *writer)
{
	struct noted_lock *lock;
	size_t i;

	if (symbols_update(&writer->symbols) > 0)
		identities_refresh_classes(&writer->identities);
	names_writer_read_notes(writer);
	for (i = 0; i < writer->unresolved_count; i++) {
		write_symbols(writer, writer->unresolved[i]);
		HASH_FIND(hh, writer->locks, &writer->unresolved[i], sizeof(uint64_t), lock);
		if (lock)
			write_notes(writer, lock);
	}
	writer->unresolved_count = 0;
}

/**
 * names_writer_update() - write the names that are new
 * @writer: opened
 */
void names_writer_update(struct names_writer *writer)
{
	resolve_addresses(writer);
	task_names_update(&writer->task_names);
	fflush(writer->stream);
}

static void free_lock(struct noted_lock *lock)
{
	size_t i;

	for (i = 0; i < lock->count; i++)
		free(lock->notes[i].class);
	free(lock->notes);
	free(lock->last_class);
	free(lock);
}

/**
 * names_writer_close() - write the last names, and free what the writer has
 * @writer: prepared, or all zero
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_close(struct names_writer *writer)
{
	struct names_address *address;
	struct noted_lock *lock;
	int err = 0;

	if (writer->stream) {
		resolve_addresses(writer);
		task_names_finish(&writer->task_names);
		err = finish_output(writer->stream, writer->path);
		fclose(writer->stream);
	}
	while ((address = hash_take_first(writer->addresses)))
		free(address);
	identities_close(&writer->identities);
	if (writer->dropped_note_count)
		message("%s: too many locks: %" PRIu64 " notes about their classes are left out",
			writer->path, writer->dropped_note_count);
	while ((lock = hash_take_first(writer->locks)))
		free_lock(lock);
	task_names_free(&writer->task_names);
	symbols_free(&writer->symbols);
	free(writer->unresolved);
	free(writer->path);
	*writer = (struct names_writer) { 0 };
	return err;
}
