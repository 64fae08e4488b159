// SPDX-License-Identifier: GPL-2.0-only
/* See want.h. */

#include <linux/container_of.h>
#include <linux/errno.h>

#include "../etw/group_mask.h"
#include "want.h"

static const struct perfinfo_groupmask ntklog_want_nothing;

static void ntklog_want_update(struct ntklog_want *want)
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
void ntklog_want_work(struct work_struct *work)
{
	ntklog_want_update(container_of(work, struct ntklog_want, work));
}

static void ntklog_want_set_mask(struct etw_provider *provider,
				 const struct perfinfo_groupmask *mask)
{
	struct ntklog_want *want = container_of(provider, struct ntklog_want, provider);

	spin_lock(&want->lock);
	want->sessions = *mask;
	spin_unlock(&want->lock);
	ntklog_want_update(want);
}

/**
 * ntklog_want_init() - sessions can want the group, and what the tracepoint wants is done
 * @want: the group, of which @update may be called from now on
 *
 * Context: load, before there is a session.
 */
void ntklog_want_init(struct ntklog_want *want)
{
	want->provider.set_mask = ntklog_want_set_mask;
	etw_register_provider(&want->provider);
	spin_lock(&want->lock);
	want->state = PERF_WANT_USABLE;
	spin_unlock(&want->lock);
	ntklog_want_update(want);
}

/**
 * ntklog_want_exit() - nobody wants the group any more
 * @want: the group, of which @update has been called for the last time, for nothing
 *
 * Context: unload, when no session is left, or a load that failed after
 * ntklog_want_init(). May sleep.
 */
void ntklog_want_exit(struct ntklog_want *want)
{
	mutex_lock(&want->mutex);
	spin_lock(&want->lock);
	want->state = PERF_WANT_AFTER_EXIT;
	spin_unlock(&want->lock);
	want->update(want, &ntklog_want_nothing);
	mutex_unlock(&want->mutex);
	/* No one is scheduled any more. */
	cancel_work_sync(&want->work);
}

/* Whether @update is to be called, and by whom. */
static int ntklog_want_change(struct ntklog_want *want, bool registered)
{
	bool now = false;
	int err = 0;

	spin_lock(&want->lock);
	if (want->state == PERF_WANT_AFTER_EXIT && registered) {
		err = -ENODEV;
	} else {
		want->is_registered = registered;
		if (want->state == PERF_WANT_USABLE) {
			/* With the lock held: not after ntklog_want_exit() has cancelled it. */
			if (want->by_work)
				schedule_work(&want->work);
			else
				now = true;
		}
	}
	spin_unlock(&want->lock);
	if (now)
		ntklog_want_update(want);
	return err;
}

/**
 * ntklog_want_register() - the tracepoint has got its first probe
 * @want: its group
 *
 * Context: thread, tracepoints_mutex held; any time from when the module's text is there.
 * Return: 0, or -ENODEV after ntklog_want_exit().
 */
int ntklog_want_register(struct ntklog_want *want)
{
	return ntklog_want_change(want, true);
}

/**
 * ntklog_want_unregister() - the tracepoint has lost its last probe
 * @want: its group
 *
 * Context: as ntklog_want_register(); also after ntklog_want_exit(), when the module goes while
 * the tracepoint is on.
 */
void ntklog_want_unregister(struct ntklog_want *want)
{
	ntklog_want_change(want, false);
}

/**
 * ntklog_want_has_wanters() - does a session or the tracepoint want the group?
 * @want: it
 *
 * Context: thread.
 * Return: whether one does; users of ntklog_want_get() do not count.
 */
bool ntklog_want_has_wanters(struct ntklog_want *want)
{
	bool has;

	spin_lock(&want->lock);
	has = want->is_registered ||
	      etw_group_mask_test(&want->sessions, want->provider.group);
	spin_unlock(&want->lock);
	return has;
}

static void ntklog_want_change_users(struct ntklog_want *want, int change)
{
	spin_lock(&want->lock);
	want->users += change;
	spin_unlock(&want->lock);
	ntklog_want_update(want);
}

/**
 * ntklog_want_get() - have the group on, whether or not a session or the tracepoint wants it
 * @want: it
 *
 * Context: thread, between ntklog_want_init() and ntklog_want_exit(); may sleep. What follows
 * from it has been done at the return.
 */
void ntklog_want_get(struct ntklog_want *want)
{
	ntklog_want_change_users(want, 1);
}

/**
 * ntklog_want_put() - undo one ntklog_want_get()
 * @want: the group
 *
 * Context: as ntklog_want_get().
 */
void ntklog_want_put(struct ntklog_want *want)
{
	ntklog_want_change_users(want, -1);
}
