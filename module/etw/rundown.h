/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_RUNDOWN_H
#define _NTKLOG_ETW_RUNDOWN_H

#include <linux/types.h>

struct etw_parameter_change;
struct etw_session;
struct perfinfo_groupmask;

void etw_log_rundown_of_groups(struct etw_session *session, const struct perfinfo_groupmask *before,
			       const struct perfinfo_groupmask *after);
void etw_log_rundown_of_stacks(struct etw_session *session);
size_t etw_write_rundown(const struct etw_session *session, u8 *buffer, size_t size);
void etw_list_holds(struct etw_session *session);
struct etw_parameter_change *etw_begin_parameter_change(void);
void etw_end_parameter_change(struct etw_parameter_change *change);

#endif /* _NTKLOG_ETW_RUNDOWN_H */
