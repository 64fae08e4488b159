// SPDX-License-Identifier: GPL-2.0-only

#include <linux/container_of.h>
#include <linux/errno.h>

#include "../etw/group_mask.h"
#include "event_group.h"

static const struct perfinfo_groupmask ntklog_empty_mask;

static void ntklog_event_group_update(struct ntklog_event_group *group)
{
	struct perfinfo_groupmask wanted_groups;
	bool is_usable;

	mutex_lock(&group->mutex);
	spin_lock(&group->lock);
	is_usable = group->state == NTKLOG_EVENT_GROUP_USABLE;
	wanted_groups = group->session_groups;
	if (group->has_probe || group->user_count)
		etw_group_mask_set(&wanted_groups, group->provider.group);
	spin_unlock(&group->lock);
	if (is_usable)
		group->update(group, &wanted_groups);
	mutex_unlock(&group->mutex);
}

/* The work item. Global only for NTKLOG_EVENT_GROUP_INITIALIZER(). */
void ntklog_event_group_run_work(struct work_struct *work)
{
	ntklog_event_group_update(container_of(work, struct ntklog_event_group, work));
}

static void ntklog_event_group_set_mask(struct etw_provider *provider,
					const struct perfinfo_groupmask *mask)
{
	struct ntklog_event_group *group = container_of(provider, struct ntklog_event_group,
							provider);

	spin_lock(&group->lock);
	group->session_groups = *mask;
	spin_unlock(&group->lock);
	ntklog_event_group_update(group);
}

/**
 * ntklog_event_group_init() - let subscribers enable the group
 * @group: the group; its @update may be called from now on
 *
 * Context: module load, before a session exists.
 */
void ntklog_event_group_init(struct ntklog_event_group *group)
{
	group->provider.set_mask = ntklog_event_group_set_mask;
	etw_register_provider(&group->provider);
	spin_lock(&group->lock);
	group->state = NTKLOG_EVENT_GROUP_USABLE;
	spin_unlock(&group->lock);
	ntklog_event_group_update(group);
}

/**
 * ntklog_event_group_exit() - disable the group for good
 * @group: the group
 *
 * Context: module unload, when no session is left; or a load that failed. May sleep.
 */
void ntklog_event_group_exit(struct ntklog_event_group *group)
{
	mutex_lock(&group->mutex);
	spin_lock(&group->lock);
	group->state = NTKLOG_EVENT_GROUP_AFTER_EXIT;
	spin_unlock(&group->lock);
	group->update(group, &ntklog_empty_mask);
	mutex_unlock(&group->mutex);
	/* No other task schedules the work item again, because the state has changed. */
	cancel_work_sync(&group->work);
}

static int ntklog_event_group_set_has_probe(struct ntklog_event_group *group, bool has_probe)
{
	bool must_update = false;
	int err = 0;

	spin_lock(&group->lock);
	if (group->state == NTKLOG_EVENT_GROUP_AFTER_EXIT && has_probe) {
		err = -ENODEV;
	} else {
		group->has_probe = has_probe;
		if (group->state == NTKLOG_EVENT_GROUP_USABLE) {
			/*
			 * Schedule the work item with the lock held, so that
			 * ntklog_event_group_exit() cancels it afterwards and not before.
			 */
			if (group->updates_by_work)
				schedule_work(&group->work);
			else
				must_update = true;
		}
	}
	spin_unlock(&group->lock);
	if (must_update)
		ntklog_event_group_update(group);
	return err;
}

/**
 * ntklog_event_group_record_first_probe() - record that the tracepoint has got its first probe
 * @group: the group of the tracepoint
 *
 * Context: task, tracepoints_mutex held; at any time while the module's code is loaded.
 * Return: 0, or -ENODEV after ntklog_event_group_exit().
 */
int ntklog_event_group_record_first_probe(struct ntklog_event_group *group)
{
	return ntklog_event_group_set_has_probe(group, true);
}

/**
 * ntklog_event_group_record_no_probe() - record that the tracepoint has lost its last probe
 * @group: the group of the tracepoint
 *
 * Context: as for ntklog_event_group_record_first_probe(); also after ntklog_event_group_exit().
 */
void ntklog_event_group_record_no_probe(struct ntklog_event_group *group)
{
	ntklog_event_group_set_has_probe(group, false);
}

/**
 * ntklog_event_group_has_subscribers() - test whether a session or the tracepoint needs the group
 * @group: the group
 *
 * Context: task.
 * Return: true if a session or a probe does. Users of ntklog_event_group_get() do not count.
 */
bool ntklog_event_group_has_subscribers(struct ntklog_event_group *group)
{
	bool has_subscribers;

	spin_lock(&group->lock);
	has_subscribers = group->has_probe ||
			  etw_group_mask_test(&group->session_groups, group->provider.group);
	spin_unlock(&group->lock);
	return has_subscribers;
}

static void ntklog_event_group_change_users(struct ntklog_event_group *group, int delta)
{
	spin_lock(&group->lock);
	group->user_count += delta;
	spin_unlock(&group->lock);
	ntklog_event_group_update(group);
}

/**
 * ntklog_event_group_get() - enable the group without a session or probe
 * @group: the group
 *
 * @update has been called when this function returns.
 *
 * Context: task, between ntklog_event_group_init() and ntklog_event_group_exit(); may sleep.
 */
void ntklog_event_group_get(struct ntklog_event_group *group)
{
	ntklog_event_group_change_users(group, 1);
}

/**
 * ntklog_event_group_put() - undo one call of ntklog_event_group_get()
 * @group: the group
 *
 * Context: as for ntklog_event_group_get().
 */
void ntklog_event_group_put(struct ntklog_event_group *group)
{
	ntklog_event_group_change_users(group, -1);
}
