// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "wait_graph.h"

/**
 * wait_graph_find_task() - find or add a task
 * @graph: the graph
 * @thread_id: id of the task
 *
 * Return: the task, or NULL without memory.
 */
struct graph_task *wait_graph_find_task(struct wait_graph *graph, uint32_t thread_id)
{
	struct graph_task *task;

	hash_find_or_add(graph->tasks, thread_id, &thread_id, UINT32_MAX, task);
	return task;
}

/**
 * wait_graph_add_slot() - add a lock that a task holds or waits for
 * @graph: the graph, before wait_graph_finish()
 * @slot: the lock
 *
 * Return: false without memory.
 */
bool wait_graph_add_slot(struct wait_graph *graph, const struct graph_slot *slot)
{
	struct graph_slot *slots = grow_by_one(graph->slots, graph->slot_count, sizeof(*slot));

	if (!slots)
		return false;
	graph->slots = slots;
	graph->slots[graph->slot_count++] = *slot;
	return true;
}

static int compare_slots(const void *a, const void *b)
{
	const struct graph_slot *left = a, *right = b;
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
	const struct graph_lock *left = a, *right = b;
	uint64_t left_age = left->slots[left->waiter_count ? left->holder_count : 0].age_ns;
	uint64_t right_age = right->slots[right->waiter_count ? right->holder_count : 0].age_ns;

	if (!left->waiter_count != !right->waiter_count)
		return left->waiter_count ? -1 : 1;
	if (left_age != right_age)
		return left_age > right_age ? -1 : 1;
	return left->slots < right->slots ? -1 : left->slots > right->slots;
}

/* Test whether a lock can have several exclusive holders. */
static bool is_semaphore(const struct graph_slot *slot)
{
	return !strcmp(slot->kind, "semaphore");
}

/* Make the locks of the slots. */
static bool make_locks(struct wait_graph *graph)
{
	struct graph_lock *lock = NULL;
	size_t i;

	graph->locks = calloc(graph->slot_count + 1, sizeof(*graph->locks));
	if (!graph->locks)
		return false;
	if (graph->slot_count)
		qsort(graph->slots, graph->slot_count, sizeof(*graph->slots), compare_slots);
	for (i = 0; i < graph->slot_count; i++) {
		const struct graph_slot *slot = &graph->slots[i];

		if (!lock || lock->slots->address != slot->address ||
		    strcmp(lock->slots->kind, slot->kind)) {
			lock = &graph->locks[graph->lock_count++];
			lock->slots = slot;
		}
		/*
		 * An exclusive hold begins after all older holds have ended. The module may still
		 * list an older hold if another task released the lock.
		 */
		if (!slot->is_waiting && slot->is_exclusive && !is_semaphore(slot)) {
			lock->slots = slot;
			lock->holder_count = 0;
		}
		if (!slot->is_waiting) {
			lock->holder_count++;
			continue;
		}
		graph->contended_count += !lock->waiter_count++;
		slot->task->wait = slot;
	}
	qsort(graph->locks, graph->lock_count, sizeof(*graph->locks), compare_locks);
	return true;
}

/*
 * Test whether a lock can become free for its waiters, and set a task that they wait for. One
 * release is enough for a waiter of a semaphore; the other kinds are taken to need the release of
 * all holders.
 */
static bool lock_can_be_released(const struct graph_lock *lock,
				 struct graph_task **blocker)
{
	bool one_holder_suffices = is_semaphore(lock->slots);
	size_t stuck_count = 0, i;

	*blocker = lock->holder_count ? lock->slots->task : NULL;
	for (i = 0; i < lock->holder_count; i++) {
		const struct graph_slot *slot = &lock->slots[i];

		/* The wait of its task may have ended before a hold that began while listing. */
		if (!slot->task->is_stuck || slot->began_while_listing)
			continue;
		if (!stuck_count++)
			*blocker = slot->task;
	}
	return !stuck_count || (one_holder_suffices && stuck_count < lock->holder_count);
}

/*
 * Find the tasks whose wait no known task can end. At first take each waiting task for stuck,
 * unless its wait began while the slots were listed. A task is not stuck any more when its lock
 * can be released.
 */
static void find_stuck_tasks(struct wait_graph *graph)
{
	struct graph_task *task;
	bool has_changed = true;
	size_t i, j;

	for (task = graph->tasks; task; task = task->hh.next)
		task->is_stuck = task->wait && !task->wait->began_while_listing;
	while (has_changed) {
		has_changed = false;
		for (i = 0; i < graph->contended_count; i++) {
			const struct graph_lock *lock = &graph->locks[i];
			struct graph_task *blocker;
			bool is_free = lock_can_be_released(lock, &blocker);

			for (j = lock->holder_count; j < lock->holder_count + lock->waiter_count;
			     j++) {
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
static void find_cycles(struct wait_graph *graph)
{
	struct graph_task *start, *task;

	for (start = graph->tasks; start; start = start->hh.next) {
		if (!start->is_stuck || start->walk_start)
			continue;
		for (task = start; !task->walk_start; task = task->blocker)
			task->walk_start = start;
		if (task->walk_start != start)
			continue;
		graph->cycle_count++;
		for (; !task->cycle; task = task->blocker)
			task->cycle = graph->cycle_count;
	}
}

/**
 * wait_graph_finish() - sort the slots by lock, and find the cycles
 * @graph: the graph, to which nothing is added any more
 *
 * The slots were listed one after the other while the tasks ran. Waits and holds that began
 * meanwhile are in no cycle.
 *
 * Return: false without memory.
 */
bool wait_graph_finish(struct wait_graph *graph)
{
	if (!make_locks(graph))
		return false;
	find_stuck_tasks(graph);
	find_cycles(graph);
	return true;
}

/**
 * wait_graph_find_cycle() - find a task of a cycle
 * @graph: finished graph
 * @number: number of the cycle, from 1 on
 *
 * Return: the task, from which the blockers lead through the cycle.
 */
const struct graph_task *wait_graph_find_cycle(const struct wait_graph *graph, unsigned int number)
{
	const struct graph_task *task = graph->tasks;

	while (task->cycle != number)
		task = task->hh.next;
	return task;
}

/**
 * wait_graph_free() - free the graph
 * @graph: all zero afterwards
 */
void wait_graph_free(struct wait_graph *graph)
{
	struct graph_task *task;

	while ((task = hash_take_first(graph->tasks)))
		free(task);
	free(graph->locks);
	free(graph->slots);
	*graph = (struct wait_graph) { 0 };
}
