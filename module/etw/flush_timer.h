/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_FLUSH_TIMER_H
#define _NTKLOG_ETW_FLUSH_TIMER_H

struct etw_session;

void etw_init_flush_timer(struct etw_session *session);
void etw_schedule_flush(struct etw_session *session);

#endif /* _NTKLOG_ETW_FLUSH_TIMER_H */
