/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_WAITS_H
#define _NTKLOG_LINUX_WAITS_H

/* Waits for spinning locks, from the contention tracepoints. */

#include <linux/types.h>

int ntklog_watch_waits(u8 spin_kind, const char **failed_name);
void ntklog_stop_watching_waits(u8 spin_kind);
bool ntklog_is_wait_lock_of_rwlock(const void *lock);

#endif /* _NTKLOG_LINUX_WAITS_H */
