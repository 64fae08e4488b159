// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/mutex.h>

#include "group_mask.h"
#include "run.h"
#include "session.h"

/*
 * Serializes starts, stops, and changes of settings and of the providers' parameters. It may be
 * held for seconds, while functions are attached or detached. Outermost lock of the module.
 */
struct mutex etw_mutex = __MUTEX_INITIALIZER(etw_mutex);

/* Protects struct etw_session for readers that cannot wait for etw_mutex. Innermost lock. */
DEFINE_SPINLOCK(etw_session_lock);

struct etw_session etw_sessions[ETW_SESSIONS];

/* Called with etw_mutex or etw_session_lock held. */
struct perfinfo_groupmask etw_join_group_masks_except(const struct etw_session *except)
{
	struct perfinfo_groupmask mask = {};
	int i;

	for (i = 0; i < ETW_SESSIONS; i++)
		if (etw_sessions[i].is_logging && &etw_sessions[i] != except)
			etw_group_mask_or(&mask, &etw_sessions[i].settings.group_mask);
	return mask;
}

/**
 * etw_get_global_group_mask() - get the union of the masks of all started sessions
 *
 * Context: task.
 * Return: the union.
 */
struct perfinfo_groupmask etw_get_global_group_mask(void)
{
	struct perfinfo_groupmask mask;

	spin_lock(&etw_session_lock);
	mask = etw_join_group_masks_except(NULL);
	spin_unlock(&etw_session_lock);
	return mask;
}

/**
 * etw_any_session_has_group() - test whether a started session records a group
 * @group: PERF_*
 *
 * Context: task; etw_mutex held.
 * Return: true if at least one session does.
 */
bool etw_any_session_has_group(u32 group)
{
	const struct perfinfo_groupmask mask = etw_join_group_masks_except(NULL);

	return etw_group_mask_test(&mask, group);
}

/* Called with etw_mutex held. The session takes over the caller's reference to the run. */
void etw_set_run(struct etw_session *session, struct etw_run *run)
{
	struct etw_run *old = session->run;

	spin_lock(&etw_session_lock);
	session->run = run;
	spin_unlock(&etw_session_lock);
	etw_put_run(old);
}

/* Called with etw_mutex held, for a stopped session. */
void etw_drop_run(struct etw_session *session)
{
	etw_set_run(session, NULL);
}

/**
 * etw_get_session_run() - get the present or last run of a session
 * @session: the session
 *
 * Context: task.
 * Return: the run, for etw_put_run(); NULL before the first start and after etw_drop_run().
 */
struct etw_run *etw_get_session_run(struct etw_session *session)
{
	struct etw_run *run;

	spin_lock(&etw_session_lock);
	run = session->run ? etw_get_run(session->run) : NULL;
	spin_unlock(&etw_session_lock);
	return run;
}

/**
 * etw_lock_unclaimed_session() - take etw_mutex for a change of a session, unless it is claimed
 * @session: the session
 *
 * Context: task; may sleep. On success etw_mutex is held.
 * Return: 0, -EINTR after a fatal signal, or -EBUSY if the session is claimed.
 */
int etw_lock_unclaimed_session(struct etw_session *session)
{
	if (mutex_lock_killable(&etw_mutex))
		return -EINTR;
	if (!session->claim)
		return 0;
	mutex_unlock(&etw_mutex);
	return -EBUSY;
}

/**
 * etw_session_is_started() - test whether a session is started
 * @session: the session
 *
 * Context: task. Does not wait for a start or a stop that is under way.
 * Return: true from the allocation of the buffers until all of them can be read.
 */
bool etw_session_is_started(struct etw_session *session)
{
	struct etw_run *run = etw_get_session_run(session);
	bool is_started = run && !etw_run_is_finished(run);

	etw_put_run(run);
	return is_started;
}
