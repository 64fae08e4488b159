// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "buffer.h"
#include "event.h"
#include "flush_timer.h"
#include "group_mask.h"
#include "observe.h"
#include "run.h"
#include "rundown.h"
#include "session.h"
#include "settings.h"
#include "stacks.h"

/**
 * etw_buffer_size_is_valid() - test the size of a buffer
 * @bytes: the size
 *
 * Return: true if it is a multiple of the page size from 4 KiB to 1 MiB.
 */
bool etw_buffer_size_is_valid(u32 bytes)
{
	return bytes >= ETW_BUFFER_SIZE_MIN && bytes <= ETW_BUFFER_SIZE_MAX && PAGE_ALIGNED(bytes);
}

/**
 * etw_buffer_count_is_valid() - test the number of buffers
 * @buffers: buffers of each CPU
 *
 * Return: true if it is from 2 to 1024.
 */
bool etw_buffer_count_is_valid(u32 buffers)
{
	return buffers >= ETW_BUFFERS_MIN && buffers <= ETW_BUFFERS_MAX;
}

static bool etw_name_is_valid(const char *name)
{
	size_t length = strnlen(name, NTKLOG_SESSION_NAME_SIZE), i;

	if (!length || length == NTKLOG_SESSION_NAME_SIZE)
		return false;
	for (i = 0; i < length; i++)
		if (!isascii(name[i]) || !isprint(name[i]))
			return false;
	return true;
}

/* When a claim ends, its session gets its saved name back. Called with etw_mutex held. */
static bool etw_name_is_in_use(const struct etw_session *session, const char *name)
{
	int i;

	for (i = 0; i < ETW_SESSIONS; i++) {
		const struct etw_session *other = &etw_sessions[i];

		if (other != session &&
		    (!strcmp(other->settings.name, name) ||
		     (other->claim && !strcmp(other->saved_settings.name, name))))
			return true;
	}
	return false;
}

/**
 * etw_check_settings() - test whether a session can have settings
 * @session: the session
 * @settings: the settings
 *
 * Context: task; etw_mutex held.
 * Return: 0, -EINVAL for a setting out of range, or -EEXIST if another session has the name.
 */
int etw_check_settings(const struct etw_session *session, const struct etw_settings *settings)
{
	if (!etw_name_is_valid(settings->name) ||
	    !etw_buffer_size_is_valid(settings->buffer_size) ||
	    !etw_buffer_count_is_valid(settings->buffers) ||
	    settings->mode > ETW_MODE_BUFFERING ||
	    settings->flush_timer > ETW_FLUSH_TIMER_MAX ||
	    settings->stacks >= BIT(ETW_STACKED_EVENTS) ||
	    settings->contextswap_version < 1 ||
	    settings->contextswap_version > ETW_EVENT_VERSIONS)
		return -EINVAL;
	return etw_name_is_in_use(session, settings->name) ? -EEXIST : 0;
}

static void etw_store_settings(struct etw_session *session, const struct etw_settings *settings)
{
	spin_lock(&etw_session_lock);
	session->settings = *settings;
	spin_unlock(&etw_session_lock);
	/* Loggers need no order, because each event carries its version. */
	WRITE_ONCE(etw_contextswap_versions.by_session[session->id],
		   settings->contextswap_version - 1);
}

static void etw_store_stacks(struct etw_session *session, u32 stacks)
{
	spin_lock(&etw_session_lock);
	session->settings.stacks = stacks;
	spin_unlock(&etw_session_lock);
}

/*
 * A rundown event that removes kinds of events from the list is logged before loggers stop writing
 * their stacks. One that adds kinds is logged after loggers have begun to write their stacks. So
 * loggers write the stacks of a listed kind. Called with etw_mutex held.
 */
static void etw_change_stacks(struct etw_session *session, u32 stacks)
{
	u32 kept_stacks = session->settings.stacks & stacks;

	if (session->settings.stacks != kept_stacks) {
		etw_store_stacks(session, kept_stacks);
		etw_log_rundown_of_stacks(session);
		etw_publish_stack_sessions();
	}
	if (stacks != kept_stacks) {
		etw_store_stacks(session, stacks);
		etw_publish_stack_sessions();
		/* Loggers run with interrupts off: all of them see the new value after this. */
		synchronize_rcu();
		etw_log_rundown_of_stacks(session);
	}
}

/* Set the group mask of a started session. Called with etw_mutex held. */
static void etw_change_groups(struct etw_session *session, const struct perfinfo_groupmask *after)
{
	const struct perfinfo_groupmask before = session->settings.group_mask;
	struct perfinfo_groupmask kept_groups;
	int i;

	if (!memcmp(&before, after, sizeof(before)))
		return;
	for (i = 0; i < PERF_NUM_MASKS; i++)
		kept_groups.masks[i] = before.masks[i] & after->masks[i];
	/* Log the end of the observation of the removed groups before they may be detached. */
	etw_log_observed_event(session, &kept_groups);
	spin_lock(&etw_session_lock);
	session->settings.group_mask = *after;
	session->run->group_mask = *after;
	spin_unlock(&etw_session_lock);
	etw_publish_sessions();
	etw_update_providers_for_sessions();
	etw_log_rundown_of_groups(session, &before, after);
}

/**
 * etw_apply_settings() - give a session settings
 * @session: the session
 * @settings: new settings, which etw_check_settings() accepts. For a started session, only those
 *	that can change while it runs differ from the old ones
 *
 * Context: task; may sleep for seconds; etw_mutex held.
 */
