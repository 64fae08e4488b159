/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_EVENT_GROUP_H
#define _NTKLOG_PERF_EVENT_GROUP_H

/*
 * An event group is enabled while it has a subscriber: a session, the tracepoint of the group while
 * that has a probe, or a caller of ntklog_event_group_get(). The function @update of the group
 * enables and disables the instrumentation.
 *
 * A probe of the tracepoint may be registered before the module's init function runs, which then
 * applies the registration. A registration after the exit function has run fails.
 */

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/group_mask.h>

#include "../etw/provider.h"

enum ntklog_event_group_state {
	NTKLOG_EVENT_GROUP_BEFORE_INIT,
	NTKLOG_EVENT_GROUP_USABLE,
	NTKLOG_EVENT_GROUP_AFTER_EXIT,
};

/**
 * struct ntklog_event_group - an event group and its subscribers
 * @provider: ntklog_event_group_init() sets its member set_mask
 * @update: enable or disable the instrumentation, so that the groups of the mask @wanted_groups are
 *	recorded. Called with @mutex held; may sleep. Also called when nothing has changed
 * @updates_by_work: @update takes tracepoints_mutex, or a lock outside of it. The caller that adds
 *	or removes the probe of the tracepoint holds this mutex, so a work item calls @update for it
 * @mutex: serialises the calls of @update. Taken inside etw_mutex and, unless @updates_by_work,
 *	inside tracepoints_mutex
 * @lock: protects @state, @session_groups, @user_count and @has_probe. No lock of the module is
 *	taken inside it
 * @state: state of the group
 * @session_groups: union of the group masks of all started sessions
 * @user_count: number of ntklog_event_group_get() calls that have not been undone
 * @has_probe: the tracepoint has at least one probe. Not a counter, because the kernel reports a
 *	first probe again after a registration has failed
 * @work: calls @update
 */
struct ntklog_event_group {
	struct etw_provider provider;
	void (*update)(struct ntklog_event_group *group,
		       const struct perfinfo_groupmask *wanted_groups);
	bool updates_by_work;
	struct mutex mutex;		/* held over @update */
	spinlock_t lock;		/* protects the state and the subscribers */
	enum ntklog_event_group_state state;
	struct perfinfo_groupmask session_groups;
	unsigned int user_count;
	bool has_probe;
	struct work_struct work;
};

void ntklog_event_group_run_work(struct work_struct *work);

/* Members that must be valid before the module's init function runs. */
#define NTKLOG_EVENT_GROUP_INITIALIZER(_group)					\
	.mutex = __MUTEX_INITIALIZER((_group).mutex),			\
	.lock = __SPIN_LOCK_UNLOCKED((_group).lock),			\
	.work = __WORK_INITIALIZER((_group).work, ntklog_event_group_run_work)

void ntklog_event_group_init(struct ntklog_event_group *group);
void ntklog_event_group_exit(struct ntklog_event_group *group);
int ntklog_event_group_record_first_probe(struct ntklog_event_group *group);
void ntklog_event_group_record_no_probe(struct ntklog_event_group *group);
bool ntklog_event_group_has_subscribers(struct ntklog_event_group *group);
void ntklog_event_group_get(struct ntklog_event_group *group);
void ntklog_event_group_put(struct ntklog_event_group *group);

#endif /* _NTKLOG_PERF_EVENT_GROUP_H */
