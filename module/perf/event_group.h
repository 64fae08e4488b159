/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_EVENT_GROUP_H
#define _NTKLOG_PERF_EVENT_GROUP_H

/*
 * Who wants a group of events: the sessions, whose masks' union etw tells, and the group's
 * tracepoint, while it has a probe. What follows from it is done by the group's own
 * function, one call at a time.
 *
 * The tracepoint's file is there before the module's init and until after its exit, so
 * registrations come at any time. Before init they are only noted, and init applies
 * them; after exit there are no more.
 */

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/group_mask.h>

#include "../etw/provider.h"

enum ntklog_event_group_state {
	PERF_WANT_BEFORE_INIT,
	PERF_WANT_USABLE,
	PERF_WANT_AFTER_EXIT,
};

/**
 * struct ntklog_event_group - who wants the events of a group
 * @provider: the group, which is the tracepoint's too, and its rundown; the rest is filled
 *	in by ntklog_event_group_init()
 * @update: do what follows of a want: this is wanted now. Called from a thread between
 *	ntklog_event_group_init() and ntklog_event_group_exit(), with @mutex held; may sleep. Not
 *	always after a change only
 * @by_work: @update takes tracepoints_mutex, which the tracepoint's registration holds: a
 *	work item calls it, a moment later
 * @mutex: held over each call of @update. Taken with etw_mutex held (sessions), with
 *	tracepoints_mutex held (the tracepoint, unless @by_work), or with neither
 * @lock: guards the following; innermost, for those who may not wait for an @update
 * @state: whether @update may be called
 * @sessions: the union of the sessions' masks
 * @users: who else has the group on: see ntklog_event_group_get()
 * @is_registered: of the tracepoint; it makes one registration for all of its probes, and
 *	may make it twice if it finds no memory for the first of them
 * @work: calls @update
 */
struct ntklog_event_group {
	struct etw_provider provider;
	void (*update)(struct ntklog_event_group *want, const struct perfinfo_groupmask *wanted);
	bool by_work;
	struct mutex mutex;		/* over each update */
	spinlock_t lock;		/* of what follows */
	enum ntklog_event_group_state state;
	struct perfinfo_groupmask sessions;
	unsigned int users;
	bool is_registered;
	struct work_struct work;
};

void ntklog_event_group_work(struct work_struct *work);

/* What of a struct ntklog_event_group must be there before any code of the module runs. */
#define PERF_WANT_INITIALIZER(_want)					\
	.mutex = __MUTEX_INITIALIZER((_want).mutex),			\
	.lock = __SPIN_LOCK_UNLOCKED((_want).lock),			\
	.work = __WORK_INITIALIZER((_want).work, ntklog_event_group_work)

void ntklog_event_group_init(struct ntklog_event_group *want);
void ntklog_event_group_exit(struct ntklog_event_group *want);
int ntklog_event_group_add_probe(struct ntklog_event_group *want);
void ntklog_event_group_remove_probe(struct ntklog_event_group *want);
bool ntklog_event_group_has_subscribers(struct ntklog_event_group *want);
void ntklog_event_group_get(struct ntklog_event_group *want);
void ntklog_event_group_put(struct ntklog_event_group *want);

#endif /* _NTKLOG_PERF_EVENT_GROUP_H */
