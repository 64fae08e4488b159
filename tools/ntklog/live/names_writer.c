// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing the names of what is in a trace: its addresses and threads are taken from its
 * buffers as they come, and what they are called is looked up when they are new.
 *
 * The kernel's symbols are read before the session begins, and again when there is a module
 * that was not there then: before it is gone. Names of threads are read at the start, when
 * a thread is new, some times while it is young, since programs get their names after they
 * were started, and at the end. What locks lie in is noted by the module while their events are
 * written, and read here before the events are: of those whose events the trace has it is written.
 */

#define _GNU_SOURCE

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "etl_reader.h"
#include "event_type.h"
#include "grow.h"
#include "hash.h"
#include "kernel.h"
#include "message.h"
#include "names.h"
#include "names_writer.h"
#include "wmi_record.h"

/* Locks of which is known what they lie in. */
#define LOCKS_MAX	1048576

/* Updates for which a thread is young. */
#define YOUNG	3

/*
 * @address: of the trace, or of a symbol
 * @is_written: of a symbol: there is a line with it
 * @hh: in the table
 */
struct names_address {
	uint64_t address;
	bool is_written;
	UT_hash_handle hh;
};

/*
 * @time: from which on
 * @class: it is one of these
 */
struct names_note {
	uint64_t time;
	char *class;
};

/*
 * @address: of a lock
 * @notes: that are not written yet
 * @count: of them
 * @last: class that was noted last
 * @is_written: there is a line with the lock
 * @hh: in the table
 */
struct names_lock {
	uint64_t address;
	struct names_note *notes;
	size_t count;
	char *last;
	bool is_written;
	UT_hash_handle hh;
};

/*
 * @id: of a thread
 * @is_wanted: it is in the trace
 * @is_written: so is its name
 * @seen: update at which it was first in the trace
 * @name: of it
 * @hh: in the table
 */
struct names_thread {
	unsigned int id;
	bool is_wanted;
	bool is_written;
	unsigned int seen;
	char name[64];
	UT_hash_handle hh;
};

static char *read_modules(void)
{
	char path[PATH_SIZE], *text = NULL;
	size_t room = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/modules", kernel_proc());
	stream = fopen(path, "r");
	if (!stream)
		return NULL;
	/* The file has no NUL: all of it is one line up to that. */
	if (getdelim(&text, &room, '\0', stream) < 0) {
		free(text);
		text = NULL;
	}
	fclose(stream);
	return text;
}

static int read_symbols(struct names_writer *writer)
{
	char path[PATH_SIZE];
	struct names *names;

	snprintf(path, sizeof(path), "%s/kallsyms", kernel_proc());
	if (names_load(&names, path, NULL))
		return -1;
	names_free(writer->names);
	writer->names = names;
	return 0;
}

/* Is there a line "NAME SIZE ..." that was not there before? */
static bool has_new_module(const char *modules, const char *before)
{
	const char *line = modules;

	while (line && *line) {
		size_t length = strcspn(line, "\n");
		const char *at = memmem(line, length, " 0x", 3);
		size_t name = strcspn(line, " ") + 1;
		const char *known = before;
		bool found = false;

		/* By name and place: the use counts between them change all the time. */
		while (!found && known && *known) {
			size_t known_length = strcspn(known, "\n");

			found = at && !strncmp(known, line, name) &&
				memmem(known, known_length, at, 19);
			known += known_length;
			known += *known == '\n';
		}
		if (!found)
			return true;
		line += length;
		line += *line == '\n';
	}
	return false;
}

/* Events of a module may be read when it has gone: its symbols are read when it comes. */
static void look_for_modules(struct names_writer *writer)
{
	char *modules = read_modules();

	if (modules && has_new_module(modules, writer->modules) && !read_symbols(writer)) {
		identities_refresh(&writer->identities);
		free(writer->modules);
		writer->modules = modules;
	} else {
		free(modules);
	}
}

/* What a lock is, from when on; the same once more is nothing new. */
static void add_note(struct names_lock *lock, const struct class_note *note)
{
	struct names_note *more;
	char *class;

	if (lock->last && !strcmp(lock->last, note->class))
		return;
	more = grown(lock->notes, lock->count, sizeof(*more));
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
	free(lock->last);
	lock->last = class;
}

/* A later line for the same lock holds from then on. */
static void write_notes(struct names_writer *writer, struct names_lock *lock)
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

/* Of whatever session the event is: it is written when the lock is seen in this one's. */
static void take_note(void *argument, const struct class_note *note)
{
	struct names_writer *writer = argument;
	struct names_address *known;
	struct names_lock *lock;

	hash_find_or_add(writer->locks, address, &note->address, LOCKS_MAX, lock);
	if (!lock) {
		writer->left_out++;
		return;
	}
	add_note(lock, note);
	HASH_FIND(hh, writer->addresses, &note->address, sizeof(note->address), known);
	if (known && writer->stream)
		write_notes(writer, lock);
}

