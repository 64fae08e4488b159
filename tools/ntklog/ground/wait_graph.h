/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WAIT_GRAPH_H
#define _NTKLOG_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

/*
 * A task that holds locks or waits for one.
 * @name: its name; NULL: not known
 * @stack: lines of its stack, the innermost function first; NULL: not known
 * @blocker: a task that holds the lock of @wait; NULL: none is known
 * @is_stuck: no task that can run is known to release the lock of @wait
 * @cycle: number of the cycle that the task belongs to, from 1 on; 0: none
 * @walk_start: task at which the latest walk along @blocker that passed this task began; NULL: none
 */
struct graph_task {
	uint32_t thread_id;
	const char *name;
	const char **stack;
	size_t frame_count;
	const struct graph_slot *wait;
	struct graph_task *blocker;
	bool is_stuck;
	unsigned int cycle;
	const void *walk_start;
	UT_hash_handle hh;
};

/*
 * A lock that a task holds or waits for.
 * @class: key of the lock's class, or the address of a lock that has none; 0: not set
 * @is_exclusive: the task is not a reader of the lock
 * @began_while_listing: the hold or wait began while the slots were listed. Another listed slot may
 *	have ended before that
 * @age_ns: time since the task acquired the lock, or began to wait for it
 * @contention_count: number of waits that other tasks began while this task held the lock
 */
struct graph_slot {
	uint64_t address;
	const char *kind;
	const char *symbol;
	uint64_t class;
	const char *caller;
	bool is_exclusive;
	bool is_waiting;
	bool began_while_listing;
	uint64_t age_ns;
	uint32_t contention_count;
	struct graph_task *task;
};

/* A lock. @slots: holders, then waiters, each the oldest first. */
struct graph_lock {
	const struct graph_slot *slots;
	size_t holder_count;
	size_t waiter_count;
};

/*
 * The graph; all zero: empty.
 * @slots: by lock after wait_graph_finish()
 * @locks: the locks, those with the longest waits first; from wait_graph_finish() on
 * @contended_count: number of locks that tasks wait for, the first ones of @locks
 */
struct wait_graph {
	struct graph_slot *slots;
	size_t slot_count;
	struct graph_lock *locks;
	size_t lock_count;
	size_t contended_count;
	struct graph_task *tasks;
	unsigned int cycle_count;
};

struct graph_task *wait_graph_find_task(struct wait_graph *graph, uint32_t thread_id);
bool wait_graph_add_slot(struct wait_graph *graph, const struct graph_slot *slot);
bool wait_graph_finish(struct wait_graph *graph);
const struct graph_task *wait_graph_find_cycle(const struct wait_graph *graph, unsigned int number);
void wait_graph_free(struct wait_graph *graph);

#endif /* _NTKLOG_WAIT_GRAPH_H */
