// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/event.h>
#include <ntklog/group_mask.h>

#include "kernel.h"
#include "macros.h"
#include "message.h"
#include "session.h"

#define GROUP(_name, _mask, _help, _linux_kind) \
	{ _name, #_mask, _mask, _help, _linux_kind, false }

#define SLEEPING(_kind, _mask, _what) \
	{ "linux_" _kind, #_mask, _mask, _what ": a sample of the releases, and excessive waits", \
	  _kind, true }

const struct session_group session_groups[] = {
	GROUP("spinlock", PERF_SPINLOCK, "a sample of the releases of spin locks", NULL),
	GROUP("resource", PERF_SYNC_OBJECTS,
	      "executive resources: a sample of the releases, and excessive waits", NULL),
	GROUP("contextswap", PERF_CONTEXT_SWITCH, "context switches, all of them", NULL),
	GROUP("readythread", PERF_DISPATCHER, "wake-ups of tasks, all of them, with the waker",
	      NULL),
	GROUP("spinlock_counters", PERF_SPINLOCK_CNTRS,
	      "no events; the counters of spin locks are kept up to date", NULL),
	GROUP("linux_spinlock", PERF_LINUX_SPINLOCK,
	      "a sample of the releases of Linux' own spin locks", "spinlock"),
	GROUP("linux_rwlock", PERF_LINUX_RWLOCK,
	      "a sample of the releases of Linux' own rwlocks", "rwlock"),
	SLEEPING("mutex", PERF_LINUX_MUTEX, "Linux' own mutexes"),
	SLEEPING("rwsem", PERF_LINUX_RWSEM, "Linux' own rw_semaphores"),
	SLEEPING("semaphore", PERF_LINUX_SEMAPHORE, "Linux' own semaphores"),
	SLEEPING("rt_mutex", PERF_LINUX_RT_MUTEX, "Linux' own rt_mutexes"),
	SLEEPING("percpu_rwsem", PERF_LINUX_PERCPU_RWSEM,
		 "Linux' own percpu_rw_semaphores, of readers the waits"),
	SLEEPING("ww_mutex", PERF_LINUX_WW_MUTEX, "Linux' own ww_mutexes"),
};

const size_t session_group_count = ARRAY_SIZE(session_groups);

/* Trouble of a group of Linux' locks that the module has no line for. */
static const char events_not_known_text[] = "the loaded module does not know these events";

static const struct session_group *find_group(const char *name)
{
	size_t i;

	for (i = 0; i < session_group_count; i++)
		if (!strcmp(name, session_groups[i].name) ||
		    !strcmp(name, session_groups[i].mask_name))
			return &session_groups[i];
	return NULL;
}

/**
 * session_mask_has() - test whether a mask has a group
 * @mask: the mask
 * @group: PERF_*
 *
 * Return: true if the mask has any bit of the group.
 */
bool session_mask_has(const struct perfinfo_groupmask *mask, uint32_t group)
{
	return mask->masks[PERF_MASK_INDEX(group)] & PERF_MASK_BITS(group);
}

/**
 * session_explain_kind() - find out why Linux' locks of a kind cannot be recorded
 * @kind: name of the kind, as the file "linux" has it
 * @text: buffer for the module's answer
 *
 * Return: the reason; NULL if they can be recorded.
 */
const char *session_explain_kind(const char *kind, char text[KERNEL_TEXT])
{
	size_t length = strlen(kind);
	char *next = text, *line;

	if (kernel_read(text, KERNEL_TEXT, "linux"))
		return events_not_known_text;
	while ((line = strsep(&next, "\n"))) {
		if (strncmp(line, kind, length) || strncmp(line + length, ": ", 2))
			continue;
		line += length + 2;
		return strncmp(line, "on", 2) && strncmp(line, "off", 3) ? line : NULL;
	}
	return events_not_known_text;
}

/**
 * session_explain_group() - find out why the events of a group cannot be recorded
 * @group: the group
 * @text: buffer for the module's answer
 *
 * Return: the reason; NULL if the events can be recorded, or are not those of Linux' locks.
 */
const char *session_explain_group(const struct session_group *group, char text[KERNEL_TEXT])
{
	return group->linux_kind ? session_explain_kind(group->linux_kind, text) : NULL;
}

/**
 * session_find_unknown_group() - find a group that the loaded module does not know
 * @groups: names, separated by commas, that have been checked
 *
 * Return: name of the first such group, or NULL.
 */
const char *session_find_unknown_group(const char *groups)
{
	struct perfinfo_groupmask mask;
	char text[KERNEL_TEXT];
	size_t i;

	if (session_parse_groups(groups, &mask))
		return NULL;
	for (i = 0; i < session_group_count; i++)
		if (session_mask_has(&mask, session_groups[i].mask) &&
		    session_explain_group(&session_groups[i], text) == events_not_known_text)
			return session_groups[i].name;
	return NULL;
}

/**
 * session_list_possible_groups() - list the groups of all locks that the running kernel allows
 * @groups: set to the names, separated by commas
 * @size: bytes of @groups
 * @with_sleeping_locks: list Linux' locks that sleep, too
 *
 * A kind that failed at an earlier start is tried again.
 *
 * Return: true if kinds that sleep are possible, listed or not.
 */
bool session_list_possible_groups(char *groups, size_t size, bool with_sleeping_locks)
{
	bool can_sleep = false;
	char text[KERNEL_TEXT];
	const char *trouble;
	size_t i;

	snprintf(groups, size, "spinlock,resource");
	for (i = 0; i < session_group_count; i++) {
		if (!session_groups[i].linux_kind)
			continue;
		trouble = session_explain_group(&session_groups[i], text);
		if (trouble && strncmp(trouble, "failed: ", 8))
			continue;
		can_sleep |= session_groups[i].is_sleeping_kind;
		if (with_sleeping_locks || !session_groups[i].is_sleeping_kind)
			snprintf(groups + strlen(groups), size - strlen(groups), ",%s",
				 session_groups[i].name);
	}
	return can_sleep;
}

/**
 * session_default_groups() - choose the groups for a user who names none
 *
 * Unless the mode is full, Linux' locks that sleep are left out: each mode tracks them in full.
 *
 * Return: names, separated by commas.
 */
const char *session_default_groups(void)
{
	static char groups[SESSION_GROUPS_SIZE];
	char mode[KERNEL_TEXT];
	bool is_full = kernel_read(mode, sizeof(mode), "linux_mode") || !strcmp(mode, "full");

	if (session_list_possible_groups(groups, sizeof(groups), is_full) && !is_full)
		message("mode %s: Linux' locks that sleep are not recorded, for every mode tracks them in full (-e records them)",
			mode);
	return groups;
}

/**
 * session_parse_groups() - turn names of groups into a mask
 * @groups: names, separated by commas
 * @mask: set to the mask
 *
 * Return: 0, or -1 after a message.
 */
int session_parse_groups(const char *groups, struct perfinfo_groupmask *mask)
{
	char *copy = strdup(groups), *next = copy, *name;
	int err = copy ? 0 : -1;

	if (err)
		message("no memory for the names of events");
	*mask = (struct perfinfo_groupmask) { 0 };
	while (!err && (name = strsep(&next, ","))) {
		const struct session_group *group = find_group(name);

		if (group) {
			mask->masks[PERF_MASK_INDEX(group->mask)] |= PERF_MASK_BITS(group->mask);
			continue;
		}
		message("no events are called \"%s\": see ntklog list", name);
		err = -1;
	}
	free(copy);
	return err;
}

/**
 * session_groups_include() - test whether a group is among the named ones
 * @groups: names, separated by commas, that have been checked
 * @group: PERF_*
 *
 * Return: true if any bit of the group is.
 */
bool session_groups_include(const char *groups, uint32_t group)
{
	struct perfinfo_groupmask mask;

	return !session_parse_groups(groups, &mask) && session_mask_has(&mask, group);
}

/**
 * session_groups_have_events() - test whether the named groups have events
 * @groups: names, separated by commas, that have been checked
 *
 * Return: false if all groups have counters alone.
 */
bool session_groups_have_events(const char *groups)
{
	size_t i;

	for (i = 0; i < session_group_count; i++)
		if (session_groups[i].mask != PERF_SPINLOCK_CNTRS &&
		    session_groups_include(groups, session_groups[i].mask))
			return true;
	return false;
}

/**
 * session_parse_number() - read the number of a session
 * @text: decimal number
 *
 * Return: the number; -1 if it is none or there is no such session.
 */
int session_parse_number(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return end != text && !*end && number >= 0 && number < KERNEL_SESSIONS ? (int)number : -1;
}

/**
 * session_parse_stacks() - read the names of events that carry a stack
 * @text: names, separated by commas; NULL: all events
 * @stacks: set to NTKLOG_STACKS_*
 *
 * Return: 0, or -1 after a message.
 */
int session_parse_stacks(const char *text, uint32_t *stacks)
{
	static const struct {
		const char *name;
		uint32_t stacks;
	} events[] = {
		{ "spinlock", NTKLOG_STACKS_SPINLOCK },
		{ "resource", NTKLOG_STACKS_RESOURCE },
		{ "contextswap", NTKLOG_STACKS_CONTEXTSWAP },
	};
	size_t length, i;

	*stacks = text ? 0 : NTKLOG_STACKS_SPINLOCK | NTKLOG_STACKS_RESOURCE |
			     NTKLOG_STACKS_CONTEXTSWAP;
	for (; text; text = text[length] ? text + length + 1 : NULL) {
		length = strcspn(text, ",");
		for (i = 0; i < ARRAY_SIZE(events); i++)
			if (length == strlen(events[i].name) &&
			    !strncmp(text, events[i].name, length))
				break;
		if (i == ARRAY_SIZE(events)) {
			message("--stacks: \"%.*s\" is not spinlock, resource or contextswap; events of Linux' own locks are spinlock or resource",
				(int)length, text);
			return -1;
		}
		*stacks |= events[i].stacks;
	}
	return 0;
}

/**
 * session_parse_size() - read a size, with K or M behind it or without
 * @text: the size
 *
 * Return: bytes, or 0 if the text is no size, or its number is above 1048576.
 */
unsigned long session_parse_size(const char *text)
{
	char *end;
	unsigned long size = strtoul(text, &end, 10);

	if (end == text || *text == '-' || size > 1 << 20)
		return 0;
	if (*end == 'K' || *end == 'k')
		return end[1] ? 0 : size << 10;
	if (*end == 'M')
		return end[1] ? 0 : size << 20;
	return *end ? 0 : size;
}

/**
 * session_is_started() - test whether a session runs
 * @number: number of the session
 *
 * Return: true if it runs now; its owner may stop it at any time.
 */
bool session_is_started(int number)
{
	char text[KERNEL_TEXT];

	return !kernel_read(text, sizeof(text), "sessions/%d/state", number) &&
	       !strcmp(text, "started");
}

/**
 * session_any_is_started() - test whether any session runs
 *
 * Return: true if at least one runs now.
 */
bool session_any_is_started(void)
{
	int number = 0;

	while (number < KERNEL_SESSIONS && !session_is_started(number))
		number++;
	return number < KERNEL_SESSIONS;
}

/**
 * read_session_counts() - read what a session has counted
 * @number: number of the session
 * @counts: set to the counts
 *
 * Return: 0 or -errno.
 */
int read_session_counts(int number, struct session_counts *counts)
{
	char text[8 * KERNEL_TEXT];
	const char *total;
	int err = kernel_read(text, sizeof(text), "sessions/%d/stats", number);

	*counts = (struct session_counts) { 0 };
	if (err)
		return err;
	total = strstr(text, "total");
	if (!total || sscanf(total + 5,
			     "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			     &counts->generated, &counts->written, &counts->lost,
			     &counts->finished_buffer_count, &counts->unread_buffer_count) != 5)
		return -EPROTO;
	return 0;
}

/**
 * session_report_none_is_free() - say why no session can be claimed, and name the remedies
 */
void session_report_none_is_free(void)
{
	struct session_counts counts;
	int unread_count = 0, started_count = 0, number;

	for (number = 0; number < KERNEL_SESSIONS; number++) {
		if (session_is_started(number))
			started_count++;
		else if (!read_session_counts(number, &counts) && counts.unread_buffer_count)
			unread_count++;
	}
	message("no session is free: %d are started, %d are stopped with buffers that have not been read",
		started_count, unread_count);
	if (started_count)
		message("ntklog stop SESSION ends one");
	if (unread_count)
		message("ntklog stop SESSION -o FILE writes them to a file, ntklog start SESSION discards them");
}

/**
 * session_find_started() - find the one session that runs
 *
 * Return: its number, or -1 after a message.
 */
int session_find_started(void)
{
	int found = -1, number;

	for (number = 0; number < KERNEL_SESSIONS; number++) {
		if (!session_is_started(number))
			continue;
		if (found >= 0) {
			message("more than one session is started (%d, %d): give a number",
				found, number);
			return -1;
		}
		found = number;
	}
	if (found < 0)
		message("no session is started: ntklog start starts one");
	return found;
}
