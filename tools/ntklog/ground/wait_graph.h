/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WAIT_GRAPH_H
#define _NTKLOG_WAIT_GRAPH_H

/*
 * A wait graph: tasks wait for locks, locks are held by tasks. Tasks of a cycle are deadlocked.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

/**
 * struct wait_task - a task that holds locks or waits for one
 * @thread_id: its id; the key
 * @name: its name; NULL: not known
 * @stack: lines of its stack, the innermost function first; NULL: not known
 * @frames: number of lines of @stack
 * @wait: the lock that it waits for; NULL: none
 * @blocker: a task that holds the lock of @wait; NULL: none is known
 * @is_stuck: no task that can run is known to release the lock of @wait
 * @cycle: number of the cycle that the task belongs to, from 1 on; 0: none
 * @walk: task at which the latest walk along @blocker that passed this task began; NULL: none
 * @hh: in the table of tasks
 */
struct wait_task {
	uint32_t thread_id;
	const char *name;
	const char **stack;
	size_t frames;
	const struct wait_slot *wait;
	struct wait_task *blocker;
	bool is_stuck;
	unsigned int cycle;
	const void *walk;
	UT_hash_handle hh;
};

/**
 * struct wait_slot - a lock that a task holds or waits for
 * @address: address of the lock
 * @kind: kind of the lock
 * @symbol: symbol of the lock, or NULL
 * @class: key of the lock's class, or the address of a lock that has none; 0: not set, as in the
 *	graph of ntklog held
 * @caller: function that acquires the lock, or NULL
 * @is_exclusive: the task is not a reader of the lock
 * @is_waiting: the task waits for the lock
 * @began_while_listing: the hold or wait began while the slots were listed. Another listed slot may
 *	have ended before that
 * @age_ns: time since the task acquired the lock, or began to wait for it
 * @contentions: number of waits that other tasks began while this task held the lock
 * @task: the task
 */
struct wait_slot {
	uint64_t address;
	const char *kind;
	const char *symbol;
	uint64_t class;
	const char *caller;
	bool is_exclusive;
	bool is_waiting;
	bool began_while_listing;
	uint64_t age_ns;
	uint32_t contentions;
	struct wait_task *task;
};

/**
 * struct wait_lock - a lock, with its slots
 * @slots: holders, then waiters, each the oldest first
 * @holders: number of holders
 * @waiters: number of waiters
 */
struct wait_lock {
	const struct wait_slot *slots;
	size_t holders;
	size_t waiters;
};

/**
 * struct wait_graph - the graph; all zero: empty
 * @slots: locks that tasks hold or wait for; by lock after wait_graph_finish()
 * @slot_count: number of @slots
 * @locks: the locks, those with the longest waits first; from wait_graph_finish() on
 * @lock_count: number of @locks
 * @contended: number of @locks that tasks wait for
 * @tasks: table of tasks
 * @cycles: number of cycles
 */
struct wait_graph {
	struct wait_slot *slots;
	size_t slot_count;
	struct wait_lock *locks;
	size_t lock_count;
	size_t contended;
	struct wait_task *tasks;
	unsigned int cycles;
};

struct wait_task *wait_graph_task(struct wait_graph *graph, uint32_t thread_id);
bool wait_graph_add(struct wait_graph *graph, const struct wait_slot *slot);
bool wait_graph_finish(struct wait_graph *graph);
const struct wait_task *wait_graph_cycle(const struct wait_graph *graph, unsigned int number);
void wait_graph_free(struct wait_graph *graph);

#endif /* _NTKLOG_WAIT_GRAPH_H */
