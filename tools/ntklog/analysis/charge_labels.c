// SPDX-License-Identifier: GPL-2.0-only
/* Names of waiters and holders, and of the places in which holders have no CPU. */

#include <stdio.h>
#include <string.h>

#include "charge_labels.h"
#include "macros.h"
#include "text.h"

/*
 * Greatest number of locks that the label of a chain names. Deadlocked tasks release no lock, so
 * they have no records, and no chain is endless.
 */
#define CHAIN_MAX	4

const char *const charge_attribute_names[CHARGE_ATTRIBUTES] = {
	[CHARGE_BY_CALLER] = "caller",
	[CHARGE_BY_FUNCTION] = "function",
	[CHARGE_BY_TASK] = "task",
	[CHARGE_BY_STACK] = "stack",
	[CHARGE_BY_THREAD] = "thread",
	[CHARGE_BY_PROCESS] = "process",
	[CHARGE_BY_CGROUP] = "cgroup",
	[CHARGE_BY_CPU] = "cpu",
	[CHARGE_BY_IRQL] = "irql",
};

/**
 * charge_find_attribute() - find an attribute by its name
 * @name: name of the attribute
 *
 * Return: the attribute, or CHARGE_ATTRIBUTES if none has that name.
 */
enum charge_attribute charge_find_attribute(const char *name)
{
	enum charge_attribute attribute;

	for (attribute = 0; attribute < CHARGE_ATTRIBUTES; attribute++)
		if (!strcmp(name, charge_attribute_names[attribute]))
			break;
	return attribute;
}

/* Prefixes of functions of locks, switches, tracing and interrupts, which explain no hold. */
static const char *const plumbing_prefixes[] = {
	"__mutex_unlock", "mutex_unlock", "up_", "__up", "up+", "downgrade_write",
	"ww_mutex_unlock", "rt_mutex", "percpu_up", "percpu_down", "__percpu", "down_", "__down",
	"rwsem_", "mutex_lock", "__mutex_lock", "ntklog", "ftrace", "arch_ftrace", "return_to",
	"__schedule", "schedule", "preempt_schedule", "__cond_resched", "__traceiter",
	"raw_irqentry", "irqentry", "_raw_", "do_raw_", "queued_",
};

static bool is_plumbing_function(const char *function)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plumbing_prefixes); i++)
		if (!strncmp(function, plumbing_prefixes[i], strlen(plumbing_prefixes[i])))
			return true;
	return false;
}

/* Name the innermost function without a prefix of plumbing. Returns false if there is none. */
static bool format_function(const struct names *names, const uint64_t *frames, char *text,
			    size_t size)
{
	unsigned int i;

	for (i = 0; frames && i < CHARGE_FRAMES_MAX && frames[i]; i++) {
		names_format_function(names, frames[i], text, size);
		if (!is_plumbing_function(text))
			return true;
	}
	return false;
}

static void format_stack(const struct names *names, const uint64_t *frames, char *text,
			 size_t size)
{
	char function[NAME_SIZE];
	size_t length = 0;
	unsigned int i;

	for (i = 0; i < CHARGE_FRAMES_MAX && frames[i] && length < size; i++) {
		names_format_function(names, frames[i], function, sizeof(function));
		length += snprintf(text + length, size - length, "%s%s", i ? " < " : "", function);
	}
}

static void format_task(const struct names *names, uint32_t thread_id, char *text, size_t size)
{
	const char *name = names_find_thread_name(names, thread_id);

	/* A longer name would leave no room for the function in a label. */
	if (size > NAME_SIZE)
		size = NAME_SIZE;
	if (name)
		snprintf(text, size, "%s", name);
	else if (!thread_id)
		snprintf(text, size, IDLE_NAME);
	else
		snprintf(text, size, "task %u", thread_id);
	/* snprintf() may have cut the name within a character. */
	text_clean(text);
}

static void format_thread(const struct names *names, uint32_t thread_id, char *text, size_t size)
{
	char task[NAME_SIZE];

	if (names_find_thread_name(names, thread_id)) {
		format_task(names, thread_id, task, sizeof(task));
		snprintf(text, size, "%u %s", thread_id, task);
	} else {
		snprintf(text, size, "%u", thread_id);
	}
}

static void format_process(const struct names *names, const struct charge_hold *hold, char *text,
			   size_t size)
{
	const char *name;
	uint32_t id;

	if (names_find_process(names, hold->thread_id, hold->log_time, &id, &name))
		snprintf(text, size, name ? "%u %s" : "%u", id, name);
	else
		snprintf(text, size, hold->thread_id ? "unknown process" : IDLE_NAME);
	/* snprintf() may have cut the name within a character. */
	text_clean(text);
}

static void format_cgroup(const struct names *names, const struct charge_hold *hold, char *text,
			  size_t size)
{
	const char *path = names_find_cgroup(names, hold->thread_id, hold->log_time);

	if (path)
		snprintf(text, size, "%s", path);
	else
		snprintf(text, size, hold->thread_id ? "unknown cgroup" : IDLE_NAME);
	/* snprintf() may have cut the path within a character. */
	text_clean(text);
}

/* Linux has no IRQLs: ntklog records the one that corresponds to the context of the release. */
static void format_irql(const struct charge_hold *hold, char *text, size_t size)
{
	static const char *const names[] = { "passive", "APC", "dispatch" };

	if (hold->irql < ARRAY_SIZE(names))
		snprintf(text, size, "IRQL %u (%s)", hold->irql, names[hold->irql]);
	else
		snprintf(text, size, "IRQL %u", hold->irql);
}

/**
 * charge_context_text() - tell in which context or way a lock was held
 * @hold: the hold
 *
 * Return: " (interrupt)", " (softirq)", " (reader)", or "".
 */
