// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ntklog/event.h>

#include "answer_open.h"

/* Number of locks held at the end that the answer shows. */
#define OPEN_HOLDS_NAMED_MAX	3

/* Tasks of a deadlock that are shown. */
#define DEADLOCK_TASKS	3

/* Format when a hold or wait began, which may have been before the session. */
static void format_since(const struct report *report, uint64_t since, char *text, size_t size)
{
	if (since < report->file->start_clock)
		snprintf(text, size, "since before the start");
	else
		snprintf(text, size, "since %.3fs", etl_seconds(report->file, since));
}

static void add_open_hold(struct answer *answer, const struct open_hold *hold)
{
	const struct report *report = answer->report;
	char name[NAME_SIZE], since[64];
	char phrases[2][ANSWER_PHRASE_SIZE];
	const struct charge_hold holder = {
		.caller = hold->event.caller,
		.thread_id = hold->event.thread_id,
		.is_sleeping_lock = true,
		.is_shared = open_hold_is_shared(&hold->event),
	};

	names_format_address(report->names, hold->class, name, sizeof(name));
	format_since(report, hold->event.since, since, sizeof(since));
	if (!hold->holder_count) {
		answer_add_line(answer, "Held at the end by an unknown task, %zu wait%s %s: %s",
				hold->waiter_count, hold->waiter_count == 1 ? "s" : "", since,
				name);
		return;
	}
	snprintf(phrases[0], sizeof(phrases[0]), "Held at the end, %s, %zu wait%s: %s", since,
		 hold->waiter_count, hold->waiter_count == 1 ? "s" : "", name);
	memcpy(phrases[1], "by ", 3);
	charge_format_holder(report->names, CHARGE_BY_CALLER, &holder, phrases[1] + 3,
			     sizeof(phrases[1]) - 3);
	answer_add_phrases(answer, phrases, ARRAY_SIZE(phrases));
}

/*
 * Test whether entry @i gets a line: a hold that others wait for, or, if the holder of a lock is
 * not known, the first waiter.
 */
static bool hold_has_line(const struct open_holds *open_holds, size_t i)
{
	const struct open_hold *hold = &open_holds->entries[i];

	if (!hold->waiter_count || !hold->is_wanted)
		return false;
	if (hold->holder_count)
		return !open_hold_is_waiting(&hold->event);
	return !i || hold[-1].event.lock != hold->event.lock;
}

/**
 * answer_add_open_holds() - name the locks that were held at the end and waited for
 * @answer: the answer
 *
 * The oldest come first.
 */
void answer_add_open_holds(struct answer *answer)
{
	const struct open_holds *open_holds = &answer->report->analysis->open_holds;
	const struct open_hold *oldest[OPEN_HOLDS_NAMED_MAX] = { NULL };
	size_t others = 0, i, at;

	for (i = 0; i < open_holds->count; i++) {
		const struct open_hold *hold = &open_holds->entries[i];

		if (!hold_has_line(open_holds, i))
			continue;
		others += !!oldest[OPEN_HOLDS_NAMED_MAX - 1];
		for (at = OPEN_HOLDS_NAMED_MAX;
		     at && (!oldest[at - 1] || oldest[at - 1]->event.since > hold->event.since);
		     at--) {
			if (at < OPEN_HOLDS_NAMED_MAX)
				oldest[at] = oldest[at - 1];
			oldest[at - 1] = hold;
		}
	}
	for (i = 0; i < OPEN_HOLDS_NAMED_MAX && oldest[i]; i++)
		add_open_hold(answer, oldest[i]);
	if (others || open_holds->dropped_count)
		answer_add_line(answer,
				"Held at the end: %" PRIu64 " more, in dump's NtklogOpenHold.",
				others + open_holds->dropped_count);
}

/* Test whether a task of a deadlock waits for a lock that is summed up. */
static bool deadlock_is_wanted(const struct open_holds *open_holds, const struct graph_task *first)
{
	const struct graph_task *task = first;

	do {
		size_t i;

		for (i = 0; i < open_holds->count; i++)
			if (open_holds->entries[i].is_wanted &&
			    open_holds->entries[i].event.lock == task->wait->address)
				return true;
		task = task->blocker;
	} while (task != first);
	return false;
}

