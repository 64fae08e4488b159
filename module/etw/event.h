/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_EVENT_H
#define _NTKLOG_ETW_EVENT_H

#include <linux/types.h>

struct etw_session;

/* Versions of an event of which each session has one. */
#define ETW_EVENT_VERSIONS	4

/**
 * struct etw_event_version - an event's data in one of its versions
 * @data: the data
 * @length: bytes of it
 */
struct etw_event_version {
	const void *data;
	u16 length;
};

void etw_log_event_versions(u32 group, u16 hook_id,
			    const struct etw_event_version *versions);
void etw_log_event(u32 group, u16 hook_id, u8 version, const void *data,
		   u16 length);
void etw_log_session_event(struct etw_session *session, u16 hook_id, u8 version,
			   const void *data, u16 length);

#endif /* _NTKLOG_ETW_EVENT_H */