const char *charge_context_text(const struct charge_hold *hold)
{
	if (hold->in_interrupt)
		return " (interrupt)";
	if (hold->in_softirq)
		return " (softirq)";
	return hold->is_shared ? " (reader)" : "";
}

/**
 * charge_format_function() - name the function of a waiter or a holder
 * @names: names of functions, or NULL
 * @hold: the hold
 * @text: buffer for the name; "" if the file does not tell the function
 * @size: bytes of @text
 *
 * Return: false if the file does not tell the function.
 */
bool charge_format_function(const struct names *names, const struct charge_hold *hold, char *text,
			    size_t size)
{
	if ((hold->is_sleeping_lock || !hold->caller) &&
	    format_function(names, hold->frames, text, size))
		return true;
	*text = '\0';
	if (!hold->caller)
		return false;
	names_format_function(names, hold->caller, text, size);
	return true;
}

/**
 * charge_format_attribute() - tell an attribute of a waiter or a holder
 * @names: names of functions and tasks, or NULL
 * @attribute: the attribute
 * @hold: the hold
 * @text: buffer for the name
 * @size: bytes of @text
 */
void charge_format_attribute(const struct names *names, enum charge_attribute attribute,
			     const struct charge_hold *hold, char *text, size_t size)
{
	char function[NAME_SIZE], task[NAME_SIZE];

	if (attribute == CHARGE_BY_STACK && hold->frames && hold->frames[0]) {
		format_stack(names, hold->frames, text, size);
	} else if (attribute == CHARGE_BY_TASK) {
		format_task(names, hold->thread_id, text, size);
	} else if (attribute == CHARGE_BY_THREAD) {
		format_thread(names, hold->thread_id, text, size);
	} else if (attribute == CHARGE_BY_PROCESS) {
		format_process(names, hold, text, size);
	} else if (attribute == CHARGE_BY_CGROUP) {
		format_cgroup(names, hold, text, size);
	} else if (attribute == CHARGE_BY_CPU) {
		snprintf(text, size, "CPU %u", hold->cpu);
	} else if (attribute == CHARGE_BY_IRQL) {
		format_irql(hold, text, size);
	} else if (!charge_format_function(names, hold, function, sizeof(function))) {
		if (attribute == CHARGE_BY_FUNCTION)
			snprintf(text, size, "unknown function");
		else
			format_task(names, hold->thread_id, text, size);
	} else if (attribute == CHARGE_BY_FUNCTION || (hold->caller && !hold->is_sleeping_lock)) {
		snprintf(text, size, "%s", function);
	} else {
		format_task(names, hold->thread_id, task, sizeof(task));
		snprintf(text, size, "%s in %s", task, function);
	}
}

/**
 * charge_format_holder() - name a waiter or a holder
 * @names: names of functions and tasks, or NULL
 * @attribute: attribute that names them
 * @hold: the hold
 * @text: buffer for the name, which ends with charge_context_text()
 * @size: bytes of @text, at least NAME_SIZE; a longer name is cut before the context
 */
void charge_format_holder(const struct names *names, enum charge_attribute attribute,
			  const struct charge_hold *hold, char *text, size_t size)
{
	const char *context = charge_context_text(hold);

	charge_format_attribute(names, attribute, hold, text, size - strlen(context));
	strcat(text, context);
}

/*
 * Append "waiting for LOCK, held by TASK" for the lock that a task is blocked in, and for the locks
 * that its holder is blocked in. Returns the last absence of the chain; NULL if the last holder has
 * a CPU or is not known, or if the chain has CHAIN_MAX locks.
 */
static const struct charge_absence *format_chain(const struct names *names,
						 const struct charger *charger,
						 const struct charge_absence *absence, char *text,
						 size_t size)
{
	char class[NAME_SIZE], task[NAME_SIZE];
	const struct charge_hold *wait, *holder;
	size_t length, level;
	uint64_t middle;

	for (level = 0; absence && level < CHAIN_MAX; level++) {
		wait = charger_find_wait(charger, absence->thread_id, absence->from);
		if (!wait)
			return absence;
		names_format_address(names, wait->class, class, sizeof(class));
		length = strlen(text);
		snprintf(text + length, size - length, "%swaiting for %s", level ? ", " : "",
			 class);
		middle = wait->wait_start + (wait->acquire_time - wait->wait_start) / 2;
		holder = charger_find_holder(charger, wait, middle);
		if (!holder)
			return NULL;
		format_task(names, holder->thread_id, task, sizeof(task));
		length = strlen(text);
		snprintf(text + length, size - length, CHARGE_HELD_BY "%s", task);
		absence = charger_find_absence(charger, holder->thread_id, middle);
	}
	return NULL;
}

/**
 * charge_format_absence() - name the place in which a task has no CPU
 * @names: names of functions and tasks, or NULL
 * @charger: holds that the task may wait for; NULL: name the function alone
 * @absence: the time without a CPU
 * @text: buffer for the name
 * @size: bytes of @text
 *
 * Return: false if the file does not tell the place.
 */
bool charge_format_absence(const struct names *names, const struct charger *charger,
			   const struct charge_absence *absence, char *text, size_t size)
{
	const struct charge_absence *last = absence;
	char function[NAME_SIZE];
	size_t length;

	*text = '\0';
	if (charger)
		last = format_chain(names, charger, absence, text, size);
	length = strlen(text);
	if (last && format_function(names, last->frames, function, sizeof(function)))
		snprintf(text + length, size - length, "%sin %s", length ? " " : "", function);
	/* snprintf() may have cut a name within a character. */
	text_clean(text);
	return *text;
}
