/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SESSION_H
#define _NTKLOG_ETW_SESSION_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/group_mask.h>

#include "session_settings.h"

struct dentry;
struct etw_claim;
struct etw_run;

/* Number of sessions; NT has as many system loggers. */
#define ETW_SESSIONS		8

/**
 * struct etw_session - a logger session
 * @id: its number, the LoggerId of its buffers
 * @directory: its directory in debugfs; set once at load
 * @settings: its settings, from which data for the loggers are derived
 * @flush_work: flushes a started session, see @settings.flush_timer
 * @is_logging: the session is started, and loggers find it in etw_sessions_by_group
 * @run: the present or last run, with a reference; NULL before the first start and after
 *	etw_drop_run(). Loggers use it while they find the session in etw_sessions_by_group
 * @claim: the open claim of the session, or NULL
 * @saved_settings: the settings that the session gets back when its claim ends
 *
 * A writer of @settings, @is_logging, @run, @claim or @saved_settings holds etw_mutex and
 * etw_session_lock. A reader holds either of them.
 */
struct etw_session {
	unsigned int id;
	struct dentry *directory;
	struct etw_settings settings;
	struct delayed_work flush_work;
	bool is_logging;
	struct etw_run *run;
	struct etw_claim *claim;
	struct etw_settings saved_settings;
};

extern struct etw_session etw_sessions[ETW_SESSIONS];
extern struct mutex etw_mutex;
extern spinlock_t etw_session_lock;

int etw_lock_unclaimed_session(struct etw_session *session);
bool etw_session_is_started(struct etw_session *session);
bool etw_any_session_has_group(u32 group);
struct etw_run *etw_get_session_run(struct etw_session *session);
struct perfinfo_groupmask etw_get_global_group_mask(void);

/* Called with etw_mutex held; the first one, also with etw_session_lock instead. */
struct perfinfo_groupmask etw_join_group_masks_except(const struct etw_session *except);
void etw_set_run(struct etw_session *session, struct etw_run *run);
void etw_drop_run(struct etw_session *session);

#endif /* _NTKLOG_ETW_SESSION_H */
