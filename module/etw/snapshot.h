/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SNAPSHOT_H
#define _NTKLOG_ETW_SNAPSHOT_H

#include <linux/types.h>

struct etw_session;

void *etw_make_snapshot(struct etw_session *session, size_t *size);

#endif /* _NTKLOG_ETW_SNAPSHOT_H */
