/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_CONTROL_H
#define _NTKLOG_ETW_CONTROL_H

#include <linux/types.h>

struct etw_session;
struct etw_settings;

int etw_init_sessions(u32 buffer_size, u32 buffers);
void etw_enable_session_start(void);
void etw_exit_sessions(void);

int etw_start_session(struct etw_session *session);
int etw_stop_session(struct etw_session *session);
int etw_flush_session(struct etw_session *session);

int etw_start_session_locked(struct etw_session *session, const struct etw_settings *settings);
void etw_stop_session_locked(struct etw_session *session);

#endif /* _NTKLOG_ETW_CONTROL_H */
