/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_OBSERVE_H
#define _NTKLOG_ETW_OBSERVE_H

#include <linux/types.h>

struct etw_run;
struct etw_session;
struct ntklog_session_failure;
struct perfinfo_groupmask;

void etw_log_observed_event(struct etw_session *session, const struct perfinfo_groupmask *mask);
void etw_update_providers_for_sessions(void);
void etw_schedule_observing(void);
int etw_stop_observing_for_suspend(void);
void etw_resume_observing(void);
void etw_exit_observing(void);
u32 etw_get_failures(const struct etw_run *run, struct ntklog_session_failure *failures);

#endif /* _NTKLOG_ETW_OBSERVE_H */
