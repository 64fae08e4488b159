// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "buffer.h"
#include "clock.h"
#include "control.h"
#include "event.h"
#include "flush.h"
#include "flush_timer.h"
#include "group_mask.h"
#include "observe.h"
#include "provider.h"
#include "run.h"
#include "rundown.h"
#include "session.h"
#include "settings.h"
#include "stacks.h"

/* True from the end of the load to the begin of the unload. Accessed with etw_mutex held. */
static bool etw_start_is_allowed;

/* Called with etw_mutex held. */
static void etw_set_logging(struct etw_session *session, bool logging)
{
	spin_lock(&etw_session_lock);
	session->is_logging = logging;
	spin_unlock(&etw_session_lock);
	/* Publish that the session logs stacks before its first event. */
	if (logging)
		etw_publish_stack_sessions();
	etw_publish_sessions();
}

/**
 * etw_start_session_locked() - start a session with settings
 * @session: the session
 * @settings: its new settings, checked; can be its present ones
 *
 * Context: task; may sleep for seconds; etw_mutex held.
 * Return: 0; or a negative errno, and then the session has its old settings.
 */
int etw_start_session_locked(struct etw_session *session, const struct etw_settings *settings)
{
	struct etw_run *run;

	if (!etw_start_is_allowed)
		return -ENODEV;
	if (session->is_logging)
		return -EBUSY;

	etw_check_clock();
	/* A snapshot has copied the last run. The new buffers may need the memory of the run. */
	if (session->run && session->run->is_in_snapshot)
		etw_drop_run(session);
	run = etw_alloc_run(session->id, session->directory, settings);
	if (IS_ERR(run))
		return PTR_ERR(run);
	etw_apply_settings(session, settings);
	etw_set_run(session, run);
	etw_run_cpus[session->id] = run->cpus;

	/* The rundown comes first, because no event is logged before. */
	etw_log_rundown_of_groups(session, NULL, &settings->group_mask);
	etw_set_logging(session, true);
	etw_update_providers_for_sessions();
	etw_schedule_flush(session);
	return 0;
}

/**
 * etw_stop_session_locked() - stop a session
 * @session: a started session
 *
 * Context: task; may sleep for seconds; etw_mutex held.
 */
void etw_stop_session_locked(struct etw_session *session)
{
	static const struct perfinfo_groupmask no_groups;
	struct perfinfo_groupmask mask = etw_join_group_masks_except(session);
	struct etw_run *run = session->run;

	/* Detaching the groups frees the slots of held locks, so list these locks before. */
	etw_list_holds(session);
	etw_log_observed_event(session, &no_groups);
	etw_update_providers(&mask);
	etw_log_rundown_of_groups(session, &session->settings.group_mask, NULL);
	etw_set_logging(session, false);
	cancel_delayed_work(&session->flush_work);
	/* Wait for loggers, which run with interrupts off and may still use the buffers. */
	synchronize_rcu();
	etw_publish_stack_sessions();
	etw_flush_buffers(run, ETW_FLUSH_LAST);
	run->end_time = etw_read_filetime();
	etw_finish_run(run);
}

/**
 * etw_start_session() - start a session by hand
 * @session: the session
 *
 * Context: task; may sleep for seconds.
 * Return: 0 or a negative errno.
 */
int etw_start_session(struct etw_session *session)
{
	int err = etw_lock_unclaimed_session(session);

	if (err)
		return err;
	err = etw_start_session_locked(session, &session->settings);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * etw_stop_session() - stop a session by hand
 * @session: the session. When the function returns 0, all its buffers can be read
 *
 * Context: task; may sleep for seconds.
 * Return: 0, -EINVAL if it is stopped, or a negative errno as etw_lock_unclaimed_session() has.
 */
int etw_stop_session(struct etw_session *session)
{
	int err = etw_lock_unclaimed_session(session);

	if (err)
		return err;
	if (session->is_logging)
		etw_stop_session_locked(session);
	else
		err = -EINVAL;
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * etw_flush_session() - make the events that a session has written so far readable, by hand
 * @session: the session
 *
 * Context: task; may sleep.
 * Return: as etw_flush_run(); -EBUSY if the session is claimed.
 */
int etw_flush_session(struct etw_session *session)
{
	struct etw_run *run;
	bool is_claimed;
	int err;

	spin_lock(&etw_session_lock);
	is_claimed = session->claim;
	spin_unlock(&etw_session_lock);
	if (is_claimed)
		return -EBUSY;
	run = etw_get_session_run(session);
	err = etw_flush_run(run);
	etw_put_run(run);
	return err;
}

/**
 * etw_init_sessions() - set the sessions to their defaults
 * @buffer_size: bytes of a buffer
 * @buffers: number of buffers of each CPU
 *
 * Context: module load.
 * Return: 0, or -EINVAL for a size or number out of range.
 */
int etw_init_sessions(u32 buffer_size, u32 buffers)
{
	int i;

	if (!etw_buffer_size_is_valid(buffer_size)) {
		pr_err("buffer_size=%u is not a multiple of %lu from %u to %u\n",
		       buffer_size, PAGE_SIZE, ETW_BUFFER_SIZE_MIN,
		       ETW_BUFFER_SIZE_MAX);
		return -EINVAL;
	}
	if (!etw_buffer_count_is_valid(buffers)) {
		pr_err("buffers=%u is not from %u to %u\n", buffers,
		       ETW_BUFFERS_MIN, ETW_BUFFERS_MAX);
		return -EINVAL;
	}
	etw_check_clock();
	for (i = 0; i < ETW_SESSIONS; i++) {
		struct etw_session *session = &etw_sessions[i];
		struct etw_settings *settings = &session->settings;

		session->id = i;
		if (i)
			snprintf(settings->name, sizeof(settings->name), "System Logger %d", i);
		else
			strscpy(settings->name, "NT Kernel Logger", sizeof(settings->name));
		settings->buffer_size = buffer_size;
		settings->buffers = buffers;
		settings->flush_timer = ETW_FLUSH_TIMER_DEFAULT;
		settings->contextswap_version = ETW_EVENT_VERSIONS;
		etw_contextswap_versions.by_session[i] = ETW_EVENT_VERSIONS - 1;
		etw_init_flush_timer(session);
		etw_group_mask_set(&settings->group_mask, PERF_SPINLOCK);
	}
	return 0;
}

/**
 * etw_enable_session_start() - let sessions be started from now on
 *
 * Context: module load, when nothing can fail any more.
 */
void etw_enable_session_start(void)
{
	mutex_lock(&etw_mutex);
	etw_start_is_allowed = true;
	mutex_unlock(&etw_mutex);
}

/**
 * etw_exit_sessions() - stop all sessions and free their buffers
 *
 * Context: module unload.
 */
void etw_exit_sessions(void)
{
	int i;

	mutex_lock(&etw_mutex);
	etw_start_is_allowed = false;
	for (i = 0; i < ETW_SESSIONS; i++) {
		if (etw_sessions[i].is_logging)
			etw_stop_session_locked(&etw_sessions[i]);
		etw_drop_run(&etw_sessions[i]);
	}
	mutex_unlock(&etw_mutex);
	for (i = 0; i < ETW_SESSIONS; i++)
		cancel_delayed_work_sync(&etw_sessions[i].flush_work);
}
