// SPDX-License-Identifier: GPL-2.0-only
/* Sessions of the module: settings, state and counts. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		 "writers of Linux' own percpu_rw_semaphores"),
	SLEEPING("ww_mutex", PERF_LINUX_WW_MUTEX, "Linux' own ww_mutexes"),
};

const size_t session_group_count = ARRAY_SIZE(session_groups);

/* Of a Linux' kind: the module is older than the tool, or has nothing of them at all. */
static const char not_known[] = "the loaded module does not know these events";

static const struct session_group *find_group(const char *name)
{
	size_t i;

	for (i = 0; i < session_group_count; i++)
		if (!strcmp(name, session_groups[i].name) ||
		    !strcmp(name, session_groups[i].mask_name))
			return &session_groups[i];
	return NULL;
}

/* Whether a mask has a group. */
static bool has_group(const struct perfinfo_groupmask *mask, const struct session_group *group)
{
	return mask->masks[PERF_MASK_INDEX(group->mask)] & PERF_MASK_BITS(group->mask);
}

/**
 * session_group_trouble() - why is nothing to be had of a group?
 * @group: the group
 * @text: of the caller's, for the answer
 *
 * Return: what the module says of it, or NULL: nothing is in the way.
 */
const char *session_group_trouble(const struct session_group *group, char text[KERNEL_TEXT])
{
	char *next = text, *line;
	size_t length;

	if (!group->linux_kind)
		return NULL;
	if (kernel_read(text, KERNEL_TEXT, "linux"))
		return not_known;
	length = strlen(group->linux_kind);
	while ((line = strsep(&next, "\n"))) {
		if (strncmp(line, group->linux_kind, length) || strncmp(line + length, ": ", 2))
			continue;
		line += length + 2;
		return strncmp(line, "on", 2) && strncmp(line, "off", 3) ? line : NULL;
	}
	return not_known;
}

/**
 * session_default_groups() - what is recorded if nobody says what
 *
 * Those of Linux' locks that sleep cost as much in each mode: who has chosen a cheaper one than
 * full is told that they are left out.
 *
 * Return: NT's locks, and of Linux' those that the running kernel allows. What failed the last
 * time may not now.
 */
const char *session_default_groups(void)
{
	static char groups[256];
	char text[KERNEL_TEXT], mode[KERNEL_TEXT];
	bool is_full = kernel_read(mode, sizeof(mode), "linux_mode") || !strcmp(mode, "full");
	bool are_left_out = false;
	const char *trouble;
	size_t i;

	snprintf(groups, sizeof(groups), "spinlock,resource");
	for (i = 0; i < session_group_count; i++) {
		if (!session_groups[i].linux_kind)
			continue;
		trouble = session_group_trouble(&session_groups[i], text);
		if (trouble && strncmp(trouble, "failed: ", 8))
			continue;
		if (session_groups[i].sleeps && !is_full)
			are_left_out = true;
		else
			snprintf(groups + strlen(groups), sizeof(groups) - strlen(groups), ",%s",
				 session_groups[i].name);
	}
	if (are_left_out)
		message("mode %s: Linux' locks that sleep are not recorded, for every mode tracks them in full (-e records them)",
			mode);
	return groups;
}

/* What was asked for and is not watched is said, not found out from an empty report. */
static void warn_of_groups(int number)
{
	char mask[KERNEL_TEXT], text[KERNEL_TEXT];
	const char *trouble;
	size_t i;

	if (kernel_read(mask, sizeof(mask), "sessions/%d/group_mask", number))
		return;
	for (i = 0; i < session_group_count; i++) {
		if (!session_groups[i].linux_kind || !strstr(mask, session_groups[i].mask_name))
			continue;
		trouble = session_group_trouble(&session_groups[i], text);
		if (trouble)
			message("%s: nothing will be recorded: %s", session_groups[i].name,
				trouble);
	}
}

