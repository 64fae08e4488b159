/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SETTINGS_H
#define _NTKLOG_ETW_SETTINGS_H

#include <linux/types.h>

#include "session.h"

struct etw_group_mask_change;

#define ETW_FLUSH_TIMER_DEFAULT	1000	/* milliseconds */
#define ETW_FLUSH_TIMER_MAX	3600000

bool etw_buffer_size_is_valid(u32 bytes);
bool etw_buffer_count_is_valid(u32 buffers);
int etw_check_settings(const struct etw_session *session, const struct etw_settings *settings);
void etw_apply_settings(struct etw_session *session, const struct etw_settings *settings);
struct etw_settings etw_get_settings(struct etw_session *session);

int etw_set_buffer_size(struct etw_session *session, u32 bytes);
int etw_set_buffers(struct etw_session *session, u32 buffers);
int etw_set_name(struct etw_session *session, const char *name);
int etw_set_mode(struct etw_session *session, enum etw_session_mode mode);
int etw_set_flush_timer(struct etw_session *session, u32 milliseconds);
int etw_set_contextswap_version(struct etw_session *session, u32 version);
int etw_change_group_mask(struct etw_session *session, const struct etw_group_mask_change *change);
int etw_set_stacks(struct etw_session *session, u32 stacks);

#endif /* _NTKLOG_ETW_SETTINGS_H */
