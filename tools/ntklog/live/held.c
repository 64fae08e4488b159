// SPDX-License-Identifier: GPL-2.0-only
/* Read the module's file held, and find the cycles of its wait graph. See held.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grow.h"
#include "held.h"
#include "kernel.h"
#include "macros.h"
#include "message.h"
#include "text.h"

#define FILE_NAME	"held"
#define HEADING		"Address Kind Mode State ThreadId Microseconds Waits Symbol Caller Task"

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* Read the whole file into held->text. Returns -1 after a message. */
static int read_text(struct held *held)
{
	char path[PATH_SIZE];
	FILE *stream;
	size_t room = 0;
	ssize_t length;
	int err;

	snprintf(path, sizeof(path), "%s/" FILE_NAME, kernel_directory());
	stream = fopen(path, "re");
	if (!stream) {
		err = errno;
		message("%s: %s", path, err == ENOENT ?
			"the loaded module has no such file: load a newer one" : strerror(err));
		return -1;
	}
	errno = 0;
	/* The file has no NUL. */
	length = getdelim(&held->text, &room, '\0', stream);
	err = errno;
	fclose(stream);
	if (length > 0)
		return 0;
	if (err == EPERM)
		message("%s: the kernel is locked down: it shows no addresses; load the module with addresses=hashed",
			path);
	else
		message("%s: %s", path, err ? strerror(err) : "is empty");
	return -1;
}

/* Cut a word, and a module in brackets behind it, from a line. Returns NULL at the line's end. */
static char *cut_symbol(char **line)
{
	char *word = *line, *end = strchr(word, ' '), *module;

	/* A task may have a name in brackets, but behind it the line has nothing. */
	if (end && end[1] == '[') {
		module = strchr(end, ']');
		if (module && module[1] == ' ')
			end = module + 1;
	}
	if (!end)
		return NULL;
	*end = '\0';
	*line = end + 1;
	return word;
}

static struct held_task *find_task(struct held *held, uint32_t thread_id, const char *name)
{
	struct held_task *task;

	hash_find_or_add(held->tasks, thread_id, &thread_id, UINT32_MAX, task);
	if (task)
		task->name = name;
	return task;
}

/* Parse a line of a lock. Returns 0, or a negative errno. */
static int parse_slot(struct held *held, char *line)
{
	char mode[16], state[16], *rest, *kind;
	struct held_slot slot, *slots;
	uint64_t age_us;
	uint32_t thread_id;
	int kind_at, kind_end, end = 0;

	if (sscanf(line, "0x%" SCNx64 " %n%*s%n %15s %15s %" SCNu32 " %" SCNu64 " %" SCNu32 " %n",
		   &slot.address, &kind_at, &kind_end, mode, state, &thread_id, &age_us,
		   &slot.contentions, &end) != 6 || !end)
		return -EINVAL;
	rest = line + end;
	kind = line + kind_at;
	line[kind_end] = '\0';
	slot.kind = kind;
	slot.symbol = cut_symbol(&rest);
	slot.caller = slot.symbol ? cut_symbol(&rest) : NULL;
	slot.is_exclusive = !strcmp(mode, "exclusive");
	slot.is_waiting = !strcmp(state, "waiting");
	slot.age_ns = age_us * 1000;
	if (!slot.caller)
		return -EINVAL;
	if (!strcmp(slot.symbol, "-"))
		slot.symbol = NULL;
	slot.task = find_task(held, thread_id, rest);
	slots = grown(held->slots, held->slot_count, sizeof(slot));
	if (!slot.task || !slots)
		return -ENOMEM;
	held->slots = slots;
	held->slots[held->slot_count++] = slot;
	return 0;
}

/* Parse all lines. Returns 0, or -1 after a message. */
static int parse_text(struct held *held)
{
	char *line, *next = held->text;
	size_t number, i;
	int err = 0;

	for (number = 1; !err && (line = strsep(&next, "\n")) && (*line || next); number++) {
		struct held_slot *last = held->slots + held->slot_count;
		const char **frames;

		text_clean(line);
		if (number == 1) {
			err = strcmp(line, HEADING) ? -EINVAL : 0;
		} else if (*line != '\t') {
			err = parse_slot(held, line);
		} else if (!held->slot_count) {
			err = -EINVAL;
		} else {
			frames = grown(held->frames, held->frame_count, sizeof(*frames));
			if (!frames) {
				err = -ENOMEM;
				break;
			}
			held->frames = frames;
			held->frames[held->frame_count++] = line + 1;
			last[-1].task->frames++;
		}
	}
	if (err) {
		message(FILE_NAME ": line %zu: %s", number - 1, err == -ENOMEM ? strerror(ENOMEM) :
			"is not understood: tool and module are of different versions");
		return -1;
	}
	for (i = 0; i < held->slot_count; i++) {
		if (held->slots[i].address)
			continue;
		message(FILE_NAME ": locks cannot be told apart without their addresses: load the module with addresses=hashed");
		return -1;
	}
	return 0;
}

/* Let tasks point to their stacks, which are in the order of the file, as the slots still are. */
static void find_stacks(struct held *held)
{
	const char **next = held->frames;
	size_t i;

	for (i = 0; i < held->slot_count; i++) {
		struct held_task *task = held->slots[i].task;

		if (!task->frames || task->stack)
			continue;
		task->stack = next;
		next += task->frames;
	}
}

static int compare_slots(const void *a, const void *b)
{
	const struct held_slot *left = a, *right = b;
	int kinds = strcmp(left->kind, right->kind);

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (kinds)
		return kinds;
	if (left->is_waiting != right->is_waiting)
		return left->is_waiting ? 1 : -1;
	if (left->age_ns != right->age_ns)
		return left->age_ns > right->age_ns ? -1 : 1;
	return left->task->thread_id < right->task->thread_id ? -1 : 1;
}