/* -1 after a message. */
static int parse_groups(const char *groups, struct perfinfo_groupmask *mask)
{
	char *copy = strdup(groups), *next = copy, *name;
	int err = copy ? 0 : -1;

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

/* As the file group_mask takes them, each once. */
static void format_groups(const struct perfinfo_groupmask *mask, char *text, size_t size)
{
	size_t i;

	text[0] = '\0';
	for (i = 0; i < session_group_count; i++)
		if (has_group(mask, &session_groups[i]))
			snprintf(text + strlen(text), size - strlen(text), "%s%s",
				 *text ? " " : "", session_groups[i].mask_name);
}

/**
 * session_check_groups() - are these names of groups?
 * @groups: names, separated by commas
 *
 * Return: 0, or -1 after a message.
 */
int session_check_groups(const char *groups)
{
	struct perfinfo_groupmask mask;

	return parse_groups(groups, &mask);
}

/**
 * session_wants() - is a group among these?
 * @groups: names, separated by commas, that have been checked
 * @group: PERF_*
 *
 * Return: whether it is, or a part of it.
 */
bool session_wants(const char *groups, uint32_t group)
{
	struct perfinfo_groupmask mask;

	return !parse_groups(groups, &mask) &&
	       mask.masks[PERF_MASK_INDEX(group)] & PERF_MASK_BITS(group);
}

/**
 * session_has_events() - is anything written of these groups?
 * @groups: names, separated by commas, that have been checked
 *
 * Return: whether it is: counters alone are none.
 */
bool session_has_events(const char *groups)
{
	size_t i;

	for (i = 0; i < session_group_count; i++)
		if (session_groups[i].mask != PERF_SPINLOCK_CNTRS &&
		    session_wants(groups, session_groups[i].mask))
			return true;
	return false;
}

/**
 * session_parse_size() - a size with K or M behind it
 * @text: the size
 *
 * Return: bytes, or 0: it is none.
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
 * session_is_started() - does it log?
 * @number: of the session
 *
 * Return: whether it does.
 */
bool session_is_started(int number)
{
	char text[KERNEL_TEXT];

	return !kernel_read(text, sizeof(text), "sessions/%d/state", number) &&
	       !strcmp(text, "started");
}

/**
 * session_counts() - what a session has counted
 * @number: of the session
 * @counts: it
 *
 * Return: 0 or -errno.
 */
int session_counts(int number, struct session_counts *counts)
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
			     &counts->finished, &counts->unread) != 5)
		return -EPROTO;
	return 0;
}

/**
 * session_find_free() - a session that nobody uses
 *
 * One that is stopped but has buffers that nobody has read is somebody's.
 *
 * Return: its number, or -1 after a message.
 */
int session_find_free(void)
{
	struct session_counts counts;
	int unread = 0, started = 0, number;

	/* From the end: people begin with 0. */
	for (number = KERNEL_SESSIONS; number-- > 0;) {
		if (session_is_started(number)) {
			started++;
			continue;
		}
		if (session_counts(number, &counts))
			continue;
		if (!counts.unread)
			return number;
		unread++;
	}
	message("no session is free: %d are started, %d are stopped with buffers that nobody has read",
		started, unread);
	if (started)
		message("ntklog stop SESSION ends one");
	if (unread)
		message("ntklog stop SESSION -o FILE writes them to a file, ntklog start SESSION discards them");
	return -1;
}

/**
 * session_find_started() - the one session that logs
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
		message("no session is started");
	return found;
}

/* What one setting's limits are, for the message. */
static int set(int number, const char *name, const char *text, const char *limits)
{
	int err = kernel_write(text, "sessions/%d/%s", number, name);

	if (err == -EINVAL)
		message("session %d: %s %s is out of range: %s", number, name, text, limits);
	else if (err == -EBUSY)
		message("session %d is started: stop it first", number);
	else if (err)
		message("session %d: %s: %s", number, name, strerror(-err));
	return err ? -1 : 0;
}

static int set_number(int number, const char *name, unsigned long value,
		      const char *limits)
{
	char text[32];

	if (!value)
		return 0;
	snprintf(text, sizeof(text), "%lu", value);
	return set(number, name, text, limits);
}

/* What a module that is older than the tool refuses is named. */
static int set_groups(int number, const char *groups)
{
	char text[KERNEL_TEXT], names[512], limits[128] = "see ntklog list";
	struct perfinfo_groupmask mask;
	size_t i;

	if (parse_groups(groups, &mask))
		return -1;
	for (i = session_group_count; i-- > 0;)
		if (has_group(&mask, &session_groups[i]) &&
		    session_group_trouble(&session_groups[i], text) == not_known)
			snprintf(limits, sizeof(limits), "the loaded module does not know %s",
				 session_groups[i].name);
	format_groups(&mask, names, sizeof(names));
	return set(number, "group_mask", names, limits);
}