static void take_address(struct names_writer *writer, uint64_t address)
{
	uint64_t mixed = address * UINT64_C(0x9E3779B97F4A7C15);
	uint64_t *seen = &writer->seen[mixed >> (64 - NAMES_SEEN_BITS)], *more;
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
	more = grown(writer->unresolved, writer->unresolved_count, sizeof(*more));
	if (!more)
		return;
	writer->unresolved = more;
	writer->unresolved[writer->unresolved_count++] = address;
}

/* What /proc calls a thread now, if it is there. */
static void read_thread(struct names_writer *writer, struct names_thread *thread)
{
	char path[PATH_SIZE], name[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/comm", kernel_proc(), thread->id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	got = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (got <= 0)
		return;
	name[got] = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (!strcmp(thread->name, name))
		return;
	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->is_written = false;
}

static struct names_thread *find_thread(struct names_writer *writer, unsigned int id)
{
	struct names_thread *thread;

	HASH_FIND(hh, writer->threads, &id, sizeof(id), thread);
	if (thread)
		return thread;
	hash_add(writer->threads, id, &id, thread);
	if (thread)
		read_thread(writer, thread);
	return thread;
}

static void take_thread(struct names_writer *writer, uint32_t id)
{
	uint32_t *seen = &writer->seen_threads[id % (1 << NAMES_SEEN_BITS)];
	struct names_thread *thread;

	/* 0 is each processor's idle thread. */
	if (!id || *seen == id)
		return;
	*seen = id;
	thread = find_thread(writer, id);
	if (!thread || thread->is_wanted)
		return;
	thread->is_wanted = true;
	thread->seen = writer->updates;
}

static void take_event(struct names_writer *writer, const struct etl_event *event)
{
	struct contextswap_record contextswap;
	struct resource_record resource;
	struct spinlock_record spinlock;

	switch (event->hook_id) {
	case PERFINFO_LOG_TYPE_SPINLOCK:
		spinlock_record_read(&spinlock, event);
		take_address(writer, spinlock.lock);
		take_address(writer, spinlock.caller);
		take_thread(writer, spinlock.thread_id);
		break;
	case PERFINFO_LOG_TYPE_RESOURCE:
		resource_record_read(&resource, event);
		take_address(writer, resource.resource);
		take_thread(writer, resource.thread_id);
		break;
	case PERFINFO_LOG_TYPE_CONTEXTSWAP:
		contextswap_record_read(&contextswap, event);
		take_thread(writer, contextswap.new_thread_id);
		take_thread(writer, contextswap.old_thread_id);
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
		take_thread(writer, stack.thread_id);
	for (i = 0; i < stack.count; i++) {
		uint64_t address = etl_stack_address(&stack, i);

		take_address(writer, address);
		/* Behind a call that is the last of its function is another one. */
		take_address(writer, address - 1);
	}
}

/**
 * names_writer_take() - see what a buffer has
 * @writer: of the trace
 * @buffer: of it, as large as its header says
 */
void names_writer_take(struct names_writer *writer, unsigned char *buffer)
{
	struct etl_cursor cursor = { .buffer = buffer };
	struct etl_reader *reader = etl_reader(writer->file);
	struct etl_event event;

	if (!writer->stream || etl_use_buffer(reader, &cursor, 1))
		return;
	while (cursor.next < cursor.end && etl_parse_event(reader, &cursor, &event) == 1) {
		const struct event_type *type = event_type_find(&event);

		if (!type)
			take_stack(writer, &event);
		else if (!event_type_check(writer->file, &event, type))
			take_event(writer, &event);
	}
}

/* Those that run when the session begins: they may be gone when they are seen in it. */
static void read_threads(struct names_writer *writer)
{
	DIR *processes = opendir(kernel_proc()), *tasks;
	struct dirent *entry, *task;
	char path[PATH_SIZE];

	while (processes && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/%.20s/task", kernel_proc(), entry->d_name);
		tasks = opendir(path);
		while (tasks && (task = readdir(tasks)))
			if (isdigit((unsigned char)task->d_name[0]))
				find_thread(writer, strtoul(task->d_name, NULL, 10));
		if (tasks)
			closedir(tasks);
	}
	if (processes)
		closedir(processes);
}

/**
 * names_writer_prepare() - read what there is before the session begins
 * @writer: all zero
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_prepare(struct names_writer *writer)
{
	writer->modules = read_modules();
	if (read_symbols(writer))
		return -1;
	read_threads(writer);
	identities_open(&writer->identities);
	return 0;
}

/* Addresses are those of one boot, and nothing in another. */
static void write_boot(struct names_writer *writer)
{
	char path[PATH_SIZE], id[64];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", kernel_proc());
	stream = fopen(path, "re");
	if (!stream)
		return;
	if (fgets(id, sizeof(id), stream))
		fprintf(writer->stream, "boot %.*s %" PRIu64 "\n", (int)strcspn(id, "\n"), id,
			writer->file->boot_time);
	fclose(stream);
}

/**
 * names_writer_open() - make the file
 * @writer: prepared
 * @trace_path: of the trace, beside which the names go
 * @header: the trace's first buffer
 * @size: of @header
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_open(struct names_writer *writer, const char *trace_path,
		      const void *header, size_t size)
{
	int fd;

	if (asprintf(&writer->path, "%s%s", trace_path, NAMES_SUFFIX) < 0) {
		writer->path = NULL;
		message("%s", strerror(ENOMEM));
		return -1;
	}
	if (etl_attach(&writer->file, trace_path, header, size)) {
		message("%s: %s", trace_path, writer->file->error);
		return -1;
	}
	/* It tells where the kernel is in memory: what others may read is made anew. */
	if (unlink(writer->path) && errno != ENOENT) {
		message("%s: %s", writer->path, strerror(errno));
		return -1;
	}
	fd = open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	writer->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (!writer->stream) {
		message("%s: %s", writer->path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	write_boot(writer);
	return 0;
}

/* The symbol of the address, and the next one, which says where it ends. */
static void write_symbols(struct names_writer *writer, uint64_t address)
{
	struct names_address *known;
	struct names_symbol symbol;
	size_t index = names_index(writer->names, address);
	unsigned int i;

	for (i = 0; i < 2 && names_symbol_at(writer->names, index, &symbol); i++) {
		/* Of as many as the trace has. */
		hash_find_or_add(writer->addresses, address, &symbol.address, UINT_MAX, known);
		if (!known || !known->is_written) {
			fprintf(writer->stream, "%016" PRIx64 " %c %s%s%s\n", symbol.address,
				symbol.type, symbol.name, symbol.module ? "\t" : "",
				symbol.module ? symbol.module : "");
			if (known)
				known->is_written = true;
		}
		index = names_next_index(writer->names, index);
	}
}

static void resolve_addresses(struct names_writer *writer)
{
	struct names_lock *lock;
	size_t i;

	identities_read(&writer->identities, take_note, writer);
	for (i = 0; i < writer->unresolved_count; i++) {
		write_symbols(writer, writer->unresolved[i]);
		HASH_FIND(hh, writer->locks, &writer->unresolved[i], sizeof(uint64_t), lock);
		if (lock)
			write_notes(writer, lock);
	}
	writer->unresolved_count = 0;
}

static void write_threads(struct names_writer *writer, bool all)
{
	struct names_thread *thread;

	for (thread = writer->threads; thread; thread = thread->hh.next) {
		if (!thread->is_wanted)
			continue;
		if (all || (writer->updates != thread->seen &&
			    writer->updates - thread->seen <= YOUNG))
			read_thread(writer, thread);
		if (thread->is_written || !*thread->name)
			continue;
		fprintf(writer->stream, "thread %u %s\n", thread->id, thread->name);
		thread->is_written = true;
	}
}

/**
 * names_writer_update() - write what is new
 * @writer: of the trace
 */
void names_writer_update(struct names_writer *writer)
{
	look_for_modules(writer);
	writer->updates++;
	resolve_addresses(writer);
	write_threads(writer, false);
	fflush(writer->stream);
}

static void free_lock(struct names_lock *lock)
{
	size_t i;

	for (i = 0; i < lock->count; i++)
		free(lock->notes[i].class);
	free(lock->notes);
	free(lock->last);
	free(lock);
}

/**
 * names_writer_close() - the trace has ended
 * @writer: prepared, or zero
 *
 * Return: 0, or -1 after a message.
 */
int names_writer_close(struct names_writer *writer)
{
	struct names_address *address, *next_address;
	struct names_thread *thread, *next_thread;
	struct names_lock *lock, *next_lock;
	int err = 0;

	if (writer->stream) {
		resolve_addresses(writer);
		write_threads(writer, true);
		err = finish_output(writer->stream, writer->path);
		fclose(writer->stream);
	}
	HASH_ITER(hh, writer->addresses, address, next_address) {
		HASH_DEL(writer->addresses, address);
		free(address);
	}
	identities_close(&writer->identities);
	if (writer->left_out)
		message("%s: too many locks: %" PRIu64 " notes about their classes are left out",
			writer->path, writer->left_out);
	HASH_ITER(hh, writer->locks, lock, next_lock) {
		HASH_DEL(writer->locks, lock);
		free_lock(lock);
	}
	HASH_ITER(hh, writer->threads, thread, next_thread) {
		HASH_DEL(writer->threads, thread);
		free(thread);
	}
	etl_close(writer->file);
	names_free(writer->names);
	free(writer->unresolved);
	free(writer->modules);
	free(writer->path);
	return err;
}
