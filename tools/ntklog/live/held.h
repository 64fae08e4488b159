/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HELD_H
#define _NTKLOG_HELD_H

/*
 * The module's file held as a wait graph: tasks wait for locks, locks are held by tasks. Tasks of a
 * cycle are deadlocked.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

/**
 * struct held_task - a task that holds locks or waits for one
 * @thread_id: its id; the key
 * @name: its name
 * @stack: lines of its stack, the innermost function first; NULL: not known
 * @frames: number of lines of @stack
 * @wait: the lock that it waits for; NULL: none
 * @blocker: a task that holds the lock of @wait; NULL: none is known
 * @is_stuck: no task that can run is known to release the lock of @wait
 * @cycle: number of the cycle that the task belongs to, from 1 on; 0: none
 * @walk: where the latest walk along the blockers that has passed the task began
 * @hh: in the table of tasks
 */
struct held_task {
	uint32_t thread_id;
	const char *name;
	const char **stack;
	size_t frames;
	const struct held_slot *wait;
	struct held_task *blocker;
	bool is_stuck;
	unsigned int cycle;
	const void *walk;
	UT_hash_handle hh;
};

/**
 * struct held_slot - a lock that a task holds or waits for
 * @address: address of the lock
 * @kind: kind of the lock
 * @symbol: symbol of the lock, or NULL
 * @caller: function that acquires the lock
 * @is_exclusive: not as a reader
 * @is_waiting: the task waits for the lock
 * @age_ns: how long the task has held the lock, or has waited for it
 * @contentions: number of waits that other tasks began while this task held the lock
 * @task: the task
 */
struct held_slot {
	uint64_t address;
	const char *kind;
	const char *symbol;
	const char *caller;
	bool is_exclusive;
	bool is_waiting;
	uint64_t age_ns;
	uint32_t contentions;
	struct held_task *task;
};

/**
 * struct held_lock - a lock, with its slots
 * @slots: holders, then waiters, each the oldest first
 * @holders: number of holders
 * @waiters: number of waiters
 */
struct held_lock {
	const struct held_slot *slots;
	size_t holders;
	size_t waiters;
};

/**
 * struct held - the wait graph
 * @text: the file, into which the other strings point
 * @frames: lines of all stacks
 * @frame_count: number of @frames
 * @slots: locks that tasks hold or wait for, by lock
 * @slot_count: number of @slots
 * @locks: the locks, those with the longest waits first
 * @lock_count: number of @locks
 * @contended: number of @locks that tasks wait for
 * @tasks: table of tasks
 * @cycles: number of cycles
 */
struct held {
	char *text;
	const char **frames;
	size_t frame_count;
	struct held_slot *slots;
	size_t slot_count;
	struct held_lock *locks;
	size_t lock_count;
	size_t contended;
	struct held_task *tasks;
	unsigned int cycles;
};

int held_read(struct held *held);
void held_free(struct held *held);

#endif /* _NTKLOG_HELD_H */
