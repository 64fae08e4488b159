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

#define GROUP(_name, _mask, _help, _linux_kind)	{ _name, #_mask, _mask, _help, _linux_kind }

const struct session_group session_groups[] = {
	GROUP("spinlock", PERF_SPINLOCK, "releases of spin locks, sampled", NULL),
	GROUP("resource", PERF_SYNC_OBJECTS,
	      "executive resources: releases, sampled, and excessive waits", NULL),
	GROUP("contextswap", PERF_CONTEXT_SWITCH, "context switches, all of them", NULL),
	GROUP("spinlock_counters", PERF_SPINLOCK_CNTRS,
	      "no events: the counters of spin locks", NULL),
	GROUP("linux_spinlock", PERF_LINUX_SPINLOCK,
	      "releases of Linux' own spin locks, sampled", "spinlock"),
	GROUP("linux_rwlock", PERF_LINUX_RWLOCK,
	      "releases of Linux' own rwlocks, sampled", "rwlock"),
};

const size_t session_group_count = ARRAY_SIZE(session_groups);

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
		return "this module does not know them";
	length = strlen(group->linux_kind);
	while ((line = strsep(&next, "\n"))) {
		if (strncmp(line, group->linux_kind, length) || strncmp(line + length, ": ", 2))
			continue;
		line += length + 2;
		return strncmp(line, "on", 2) && strncmp(line, "off", 3) ? line : NULL;
	}
	return "this module does not know them";
}

/**
 * session_default_groups() - what is recorded if nobody says what
 *
 * Return: NT's locks, and of Linux' those that the running kernel allows. What failed the last
 * time may not now.
 */
const char *session_default_groups(void)
{
	static char groups[128];
	char text[KERNEL_TEXT];
	const char *trouble;
	size_t i;

	snprintf(groups, sizeof(groups), "spinlock,resource");
	for (i = 0; i < session_group_count; i++) {
		if (!session_groups[i].linux_kind)
			continue;
		trouble = session_group_trouble(&session_groups[i], text);
		if (!trouble || !strncmp(trouble, "failed: ", 8))
			snprintf(groups + strlen(groups), sizeof(groups) - strlen(groups), ",%s",
				 session_groups[i].name);
	}
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

/* As the file group_mask takes them; -1 after a message. */
static int format_groups(const char *groups, char *text, size_t size)
{
	char *copy = strdup(groups), *next = copy, *name;
	int err = copy ? 0 : -1;

	text[0] = '\0';
	while (!err && (name = strsep(&next, ","))) {
		const struct session_group *group = find_group(name);

		if (group) {
			snprintf(text + strlen(text), size - strlen(text), "%s%s",
				 *text ? " " : "", group->mask_name);
			continue;
		}
		message("no events are called \"%s\": see ntklog list", name);
		err = -1;
	}
	free(copy);
	return err;
}

/**
 * session_check_groups() - are these names of groups?
 * @groups: names, separated by commas
 *
 * Return: 0, or -1 after a message.
 */
int session_check_groups(const char *groups)
{
	char text[256];

	return format_groups(groups, text, sizeof(text));
}

/**
 * session_mask() - bits of groups
 * @groups: names, separated by commas, that have been checked
 *
 * Return: the masks, together, without the numbers of their words: no two have a bit in common.
 */
uint32_t session_mask(const char *groups)
{
	char *copy = strdup(groups), *next = copy, *name;
	uint32_t mask = 0;

	while ((name = strsep(&next, ","))) {
		const struct session_group *group = find_group(name);

		if (group)
			mask |= PERF_MASK_BITS(group->mask);
	}
	free(copy);
	return mask;
}

/**
 * session_has_events() - is anything written of these groups?
 * @groups: names, separated by commas, that have been checked
 *
 * Return: whether it is: counters alone are none.
 */
bool session_has_events(const char *groups)
{
	return session_mask(groups) & ~PERF_SPINLOCK_CNTRS;
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
		message("ntklog stop SESSION -o FILE reads them, ntklog start SESSION drops them");
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
			message("more than one session is started (%d, %d): which?", found,
				number);
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

/**
 * session_configure() - set what is to be set
 * @number: of the session
 * @settings: of it
 *
 * Return: 0, or -1 after a message.
 */
int session_configure(int number, const struct session_settings *settings)
{
	char groups[256];

	if (settings->groups &&
	    (format_groups(settings->groups, groups, sizeof(groups)) ||
	     set(number, "group_mask", groups, "see ntklog list")))
		return -1;
	if (settings->mode && set(number, "mode", settings->mode, "sequential or buffering"))
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
		message("mode %s: Linux' locks are being watched in another one: stop that first (ntklog list)",
			mode);
	else if (err == -ENOENT)
		message("mode %s: this module knows no modes", mode);
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