/**
 * session_check_stacks() - are these events that can carry a stack?
 * @stacks: separated by commas
 *
 * Return: 0, or -1 after a message.
 */
int session_check_stacks(const char *stacks)
{
	static const char *const names[] = { "spinlock", "resource", "contextswap" };
	const char *at = stacks;
	size_t length, i;

	for (;; at += length + 1) {
		length = strcspn(at, ",");
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (length == strlen(names[i]) && !strncmp(at, names[i], length))
				break;
		if (i == ARRAY_SIZE(names)) {
			message("--stacks: \"%.*s\" is not spinlock, resource or contextswap; events of Linux' own locks are spinlock or resource",
				(int)length, at);
			return -1;
		}
		if (!at[length])
			return 0;
	}
}

/* A module that is older than the tool has no such file, and no stacks. */
static int set_stacks(int number, const char *stacks)
{
	char text[KERNEL_TEXT], *comma;
	int err;

	snprintf(text, sizeof(text), "%s", stacks);
	while ((comma = strchr(text, ',')))
		*comma = ' ';
	err = kernel_write(text, "sessions/%d/stacks", number);
	if (err == -ENOENT && !strcmp(stacks, SESSION_STACKS_NONE))
		return 0;
	if (err == -ENOENT)
		message("--stacks: the loaded module records no stacks");
	else if (err)
		message("session %d: stacks: %s", number, strerror(-err));
	return err ? -1 : 0;
}

/**
 * session_configure() - set what is to be set
 * @number: of the session
 * @settings: of it
 *
 * Return: 0, or -1 after a message.
 */
int session_configure(int number, const struct session_settings *settings)
{
	if (settings->groups && set_groups(number, settings->groups))
		return -1;
	if (settings->mode && set(number, "mode", settings->mode, "sequential or buffering"))
		return -1;
	if (settings->stacks && set_stacks(number, settings->stacks))
		return -1;
	if (set_number(number, "buffer_size", settings->buffer_size,
		       "4096 to 1048576 bytes, a multiple of the page size") ||
	    set_number(number, "buffers", settings->buffers, "2 to 1024") ||
	    set_number(number, "flush_timer", settings->flush_ms, "0 to 3600000"))
		return -1;
	return 0;
}

/**
 * session_start() - let it log
 * @number: of the session
 *
 * Return: 0, or -1 after a message.
 */
int session_start(int number)
{
	int err = kernel_write("start", "sessions/%d/state", number);

	if (err == -EBUSY)
		message("session %d is started already", number);
	else if (err == -ENOMEM)
		message("session %d: no memory for its buffers: choose fewer, or smaller ones",
			number);
	else if (err)
		message("session %d: cannot be started: %s", number, strerror(-err));
	else
		warn_of_groups(number);
	return err ? -1 : 0;
}

/**
 * session_stop() - let it log no more
 * @number: of the session
 *
 * Return: 0, or -1 after a message.
 */
int session_stop(int number)
{
	int err = kernel_write("stop", "sessions/%d/state", number);

	if (err == -EINVAL)
		message("session %d is not started", number);
	else if (err)
		message("session %d: cannot be stopped: %s", number, strerror(-err));
	return err ? -1 : 0;
}

static int tell_linux_mode(const char *mode, int err)
{
	if (err == -EBUSY)
		message("mode %s: Linux' locks are being recorded in another mode: stop that session first (ntklog list)",
			mode);
	else if (err == -ENOENT)
		message("mode %s: the loaded module has no modes", mode);
	else if (err)
		message("mode %s: %s", mode, strerror(-err));
	return err ? -1 : 0;
}

/**
 * session_get_linux_mode() - how Linux' own locks are watched, before that is changed
 * @mode: what it is to be changed to, for the message
 * @old: what it is
 *
 * Return: 0, or -1 after a message.
 */
int session_get_linux_mode(const char *mode, char old[KERNEL_TEXT])
{
	return tell_linux_mode(mode, kernel_read(old, KERNEL_TEXT, "linux_mode"));
}

/**
 * session_set_linux_mode() - how Linux' own locks are watched from the next start on
 * @mode: "full", "sampled" or "waits"
 *
 * Return: 0, or -1 after a message.
 */
int session_set_linux_mode(const char *mode)
{
	return tell_linux_mode(mode, kernel_write(mode, "linux_mode"));
}
