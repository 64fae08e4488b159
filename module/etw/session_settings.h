/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SESSION_SETTINGS_H
#define _NTKLOG_ETW_SESSION_SETTINGS_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/session.h>

#define ETW_BUFFER_SIZE_MIN	SZ_4K
#define ETW_BUFFER_SIZE_MAX	SZ_1M
#define ETW_BUFFER_SIZE_DEFAULT	SZ_64K
/* Buffers of each CPU. As in ETW, at least one to write and one to flush. */
#define ETW_BUFFERS_MIN		2
#define ETW_BUFFERS_MAX		1024
#define ETW_BUFFERS_DEFAULT	16

/* Treatment of a new event when the buffers are full: lose it, or overwrite the oldest buffer. */
enum etw_session_mode {
	ETW_MODE_SEQUENTIAL = NTKLOG_SESSION_SEQUENTIAL,
	ETW_MODE_BUFFERING = NTKLOG_SESSION_BUFFERING,
};

/*
 * @stacks has bits by enum etw_stacked_event_type. @name, @mode, @buffer_size and @buffers take
 * effect at the next start. @flush_timer is in milliseconds; 0: no timer.
 */
struct etw_settings {
	char name[NTKLOG_SESSION_NAME_SIZE];
	struct perfinfo_groupmask group_mask;
	u32 stacks;
	enum etw_session_mode mode;
	u32 flush_timer;
	u32 buffer_size;
	u32 buffers;
	u32 contextswap_version;
};

#endif /* _NTKLOG_ETW_SESSION_SETTINGS_H */