static void add_deadlock(struct answer *answer, const struct graph_task *first)
{
	char phrases[2 * DEADLOCK_TASKS + 1][ANSWER_PHRASE_SIZE];
	char name[NAME_SIZE], lock[NAME_SIZE];
	const struct report *report = answer->report;
	const struct graph_task *task = first;
	size_t count = 0, others = 0;

	answer_format_task(report, task->thread_id, name, sizeof(name));
	names_format_address(report->names, task->wait->class, lock, sizeof(lock));
	snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "Deadlock: %s waits for %s", name, lock);
	do {
		task = task->blocker;
		if (count >= 2 * DEADLOCK_TASKS) {
			others++;
			continue;
		}
		answer_format_task(report, task->thread_id, name, sizeof(name));
		snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "held by %s", name);
		names_format_address(report->names, task->wait->class, lock, sizeof(lock));
		if (task != first && count < 2 * DEADLOCK_TASKS)
			snprintf(phrases[count++], ANSWER_PHRASE_SIZE, "which waits for %s", lock);
	} while (task != first);
	if (others)
		snprintf(phrases[count++], ANSWER_PHRASE_SIZE,
			 "which is deadlocked with %zu more tasks (--json)", others);
	answer_add_phrases(answer, phrases, count);
}

/**
 * answer_add_deadlocks() - name the tasks that waited for each other when the recording ended
 * @answer: the answer
 *
 * Only the first deadlock is described. The others are counted, to leave lines for the locks.
 */
void answer_add_deadlocks(struct answer *answer)
{
	const struct open_holds *open_holds = &answer->report->analysis->open_holds;
	unsigned int wanted = 0, cycle;

	for (cycle = 1; cycle <= open_holds->graph.cycle_count; cycle++) {
		const struct graph_task *first = wait_graph_find_cycle(&open_holds->graph, cycle);

		if (deadlock_is_wanted(open_holds, first) && !wanted++)
			add_deadlock(answer, first);
	}
	if (wanted > 1)
		answer_add_line(answer, "Deadlocks: %u more, in --json.", wanted - 1);
}

/**
 * answer_open_holds_json() - make the list of locks that tasks held or waited for at the end
 * @report: report of the file
 *
 * Return: the list, or NULL without memory.
 */
json_t *answer_open_holds_json(const struct report *report)
{
	const struct open_holds *open_holds = &report->analysis->open_holds;
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < open_holds->count; i++) {
		const struct open_hold *hold = &open_holds->entries[i];
		const struct ntklog_open_hold *event = &hold->event;
		const char *task = names_find_thread_name(report->names, event->thread_id);
		char name[NAME_SIZE], caller[NAME_SIZE];

		if (!hold->is_wanted)
			continue;
		names_format_address(report->names, hold->class, name, sizeof(name));
		names_format_function(report->names, event->caller, caller, sizeof(caller));
		json_array_append_new(array,
				      json_pack("{s:s, s:s, s:b, s:b, s:I, s:s, s:f, s:I}", "lock",
						name, "caller", caller, "waiting",
						open_hold_is_waiting(event), "reader",
						open_hold_is_shared(event), "thread",
						(json_int_t)event->thread_id, "task",
						task ? task : "", "since",
						etl_seconds(report->file, event->since), "waiters",
						(json_int_t)hold->waiter_count));
	}
	return array;
}

static json_t *deadlock_json(const struct report *report, const struct graph_task *first)
{
	const struct graph_task *task = first;
	json_t *array = json_array();

	do {
		const char *name = names_find_thread_name(report->names, task->thread_id);
		const char *holder =
			names_find_thread_name(report->names, task->blocker->thread_id);
		char lock[NAME_SIZE];

		names_format_address(report->names, task->wait->class, lock, sizeof(lock));
		json_array_append_new(array,
				      json_pack("{s:I, s:s, s:s, s:s, s:f, s:I, s:s}", "thread",
						(json_int_t)task->thread_id, "task",
						name ? name : "", "lock", lock, "kind",
						task->wait->kind, "age_ns",
						(double)task->wait->age_ns, "holder_thread",
						(json_int_t)task->blocker->thread_id,
						"holder_task", holder ? holder : ""));
		task = task->blocker;
	} while (task != first);
	return array;
}

/**
 * answer_deadlocks_json() - make the list of deadlocks at the end
 * @report: report of the file
 *
 * Return: the list, or NULL without memory.
 */
json_t *answer_deadlocks_json(const struct report *report)
{
	const struct open_holds *open_holds = &report->analysis->open_holds;
	json_t *array = json_array();
	unsigned int cycle;

	for (cycle = 1; cycle <= open_holds->graph.cycle_count; cycle++) {
		const struct graph_task *first = wait_graph_find_cycle(&open_holds->graph, cycle);

		if (deadlock_is_wanted(open_holds, first))
			json_array_append_new(array, deadlock_json(report, first));
	}
	return array;
}
