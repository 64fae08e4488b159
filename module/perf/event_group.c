// SPDX-License-Identifier: GPL-2.0-only
/* See event_group.h. */

#include <linux/container_of.h>
#include <linux/errno.h>

#include "../etw/group_mask.h"
#include "event_group.h"

static const struct perfinfo_groupmask ntklog_empty_mask;

static void ntklog_event_group_update(struct ntklog_event_group *want)
{
	struct perfinfo_groupmask wanted;
	bool usable;

	mutex_lock(&want->mutex);
	spin_lock(&want->lock);
	usable = want->state == PERF_WANT_USABLE;
	wanted = want->sessions;
	if (want->is_registered || want->users)
		etw_group_mask_set(&wanted, want->provider.group);
	spin_unlock(&want->lock);
	if (usable)
		want->update(want, &wanted);
	mutex_unlock(&want->mutex);
}

/* The work item, for PERF_WANT_INITIALIZER() only. */
void ntklog_event_group_work(struct work_struct *work)
{
	ntklog_event_group_update(container_of(work, struct ntklog_event_group, work));
}

static void ntklog_event_group_set_mask(struct etw_provider *provider,
					const struct perfinfo_groupmask *mask)
{
	struct ntklog_event_group *want = container_of(provider, struct ntklog_event_group,
						       provider);

	spin_lock(&want->lock);
	want->sessions = *mask;
	spin_unlock(&want->lock);
	ntklog_event_group_update(want);
}

/**
 * ntklog_event_group_init() - sessions can want the group, and what the tracepoint wants is done
 * @want: the group, of which @update may be called from now on
 *
 * Context: load, before there is a session.
 */
void ntklog_event_group_init(struct ntklog_event_group *want)
{
	want->provider.set_mask = ntklog_event_group_set_mask;
	etw_register_provider(&want->provider);
	spin_lock(&want->lock);
	want->state = PERF_WANT_USABLE;
	spin_unlock(&want->lock);
	ntklog_event_group_update(want);
}

/**
 * ntklog_event_group_exit() - nobody wants the group any more
 * @want: the group, of which @update has been called for the last time, for nothing
 *
 * Context: unload, when no session is left, or a load that failed after
 * ntklog_event_group_init(). May sleep.
 */
void ntklog_event_group_exit(struct ntklog_event_group *want)
{
	mutex_lock(&want->mutex);
	spin_lock(&want->lock);
	want->state = PERF_WANT_AFTER_EXIT;
	spin_unlock(&want->lock);
	want->update(want, &ntklog_empty_mask);
	mutex_unlock(&want->mutex);
	/* No one is scheduled any more. */
	cancel_work_sync(&want->work);
}

/* Whether @update is to be called, and by whom. */
static int ntklog_event_group_change(struct ntklog_event_group *want, bool registered)
{
	bool now = false;
	int err = 0;

	spin_lock(&want->lock);
	if (want->state == PERF_WANT_AFTER_EXIT && registered) {
		err = -ENODEV;
	} else {
		want->is_registered = registered;
		if (want->state == PERF_WANT_USABLE) {
			/*
			 * With the lock held: not after ntklog_event_group_exit() has cancelled
			 * it.
			 */
			if (want->by_work)
				schedule_work(&want->work);
			else
				now = true;
		}
	}
	spin_unlock(&want->lock);
	if (now)
		ntklog_event_group_update(want);
	return err;
}

/**
 * ntklog_event_group_add_probe() - the tracepoint has got its first probe
 * @want: its group
 *
 * Context: thread, tracepoints_mutex held; any time from when the module's text is there.
 * Return: 0, or -ENODEV after ntklog_event_group_exit().
 */
int ntklog_event_group_add_probe(struct ntklog_event_group *want)
{
	return ntklog_event_group_change(want, true);
}

/**
 * ntklog_event_group_remove_probe() - the tracepoint has lost its last probe
 * @want: its group
 *
 * Context: as ntklog_event_group_add_probe(); also after ntklog_event_group_exit(), when the module
 * goes while the tracepoint is on.
 */
void ntklog_event_group_remove_probe(struct ntklog_event_group *want)
{
	ntklog_event_group_change(want, false);
}

/**
 * ntklog_event_group_has_subscribers() - does a session or the tracepoint want the group?
 * @want: it
 *
 * Context: thread.
 * Return: whether one does; users of ntklog_event_group_get() do not count.
 */
bool ntklog_event_group_has_subscribers(struct ntklog_event_group *want)
{
	bool has;

	spin_lock(&want->lock);
	has = want->is_registered ||
	      etw_group_mask_test(&want->sessions, want->provider.group);
	spin_unlock(&want->lock);
	return has;
}

static void ntklog_event_group_change_users(struct ntklog_event_group *want, int change)
{
	spin_lock(&want->lock);
	want->users += change;
	spin_unlock(&want->lock);
	ntklog_event_group_update(want);
}

/**
 * ntklog_event_group_get() - have the group on, whether or not a session or the tracepoint wants it
 * @want: it
 *
 * Context: thread, between ntklog_event_group_init() and ntklog_event_group_exit(); may sleep. What
 * follows from it has been done at the return.
 */
void ntklog_event_group_get(struct ntklog_event_group *want)
{
	ntklog_event_group_change_users(want, 1);
}

/**
 * ntklog_event_group_put() - undo one ntklog_event_group_get()
 * @want: the group
 *
 * Context: as ntklog_event_group_get().
 */
void ntklog_event_group_put(struct ntklog_event_group *want)
{
	ntklog_event_group_change_users(want, -1);
}