void etw_apply_settings(struct etw_session *session, const struct etw_settings *settings)
{
	if (session->is_logging) {
		etw_change_stacks(session, settings->stacks);
		etw_change_groups(session, &settings->group_mask);
		etw_store_settings(session, settings);
		etw_schedule_flush(session);
	} else {
		etw_store_settings(session, settings);
		etw_publish_stack_sessions();
	}
}

/**
 * etw_get_settings() - get the settings of a session
 * @session: the session
 *
 * Context: task.
 * Return: a consistent copy.
 */
struct etw_settings etw_get_settings(struct etw_session *session)
{
	struct etw_settings settings;

	spin_lock(&etw_session_lock);
	settings = session->settings;
	spin_unlock(&etw_session_lock);
	return settings;
}

/* Begin a change by hand: copy the settings for the caller. On success etw_mutex is held. */
static int etw_begin_settings_change(struct etw_session *session, struct etw_settings *settings)
{
	int err = etw_lock_unclaimed_session(session);

	if (!err)
		*settings = session->settings;
	return err;
}

/* @takes_effect_at_start: a started session refuses the change. Releases etw_mutex. */
static int etw_end_settings_change(struct etw_session *session, const struct etw_settings *settings,
				   bool takes_effect_at_start)
{
	int err = etw_check_settings(session, settings);

	if (!err && takes_effect_at_start && session->is_logging)
		err = -EBUSY;
	if (!err)
		etw_apply_settings(session, settings);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * etw_set_buffer_size() - set the size of a session's buffers
 * @session: the session
 * @bytes: bytes of a buffer, a multiple of the page size from 4 KiB to 1 MiB
 *
 * Context: task; may sleep.
 * Return: 0, -EINVAL, -EBUSY if the session is started or claimed, or -EINTR.
 */
int etw_set_buffer_size(struct etw_session *session, u32 bytes)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	settings.buffer_size = bytes;
	return etw_end_settings_change(session, &settings, true);
}

/**
 * etw_set_buffers() - set the number of a session's buffers
 * @session: the session
 * @buffers: buffers of each CPU, 2 to 1024
 *
 * Context: task; may sleep.
 * Return: 0, -EINVAL, -EBUSY if the session is started or claimed, or -EINTR.
 */
int etw_set_buffers(struct etw_session *session, u32 buffers)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	settings.buffers = buffers;
	return etw_end_settings_change(session, &settings, true);
}

/**
 * etw_set_name() - name a session
 * @session: the session
 * @name: 1 to 63 printable ASCII characters
 *
 * Context: task; may sleep.
 * Return: 0 or a negative errno.
 */
int etw_set_name(struct etw_session *session, const char *name)
{
	struct etw_settings settings;
	int err;

	if (!etw_name_is_valid(name))
		return -EINVAL;
	err = etw_begin_settings_change(session, &settings);
	if (err)
		return err;
	strscpy(settings.name, name, sizeof(settings.name));
	return etw_end_settings_change(session, &settings, true);
}

/**
 * etw_set_mode() - set what happens to new events when the buffers are full
 * @session: the session
 * @mode: the mode
 *
 * Context: task; may sleep.
 * Return: 0 or a negative errno.
 */
int etw_set_mode(struct etw_session *session, enum etw_session_mode mode)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	settings.mode = mode;
	return etw_end_settings_change(session, &settings, true);
}

/**
 * etw_set_flush_timer() - set how often events become readable in buffers that are not full
 * @session: the session, started or not
 * @milliseconds: up to an hour; 0: no timer
 *
 * Context: task; may sleep.
 * Return: 0, -EINVAL, -EBUSY if the session is claimed, or -EINTR.
 */
int etw_set_flush_timer(struct etw_session *session, u32 milliseconds)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	settings.flush_timer = milliseconds;
	return etw_end_settings_change(session, &settings, false);
}

/**
 * etw_set_contextswap_version() - set the version of a session's context switch events
 * @session: the session, started or not
 * @version: 1 to ETW_EVENT_VERSIONS
 *
 * Context: task; may sleep.
 * Return: 0, -EINVAL, -EBUSY if the session is claimed, or -EINTR.
 */
int etw_set_contextswap_version(struct etw_session *session, u32 version)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	settings.contextswap_version = version;
	return etw_end_settings_change(session, &settings, false);
}

/**
 * etw_change_group_mask() - change the event groups that a session records
 * @session: the session, started or not
 * @change: the change of its mask
 *
 * Context: task; may sleep for seconds.
 * Return: 0, -EBUSY if the session is claimed, or -EINTR.
 */
int etw_change_group_mask(struct etw_session *session, const struct etw_group_mask_change *change)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	etw_group_change_apply(change, &settings.group_mask);
	return etw_end_settings_change(session, &settings, false);
}

/**
 * etw_set_stacks() - set which events of a session carry a stack
 * @session: the session, started or not
 * @stacks: bits by enum etw_stacked_event_type
 *
 * Context: task; may sleep.
 * Return: 0, -EINVAL, -EBUSY if the session is claimed, or -EINTR.
 */
int etw_set_stacks(struct etw_session *session, u32 stacks)
{
	struct etw_settings settings;
	int err = etw_begin_settings_change(session, &settings);

	if (err)
		return err;
	settings.stacks = stacks;
	return etw_end_settings_change(session, &settings, false);
}