/* Sort locks by their longest wait, and those without waiters by their longest hold. */
static int compare_locks(const void *a, const void *b)
{
	const struct held_lock *left = a, *right = b;
	uint64_t left_age = left->slots[left->waiters ? left->holders : 0].age_ns;
	uint64_t right_age = right->slots[right->waiters ? right->holders : 0].age_ns;

	if (!left->waiters != !right->waiters)
		return left->waiters ? -1 : 1;
	if (left_age != right_age)
		return left_age > right_age ? -1 : 1;
	return left->slots < right->slots ? -1 : left->slots > right->slots;
}

/* Test whether a lock can have several exclusive holders. */
static bool is_semaphore(const struct held_slot *slot)
{
	return !strcmp(slot->kind, "semaphore");
}

/* Make the locks of the slots. Returns 0, or -1 after a message. */
static int make_locks(struct held *held)
{
	struct held_lock *lock = NULL;
	size_t i;

	held->locks = calloc(held->slot_count + 1, sizeof(*held->locks));
	if (!held->locks) {
		message(FILE_NAME ": %s", strerror(ENOMEM));
		return -1;
	}
	if (held->slot_count)
		qsort(held->slots, held->slot_count, sizeof(*held->slots), compare_slots);
	for (i = 0; i < held->slot_count; i++) {
		const struct held_slot *slot = &held->slots[i];

		if (!lock || lock->slots->address != slot->address ||
		    strcmp(lock->slots->kind, slot->kind)) {
			lock = &held->locks[held->lock_count++];
			lock->slots = slot;
		}
		/*
		 * All older holds have ended before an exclusive hold begins. The module
		 * still lists an older hold if another task released the lock.
		 */
		if (!slot->is_waiting && slot->is_exclusive && !is_semaphore(slot)) {
			lock->slots = slot;
			lock->holders = 0;
		}
		if (!slot->is_waiting) {
			lock->holders++;
			continue;
		}
		held->contended += !lock->waiters++;
		slot->task->wait = slot;
	}
	qsort(held->locks, held->lock_count, sizeof(*held->locks), compare_locks);
	return 0;
}

/*
 * Test whether a lock can become free for its waiters, and set the task that they wait for. One
 * release is enough for a waiter of a semaphore, all other locks need the release of all holders.
 */
static bool lock_can_be_released(const struct held_lock *lock, uint64_t read_ns,
				 struct held_task **blocker)
{
	bool needs_one = is_semaphore(lock->slots);
	size_t stuck = 0, i;

	*blocker = lock->holders ? lock->slots->task : NULL;
	for (i = 0; i < lock->holders; i++) {
		const struct held_slot *slot = &lock->slots[i];

		/* A younger hold may have begun after another line was written. */
		if (!slot->task->is_stuck || slot->age_ns < read_ns)
			continue;
		if (!stuck++)
			*blocker = slot->task;
	}
	return !stuck || (needs_one && stuck < lock->holders);
}

/*
 * Find the tasks that no known task can release. At first each waiting task is one. A task stops
 * to be one when its lock can become free.
 */
static void find_stuck_tasks(struct held *held, uint64_t read_ns)
{
	struct held_task *task;
	bool has_changed = true;
	size_t i, j;

	for (task = held->tasks; task; task = task->hh.next)
		task->is_stuck = task->wait && task->wait->age_ns >= read_ns;
	while (has_changed) {
		has_changed = false;
		for (i = 0; i < held->contended; i++) {
			const struct held_lock *lock = &held->locks[i];
			struct held_task *blocker;
			bool is_free = lock_can_be_released(lock, read_ns, &blocker);

			for (j = lock->holders; j < lock->holders + lock->waiters; j++) {
				task = lock->slots[j].task;
				if (task->wait == &lock->slots[j])
					task->blocker = blocker;
				has_changed |= is_free && task->is_stuck;
				task->is_stuck &= !is_free;
			}
		}
	}
}

/* Number the cycles. Each stuck task has a blocker that is stuck too. */
static void find_cycles(struct held *held)
{
	struct held_task *start, *task;

	for (start = held->tasks; start; start = start->hh.next) {
		if (!start->is_stuck || start->walk)
			continue;
		for (task = start; !task->walk; task = task->blocker)
			task->walk = start;
		if (task->walk != start)
			continue;
		held->cycles++;
		for (; !task->cycle; task = task->blocker)
			task->cycle = held->cycles;
	}
}

/**
 * held_read() - read the file held, and make the wait graph
 * @held: set to the graph
 *
 * The module writes the lines one after the other while the tasks go on. A cycle is found only if
 * its waits and holds are all older than the reading, so that they have existed at the same time.
 *
 * Return: 0, or -1 after a message; held_free() in both cases.
 */
int held_read(struct held *held)
{
	uint64_t start = monotonic_ns(), read_ns;

	*held = (struct held) { 0 };
	if (read_text(held))
		return -1;
	read_ns = monotonic_ns() - start;
	if (parse_text(held))
		return -1;
	find_stacks(held);
	if (make_locks(held))
		return -1;
	find_stuck_tasks(held, read_ns);
	find_cycles(held);
	return 0;
}

/**
 * held_free() - free the graph
 * @held: after held_read()
 */
void held_free(struct held *held)
{
	struct held_task *task, *next;

	HASH_ITER(hh, held->tasks, task, next) {
		HASH_DEL(held->tasks, task);
		free(task);
	}
	free(held->locks);
	free(held->slots);
	free(held->frames);
	free(held->text);
	*held = (struct held) { 0 };
}
