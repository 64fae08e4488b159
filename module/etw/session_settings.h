/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SESSION_SETTINGS_H
#define _NTKLOG_ETW_SESSION_SETTINGS_H

/* The settings of a session. A start gives them to the new run. */

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

/**
 * enum etw_mode - what happens to a new event when the buffers of its CPU are full
 * @ETW_MODE_SEQUENTIAL: the new event is lost
 * @ETW_MODE_BUFFERING: the new event overwrites the oldest buffer
 */
enum etw_mode {
	ETW_MODE_SEQUENTIAL = NTKLOG_SESSION_SEQUENTIAL,
	ETW_MODE_BUFFERING = NTKLOG_SESSION_BUFFERING,
};

/**
 * struct etw_settings - the settings of a session
 * @name: printable ASCII characters
 * @group_mask: the event groups that the session records
 * @stacks: the events that carry a stack, bits by enum etw_stacked
 * @mode: mode of the buffers, for the next start
 * @flush_timer: milliseconds between two flushes while the session is started; 0: no timer
 * @buffer_size: bytes of a buffer, for the next start
 * @buffers: number of buffers of each CPU, for the next start
 * @contextswap_version: version of the context switch events, 1 to ETW_EVENT_VERSIONS
 */
struct etw_settings {
	char name[NTKLOG_SESSION_NAME_SIZE];
	struct perfinfo_groupmask group_mask;
	u32 stacks;
	enum etw_mode mode;
	u32 flush_timer;
	u32 buffer_size;
	u32 buffers;
	u32 contextswap_version;
};

#endif /* _NTKLOG_ETW_SESSION_SETTINGS_H */
