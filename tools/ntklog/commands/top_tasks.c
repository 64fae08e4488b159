// SPDX-License-Identifier: GPL-2.0-only

#include <ntklog/event.h>

#include "event_type.h"
#include "top.h"
#include "wmi_record.h"

/* If an interval ends with more tasks, or names of tasks, than this, all names are read anew. */
#define TASKS_KEPT	65536

/* Greatest number of tasks, and of names of tasks. Further tasks have no names. */
#define TASKS_MAX	(4 * TASKS_KEPT)

/* Seconds between two readings of the names of young tasks, which may change. */
#define NAMES_INTERVAL_S	1

static void take_name(void *argument, const struct thread_name *thread)
{
	struct top *top = argument;

	if (top->task_name_count >= TASKS_MAX)
		return;
	/* Without memory the task has no name. */
	names_set_thread(&top->live_sums.symbols.names, thread);
	top->task_name_count++;
}

static void forget_tasks(struct top *top)
{
	task_names_free(&top->task_names);
	names_forget_threads(top->live_sums.symbols.names);
	top->task_names = (struct task_names) { 0 };
	top->task_name_count = 0;
}

/**
 * top_tasks_prepare() - read the names of all tasks, if the next interval needs them
 * @top: between two intervals, because the sums of an interval point to names
 */
void top_tasks_prepare(struct top *top)
{
	/* Tasks come and go, and their numbers with them. */
	if (top->task_names.on_name &&
	    (!top->view.has_waiters || top->task_name_count > TASKS_KEPT ||
	     task_names_count(&top->task_names) > TASKS_KEPT))
		forget_tasks(top);
	if (!top->view.has_waiters || top->task_names.on_name)
		return;
	top->task_names.on_name = take_name;
	top->task_names.argument = top;
	task_names_prepare(&top->task_names);
}

/**
 * top_tasks_take_event() - find the names of the task of an event before the event is summed up
 * @argument: the struct top, prepared
 * @event: the event
 */
void top_tasks_take_event(void *argument, const struct etl_event *event)
{
	struct top *top = argument;
	const struct event_type *type = event_type_find(event);
	struct resource_record resource;
	struct spinlock_record spinlock;

	if (!top->task_names.on_name || task_names_count(&top->task_names) >= TASKS_MAX || !type ||
	    !event_has_size(event, type))
		return;
	if (event->hook_id == PERFINFO_LOG_TYPE_SPINLOCK) {
		spinlock_record_read(&spinlock, event);
		task_names_add(&top->task_names, spinlock.thread_id);
	} else if (event->hook_id == PERFINFO_LOG_TYPE_RESOURCE) {
		resource_record_read(&resource, event);
		task_names_add(&top->task_names, resource.thread_id);
	}
	task_names_give_new(&top->task_names);
}

/**
 * top_tasks_read_notes() - read the module's notes about tasks, and new names of young tasks
 * @argument: the struct top, prepared or not
 */
void top_tasks_read_notes(void *argument)
{
	struct top *top = argument;

	if (!top->task_names.on_name)
		return;
	task_names_read_notes(&top->task_names);
	if (read_monotonic_seconds() < top->next_names_time)
		return;
	top->next_names_time = read_monotonic_seconds() + NAMES_INTERVAL_S;
	task_names_update(&top->task_names);
}

/**
 * top_tasks_free() - free the names of tasks
 * @top: prepared or not
 */
void top_tasks_free(struct top *top)
{
	if (top->task_names.on_name)
		forget_tasks(top);
}
