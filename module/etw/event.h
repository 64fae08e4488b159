/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_EVENT_H
#define _NTKLOG_ETW_EVENT_H

#include <linux/types.h>

struct etw_session;

/* Versions of an event of which each session has one. */
#define ETW_EVENT_VERSIONS	4

/*
 * Who wants an event that has versions: a byte for each session, from the lowest on, with
 * the version that it wants or 0.
 */
#define ETW_WANTED_SHIFT	8
#define ETW_WANTED_MASK		0xFF

/* Does anybody want another version than the first? Such numbers have bit 1 or 2. */
#define ETW_LATER_WANTED	0x0606060606060606ULL

u64 etw_event_wanted(u32 group);
void etw_log_event_versions(u64 wanted, u16 hook_id, const void *first, u16 first_length,
			    const void *later, u16 later_length);
void etw_log_event(u32 group, u16 hook_id, u8 version, const void *data,
		   u16 length);
void etw_log_session_event(struct etw_session *session, u16 hook_id, u8 version,
			   const void *data, u16 length);

#endif /* _NTKLOG_ETW_EVENT_H */
